"""Compares by key: all partitions of a topic with all partitions of its copy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kafka_digest.keys.compare import KeyComparison, Unit
from kafka_digest.keys.difference_file import DifferenceFile
from kafka_digest.reading.isolation import Isolation, Search
from kafka_digest.reading.kafka_clusters import SIDES, Clusters
from kafka_digest.reading.read_windows import WindowPlan, rounds_of
from kafka_digest.runtime.job_errors import JobError


@dataclass(frozen=True)
class _Topic:
    """All windows of one topic and generation, compared as a whole."""

    plans: Sequence[WindowPlan]
    unit: Unit

    @property
    def is_comparable(self) -> bool:
        """Whether all records of all windows can be read, except those that were deleted from the beginning.

        The keys of any other unreadable part are unknown.
        """
        return all(plan.is_whole or plan.is_expired for plan in self.plans)

    @property
    def is_suspect(self) -> bool:
        """Whether Spark cannot read an earlier record of one of the logs."""
        return any(plan.is_suspect for plan in self.plans)

    def lacking(self, search: Search, error: JobError) -> _Topic:
        """Return the topic without a comparison: reading it alone raised this error."""
        found = search.find(self.unit.ranges, error)
        plans = [
            plan.lacking(found.side, found.text, has_bad_record=found.has_bad_record)
            if getattr(plan, found.side).place == found.piece.place
            else plan
            for plan in self.plans
        ]
        return replace(self, plans=plans)

    @property
    def equal(self) -> bool:
        """Whether both sides were read completely and all buckets are equal."""
        return all(plan.is_whole for plan in self.plans) and not self.unit.buckets

    def entries(self) -> Iterable[dict[str, Any]]:
        """Return the entry of the result per window."""
        for plan in self.plans:
            source, target = (self.unit.count(side, getattr(plan, side).place) for side in SIDES)
            yield plan.entry(source, target, equal=self.equal) | _ONLY_BY_POSITION

    def document(self, differences: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the entry of the result for the topic."""
        totals = self.unit.totals
        return {
            **{name: self.unit.window[name] for name in ("generation", "topic", "target_topic")},
            "equal": self.equal,
            "differing_buckets": len(self.unit.buckets),
            **{f"{side}_records": totals[side][0] for side in SIDES},
            **{f"{side}_digest": f"{totals[side][1] % (1 << 64):016x}" for side in SIDES},
            "differences": differences,
        }


_ONLY_BY_POSITION = {
    "blocks": 0,
    "differing_blocks": 0,
    "source_digest": None,
    "target_digest": None,
    "first_difference": None,
    "differences": None,
    "rest_in_order": None,
}


def _topics(plans: Sequence[WindowPlan]) -> list[_Topic]:
    """Group plans by generation and topic, in their order."""
    groups: dict[tuple[int, str], list[WindowPlan]] = {}
    for plan in plans:
        groups.setdefault((plan.window["generation"], plan.window["topic"]), []).append(plan)
    return [
        _Topic(group, Unit(number, group[0].window, number, {side: _ranges(group, side) for side in SIDES}))
        for number, group in enumerate(groups.values())
    ]


def _ranges(plans: Iterable[WindowPlan], side: str) -> list[Any]:
    return [getattr(plan, side) for plan in plans]


def _rounds(topics: Iterable[_Topic]) -> list[list[Unit]]:
    """Split topics so that none occurs twice in a round."""
    rounds = rounds_of(topics, lambda topic: [topic.unit.topic_name])
    return [[topic.unit for topic in together] for together in rounds]


@dataclass(frozen=True)
class KeyJob:
    """Compares topics key by key."""

    clusters: Clusters
    file: DifferenceFile
    killed: Collection[int] = ()
    isolation: Isolation = field(default_factory=Isolation)

    def run(self, plans: Sequence[WindowPlan]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the entries of the result per plan, and per topic and generation. Raises `JobError`."""
        topics = _topics(plans)
        comparison = KeyComparison(self.clusters, self.file, null_keys_have_order=False, killed=self.killed)
        lost: dict[int, JobError] = {}
        for together in _rounds(topic for topic in topics if topic.is_comparable):
            lost |= comparison.run(together, self.isolation)
        search = Search(self.clusters.read)
        results = [t.lacking(search, lost[t.unit.number]) if t.unit.number in lost else t for t in topics]
        self.isolation.require_some(has_bad_record=any(plan.has_bad_record for t in results for plan in t.plans))
        found = self.file.summaries()
        entries = {id(plan): e for t, result in zip(topics, results) for plan, e in zip(t.plans, result.entries())}
        documents = [result.document(found.get(result.unit.number)) for result in results]
        return [entries[id(plan)] for plan in plans], documents
