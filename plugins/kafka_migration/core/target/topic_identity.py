"""Are the topics still those that MirrorMaker started with?

A topic that is deleted and created again has another id. Brokers before Kafka 2.8 have no ids: there an end that falls
shows it, as also after a broker has lost records (unclean leader election).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.target.target_topics import (
    COPY_ELSEWHERE,
    OTHERS_CONTINUE,
    RECREATED_MATTERS,
    RECREATED_TARGET,
)

_CODES: Mapping[Side, Code] = {"source": Code.SOURCE_TOPIC_RECREATED, "target": Code.TARGET_TOPIC_RECREATED}
_ACTS: Mapping[Side, str] = {
    "source": f"Do not delete the target topic. {COPY_ELSEWHERE} {OTHERS_CONTINUE}",
    "target": RECREATED_TARGET,
}
_DANGER: Mapping[Side, str] = {
    "source": "MirrorMaker would mix records of both topics. The target may hold the only copy of the old topic's "
    "records.",
    "target": RECREATED_MATTERS,
}


@dataclass(slots=True)
class IdentityWatch:
    """The topics of one side since MirrorMaker's start.

    `ids` are those at the start. `ends` are the highest ends seen so far per partition, or lower ones at the start.
    """

    side: Side
    generation: int
    ids: Mapping[str, str]
    ends: dict[TopicPartition, int] = field(default_factory=dict)

    def take(self, ids: Mapping[str, str], ends: Offsets) -> tuple[Finding, ...]:
        """Add a reading; return one finding per topic that is another one. `ends` are those of topics without ids."""
        fallen = {p.topic: (p, end) for p, end in sorted(ends.items(), reverse=True) if end < self.ends.get(p, end)}
        findings = (*self._renewed(ids), *(self._fallen(p, end) for _, (p, end) in sorted(fallen.items())))
        self.ends |= {p: max(end, self.ends.get(p, end)) for p, end in ends.items()}
        return findings

    def _renewed(self, ids: Mapping[str, str]) -> Iterator[Finding]:
        for topic, present in sorted(ids.items()):
            known = self.ids.get(topic)
            if present and known and present != known:
                expected = f"{known}, the topic id when generation {self.generation} started"
                yield self._finding(topic, f"topic id {present}", expected, f"topic id {known}, now {present}", "")

    def _fallen(self, partition: TopicPartition, end: int) -> Finding:
        found = f"end {end:,} on partition {partition.partition}"
        expected = f"at least {self.ends[partition]:,}, the end seen before"
        change = f"end of partition {partition.partition} {self.ends[partition]:,}, now {end:,}"
        return self._finding(partition.topic, found, expected, change, ", or a broker lost records of it,")

    def _finding(self, topic: str, found: str, expected: str, change: str, doubt: str) -> Finding:
        happened = (
            f"The {self.side} topic {topic} ({change}) was deleted and created again{doubt} while MirrorMaker ran."
        )
        return _finding(self.side, topic, found, expected, happened)


def recreated_finding(side: Side, topic: str) -> Finding:
    """Return the finding of a topic that was another one when MirrorMaker was stopped."""
    found = f"another topic of this name on the {side} when MirrorMaker was stopped"
    happened = f"The {side} topic {topic} was deleted and created again before MirrorMaker was stopped."
    return _finding(side, topic, found, "the topic that was copied", happened)


def _finding(side: Side, topic: str, found: str, expected: str, happened: str) -> Finding:
    return Finding(
        _CODES[side], f"topic {topic}", found, expected, _ACTS[side], happened=happened, matters=_DANGER[side]
    )


def recreated_topics(findings: Iterable[Finding], side: Side) -> frozenset[str]:
    """Return the topics of one side that findings name as created again."""
    return frozenset(each.subject.removeprefix("topic ") for each in findings if each.code is _CODES[side])
