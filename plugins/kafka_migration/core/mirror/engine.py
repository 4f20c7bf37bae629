"""The interface of a MirrorMaker engine: values, and the Protocol that every engine implements.

An engine knows one kind of MirrorMaker: how it is configured and launched, where it stores its positions and its
health, and how its process ended. It asks the clusters through `core.kafka.cluster` and does no own I/O.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.mirror.mirror_process import ProcessEnding, ProcessReply

LaunchT_co = TypeVar("LaunchT_co", covariant=True)
ReplyT_contra = TypeVar("ReplyT_contra", bound=ProcessReply, contravariant=True)


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
    """What MirrorMaker itself reports about one generation.

    `assigned` are the source partitions that one of its tasks copies; `None`: not known yet. `differences` say how
    its effective configuration differs from the rendered one, one sentence each. `tasks` are the partitions of each
    task or consumer, which copies them one after the other; empty if that is not known.
    """

    failed: tuple[FailedTask, ...] = ()
    assigned: frozenset[TopicPartition] | None = None
    differences: tuple[str, ...] = ()
    tasks: tuple[frozenset[TopicPartition], ...] = ()

    @classmethod
    def of_tasks(
        cls,
        tasks: Iterable[Collection[TopicPartition]],
        failed: tuple[FailedTask, ...] = (),
        differences: tuple[str, ...] = (),
    ) -> MirrorHealth:
        """Return the health of MirrorMaker with these tasks; without any, nothing is known of its partitions."""
        known = tuple(map(frozenset, tasks))
        assigned = frozenset[TopicPartition]().union(*known) if known else None
        return cls(failed, assigned, differences, tuple(task for task in known if task))


# The broker's default.
DEFAULT_MAX_MESSAGE_BYTES = 1_048_588


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """The facts about the two clusters that a launch needs.

    `max_message_bytes` is the smallest `max.message.bytes` of the target topics: if a producer may send
    more than a topic accepts, MirrorMaker splits and retries forever. `partitions` is the number of the source's
    partitions that are copied, which share MirrorMaker's heap.
    """

    source_properties: Mapping[str, str]
    target_properties: Mapping[str, str]
    max_message_bytes: int
    partitions: int


class MirrorEngine(Protocol[LaunchT_co, ReplyT_contra]):
    """One kind of MirrorMaker, for one migration and its two clusters.

    `LaunchT` is what its process is started with, and `ReplyT` what its process answers.
    """

    def setting_findings(self, kafka_version: str) -> Iterable[Finding]:
        """Name settings that MirrorMaker of Kafka `kafka_version` ("" if unknown) would ignore, misread or reject."""

    def launch(self, generation: int, facts: LaunchFacts) -> LaunchT_co:
        """Return what its process needs to start a generation.

        Raises `Refused` (`MIRROR_SETTING_UNSAFE`) for tuning that the target's topics do not allow.
        """

    def stale_topics(self, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
        """Return the target topics that earlier generations left behind and that would mislead this one."""

    def stored_positions(self, topics: Collection[str]) -> Offsets:
        """Return the next source offset to copy, as MirrorMaker stored it; partitions without one are missing."""

    def rewind(self, positions: Offsets) -> None:
        """Store other positions while MirrorMaker is not running; used only after an ending that distrusts them.

        Raises `Refused` (`GROUP_ACTIVE`) while Kafka still counts the dead process as a member.
        """

    def health(self, generation: int, reply: ReplyT_contra) -> MirrorHealth:
        """Return what MirrorMaker reports about a generation; `reply` is the newest one of its process."""

    def ending(self, reply: ReplyT_contra) -> ProcessEnding:
        """Return how the generation of a reply ended. Without a log, or without its end, nothing proves an order.

        Also of a process that is alive, `distrusts_positions` says whether it may have stored positions of records that
        it lost.
        """

    def position_topics(self) -> tuple[str, ...]:
        """Return the target topics in which its positions are stored; with exactly-once, in transactions."""

    def restore_command(self, partition: TopicPartition, position: int) -> str:
        """Return the command with which an operator stores a position again; empty if there is no tool."""

    def reset_command(self) -> str:
        """Return the command with which an operator makes MirrorMaker forget its positions."""


# An engine and its own process: those who use both only pass launches and replies between them.
AnyEngine: TypeAlias = MirrorEngine[Any, Any]
