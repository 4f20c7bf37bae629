"""Checks after the syncs. Pure: numbers in, problems out; an empty list means success."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sandbox.data.reading import Content, Contents
from sandbox.demo.evidence import RunEvidence

Counts = Mapping[str, int]


def sync_problems(seeded: Counts, sent: Counts, syncs: Sequence[RunEvidence]) -> list[str]:
    """Compare the runs' records with the producers' counts.

    Args:
        seeded: visible records per topic before the first run.
        sent: visible records per topic in all.
        syncs: three runs: under traffic, with the delta since, with nothing new.
    """
    first, second, third = syncs
    return [
        *(p for topic, count in seeded.items() for p in _covers_history(topic, count, first)),
        *(p for topic, count in sent.items() for p in _adds_up(topic, count, syncs)),
        *([] if second.total_records else ["the second sync validated no records although some were new"]),
        *([f"the third sync validated {third.total_records:,} records, none were new"] if third.total_records else []),
    ]


def _covers_history(topic: str, count: int, first: RunEvidence) -> Iterator[str]:
    validated = first.records[topic].source_records if topic in first.records else 0
    if validated < count:
        yield f"topic {topic}: the first sync validated {validated:,} of the {count:,} records that were there before"


def _adds_up(topic: str, count: int, syncs: Sequence[RunEvidence]) -> Iterator[str]:
    validated = [run.records[topic] for run in syncs if topic in run.records]
    source, target = sum(c.source_records for c in validated), sum(c.target_records for c in validated)
    if (source, target) != (count, count):
        yield f"topic {topic}: {count:,} records were sent, the runs validated {source:,} (source), {target:,} (target)"


def content_problems(sent: Counts, source: Contents, target: Contents) -> list[str]:
    """Compare what plain consumers read on both sides with each other and with what was sent."""
    return [
        *(p for topic in sent for p in _differences(topic, source[topic], target[topic])),
        *(
            f"topic {topic}: {count:,} records were sent, a consumer of the source reads {total:,}"
            for topic, count in sent.items()
            if (total := visible_records(source[topic])) != count
        ),
    ]


def visible_records(partitions: Mapping[int, Content]) -> int:
    """Return the total number of records in a topic's partitions."""
    return sum(content.records for content in partitions.values())


def _differences(topic: str, source: Mapping[int, Content], target: Mapping[int, Content]) -> Iterator[str]:
    if source.keys() != target.keys():
        yield f"topic {topic}: {len(source)} partitions on the source, {len(target)} on the target"
        return
    for partition, content in source.items():
        other = target[partition]
        if content.records != other.records:
            where = f"topic {topic}, partition {partition}"
            yield f"{where}: consumers read {content.records:,} records on the source, {other.records:,} on the target"
        elif content.digest != other.digest:
            yield f"topic {topic}, partition {partition}: equal numbers of records on both sides, but different content"
