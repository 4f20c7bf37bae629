"""An engine without a host, a log or Java, as Kafka Connect's would be: it shows what a further engine must bring.

Its positions and its health are in the place where it runs. It keeps partitions, and copies at least once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.engine import FailedTask, LaunchFacts, MirrorHealth
from kafka_migration.core.mirror.mirror_process import HowEnded, ProcessEnding, ProcessReply, ProcessState
from tests.contract.fake_cluster import FakeCluster, Record
from tests.contract.fake_mirror_process import FakeMirrorProcess
from tests.contract.fake_mirrormaker import FakeMirror


@dataclass(frozen=True, slots=True)
class StubLaunch:
    """What the stub is started with: the names on the target by source topic, and the largest request."""

    names: Mapping[str, str]
    max_message_bytes: int


@dataclass(frozen=True, slots=True)
class StubReply(ProcessReply):
    """`has_stored`: it stored its positions at its end; that is the evidence that its engine reads."""

    has_stored: bool = False


@dataclass
class StubPlace:
    """Where the stub runs, and what it keeps there.

    `was_restarted`: it has started a part of the stub again. `is_patient`: the stub stores its positions last.
    """

    positions: dict[TopicPartition, int] = field(default_factory=dict)
    health: MirrorHealth = field(default_factory=MirrorHealth)
    was_restarted: bool = False
    is_patient: bool = True


@dataclass
class StubEngine:
    """A `MirrorEngine` of one migration."""

    migration: Migration
    place: StubPlace

    def setting_findings(self, kafka_version: str) -> Iterable[Finding]:
        """Find nothing."""
        return ()

    def launch(self, generation: int, facts: LaunchFacts) -> StubLaunch:
        """Return the names of the topics."""
        names = {topic: self.migration.target_topic(topic) for topic in self.migration.topics}
        return StubLaunch(names, facts.max_message_bytes)

    def stale_topics(self, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
        """Leave no topics."""
        return ()

    def stored_positions(self, topics: Collection[str]) -> Offsets:
        """Return the stored positions of these topics."""
        return {p: offset for p, offset in self.place.positions.items() if p.topic in topics}

    def rewind(self, positions: Offsets) -> None:
        """Store other positions."""
        self.place.positions |= positions

    def health(self, generation: int, reply: StubReply) -> MirrorHealth:
        """Return its health."""
        return self.place.health

    def ending(self, reply: StubReply) -> ProcessEnding:
        """Judge what its process says; there is no log."""
        if reply.has_stored:
            resent, is_flushed = self.place.was_restarted, self.place.is_patient
            return ProcessEnding(HowEnded.ORDERLY, resent=resent, is_flushed=is_flushed)
        how = HowEnded.KILLED if reply.killed else HowEnded.UNKNOWN
        return ProcessEnding(how, resent=self.place.was_restarted)

    def position_topics(self) -> tuple[str, ...]:
        """Keep positions in no topic."""
        return ()

    def restore_command(self, partition: TopicPartition, position: int) -> str:
        """Return a command, which is not run."""
        return f"restore {partition} {position}"

    def reset_command(self) -> str:
        """Return a command, which is not run."""
        return f"reset {self.migration.name}"


class StubMirror(FakeMirror):
    """One generation of it, which copies between two fake clusters."""

    def __init__(self, launch: StubLaunch, place: StubPlace, source: FakeCluster, target: FakeCluster) -> None:
        super().__init__(source, target)
        self.max_request_bytes = launch.max_message_bytes
        self._names = launch.names
        self._place = place
        self._has_stored = False
        place.health = MirrorHealth(assigned=frozenset(self.partitions()))

    def reply(self) -> StubReply:
        """Return what its place says of it now."""
        state = ProcessState.RUNNING if self.is_alive else ProcessState.STOPPED
        return StubReply(generation=1, state=state, has_stored=self._has_stored)

    def partitions(self) -> Iterable[TopicPartition]:
        """Every partition of its topics."""
        return self._partitions_of(self._names)

    def stored(self) -> dict[TopicPartition, int]:
        """Return the positions of its place."""
        return self._place.positions

    def flush(self) -> None:
        """Store the positions."""
        self._place.positions |= self.positions

    def send(self, partition: TopicPartition, record: Record) -> None:
        """Write to the partition of the same number."""
        self.target.produce(self.target_topic(partition.topic), partition.partition, record)

    def target_topic(self, topic: str) -> str:
        """Return the name that the launch gives."""
        return self._names[topic]

    def ended_in_order(self) -> None:
        """Say that everything is stored."""
        self._has_stored = True

    def refused_by_itself(self) -> None:
        """The task fails."""
        self._is_stuck = True
        self._place.health = MirrorHealth(failed=(FailedTask("stub", "too large"),))

    def refused_by_the_broker(self, partition: TopicPartition, offset: int) -> None:
        """The task fails."""
        self.refused_by_itself()


class StubProcess(FakeMirrorProcess[StubReply]):
    """The `MirrorProcess` of the engine."""

    def _reply(
        self, verb: str, generation: int | None = None, *, adopted: bool = False, with_log: bool = False
    ) -> StubReply:
        fields = self._fields(verb, generation)
        has_stored = fields["exit_reason"] == "stopped" and not fields["killed"]
        return StubReply(**fields, adopted=adopted, has_stored=has_stored)
