"""What each engine can do: one row per engine. Callers ask the row of `MirrorSettings.abilities`, never the name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

EngineName = Literal["mirrormaker2", "mirrormaker1", "connect"]
# The engine of a migration file that names none. It renames topics, so it can also copy back.
DEFAULT_ENGINE: EngineName = "mirrormaker2"


@dataclass(frozen=True, slots=True)
class Ability:
    """Whether an engine can do something; `why_not` is the reason if not, without a full stop."""

    why_not: str = ""

    def __bool__(self) -> bool:
        return not self.why_not


YES = Ability()


@dataclass(frozen=True, slots=True)
class Abilities:
    """The row of one engine; `title` is its name in a sentence.

    `keeps_partitions`: each record lands in the partition of the same number, in the same order.
    `keeps_offsets`: consecutive records of a partition have consecutive offsets on the target, unless it copies in
    transactions. `chooses_partitions`: the target may have another number of partitions. `exactly_once`: it can copy in
    transactions. `renames_topics`: topics may have other names on the target. `has_own_positions`: it stores positions
    and its state in topics of its own on the target, under the source's alias. `needs_host`: it is a process on a host
    that Airflow reaches by SSH, so the host's tools can be asked. `needs_connect`: it is a connector on a Kafka Connect
    cluster that Airflow reaches by REST. `producer_per_task`: each task has a producer, which has a buffer of its own.
    """

    title: str
    keeps_partitions: Ability = YES
    keeps_offsets: Ability = YES
    chooses_partitions: Ability = YES
    exactly_once: Ability = YES
    renames_topics: Ability = YES
    has_own_positions: Ability = YES
    needs_host: Ability = YES
    needs_connect: Ability = YES
    producer_per_task: Ability = YES

    @property
    def place(self) -> str:
        """Where its process runs, in a sentence."""
        return "the MirrorMaker host" if self.needs_host else "the Kafka Connect cluster"

    @property
    def log(self) -> str:
        """What has the details of a failure, in a sentence."""
        return "mirrormaker.log on the host" if self.needs_host else "the logs of the Kafka Connect workers"

    @property
    def end_of_unstopped(self) -> str:
        """What ends a process that no task has stopped, as a sentence; `<name>` stands for the migration."""
        if self.needs_host:
            return "the host stops it when its lease ends (mirror.lease)"
        return "it copies until the next run, or until `kafka-migration stop <name> --now`"

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the migration file that this engine has and that another one lacks."""
        return tuple(field for field in FIELDS if not self.why_no_field(field))

    def why_no_field(self, field: str) -> str:
        """Return why this engine lacks a field of `FIELDS`, without a full stop; empty if it has the field."""
        ability, consequence = FIELDS[field]
        why_not = str(getattr(self, ability).why_not)
        return f"{why_not}, so {consequence}" if why_not and consequence else why_not


# The fields of the migration file that not every engine has; the ability of those that have it; and what an engine
# without it does instead, unless its reason says that.
FIELDS: Mapping[str, tuple[str, str]] = {
    "mirror.connect": ("needs_connect", ""),
    "mirror.exactly_once": ("exactly_once", ""),
    "mirror.heap_mb": ("needs_host", "the workers have their own heap"),
    "mirror.java_home": ("needs_host", "the workers have their own Java"),
    "mirror.kafka_home": ("needs_host", "the workers have their own Kafka"),
    "mirror.lease": ("needs_host", "nothing keeps a lease"),
    "mirror.restarts": ("needs_host", "the run has its own limit of failures"),
    "mirror.stop_grace": ("needs_host", "nothing can end its tasks by force"),
    "mirror.topic_names": ("renames_topics", ""),
    "topics.partitions": ("chooses_partitions", ""),
}

ROWS: Mapping[EngineName, Abilities] = {
    "mirrormaker1": Abilities(
        "MirrorMaker 1",
        keeps_partitions=Ability("MirrorMaker 1 chooses the partition of each record again"),
        keeps_offsets=Ability("MirrorMaker 1 mixes the records of many source partitions in one target partition"),
        exactly_once=Ability("MirrorMaker 1 copies at least once"),
        renames_topics=Ability("MirrorMaker 1 cannot rename topics"),
        has_own_positions=Ability("MirrorMaker 1 commits its positions as a consumer group on the source"),
        needs_connect=Ability("MirrorMaker 1 is a process on a host; engine connect uses a Kafka Connect cluster"),
        producer_per_task=Ability("MirrorMaker 1 has one producer for all streams"),
    ),
    "mirrormaker2": Abilities(
        "MirrorMaker 2",
        chooses_partitions=Ability("MirrorMaker 2 keeps the partitions of the source"),
        needs_connect=Ability("MirrorMaker 2 is a process on a host; engine connect uses a Kafka Connect cluster"),
    ),
    "connect": Abilities(
        "Kafka Connect",
        chooses_partitions=Ability("Kafka Connect keeps the partitions of the source"),
        needs_host=Ability("Kafka Connect has no MirrorMaker host"),
    ),
}
ENGINES: tuple[EngineName, ...] = tuple(ROWS)


def abilities_of(engine: EngineName) -> Abilities:
    """Return the row of an engine."""
    return ROWS[engine]


def engines_with(field: str) -> tuple[EngineName, ...]:
    """Return the engines that have a field of `FIELDS`."""
    return tuple(engine for engine, row in ROWS.items() if field in row.fields)
