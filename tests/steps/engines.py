"""A MirrorMaker 1 for the small world, as the tasks of a run see it, and a host whose log has an alarm."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.mirror.engine import LaunchFacts, MirrorHealth
from kafka_migration.core.mirror.host import HostReply, MirrorLaunch
from kafka_migration.core.mirror.mirror_process import ProcessEnding, ProcessReply
from tests.contract.fake_mirror_host import FakeMirrorHost
from tests.steps.world import World

ALARM = "WARN Got error MESSAGE_TOO_LARGE, splitting and retrying"
RESET = "kafka-consumer-groups --delete --group kafka-migration-mirror-shop"


@dataclass
class LossyEngine:
    """A `MirrorEngine` that may lose records, as `ALARM` in its log says, like MirrorMaker 1.

    `positions` are stored; `rewinds` are the positions that replaced them, in order. `is_held` makes it refuse a
    rewind, as a group does while its killed member counts.
    """

    positions: dict[TopicPartition, int] = field(default_factory=dict)
    rewinds: list[Offsets] = field(default_factory=list)
    assigned: frozenset[TopicPartition] | None = None
    is_held: bool = False

    def setting_findings(self, kafka_version: str) -> Iterable[Finding]:
        """Find nothing."""
        return ()

    def launch(self, generation: int, facts: LaunchFacts) -> MirrorLaunch:
        """Return a launch that copies nothing by itself."""
        arguments = ("--consumer.config", "c", "--producer.config", "p", "--whitelist", "^()$")
        files = {"c": "group.id = nobody\n", "p": "max.request.size = 1048576\n"}
        return MirrorLaunch("kafka.tools.MirrorMaker", arguments, files, (), None, None, 600)

    def stale_topics(self, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
        """Leave no topics."""
        return ()

    def stored_positions(self, topics: Collection[str]) -> Offsets:
        """Return the stored positions of these topics."""
        return {p: offset for p, offset in self.positions.items() if p.topic in topics}

    def rewind(self, positions: Offsets) -> None:
        """Store other positions."""
        if self.is_held:
            raise Refused([Finding(Code.GROUP_ACTIVE, "group", "a member", "none", "Wait.")])
        self.rewinds.append(positions)
        self.positions |= positions

    def health(self, generation: int, reply: ProcessReply) -> MirrorHealth:
        """Return the assigned partitions."""
        return MirrorHealth(assigned=self.assigned)

    def ending(self, reply: HostReply) -> ProcessEnding:
        """Return whether it has stopped by itself, and distrust the positions of a log that has the alarm."""
        log = reply.log
        return reply.ending(is_orderly="stopped" in log, distrusts_positions=ALARM in f"{reply.alarm}\n{log}")

    def position_topics(self) -> tuple[str, ...]:
        """Keep positions in no topic."""
        return ()

    def restore_command(self, partition: TopicPartition, position: int) -> str:
        """Return a command, which is not run."""
        return f"restore {partition} {position}"

    def reset_command(self) -> str:
        """Return a command, which is not run."""
        return RESET


@dataclass
class AlarmingHost(FakeMirrorHost):
    """A host whose replies have `alarm_line`; `graces` are the grace times of its stops, in seconds."""

    alarm_line: str = ""
    graces: list[int] = field(default_factory=list)

    def stop(self, holder: str, generation: int | None, grace_s: int) -> HostReply:
        """Keep the grace time; the reply has no alarm, which is some lines earlier in the log."""
        self.graces.append(grace_s)
        return replace(super().stop(holder, generation, grace_s), alarm="")

    def _reply(self, *arguments: Any, **more: Any) -> HostReply:
        return replace(super()._reply(*arguments, **more), alarm=self.alarm_line)


def set_mirror(world: World, setting: str, section: str = "mirror") -> None:
    """Add a setting to a section of the migration file."""
    world.edit_file(f"\n{section}:\n", f"\n{section}:\n  {setting}\n")


def set_topic(world: World, setting: str, topic: str = "orders") -> None:
    """Give a topic of the migration file a setting of its own."""
    world.edit_file(f"topics: [{topic},", f"topics: [{{name: {topic}, {setting}}},")


def lossy(world: World) -> LossyEngine:
    """Give the world a MirrorMaker 1 that may lose records, and a host that reports it; return the engine."""
    engine = LossyEngine()
    set_mirror(world, "engine: mirrormaker1")
    world.deployed["engine_of"] = lambda *of: engine
    world.host = AlarmingHost("shop")
    return engine
