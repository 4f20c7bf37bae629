"""`kafka-migration trigger`: triggers a run through Airflow's REST API, for people without the UI."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from kafka_migration.adapters.system.this_machine import SystemClock
from kafka_migration.cli.shell.airflow_server import add_server, airflow_of
from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_name, add_output, place
from kafka_migration.cli.shell.conf_options import OFFERED, ROLLBACKS, add_conf, conf_of
from kafka_migration.cli.shell.output import ExitCode, JsonObject, aligned, complain, is_json, say, say_json
from kafka_migration.cli.shell.progress_line import working
from kafka_migration.core.clock import Clock
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.alerts import run_link
from kafka_migration.core.run.run_identity import triggered_dag_id
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.steps.run.run_request import RunRequest

if TYPE_CHECKING:
    from kafka_migration.adapters.http.airflow_api import HttpAirflow

TRIGGER_SCHEMA = 1
LOOK_EVERY_S = 5.0
# A restart of the API server must not end the wait.
SILENT_S = 300.0
_DELETED = "deleted"
_ENDS = {"success": ExitCode.DONE, "failed": ExitCode.FAILED, _DELETED: ExitCode.FAILED}
Tell = Callable[[str, str], None]


def add_trigger(verbs: Verbs) -> None:
    """Add the verb `trigger`."""
    verb = add_bare_verb(verbs, trigger, "trigger", "trigger demo --mode sync --server https://airflow.example --wait")
    add_name(verb)
    add_conf(verb, (*OFFERED, *ROLLBACKS))
    text = "for a rollback: the records of this topic after the cutover may stay on the target; may be repeated"
    verb.add_values("--leave-records-of", "TOPIC", text, type=place)
    verb.add_argument("--note", type=place, metavar="TEXT", help="for example a ticket number; kept in the evidence")
    verb.add_argument("--unpause", action="store_true", help="unpause the DAG; the run of a paused DAG does not begin")
    verb.add_argument("--wait", action="store_true", help="wait until the run has ended")
    verb.add_duration("--timeout", "how long --wait waits; the run continues afterwards", "24h")
    add_server(verb)
    add_output(verb)


@dataclass(frozen=True, slots=True)
class TriggeredRun:
    """A run that was triggered, and its Airflow."""

    airflow: HttpAirflow
    dag_id: str
    run_id: str

    @property
    def link(self) -> str:
        """The page of the run in Airflow's UI."""
        return run_link(self.airflow.url, self.dag_id, self.run_id)

    def __str__(self) -> str:
        return f"{self.dag_id}/{self.run_id}"


def trigger(arguments: Namespace) -> int:
    """Check the fields as the run will, trigger the run, print its id and page; with `--wait` follow it to its end."""
    conf, mode = conf_of(arguments), Mode(arguments.mode)
    RunRequest.from_params(conf, is_rollback=mode.rolls_back)
    working("Asking Airflow's REST API")
    try:
        with closing(airflow_of(arguments)) as airflow:
            run_id = f"manual__{SystemClock().now().isoformat()}"
            run = TriggeredRun(airflow, triggered_dag_id(arguments.name, mode), run_id)
            is_paused = _prepared(run, unpauses=arguments.unpause)
            return _answer(arguments, run, is_paused=is_paused) if _created(run, conf) else ExitCode.PARTLY_DONE
    except TransientError as error:
        complain([_unreachable(error)])
        return ExitCode.FAILED


def _prepared(run: TriggeredRun, *, unpauses: bool) -> bool:
    """Return whether the DAG is paused; unpause it if asked. Raises `Refused` if Airflow has no such DAG."""
    dag = run.airflow.dag(run.dag_id)
    if dag is None:
        raise Refused([_no_dag(run)])
    is_paused = bool(dag.get("is_paused"))
    if is_paused and unpauses:
        run.airflow.unpause(run.dag_id)
    return is_paused and not unpauses


def _created(run: TriggeredRun, conf: Mapping[str, str | list[str]]) -> bool:
    """Create the run; return false if that is not known. The request is not repeated."""
    try:
        run.airflow.trigger(run.dag_id, run.run_id, conf)
        return True
    except TransientError as error:
        if _is_there(run):
            return True
        complain([_not_confirmed(run, error)])
        return False


def _is_there(run: TriggeredRun) -> bool:
    try:
        return run.airflow.run_state(run.dag_id, run.run_id) is not None
    except TransientError:
        return False


def _answer(arguments: Namespace, run: TriggeredRun, *, is_paused: bool) -> int:
    """Print the run, follow it if asked, and return the exit code."""
    if is_json(arguments):
        state = _followed(arguments, run, lambda *_: None)
        say_json(_document(arguments, run, state, is_paused=is_paused))
    else:
        paused = [("Paused", "the run begins when the DAG is unpaused")] if is_paused else []
        say(aligned([("Triggered", str(run)), ("Page", run.link), *paused]))
        state = _followed(arguments, run, _say_row)
    return _ENDS.get(state, ExitCode.NOT_READY) if arguments.wait else ExitCode.DONE


def _followed(arguments: Namespace, run: TriggeredRun, tell: Tell) -> str:
    """Return the state of a run that was just created, or with `--wait` its last state."""
    return wait_for_end(run, arguments.timeout, SystemClock(), _pause, tell) if arguments.wait else "queued"


def _pause(seconds: float) -> None:
    working("Waiting until the run has ended")
    time.sleep(seconds)


def _say_row(name: str, words: str) -> None:
    say(aligned([(name, words)]))


def _document(arguments: Namespace, run: TriggeredRun, state: str, *, is_paused: bool) -> JsonObject:
    return {
        "schema": TRIGGER_SCHEMA,
        "migration": arguments.name,
        "conf": conf_of(arguments),
        "dag_id": run.dag_id,
        "run_id": run.run_id,
        "page": run.link,
        "is_paused": is_paused,
        "state": state,
    }


def wait_for_end(run: TriggeredRun, timeout_s: float, clock: Clock, sleep: Callable[[float], None], tell: Tell) -> str:
    """Return the last state of the run: `success`, `failed` or `deleted`, or another one after the timeout.

    Each new state, task and question is printed once. Raises `TransientError` if Airflow is silent for too long.
    """
    begun_s = answered_s = clock.monotonic_s()
    state, told = "queued", set[tuple[str, str]]()
    while True:
        try:
            state, news = _news(run)
            answered_s = clock.monotonic_s()
        except TransientError:
            if clock.monotonic_s() - answered_s > SILENT_S:
                raise
            news = []
        for each in [each for each in news if each not in told]:
            tell(*each)
        told.update(news)
        waited_s = clock.monotonic_s() - begun_s
        if state in _ENDS or waited_s >= timeout_s:
            tell("Ended" if state in _ENDS else "Waited", f"{duration(waited_s)}, the run is in state {state}")
            return state
        sleep(min(LOOK_EVERY_S, timeout_s - waited_s))


def _news(run: TriggeredRun) -> tuple[str, list[tuple[str, str]]]:
    """Return the state of the run, and what a person should know of it."""
    state = run.airflow.run_state(run.dag_id, run.run_id) or _DELETED
    if state in _ENDS:
        return state, []
    return state, [("State", state), *_tasks(run), *_questions(run)]


def _tasks(run: TriggeredRun) -> list[tuple[str, str]]:
    """Return the tasks that are at work; none for a user who may not read them."""
    with suppress(Refused):
        return [("Task", task) for task in run.airflow.active_tasks(run.dag_id, run.run_id)]
    return []


def _questions(run: TriggeredRun) -> list[tuple[str, str]]:
    """Return the questions of the run that have no answer; none for a user who may not read them."""
    with suppress(Refused):
        asked = run.airflow.questions(run.dag_id, run.run_id)
        link = partial(run_link, run.airflow.url, run.dag_id, run.run_id)
        return [("Question", f"{subject} {link(task)}") for task, subject in asked.items()]
    return []


def _no_dag(run: TriggeredRun) -> Finding:
    return Finding(
        Code.AIRFLOW_API_REFUSED,
        f"DAG {run.dag_id}",
        f"no such DAG in {run.airflow.url}",
        "the DAG of a migration file that Airflow has read",
        "If the migration file is new, wait until Airflow has read it. Otherwise correct the name. Then run the "
        "command again.",
        happened=f"Airflow at {run.airflow.url} has no DAG {run.dag_id}.",
        matters="Only the DAG of a migration file can be triggered, so no run was created.",
    )


def _not_confirmed(run: TriggeredRun, error: TransientError) -> Finding:
    return Finding(
        Code.TRIGGER_NOT_CONFIRMED,
        f"run {run}",
        str(error),
        "an answer that the run was created",
        f"Look for the run: {run.link}. Trigger again only if there is no such run.",
        happened=f"Airflow did not confirm that it created run {run} ({error}).",
        matters="The run may exist, and a second request would start a second run.",
    )


def _unreachable(error: TransientError) -> Finding:
    return Finding(
        Code.AIRFLOW_API_UNREACHABLE,
        "Airflow's REST API",
        str(error),
        "an answer in time",
        "Check that the API server runs and that this machine reaches it. Then look for the run in Airflow before you "
        "trigger another one.",
        happened=f"Airflow's REST API did not answer in time ({error}).",
        matters="The state of the run is unknown; a run that was created already continues.",
    )
