"""`kafka-migration ready`: whether a cutover may follow."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from kafka_migration.cli.runs.decommission_verb import condition_lines
from kafka_migration.cli.shell.airflow_access import filed_migration
from kafka_migration.cli.shell.arguments import Verbs, add_folder, add_output, add_verb
from kafka_migration.cli.shell.evidence_access import opened
from kafka_migration.cli.shell.output import ExitCode, respond
from kafka_migration.core.run.run_names import readable, run_name
from kafka_migration.core.run.stand_still import forecast_lines
from kafka_migration.core.text.shortened import sentence, some
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.steps.answers.readiness_answer import FiledCutover, ReadyAnswer, ready_answer


def add_ready(verbs: Verbs) -> None:
    """Add the verb `ready`."""
    verb = add_verb(verbs, ready, "ready", "ready demo --rehearsed-within 48h")
    verb.add_duration("--rehearsed-within", "how old the newest rehearsal may be", "24h")
    add_folder(verb)
    add_output(verb)


def ready(arguments: Namespace) -> int:
    """Print the answer as lines or as one JSON document; the exit code gives it too."""
    store = opened(arguments.evidence_root, arguments.name)
    longest = timedelta(seconds=arguments.rehearsed_within)
    answer = ready_answer(store, filed_migration(arguments), longest, datetime.now(UTC))
    respond(arguments, answer, ready_lines(answer))
    return ExitCode.DONE if answer.answer == "yes" else ExitCode.NOT_READY


def ready_lines(answer: ReadyAnswer) -> list[str]:
    """Return the answer as lines of text: yes or no, every condition, what the rehearsal measured, the deadline."""
    conditions = condition_lines(f"May {answer.migration} be cut over?", answer.conditions)
    start = answer.next_start
    deadline = [sentence(f"The next run must start before {start.words(answer.local)}")] if start else []
    return [*readable(conditions, answer.local), *_rehearsal_lines(answer), *deadline, *_file_lines(answer.cutover)]


def _rehearsal_lines(answer: ReadyAnswer) -> Iterator[str]:
    if found := answer.rehearsal:
        phases = ", ".join(f"{name} {duration(seconds)}" for name, seconds in found.seconds.items())
        ended = f"{answer.local.minute(found.at)}, {answer.rehearsal_age}"
        yield f"The newest rehearsal ended at {ended} ({run_name(found.run)}). It took: {phases or 'not known'}."
        yield from (f"  {note}" for note in found.notes)
        yield from forecast_lines(found.stand_still)


def _file_lines(cutover: FiledCutover | None) -> Iterator[str]:
    if cutover is None:
        return
    who = some(cutover.approvers) if cutover.approvers else "every user who may answer in Airflow"
    other = ", another user than the one who triggers the run" if cutover.four_eyes else ""
    yield f"Approvers: {who}{other}. Hooks: {some(cutover.hooks) if cutover.hooks else 'none'}."
