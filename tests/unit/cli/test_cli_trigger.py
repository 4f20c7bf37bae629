"""`trigger` creates a run through Airflow's REST API, once, with fields that the run will accept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_migration.adapters.http.airflow_api import HttpAirflow
from kafka_migration.cli.main import main
from kafka_migration.cli.runs.trigger_verb import SILENT_S, TriggeredRun, wait_for_end
from kafka_migration.cli.shell.airflow_server import CA_FILE, PASSWORD, SERVER, TOKEN, USER
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import TransientError
from tests.contract import airflow_server
from tests.contract.airflow_server import DAG_ID, AirflowServer

ROLLBACK_ID = "kafka_rollback__shop"


@dataclass
class MovedClock:
    """A clock that only a sleep moves."""

    elapsed_s: float = 0.0

    def now(self) -> datetime:
        """Return the present time."""
        return datetime(2030, 1, 1, tzinfo=UTC)

    def monotonic_s(self) -> float:
        """Return the present second."""
        return self.elapsed_s

    def sleep(self, seconds: float) -> None:
        """Let the time pass."""
        self.elapsed_s += seconds


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AirflowServer]:
    """An Airflow with the DAGs of the migration `shop`, and its address and login in the environment."""
    with AirflowServer({DAG_ID: False, ROLLBACK_ID: False}) as made:
        for name, value in ((SERVER, made.url), (USER, airflow_server.USER), (PASSWORD, airflow_server.PASSWORD)):
            monkeypatch.setenv(name, value)
        yield made


def triggered(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, list[str], str]:
    """Return the exit code, the lines of the answer and the first finding."""
    code = main(["trigger", "shop", *options])
    out, err = capsys.readouterr()
    return code, out.splitlines(), re.split(r"\n(?! )", err)[0]


def test_a_run_is_triggered(server: AirflowServer, capsys: pytest.CaptureFixture[str]) -> None:
    """The command shows the run and its page; the conf has the given fields only."""
    code, out, err = triggered(capsys, "--mode", "cutover", "--group", "billing", "--topic", "orders", "--note", "T-1")
    ((run_id, body),) = server.runs.items()

    assert (0, "") == (code, err)
    assert f"Triggered  {DAG_ID}/{run_id}" == out[0]
    assert out[1].startswith(f"Page       {server.url}/dags/{DAG_ID}/runs/manual__")
    assert {"mode": "cutover", "groups": ["billing"], "topics": ["orders"], "note": "T-1"} == body["conf"]
    assert body["logical_date"] is None


def test_modes_of_a_rollback_have_their_dag(server: AirflowServer, capsys: pytest.CaptureFixture[str]) -> None:
    """The modes `restore` and `fail_back` trigger the rollback DAG."""
    assert 0 == triggered(capsys, "--mode", "restore", "--leave-records-of", "orders")[0]

    assert f"POST /api/v2/dags/{ROLLBACK_ID}/dagRuns" in server.asked
    assert [{"mode": "restore", "leave_records_of": ["orders"]}] == [body["conf"] for body in server.runs.values()]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (
            ["--mode", "sync", "--group", "billing"],
            "the run accepts: ['billing'] in mode sync",
        ),
        (["--mode", "follow", "--follow-until", "2030-01-01"], "field follow_until"),
        (["--mode", "validate", "--generations", "5-3"], "field generations"),
        (["--mode", "restore", "--topic", "orders"], "field topics is not what the run accepts: an unknown field"),
        (["--leave-records-of", "orders"], "field leave_records_of is not what the run accepts: an unknown field"),
    ],
)
def test_fields_are_checked_before_anything_is_sent(
    server: AirflowServer, capsys: pytest.CaptureFixture[str], options: list[str], found: str
) -> None:
    """A field that the run would refuse is refused with the words of the run, and Airflow is not asked."""
    code, _, err = triggered(capsys, *options)

    assert (3, []) == (code, server.asked)
    assert err.startswith("RUN_CONF_INVALID · run conf ")
    assert found in err


def test_a_paused_dag_is_named_or_unpaused(server: AirflowServer, capsys: pytest.CaptureFixture[str]) -> None:
    """A run of a paused DAG does not begin, which the command says; --unpause unpauses the DAG first."""
    server.dags[DAG_ID] = True
    code, out, _ = triggered(capsys)
    assert (0, "Paused     the run begins when the DAG is unpaused", True) == (code, out[2], server.dags[DAG_ID])

    _, out, _ = triggered(capsys, "--unpause")
    assert (2, False) == (len(out), server.dags[DAG_ID])


def test_an_unknown_migration_is_refused(server: AirflowServer, capsys: pytest.CaptureFixture[str]) -> None:
    """A migration without a DAG is a finding, and no run is created."""
    del server.dags[DAG_ID]
    code, out, err = triggered(capsys)

    assert (3, [], {}) == (code, out, server.runs)
    assert err.startswith(f"AIRFLOW_API_REFUSED · DAG {DAG_ID}\n  Airflow at ")


def test_a_lost_answer_is_looked_up(server: AirflowServer, capsys: pytest.CaptureFixture[str]) -> None:
    """If the answer to the trigger is lost, the command looks for the run and does not trigger it again."""
    server.late_faults.append((0, ""))

    assert 0 == triggered(capsys)[0]
    assert 1 == len(server.runs)
    assert 1 == sum(each.startswith("POST") for each in server.asked)


def test_an_unknown_outcome_is_said(server: AirflowServer, capsys: pytest.CaptureFixture[str]) -> None:
    """If the run cannot be found, its id is shown, because Airflow may still create it."""
    dag = (200, json.dumps({"is_paused": False}))
    server.faults += [dag, (500, ""), (500, "")]
    code, out, err = triggered(capsys)

    assert (4, []) == (code, out)
    assert err.startswith(f"TRIGGER_NOT_CONFIRMED · run {DAG_ID}/manual__")


@pytest.mark.parametrize(("state", "code"), [("success", 0), ("failed", 1)])
def test_wait_ends_with_the_run(
    server: AirflowServer, capsys: pytest.CaptureFixture[str], state: str, code: int
) -> None:
    """With --wait the exit code is that of the run."""
    server.states = [state]
    found, out, _ = triggered(capsys, "--wait")

    assert (code, f"Ended  0s, the run is in state {state}") == (found, out[2])


def followed(server: AirflowServer, clock: MovedClock, timeout_s: float) -> tuple[str, list[str]]:
    """Return the last state of a run that exists, and what is told of it."""
    server.runs["run"] = {}
    told: list[str] = []
    login = HttpSettings("--server", server.url, airflow_server.USER, airflow_server.PASSWORD)
    run = TriggeredRun(HttpAirflow("--server", login), DAG_ID, "run")
    state = wait_for_end(run, timeout_s, clock, clock.sleep, lambda name, words: told.append(f"{name} {words}"))
    run.airflow.close()
    return state, told


def test_states_and_questions_are_told_once(server: AirflowServer) -> None:
    """A wait shows each new state and each question with its page."""
    server.states = ["queued", "running", "running", "success"]
    server.questions = {"approve": "Move the groups?"}
    state, told = followed(server, MovedClock(), 3600)

    question = f"Question Move the groups? {server.url}/dags/{DAG_ID}/runs/run/tasks/approve/required_actions"
    assert "success" == state
    assert ["State queued", question, "State running", "Ended 15s, the run is in state success"] == told


def test_tasks_are_told_once(server: AirflowServer) -> None:
    """A wait shows each task that is at work, so that a run of hours does not look as if it hangs."""
    server.states, server.tasks = ["running", "running", "success"], ["prepare.preflight", "mirror.watch_lag"]

    _, told = followed(server, MovedClock(), 3600)

    assert ["State running", "Task mirror.watch_lag", "Task prepare.preflight"] == told[:3]
    assert told[3].startswith("Ended ")


def test_the_wait_is_limited(server: AirflowServer) -> None:
    """After the timeout the run goes on, and its last state is told."""
    server.states = ["running"]

    assert ("running", ["State running", "Waited 12s, the run is in state running"]) == followed(
        server, MovedClock(), 12
    )


def test_a_silent_airflow_does_not_end_the_wait_at_once(server: AirflowServer) -> None:
    """A short silence is ignored, a long one ends the wait without a state."""
    server.states = ["success"]
    server.faults = [(503, "")] * 10
    assert "success" == followed(server, MovedClock(), 3600)[0]

    server.faults = [(503, "")] * 100
    clock = MovedClock()
    with pytest.raises(TransientError):
        followed(server, clock, 3600)
    assert clock.elapsed_s > SILENT_S


def test_a_deleted_run_ends_the_wait(server: AirflowServer, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that a person deleted never ends, so the wait does, with exit code 1."""
    server.faults = [(200, json.dumps({"is_paused": False})), (200, '{"state": "queued"}'), (404, "")]

    code, out, _ = triggered(capsys, "--wait")
    assert (1, "Ended  0s, the run is in state deleted") == (code, out[2])


def test_json(server: AirflowServer, capsys: pytest.CaptureFixture[str]) -> None:
    """The answer is one document, after the wait if there is one."""
    server.states = ["failed"]
    code, out, _ = triggered(capsys, "--wait", "-o", "json", "--mode", "sync")
    document = json.loads("\n".join(out))

    assert (1, 1, "failed", {"mode": "sync"}) == (code, document["schema"], document["state"], document["conf"])
    assert [document["run_id"]] == list(server.runs)


@pytest.mark.parametrize(
    ("variables", "options", "code", "found"),
    [
        ({SERVER: ""}, [], 2, "COMMAND_INVALID · the command line\n  The address of Airflow is missing"),
        ({}, ["--server", "ftp://a"], 2, "COMMAND_INVALID · --server"),
        ({}, ["--server", "http://airflow.example"], 3, "CONNECTION_INSECURE · --server"),
        ({SERVER: "http://a", USER: "", PASSWORD: "", TOKEN: "t"}, [], 3, f"CONNECTION_INSECURE · ${SERVER}"),
        ({PASSWORD: "wrong"}, [], 3, f"AIRFLOW_API_REFUSED · ${SERVER}"),
        ({}, ["--server", "http://127.0.0.1:1"], 1, "AIRFLOW_API_UNREACHABLE · Airflow's REST API"),
        ({CA_FILE: "/nowhere"}, [], 2, f"COMMAND_INVALID · ${CA_FILE}\n  The variable {CA_FILE} names /nowhere, which"),
        ({}, ["--server", "http://127.0.0.1:1", "--connection", "api"], 2, "COMMAND_INVALID · kafka-migration"),
    ],
)
def test_address_and_login_are_checked(
    server: AirflowServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    options: list[str],
    code: int,
    found: str,
) -> None:
    """A wrong address or login is one finding with its source, and no secret is shown or sent in the clear."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    try:
        exit_code, _, err = triggered(capsys, *options)
    except SystemExit as exited:
        exit_code, err = int(str(exited.code)), capsys.readouterr().err

    assert code == exit_code
    assert err.startswith(found)
    assert airflow_server.PASSWORD not in err


def test_a_token_replaces_the_login(
    server: AirflowServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a token there is no login."""
    monkeypatch.setenv(PASSWORD, "wrong")
    monkeypatch.setenv(TOKEN, airflow_server.TOKEN)

    assert 0 == triggered(capsys)[0]


def test_an_airflow_connection_has_address_and_login(
    server: AirflowServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With --connection, address and login come from an Airflow connection of type http."""
    monkeypatch.delenv(SERVER)
    login = {"login": airflow_server.USER, "password": airflow_server.PASSWORD}
    monkeypatch.setenv("AIRFLOW_CONN_API", json.dumps({"conn_type": "http", "host": server.url, **login}))

    assert 0 == triggered(capsys, "--connection", "api")[0]
    assert 1 == len(server.runs)
    assert triggered(capsys, "--connection", "none")[2].startswith("CONNECTION_MISSING · connection none")
