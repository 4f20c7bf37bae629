"""The clocks of the MirrorMaker host and of both clusters agree."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.mirror.host import ProbeSubject
from kafka_migration.preflight.scene.asking_host import SIDES, only_with_tools, tool, unknown_warnings
from kafka_migration.preflight.scene.check import Check, Subject
from kafka_migration.preflight.scene.machine_rules import clock_findings
from kafka_migration.preflight.scene.quorum import CLUSTER_TIME, controller_time
from kafka_migration.preflight.scene.tool_answers import UnknownFact, answer_of


def _warn(subject: Subject) -> Iterable[Finding]:
    found: list[Finding] = []
    unknowns: dict[str, UnknownFact] = {}
    for side in SIDES:
        shown = _time(subject, side)
        if isinstance(shown, UnknownFact):
            unknowns[f"{side}.connection"] = shown
        else:
            found += clock_findings(f"the {side} and the MirrorMaker host", shown, *_call(subject, side))
    return (*found, *unknown_warnings(unknowns, is_more_known=bool(found)))


def _time(subject: Subject, side: Side) -> datetime | UnknownFact:
    answer = answer_of(CLUSTER_TIME, tool(subject, ProbeSubject.CLOCK, side), "Describe on the cluster")
    return answer if isinstance(answer, UnknownFact) else controller_time(answer)


def _call(subject: Subject, side: Side) -> tuple[datetime, datetime]:
    """Return the host's times before and after the call; the second one is of a whole second."""
    facts = tool(subject, ProbeSubject.CLOCK, side)
    before, after = (datetime.fromtimestamp(int(facts[name]), UTC) for name in ("clock_before", "clock"))
    return before, after + timedelta(seconds=1)


CHECK = Check("cluster clocks", lambda _: (), needs=("clusters", "host"), warn=only_with_tools(_warn))
