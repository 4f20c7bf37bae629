"""`kafka-migration status`: where a migration stands, from its ledger."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from kafka_migration.cli.output import ExitCode, aligned, say
from kafka_migration.cli.store import MigrationStore
from kafka_migration.core.generations import Generation
from kafka_migration.core.stop_request import StopRequest

STATUS_SCHEMA = 3


def status(arguments: Namespace) -> int:
    """Print the status as lines, or as one JSON document."""
    document = status_document(MigrationStore.open(arguments.evidence_root, arguments.name))
    say([json.dumps(document, indent=1, ensure_ascii=False)] if arguments.json else status_lines(document))
    return ExitCode.DONE


def status_document(store: MigrationStore) -> dict[str, Any]:
    """Return what is known of the migration as plain JSON values; `None` is *nothing yet*."""
    ledger = store.ledger.read()
    covered = ledger.coverage()
    last = ledger.last_generation
    asked = None if last is None else store.stop_requests.find(last.number)
    return {
        "schema": STATUS_SCHEMA,
        "migration": store.name,
        "phase": str(ledger.phase),
        "cutovers": [each.to_document() for each in ledger.cutovers],
        "rollbacks": [each.to_document() for each in ledger.rollbacks],
        "last_generation": last and _generation(last, asked),
        "pending_generations": [generation.number for generation in ledger.pending_generations],
        "topics": {
            topic: _text(covered[topic].verdict if topic in covered else None)
            for topic in sorted({*ledger.topics, *covered})
        },
    }


def status_lines(document: Mapping[str, Any]) -> list[str]:
    """Return the status for a person."""
    generation = document["last_generation"]
    rows = [("Migration", document["migration"]), ("Phase", document["phase"])]
    rows += [_happened("Cut over", each) for each in document["cutovers"]]
    rows += [_happened("Rolled back", each) for each in document["rollbacks"]]
    rows += _generation_rows(generation) if generation else [("Generation", "none: MirrorMaker was never started")]
    pending = ", ".join(str(number) for number in document["pending_generations"])
    rows.append(("Pending", f"generation {pending}: stopped, not validated yet" if pending else "none"))
    topics = [(topic, verdict or "not validated yet") for topic, verdict in document["topics"].items()]
    return [*aligned(rows), *(["", *aligned([("TOPIC", "VERDICT"), *topics])] if topics else [])]


def _happened(what: str, entry: Mapping[str, Any]) -> tuple[str, str]:
    return what, f"{', '.join(entry['topics'])} at {entry['at']} by {entry['run']}"


def _generation(generation: Generation, asked: StopRequest | None) -> dict[str, Any]:
    return {
        "number": generation.number,
        "run": generation.start.run,
        "started_at": generation.start.at,
        "open": generation.stop is None,
        "stop_request": asked and asked.to_document(),
        "certificate": generation.stop and generation.stop.to_document(),
    }


def _generation_rows(generation: Mapping[str, Any]) -> list[tuple[str, str]]:
    stop, asked = generation["certificate"], generation["stop_request"]
    state = "open" if generation["open"] else "stopped"
    rows = [
        ("Generation", f"{generation['number']}, {state}, started {generation['started_at']}"),
        ("Run", generation["run"]),
    ]
    if asked is not None:
        rows.append(("Request", str(StopRequest.from_document(asked))))
    if stop is not None:
        rows.append(("Certificate", stopped_words(stop)))
    return rows


def stopped_words(stop: Mapping[str, Any]) -> str:
    """Say in words how a generation ended, from its certificate's document."""
    manner = "gracefully" if stop["graceful"] else "not gracefully"
    exit_code = "not known" if stop["exit_code"] is None else stop["exit_code"]
    return f"{stop['at']}, {stop['reason']}, {manner} (exit code {exit_code})"


def _text(value: object | None) -> str | None:
    return None if value is None else str(value)
