"""What a copy depends on from its first run on: the clusters, and the settings under which MirrorMaker knows it.

If one of them changes, positions, offsets and target topics are those of another copy. So a run compares them with the
ledger before it compares anything else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import ClusterFacts
from kafka_migration.core.ledger.cutovers import LedgerEntry
from kafka_migration.core.migration.engine_table import EngineName, abilities_of
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.shortened import some

_NEW_MIGRATION = "write a migration file with another name"
# As many addresses as a person needs to recognize a cluster.
_MOST_BROKERS = 3


@dataclass(frozen=True, slots=True)
class ClusterSeen(Document):
    """A cluster as a run found it: its id, empty if unknown, and some advertised addresses (`host:port`)."""

    cluster_id: str
    brokers: tuple[str, ...] = ()

    @classmethod
    def of(cls, facts: ClusterFacts) -> ClusterSeen:
        """Return the part of the facts by which a cluster is recognized."""
        return cls(facts.cluster_id or "", facts.addresses[:_MOST_BROKERS])

    def is_another_than(self, other: ClusterSeen) -> bool:
        """Return whether both ids are known and differ."""
        return bool(self.cluster_id and other.cluster_id) and self.cluster_id != other.cluster_id

    def __str__(self) -> str:
        return f"cluster {self.cluster_id}" + (f" ({some(self.brokers)})" if self.brokers else "")


@dataclass(frozen=True, slots=True)
class CopyBasis(LedgerEntry):
    """The clusters and settings of a copy, recorded before a run first changes the target.

    `topic_names` is the name on the target of the source topic `{topic}`.
    """

    source: ClusterSeen
    target: ClusterSeen
    source_alias: str
    topic_names: str
    engine: EngineName
    kind: Literal["copy-basis"] = "copy-basis"

    @classmethod
    def of(cls, run: str, at: str, migration: Migration, source: ClusterSeen, target: ClusterSeen) -> CopyBasis:
        """Return the basis of a run's copy."""
        names = migration.target_topic("{topic}")
        return cls(run, at, source, target, migration.source.alias, names, migration.mirror.engine)

    def adds_to(self, known: CopyBasis | None) -> bool:
        """Return whether it has what the recorded one lacks: everything, or the id of a cluster."""
        sides = () if known is None else ((self.source, known.source), (self.target, known.target))
        return known is None or any(mine.cluster_id and not theirs.cluster_id for mine, theirs in sides)


def changed_settings(known: CopyBasis | None, migration: Migration) -> Iterator[Finding]:
    """Yield a finding per setting of the migration file on which the copy depends and that was changed."""
    if known is None:
        return
    if migration.mirror.engine != known.engine:
        yield _changed(
            "mirror.engine",
            migration.mirror.engine,
            known.engine,
            "Each engine stores its own positions, so this one would copy everything again.",
            f"Set mirror.engine to {known.engine}. To copy with another engine, {_NEW_MIGRATION}.",
        )
    if migration.source.alias != known.source_alias and abilities_of(known.engine).has_own_positions:
        yield _changed(
            "source.alias",
            migration.source.alias,
            known.source_alias,
            f"{abilities_of(known.engine).title} stores its positions under the alias, so it would copy everything "
            "again.",
            _alias_remedy(known, migration),
        )
    as_before = replace(migration, source=replace(migration.source, alias=known.source_alias))
    if (names := as_before.target_topic("{topic}")) != known.topic_names:
        yield _changed(
            "mirror.topic_names",
            f"target topics named {names}",
            known.topic_names,
            "The copy is in topics with the earlier names, so MirrorMaker would continue in other, empty topics.",
            f"Set mirror.topic_names as it was. To copy into topics with other names, {_NEW_MIGRATION}.",
        )


def _alias_remedy(known: CopyBasis, migration: Migration) -> str:
    default = f"{migration.name}-source"
    way = "Remove source.alias" if known.source_alias == default else f"Set source.alias to {known.source_alias}"
    return f"{way}. To copy with another alias, {_NEW_MIGRATION}."


def _changed(field: str, found: str, known: str, matters: str, remedy: str) -> Finding:
    return Finding(
        Code.COPY_BASIS_CHANGED,
        field,
        found,
        f"{known}, as in earlier runs",
        remedy,
        happened=f"The migration file now has {found} as {field}, and earlier runs copied with {known}.",
        matters=matters,
    )


def changed_clusters(
    known: CopyBasis | None, migration: Migration, source: ClusterSeen, target: ClusterSeen
) -> Iterator[Finding]:
    """Yield a finding per connection that leads to another cluster than in earlier runs; one if both were exchanged."""
    if known is None:
        return
    moved = source.is_another_than(known.source), target.is_another_than(known.target)
    if all(moved) and (source.cluster_id, target.cluster_id) == (known.target.cluster_id, known.source.cluster_id):
        yield _exchanged(migration, source, target)
        return
    connections = (("source", migration.source, source), ("target", migration.target, target))
    for (side, cluster, now), is_moved in zip(connections, moved, strict=True):
        if is_moved:
            before, other = (known.source, known.target) if side == "source" else (known.target, known.source)
            yield _another(side, cluster.connection, now, before, is_other_side=now.cluster_id == other.cluster_id)


def _exchanged(migration: Migration, source: ClusterSeen, target: ClusterSeen) -> Finding:
    return Finding(
        Code.CLUSTER_CHANGED,
        f"source.connection {migration.source.connection} and target.connection {migration.target.connection}",
        f"source and target exchanged: the source is {source}, the target is {target}",
        "the clusters of earlier runs, which copied in the other direction",
        "Exchange the two connections in the migration file, or their addresses in Airflow. To move groups back after "
        "a cutover, use the rollback DAG.",
        happened=f"Source and target are exchanged: the source is now {source}, and the target is {target}.",
        matters="MirrorMaker would copy the copied records back to the cluster from which they came.",
    )


def _another(side: str, connection: str, now: ClusterSeen, before: ClusterSeen, *, is_other_side: bool) -> Finding:
    verb, way = ("copied from", "from") if side == "source" else ("wrote to", "to")
    role = f", the {'target' if side == 'source' else 'source'} of earlier runs" if is_other_side else ""
    return Finding(
        Code.CLUSTER_CHANGED,
        f"{side}.connection {connection}",
        f"{now}{role}",
        f"{before}, which earlier runs {verb}",
        f"Correct the address in the connection, or {side}.connection in the migration file. To copy {way} this "
        f"cluster, {_NEW_MIGRATION}.",
        happened=f"The {side} connection {connection} leads to {now}{role}, and earlier runs {verb} {before}.",
        matters="Topics, offsets and groups of another cluster are not those of the copy, so the run would compare and "
        "move the wrong ones.",
    )
