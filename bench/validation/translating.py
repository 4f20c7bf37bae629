"""The cost of translating offsets of consumer groups after a copy that does not keep partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from bench.measuring import interleaved, ratio
from bench.results import Row
from bench.sizes import Translation as Size
from bench.validation.arms import Arms
from bench.validation.data import Topic, fill, keyed
from bench.validation.scene import spark_session, two_clusters
from kafka_digest.reading.kafka_clusters import Clusters
from kafka_digest.reading.read_windows import SideRange
from kafka_digest.runtime.job_errors import JobError
from kafka_digest.translate.passes import Translation
from kafka_digest.translate.vectors import TopicCopy

# The share of each partition that the groups have not read.
LAGS = (0.1, 0.01, 0.001)
SOURCE_PARTITIONS, TARGET_PARTITIONS = 4, 5
KEYS = 10_000


def rows(size: Size) -> Iterator[Row]:
    """Time the translation and a scan of the same topic."""
    with two_clusters() as (_, sides), spark_session() as session:
        arms = Translating.filled(session, sides, size.records, KEYS)
        costs = interleaved({"translation": arms.translate, "scan": arms.scan}, size.runs)
    name = "offsets of 3 groups, other partitions ÷ scan"
    yield ratio(name, costs, "translation", "scan", (2 * size.records, 2 * size.records))


@dataclass(frozen=True, slots=True)
class Translating:
    """Three groups on a topic that has other partitions on the target."""

    session: SparkSession
    sides: Mapping[str, str]
    topic: Topic

    @classmethod
    def filled(cls, session: SparkSession, sides: Mapping[str, str], records: int, keys: int) -> Translating:
        """Write the topic to both sides."""
        partitions = {"source": SOURCE_PARTITIONS, "target": TARGET_PARTITIONS}
        topics = {side: keyed("moved", records, keys, partitions[side]) for side in sides}
        for side, topic in topics.items():
            fill({side: sides[side]}, [topic])
            topics["source"].sizes.update(topic.sizes)
        return cls(session, sides, topics["source"])

    def scan(self) -> None:
        """Read both sides into nothing."""
        Arms(self.session, self.sides, self.topic).scan()

    def translate(self) -> None:
        """Translate the offsets of all groups."""
        clients = {side: {"kafka.bootstrap.servers": address} for side, address in self.sides.items()}
        clusters = Clusters(self.session, clients, "read_committed", dict.fromkeys(self.sides, ()))
        ends, theirs = self.topic.sizes["source"], self.topic.sizes["target"]
        vectors = [{number: int(end * (1 - lag)) for number, end in ends.items()} for lag in LAGS]
        ranges = {
            "source": [SideRange("moved", number, vectors[0][number], end) for number, end in ends.items()],
            "target": [SideRange("moved", number, 0, end) for number, end in theirs.items()],
        }
        copy = TopicCopy("moved", "moved", by_key=True, is_compacted=False, ranges=ranges, vectors=vectors)
        (found,) = Translation(clusters).run([copy])
        assert not isinstance(found, JobError)
        for one, vector in zip(found, vectors, strict=True):
            assert not one.missing
            assert one.unread == sum(end - vector[number] for number, end in ends.items()) <= one.delivered
