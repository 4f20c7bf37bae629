"""What the package asks of a MirrorMaker engine: values, and the Protocol that every engine implements.

An engine knows one kind of MirrorMaker: how it is configured and launched, where it keeps its positions and its
health, and what the end of its log means. It asks the clusters through `core.cluster` and does no I/O of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.mirror.host import MirrorLaunch


@dataclass(frozen=True, slots=True)
class FailedTask:
    """A connector or task in state FAILED, with its trace."""

    name: str
    trace: str

    @property
    def causes(self) -> str:
        """The first line of the trace and its last `Caused by:` line, which names the reason."""
        lines = [line.strip() for line in self.trace.splitlines() if line.strip()]
        caused = [line for line in lines if line.startswith("Caused by:")]
        return " … ".join(dict.fromkeys([*lines[:1], *caused[-1:]])) or "no trace"


@dataclass(frozen=True, slots=True)
class MirrorHealth:
    """What MirrorMaker itself says of one generation.

    `assigned` are the source partitions that somebody in it copies; `None`: not known yet. `differences` say where
    the configuration it runs with is not the one that was rendered, one sentence each.
    """

    failed: tuple[FailedTask, ...] = ()
    assigned: frozenset[TopicPartition] | None = None
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """What a launch must know of the two clusters.

    `max_message_bytes` is the smallest `max.message.bytes` of the target topics: a producer that may send more
    than a topic takes makes MirrorMaker split and retry for ever.
    """

    source_properties: Mapping[str, str]
    target_properties: Mapping[str, str]
    max_message_bytes: int


class MirrorEngine(Protocol):
    """One kind of MirrorMaker, for one migration and its two clusters."""

    def setting_findings(self, kafka_version: str) -> Iterable[Finding]:
        """Name what this MirrorMaker, from Kafka `kafka_version` ("" if unknown), would ignore, misread or refuse."""

    def launch(self, generation: int, facts: LaunchFacts) -> MirrorLaunch:
        """Return what the host needs to start a generation.

        Raises `Refused` (`MIRROR_SETTING_UNSAFE`) for tuning that the target's topics do not allow.
        """

    def stale_topics(self, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
        """Return those of all the target's topics that earlier generations left and that would mislead this one."""

    def stored_positions(self, topics: Collection[str]) -> Offsets:
        """Return the next source offset to copy, as MirrorMaker stored it; a partition without one is missing."""

    def rewind(self, positions: Offsets) -> None:
        """Store other positions, MirrorMaker being dead; asked for only after `distrusts_position`.

        Raises `Refused` (`GROUP_ACTIVE`) while the dead process still counts as alive.
        """

    def health(self, generation: int) -> MirrorHealth:
        """Return what MirrorMaker says of a generation."""

    def is_graceful(self, log_tail: str) -> bool:
        """Tell from the end of the log whether MirrorMaker ended by itself in order."""

    def distrusts_position(self, log_tail: str) -> bool:
        """Tell from the end of the log whether MirrorMaker may have stored positions of records that it lost."""

    def position_topics(self) -> tuple[str, ...]:
        """Return the topics on the target that its positions are stored in; with exactly-once, in transactions."""

    def restore_command(self, partition: TopicPartition, position: int) -> str:
        """Return the command that stores a position again, for a person to run; empty where there is no tool."""

    def reset_command(self) -> str:
        """Return the command that makes MirrorMaker forget its positions, for a person to run."""
