"""`kafka-migration decommission`: whether the source cluster may be switched off."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain

from kafka_migration.cli.shell.airflow_access import cluster_at, need_connections
from kafka_migration.cli.shell.arguments import Verbs, add_output, add_verb
from kafka_migration.cli.shell.evidence_access import opened
from kafka_migration.cli.shell.output import ExitCode, respond
from kafka_migration.cli.shell.progress_line import working
from kafka_migration.core.rollback.decommission import Condition, State, WaitingTimes, may_go
from kafka_migration.steps.rollback.decommissioning import DecommissionAnswer, decommission_answer


def add_decommission(verbs: Verbs) -> None:
    """Add the verb `decommission`."""
    verb = add_verb(verbs, decommission, "decommission", "decommission demo --quiet-for 48h")
    verb.add_duration("--quiet-for", "required time without writes to the source", "24h")
    verb.add_renamed("--quiet", "--quiet-for DURATION")
    text = (
        "time after a cutover in which a rollback is possible, such as 48h (default: the retention of the source topic)"
    )
    verb.add_duration("--overlap", text)
    add_output(verb)


def decommission(arguments: Namespace) -> int:
    """Print the answer as lines or as one JSON document; the exit code gives it too."""
    need_connections()
    overlap = None if arguments.overlap is None else timedelta(seconds=arguments.overlap)
    patience = WaitingTimes(timedelta(seconds=arguments.quiet_for), overlap)
    store = opened(arguments.evidence_root, arguments.name)
    working("Reading the evidence and both clusters")
    answer = decommission_answer(store, patience, datetime.now(UTC), cluster_at)
    respond(arguments, answer, decommission_lines(answer))
    return ExitCode.DONE if answer.answer == "yes" else ExitCode.NOT_READY


_WORST_FIRST = (State.NOT_MET, State.UNKNOWN, State.MET)


def decommission_lines(answer: DecommissionAnswer) -> list[str]:
    """Return the answer as lines of text: yes or no, then every condition with its state, the unmet first."""
    head = f"May the source of {answer.migration} be switched off?"
    return [*condition_lines(head, answer.conditions), f"The ledger has {answer.ledger}."]


def condition_lines(question: str, conditions: Sequence[Condition]) -> list[str]:
    """Return a question with its answer, then the conditions with their states, the unmet first."""
    by_state = (each for state in _WORST_FIRST for each in conditions if each.state is state)
    return [f"{question} {_words(conditions)}", *chain.from_iterable(map(_lines, by_state))]


def _words(conditions: Sequence[Condition]) -> str:
    if may_go(conditions):
        return f"Yes: all {len(conditions)} conditions are met."
    counts = [(sum(each.state is state for each in conditions), state) for state in _WORST_FIRST[:2]]
    words = " and ".join(f"{count} {'is' if count == 1 else 'are'} {state}" for count, state in counts if count)
    return f"No: of {len(conditions)} conditions, {words}."


def _lines(found: Condition) -> list[str]:
    line = f"  {found.condition} – {found.state.upper()}"
    if len(found.reasons) <= 1:
        return [": ".join((line, *found.reasons))]
    return [f"{line}:", *(f"    {reason}" for reason in found.reasons)]
