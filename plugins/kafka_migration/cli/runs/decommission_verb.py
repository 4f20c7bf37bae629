"""`kafka-migration decommission`: whether the source cluster may be switched off."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from kafka_migration.cli.shell.arguments import Verbs, add_output, add_verb, duration_s, is_json
from kafka_migration.cli.shell.evidence_access import MigrationStore
from kafka_migration.cli.shell.output import ExitCode, say, say_json
from kafka_migration.core.ledger.chain import Confirmation
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.rollback.decommission import (
    EVERY_TOPIC_CUT_OVER,
    Condition,
    NotKnown,
    State,
    WaitingTimes,
    condition,
    decommission_conditions,
    may_go,
)
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.steps.run.migration_run import resolved

DECOMMISSION_SCHEMA = 3


def add_decommission(verbs: Verbs) -> None:
    """Add the verb `decommission`."""
    text = "check whether the source cluster may be switched off"
    verb = add_verb(verbs, "decommission", text, "decommission demo --quiet 48h")
    verb.add_argument(
        "--quiet",
        type=duration_s,
        default="24h",
        metavar="TIME",
        help="required time without writes to the source (default: 24h)",
    )
    verb.add_argument(
        "--overlap",
        type=duration_s,
        metavar="TIME",
        help="time after a cutover in which a rollback is possible (default: the retention of the source topic)",
    )
    add_output(verb)
    verb.set_defaults(run=decommission)


def decommission(arguments: Namespace) -> int:
    """Print the answer as lines or as one JSON document; the exit code gives it too."""
    # Outside of a task, connections in Airflow's database are visible only with this setting.
    os.environ.setdefault("_AIRFLOW_PROCESS_CONTEXT", "server")
    store = MigrationStore.open(arguments.evidence_root, arguments.name)
    overlap = None if arguments.overlap is None else timedelta(seconds=arguments.overlap)
    document = decommission_document(store, WaitingTimes(timedelta(seconds=arguments.quiet), overlap))
    say_json(document) if is_json(arguments) else say(decommission_lines(document))
    return ExitCode.DONE if document["answer"] == "yes" else ExitCode.NOT_READY


def decommission_document(store: MigrationStore, patience: WaitingTimes) -> dict[str, Any]:
    """Return every condition with its state as plain JSON values."""
    ledger, now = store.ledger.read(), datetime.now(UTC)
    if not ledger.cutovers:
        reason = f"phase {ledger.phase}: nothing is cut over"
        conditions: tuple[Condition, ...] = (condition(EVERY_TOPIC_CUT_OVER, [reason]),)
    else:
        conditions = _conditions(store, ledger, now, patience)
    confirmation = store.confirmation()
    if confirmation.not_confirmed:
        conditions = (condition("Airflow confirms the ledger", [NotKnown(confirmation)]), *conditions)
    return {
        "schema": DECOMMISSION_SCHEMA,
        "migration": store.name,
        "at": now.isoformat(timespec="seconds"),
        "ledger": confirmation.to_document(),
        "answer": "yes" if may_go(conditions) else "no",
        "conditions": [each.to_document() for each in conditions],
    }


def _conditions(store: MigrationStore, ledger: Ledger, now: datetime, patience: WaitingTimes) -> tuple[Condition, ...]:
    # Importing Airflow takes seconds, and only this branch reads the clusters.
    from kafka_migration.adapters.kafka.renamed_topics import RenamedTopics
    from kafka_migration.airflow_adapters.airflow_connections import cluster_named
    from kafka_migration.steps.rollback.decommissioning import read_old_cluster

    migration = _migration(store, ledger)
    names = {topic: migration.target_topic(topic) for topic in {*migration.topics, *ledger.copied_topics}}
    source = cluster_named("source", migration.source.connection, migration.source.insecure)
    target = cluster_named("target", migration.target.connection, migration.target.insecure)
    old = read_old_cluster(
        now=now,
        ledger=ledger,
        topics=migration.topics,
        source=source,
        target=RenamedTopics(target, names) if migration.renames else target,
        evidence_of=store.evidence_of,
    )
    return decommission_conditions(old, patience)


def _migration(store: MigrationStore, ledger: Ledger) -> Migration:
    """Return the migration as frozen by the run of the last cutover."""
    run = ledger.cutovers[-1].run
    evidence = store.evidence_of(run)
    filed = load_migration(evidence.frozen_migration(), where=f"{store.name} (frozen)")
    return resolved(filed, evidence, lambda: ledger)


_WORST_FIRST = (State.NOT_MET, State.UNKNOWN, State.MET)


def decommission_lines(document: Mapping[str, Any]) -> list[str]:
    """Return the answer as lines of text: yes or no, then every condition with its state, the unmet first."""
    conditions = document["conditions"]
    lines = [line for state in _WORST_FIRST for each in conditions if each["state"] == state for line in _lines(each)]
    ledger = f"The ledger has {Confirmation.from_document(document['ledger'])}."
    return [f"May the source of {document['migration']} be switched off? {_answer(conditions)}", *lines, ledger]


def _answer(conditions: Sequence[Mapping[str, Any]]) -> str:
    if all(each["state"] == State.MET for each in conditions):
        return f"Yes: all {len(conditions)} conditions are met."
    counts = [(sum(each["state"] == state for each in conditions), state) for state in _WORST_FIRST[:2]]
    words = " and ".join(f"{count} {'is' if count == 1 else 'are'} {state}" for count, state in counts if count)
    return f"No: of {len(conditions)} conditions, {words}."


def _lines(found: Mapping[str, Any]) -> list[str]:
    line, reasons = f"  {found['condition']} – {found['state'].upper()}", found["reasons"]
    if len(reasons) <= 1:
        return [": ".join((line, *reasons))]
    return [f"{line}:", *(f"    {reason}" for reason in reasons)]
