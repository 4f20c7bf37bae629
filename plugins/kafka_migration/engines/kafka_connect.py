"""MirrorMaker 2's source connector on a Kafka Connect cluster; not written yet: it can only name its own topics."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NoReturn

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.engine import LaunchFacts, MirrorHealth
from kafka_migration.core.mirror.mirror_process import ProcessEnding, ProcessReply
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.engines.mirrormaker2_topics import InternalTopics


@dataclass(frozen=True, slots=True)
class KafkaConnect:
    """MirrorMaker 2's connector on a Kafka Connect cluster (`core.mirror.engine.MirrorEngine`)."""

    migration: Migration
    source: KafkaCluster
    target: KafkaCluster

    def setting_findings(self, kafka_version: str) -> Iterable[Finding]:
        """Return nothing: the workers validate the configuration."""
        return ()

    def launch(self, generation: int, facts: LaunchFacts) -> NoReturn:
        """Raise `NotImplementedError`."""
        _not_yet()

    def stale_topics(self, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
        """Return nothing: the workers keep settings and states of connectors in their own topics."""
        return ()

    def stored_positions(self, topics: Collection[str]) -> Offsets:
        """Raise `NotImplementedError`."""
        _not_yet()

    def rewind(self, positions: Offsets) -> None:
        """Raise `ValueError`: it stores only acknowledged positions, so they are never reset."""
        raise ValueError("the positions of MirrorMaker 2 are never set back")

    def health(self, generation: int) -> MirrorHealth:
        """Raise `NotImplementedError`."""
        _not_yet()

    def ending(self, reply: ProcessReply) -> ProcessEnding:
        """Raise `NotImplementedError`."""
        _not_yet()

    def position_topics(self) -> tuple[str, ...]:
        """Return the offsets topic of the connector."""
        return (self._offsets,)

    def restore_command(self, partition: TopicPartition, position: int) -> str:
        """Return nothing: no Kafka tool can write its offsets topic."""
        return ""

    def reset_command(self) -> str:
        """Return the command that deletes the offsets topic on the target."""
        return f"kafka-topics.sh --bootstrap-server <target> --delete --topic {shell_word(self._offsets)}"

    @property
    def _offsets(self) -> str:
        return InternalTopics.of(self.migration.name, 0).offsets


def _not_yet() -> NoReturn:
    raise NotImplementedError("engine connect")
