"""The clocks of the MirrorMaker host and of both clusters agree."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.mirror.host import ProbeSubject
from kafka_migration.preflight.host.asking_host import clock_findings, tool_answer, tools, without_tools
from kafka_migration.preflight.scene.check import Asked, Check, Fact, Findings, UnknownFact, warnings_of_sides
from kafka_migration.preflight.scene.scene import SIDES, Scene

_TIME = Fact(
    "what time the cluster's clocks show",
    "With clocks that differ, logins and certificates can fail and retention deletes at other times.",
    "Describe on the cluster",
)
# Until the year 5138; more digits are no time.
_MILLISECONDS = re.compile(r"\d{1,14}", re.ASCII)


def _warn(scene: Scene) -> Findings:
    return warnings_of_sides(
        {side: _time(scene, side) for side in SIDES},
        lambda side, shown: clock_findings(f"the {side}", "the MirrorMaker host", shown, *_call(scene, side)),
    )


def _time(scene: Scene, side: Side) -> datetime | UnknownFact:
    answer = tool_answer(scene, _TIME, ProbeSubject.CLOCK, side)
    return answer if isinstance(answer, UnknownFact) else controller_time(answer)


def controller_time(output: str) -> datetime | UnknownFact:
    """Return the time of the active controller in the output of `MetadataQuorumCommand describe --replication`.

    The leader's own last fetch is its present time. The columns end with the last fetch, the last time without lag, and
    the status.
    """
    rows = [line.split() for line in output.splitlines()]
    leaders = [row for row in rows if len(row) > 3 and row[-1] == "Leader" and _MILLISECONDS.fullmatch(row[-3])]
    if not leaders or int(leaders[0][-3]) == 0:
        return UnknownFact(_TIME, "its controller does not show it (Kafka 3.3 and newer in KRaft mode do)")
    return datetime.fromtimestamp(int(leaders[0][-3]) / 1000, UTC)


def _call(scene: Scene, side: Side) -> tuple[datetime, datetime]:
    """Return the host's times before and after the call; the second one is of a whole second."""
    facts = tools(scene, ProbeSubject.CLOCK)[side]
    before, after = (datetime.fromtimestamp(int(facts[name]), UTC) for name in ("clock_before", "clock"))
    return before, after + timedelta(seconds=1)


CHECK = Check("cluster clocks", asks={Asked.TOOLS}, needs=("clusters", "host"), warn=_warn, unless=without_tools)
