"""`kafka-migration decommission`: whether the source cluster may be switched off."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from kafka_migration.cli.arguments import Verbs, add_output, add_verb, duration_s, is_json
from kafka_migration.cli.output import ExitCode, say, say_json
from kafka_migration.cli.store import MigrationStore
from kafka_migration.core.ledger.chain import Confirmation
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.rollback.decommission import Point, WaitingTimes, decommission_points, may_go
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.steps.run import resolved

DECOMMISSION_SCHEMA = 2


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
    """Return every question with its answer as plain JSON values."""
    ledger, now = store.ledger.read(), datetime.now(UTC)
    if not ledger.cutovers:
        reason = f"phase {ledger.phase}: nothing is cut over"
        points: tuple[Point, ...] = (Point("Is every topic cut over?", "no", (reason,)),)
    else:
        points = _points(store, ledger, now, patience)
    confirmation = store.confirmation()
    if confirmation.not_confirmed:
        points = (Point("Does Airflow confirm the ledger?", "no", (str(confirmation),)), *points)
    return {
        "schema": DECOMMISSION_SCHEMA,
        "migration": store.name,
        "at": now.isoformat(timespec="seconds"),
        "ledger": confirmation.to_document(),
        "answer": "yes" if may_go(points) else "no",
        "points": [point.to_document() for point in points],
    }


def _points(store: MigrationStore, ledger: Ledger, now: datetime, patience: WaitingTimes) -> tuple[Point, ...]:
    # Importing Airflow takes seconds, and only this branch reads the clusters.
    from kafka_migration.adapters.renamed_topics import RenamedTopics
    from kafka_migration.airflow_adapters.connections import cluster_named
    from kafka_migration.steps.rollback.decommission import read_old_cluster

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
    return decommission_points(old, patience)


def _migration(store: MigrationStore, ledger: Ledger) -> Migration:
    """Return the migration as frozen by the run of the last cutover."""
    run = ledger.cutovers[-1].run
    evidence = store.evidence_of(run)
    filed = load_migration(evidence.frozen_migration(), where=f"{store.name} (frozen)")
    return resolved(filed, evidence, lambda: ledger)


def decommission_lines(document: Mapping[str, Any]) -> list[str]:
    """Return the answer as lines of text: yes, or no with every reason."""
    reasons = [
        f"  {point['question']} {reason}"
        for point in document["points"]
        if point["answer"] == "no"
        for reason in point["reasons"]
    ]
    head = "yes" if document["answer"] == "yes" else "no, because"
    ledger = f"The ledger has {Confirmation.from_document(document['ledger'])}."
    return [f"May the source of {document['migration']} be switched off? {head}", *reasons, ledger]
