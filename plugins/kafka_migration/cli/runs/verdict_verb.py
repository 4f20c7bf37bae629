"""`kafka-migration verdict`: the verdict of all runs on each topic, from the ledger alone."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from kafka_migration.adapters.store.document_files import naming
from kafka_migration.adapters.store.run_status_store import LAST_RUN_FILE
from kafka_migration.cli.shell.arguments import Verbs, add_output, add_verb, is_json
from kafka_migration.cli.shell.evidence_access import MigrationStore
from kafka_migration.cli.shell.output import ExitCode, aligned, say, say_json
from kafka_migration.core.ledger.chain import Confirmation
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.report.run_status import Contradiction, LastRun
from kafka_migration.core.text.terminal_text import record_count
from kafka_migration.core.validation.coverage import TopicCoverage
from kafka_migration.core.validation.coverage_rules import coverage_of

VERDICT_SCHEMA = 3
# From worst to best. The worst standing of any topic is that of the migration.
_STANDINGS = ("FAIL", "NOT_VERIFIABLE", "nothing copied", "pending", "WARN", "PASS")
_EXIT_CODES = {
    "FAIL": ExitCode.FAILED,
    "NOT_VERIFIABLE": ExitCode.FAILED,
    "nothing copied": ExitCode.NOT_READY,
    "pending": ExitCode.NOT_READY,
}


def add_verdict(verbs: Verbs) -> None:
    """Add the verb `verdict`."""
    text = "show the verdict of all runs on each topic, from the ledger"
    verb = add_verb(verbs, "verdict", text, "verdict demo")
    add_output(verb)
    verb.set_defaults(run=verdict)


def verdict(arguments: Namespace) -> int:
    """Print the verdicts as lines or as one JSON document; the exit code tells if everything is proved."""
    document = verdict_document(MigrationStore.open(arguments.evidence_root, arguments.name))
    say_json(document) if is_json(arguments) else say(verdict_lines(document))
    if document["contradictions"] or document["ledger"]["not_confirmed"]:
        return ExitCode.FAILED
    return _EXIT_CODES.get(document["standing"], ExitCode.DONE)


def verdict_document(store: MigrationStore) -> dict[str, Any]:
    """Return the verdicts in the ledger as plain JSON values."""
    ledger = store.ledger.read()
    covered = {**{topic: TopicCoverage(topic) for topic in ledger.topics}, **coverage_of(ledger)}
    standings = {topic.standing for topic in covered.values()} or {"nothing copied"}
    return {
        "schema": VERDICT_SCHEMA,
        "migration": store.name,
        "as_of": _newest_time(ledger),
        "ledger": store.confirmation().to_document(),
        "standing": next(standing for standing in _STANDINGS if standing in standings),
        "contradictions": [each.to_document() for each in _contradictions(store)],
        "topics": {topic: covered[topic].to_document() for topic in sorted(covered)},
    }


def _contradictions(store: MigrationStore) -> tuple[Contradiction, ...]:
    """Return later findings of runs that contradict a good verdict."""
    with naming(store.news.folder / LAST_RUN_FILE):
        last = store.news.last_run()
        return () if last is None else LastRun.from_document(last).contradictions


def verdict_lines(document: Mapping[str, Any]) -> list[str]:
    """Return the verdicts as lines of text."""
    as_of = f"{document['as_of']}, from the ledger; clusters were not read" if document["as_of"] else "no run yet"
    contradictions = [Contradiction.from_document(each) for each in document["contradictions"]]
    but = ", CONTRADICTED by a later finding" if contradictions else ""
    head = [("Migration", document["migration"]), ("As of", as_of)]
    head += [
        ("Ledger", str(Confirmation.from_document(document["ledger"]))),
        ("Verdict", f"{document['standing']}{but}"),
    ]
    head += [("Contradicted", str(each)) for each in contradictions]
    topics = document["topics"]
    rows = [(topic, *_cells(found)) for topic, found in topics.items()]
    reasons = [f"{topic}: {reason}" for topic, found in topics.items() for reason in _reasons(found)]
    return [
        *aligned(head),
        *(["", *aligned([_COLUMNS, *rows])] if rows else []),
        *(["", *reasons] if reasons else []),
    ]


_COLUMNS = ("TOPIC", "VERDICT", "SOURCE OFFSETS", "TARGET RECORDS", "LAST JUDGED")


def _cells(found: Mapping[str, Any]) -> tuple[str, ...]:
    judged = f"{found['judged_at']} by {found['judged_by']}" if found["judged_at"] else "never"
    return found["standing"], f"{found['source_offsets']:,}", record_count(found["target_records"]), judged


def _reasons(found: Mapping[str, Any]) -> Iterator[str]:
    if more := found["surplus_records"]:
        yield f"{more:,} target records more than on the source, tolerated: most were sent again after a kill"
    yield from found["reasons"]
    if found["further_reasons"]:
        yield f"and {found['further_reasons']:,} more; -o json shows all"


def _newest_time(ledger: Ledger) -> str | None:
    """Return the time of the newest entry about the copy."""
    generations = [moment.at for g in ledger.generations for moment in (g.start, g.stop) if moment is not None]
    return max([*generations, *(judgement.at for judgement in ledger.judgements)], default=None)
