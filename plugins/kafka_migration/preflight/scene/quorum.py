"""The time of a KRaft cluster, as its active controller shows it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from kafka_migration.preflight.scene.tool_answers import UnknownFact

# Until the year 5138; more digits are no time.
_MILLISECONDS = re.compile(r"\d{1,14}", re.ASCII)
CLUSTER_TIME = "the time of the cluster"


def controller_time(output: str) -> datetime | UnknownFact:
    """Return the time of the active controller in the output of `MetadataQuorumCommand describe --replication`.

    The leader's own last fetch is its present time. The columns end with the last fetch, the last time without lag, and
    the status.
    """
    rows = [line.split() for line in output.splitlines()]
    leaders = [row for row in rows if len(row) > 3 and row[-1] == "Leader" and _MILLISECONDS.fullmatch(row[-3])]
    if not leaders or int(leaders[0][-3]) == 0:
        return UnknownFact(CLUSTER_TIME, "its controller does not show it (Kafka 3.3 and newer in KRaft mode do)")
    return datetime.fromtimestamp(int(leaders[0][-3]) / 1000, UTC)
