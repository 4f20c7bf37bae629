"""A MirrorMaker 1 for the small world, as far as the steps of a run see it, and a host whose log raises an alarm."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.mirror.engine import LaunchFacts, MirrorHealth
from kafka_migration.core.mirror.host import HostReply, MirrorLaunch
from tests.airflow.world import World
from tests.contract.fake_mirror_host import FakeMirrorHost

ALARM = "WARN Got error MESSAGE_TOO_LARGE, splitting and retrying"
RESET = "kafka-consumer-groups --delete --group kafka-migration-mirror-shop"


@dataclass
class LossyEngine:
    """A `MirrorEngine` that may lose records: told by `ALARM` in the log, as MirrorMaker 1 does.

    `positions` are what it stored; `rewinds` what was stored in their place, in order. `is_held` makes it refuse that,
    as a group does whose killed member still counts.
    """

    positions: dict[TopicPartition, int] = field(default_factory=dict)
    rewinds: list[Offsets] = field(default_factory=list)
    assigned: frozenset[TopicPartition] | None = None
    is_held: bool = False

    def setting_findings(self, kafka_version: str) -> Iterable[Finding]:
        """Find nothing."""
        return ()

    def launch(self, generation: int, facts: LaunchFacts) -> MirrorLaunch:
        """Return the launch of one that copies nothing by itself."""
        arguments = ("--consumer.config", "c", "--producer.config", "p", "--whitelist", "^()$")
        files = {"c": "group.id = nobody\n", "p": "max.request.size = 1048576\n"}
        return MirrorLaunch("kafka.tools.MirrorMaker", arguments, files, (), None, None, 600)

    def stale_topics(self, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
        """Leave no topics."""
        return ()

    def stored_positions(self, topics: Collection[str]) -> Offsets:
        """Return what was stored of these topics."""
        return {p: offset for p, offset in self.positions.items() if p.topic in topics}

    def rewind(self, positions: Offsets) -> None:
        """Store other positions."""
        if self.is_held:
            raise Refused([Finding(Code.GROUP_ACTIVE, "group", "a member", "none", "Wait.")])
        self.rewinds.append(positions)
        self.positions |= positions

    def health(self, generation: int) -> MirrorHealth:
        """Say what is assigned."""
        return MirrorHealth(assigned=self.assigned)

    def is_graceful(self, log_tail: str) -> bool:
        """Tell from its last words."""
        return "stopped" in log_tail

    def distrusts_position(self, log_tail: str) -> bool:
        """Tell from the alarm."""
        return ALARM in log_tail

    def position_topics(self) -> tuple[str, ...]:
        """Keep positions in no topic."""
        return ()

    def restore_command(self, partition: TopicPartition, position: int) -> str:
        """Return a command that nobody runs."""
        return f"restore {partition} {position}"

    def reset_command(self) -> str:
        """Return a command that nobody runs."""
        return RESET


@dataclass
class AlarmingHost(FakeMirrorHost):
    """A host whose replies tell of `alarm_line`; `graces` are those of its stops, in seconds."""

    alarm_line: str = ""
    graces: list[int] = field(default_factory=list)

    def stop(self, holder: str, generation: int | None, grace_s: int) -> HostReply:
        """Note the grace; the reply's log has lost the alarm, which is some lines back."""
        self.graces.append(grace_s)
        return replace(super().stop(holder, generation, grace_s), alarm="")

    def _reply(self, *arguments: Any, **more: Any) -> HostReply:
        return replace(super()._reply(*arguments, **more), alarm=self.alarm_line)


def set_mirror(world: World, setting: str, section: str = "mirror") -> None:
    """Add a setting to a section of the migration file."""
    world.edit_file(f"\n{section}:\n", f"\n{section}:\n  {setting}\n")


def lossy(world: World) -> LossyEngine:
    """Let the world have MirrorMaker 1, which may lose records, and a host that tells of it; return the engine."""
    engine = LossyEngine()
    set_mirror(world, "engine: mirrormaker1")
    world.deployed["engine_of"] = lambda *of: engine
    world.host = AlarmingHost("shop")
    return engine
