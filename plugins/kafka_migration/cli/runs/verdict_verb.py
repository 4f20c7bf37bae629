"""`kafka-migration verdict`: the verdict of all runs on each topic, from the ledger alone."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping

from kafka_migration.cli.shell.arguments import Verbs, add_output, add_verb
from kafka_migration.cli.shell.evidence_access import opened
from kafka_migration.cli.shell.output import ExitCode, aligned, respond
from kafka_migration.core.run.run_names import readable, run_names
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.terminal_text import record_count
from kafka_migration.steps.answers.status_answer import ProvedTopic, VerdictAnswer, verdict_answer

_EXIT_CODES = {
    "FAIL": ExitCode.FAILED,
    "NOT_VERIFIABLE": ExitCode.NOT_READY,
    "nothing copied": ExitCode.NOT_READY,
    "pending": ExitCode.NOT_READY,
}


def add_verdict(verbs: Verbs) -> None:
    """Add the verb `verdict`."""
    verb = add_verb(verbs, verdict, "verdict", "verdict demo")
    add_output(verb)


def verdict(arguments: Namespace) -> int:
    """Print the verdicts as lines or as one JSON document; the exit code tells if everything is proved."""
    answer = verdict_answer(opened(arguments.evidence_root, arguments.name))
    respond(arguments, answer, verdict_lines(answer))
    if answer.contradictions or answer.ledger.not_confirmed:
        return ExitCode.FAILED
    return _EXIT_CODES.get(answer.standing, ExitCode.DONE)


def verdict_lines(answer: VerdictAnswer) -> list[str]:
    """Return the verdicts as lines of text."""
    local, names = answer.local, run_names(found.judged_by for found in answer.topics.values() if found.judged_by)
    as_of = f"{local.minute(answer.as_of)}, from the ledger; clusters were not read" if answer.as_of else "no run yet"
    but = ", CONTRADICTED by a later finding" if answer.contradictions else ""
    head = [("Migration", answer.migration), ("As of", as_of)]
    head += [("Ledger", str(answer.ledger)), ("Verdict", f"{answer.standing}{but}")]
    head += [("Contradicted", each) for each in readable(map(str, answer.contradictions), local)]
    rows = [(topic, *_cells(found, local, names)) for topic, found in answer.topics.items()]
    reasons = [f"{topic}: {reason}" for topic, found in answer.topics.items() for reason in _reasons(found)]
    return [
        *aligned(head),
        *(["", *aligned([_COLUMNS, *rows])] if rows else []),
        *(["", *readable(reasons, local)] if reasons else []),
    ]


_COLUMNS = ("TOPIC", "VERDICT", "SOURCE RECORDS", "TARGET RECORDS", "LAST JUDGED")


def _cells(found: ProvedTopic, local: LocalTime, names: Mapping[str, str]) -> tuple[str, ...]:
    judged = f"{local.cell(found.judged_at)} by {names.get(found.judged_by or '', '–')}" if found.judged_at else "never"
    return found.standing, record_count(found.source_records), record_count(found.target_records), judged


def _reasons(found: ProvedTopic) -> Iterator[str]:
    if more := found.surplus_records:
        yield f"{more:,} target records more than on the source, tolerated: most were sent again after a kill"
    yield from found.reasons
    if found.further_reasons:
        yield f"and {found.further_reasons:,} more; -o json shows all"
