"""What Spark read of Kafka, from the event log of an application."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

# Spark's names for its scans of Kafka, for the older and the newer kind of source.
KAFKA_SCANS = ("Scan KafkaRelation", "BatchScan KafkaTable")
_ROWS = "number of output rows"


def logged_to(folder: Path) -> dict[str, str]:
    """Return the settings with which Spark writes its event log to a folder, as one readable file."""
    folder.mkdir()
    switches = {"spark.eventLog.enabled": "true", "spark.eventLog.compress": "false"}
    return {**switches, "spark.eventLog.rolling.enabled": "false", "spark.eventLog.dir": folder.as_uri()}


def scanned(folder: Path, names: tuple[str, ...] = KAFKA_SCANS) -> list[list[int]]:
    """Return the records that each scan has read, sorted, for each query with a scan, in order.

    A query on a cached result shows the scans of that result again.
    """
    (log,) = folder.iterdir()
    scans: dict[int, set[int]] = {}
    rows: dict[int, int] = {}
    for line in log.read_text().splitlines():
        event = json.loads(line)
        if plan := event.get("sparkPlanInfo"):
            # Spark logs a plan again if it changes during the run, with the same counters.
            scans.setdefault(event["executionId"], set()).update(_counters(plan, names))
        for counter in event.get("Stage Info", {}).get("Accumulables", ()):
            if event["Event"] == "SparkListenerStageCompleted" and counter["Name"] == _ROWS:
                rows[counter["ID"]] = int(counter["Value"])
    return [sorted(rows.get(counter, 0) for counter in found) for _, found in sorted(scans.items()) if found]


def _counters(plan: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[int]:
    if plan["nodeName"].startswith(names):
        yield from (metric["accumulatorId"] for metric in plan["metrics"] if metric["name"] == _ROWS)
    for child in plan["children"]:
        yield from _counters(child, names)
