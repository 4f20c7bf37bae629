"""Rules of what a copy depends on: what changed since earlier runs is named once, with the old and the new value."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import ClusterFacts
from kafka_migration.core.ledger.copy_basis import ClusterSeen, CopyBasis, changed_clusters, changed_settings
from kafka_migration.core.ledger.generations import GenerationStart
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.target.target_topics import removed_topic_warnings
from kafka_migration.migration_file.loading import load_migration
from tests.conftest import MIGRATION_TEXT
from tests.folded import fold
from tests.unit.partitions import P0

OLD, NEW, OTHER = ClusterSeen("A", ("old:9092",)), ClusterSeen("B", ("new:9092",)), ClusterSeen("C", ("other:9092",))


def migration(**fields: object) -> Migration:
    """Return a migration with these fields, by their dotted names."""
    document = yaml.safe_load(MIGRATION_TEXT)
    for name, value in fields.items():
        section, _, field = name.rpartition(".")
        (document[section] if section else document)[field] = value
    return load_migration(yaml.safe_dump(document), where="shop.yaml")


def basis(of: Migration) -> CopyBasis:
    """Return what the copy of a migration from `OLD` to `NEW` depends on."""
    return CopyBasis.of("run", "t", of, OLD, NEW)


PREFIXED = {"mirror.topic_names": {"naming": "prefixed"}}
ENGINE_1 = {"mirror.engine": "mirrormaker1"}
CHANGES = [
    ({}, {}, {}),
    ({}, {"source.alias": "lake"}, {"source.alias": ("lake", "shop-source", "Remove source.alias.")}),
    ({"source.alias": "lake"}, {}, {"source.alias": ("shop-source", "lake", "Set source.alias to lake.")}),
    ({}, PREFIXED, {"mirror.topic_names": ("shop-source.{topic}", "{topic}", "Set mirror.topic_names as it was.")}),
    (
        PREFIXED,
        {**PREFIXED, "source.alias": "lake"},
        {"source.alias": ("lake", "shop-source", "Remove source.alias.")},
    ),
    ({}, ENGINE_1, {"mirror.engine": ("mirrormaker1", "mirrormaker2", "Set mirror.engine to mirrormaker2.")}),
    (ENGINE_1, {**ENGINE_1, "source.alias": "lake"}, {}),
    ({}, {"mirror.tasks": 9, "watch.time_limit": "1h"}, {}),
]


@pytest.mark.parametrize(("before", "after", "expected"), CHANGES)
def test_each_changed_setting_is_named_once(
    before: dict[str, object], after: dict[str, object], expected: dict[str, tuple[str, str, str]]
) -> None:
    """A changed engine, alias or naming is one finding with both values and the way back; its effects are none."""
    found = {f.subject: f for f in changed_settings(basis(migration(**before)), migration(**after))}

    assert expected.keys() == found.keys()
    for subject, (now, known, way) in expected.items():
        finding = found[subject]
        assert (Code.COPY_BASIS_CHANGED, f"{known}, as in earlier runs") == (finding.code, finding.expected)
        assert now in finding.found
        assert way in finding.remedy
        assert "another name" in finding.remedy


@pytest.mark.parametrize(
    ("source", "target", "subjects"),
    [
        (OLD, NEW, []),
        (ClusterSeen("A", ("moved:9093",)), NEW, []),
        (OTHER, NEW, ["source.connection old_kafka"]),
        (OLD, OTHER, ["target.connection new_kafka"]),
        (NEW, NEW, ["source.connection old_kafka"]),
        (OLD, OLD, ["target.connection new_kafka"]),
        (OTHER, ClusterSeen("D"), ["source.connection old_kafka", "target.connection new_kafka"]),
        (NEW, OLD, ["source.connection old_kafka and target.connection new_kafka"]),
        (ClusterSeen(""), NEW, []),
    ],
)
def test_another_cluster_is_named_with_both_ids(source: ClusterSeen, target: ClusterSeen, subjects: list[str]) -> None:
    """A connection to another cluster is one finding, exchanged clusters are one, and an unknown id proves nothing."""
    of = migration()
    found = list(changed_clusters(basis(of), of, source, target))

    assert subjects == [finding.subject for finding in found]
    assert {Code.CLUSTER_CHANGED} >= {finding.code for finding in found}
    assert ("exchanged" in "".join(f.found for f in found)) == ((source, target) == (NEW, OLD))


def test_cluster_is_shown_by_id_and_address() -> None:
    """The finding shows the old and the new cluster by id and address, and that the new one is the other side."""
    of = migration()
    (finding,) = changed_clusters(basis(of), of, NEW, NEW)

    assert "cluster B (new:9092), the target of earlier runs" == finding.found
    assert "cluster A (old:9092), which earlier runs copied from" == finding.expected


def test_without_record_nothing_is_compared() -> None:
    """A ledger without the record says nothing about changes: unknown is not equal, and not different."""
    of = migration()
    assert [] == [*changed_settings(None, of), *changed_clusters(None, of, OTHER, OTHER)]


def test_basis_is_recorded_once_and_completed() -> None:
    """The record is added if there is none, or if the id of a cluster was unknown; never to replace a value."""
    known = basis(migration())

    assert known.adds_to(None)
    assert not known.adds_to(known)
    assert not replace(known, source=OTHER).adds_to(known)
    assert known.adds_to(replace(known, source=ClusterSeen("")))
    assert fold([known.to_document()]).basis == known
    assert ClusterSeen("", ("a:1", "b:1", "c:1")) == ClusterSeen.of(ClusterFacts("", 4, ("a:1", "b:1", "c:1", "d:1")))


def copied(*topics: str) -> Ledger:
    """Return the ledger of a run that copied these topics."""
    start = GenerationStart(1, "run", "t", {P0._replace(topic=t): 0 for t in topics}, {})
    return fold([start.to_document()])


@pytest.mark.parametrize(
    ("topics", "named"),
    [
        (["orders", "audit"], ()),
        (["orders"], ("audit",)),
        ([{"pattern": "o.*"}], ("audit",)),
        ([{"pattern": "a.*|o.*"}], ()),
        ([{"pattern": "o.*"}, {"exclude": "audit"}], ()),
    ],
)
def test_removed_topics_are_named(topics: list[object], named: tuple[str, ...]) -> None:
    """A copied topic that no item takes is named in one warning; an excluded one was taken out on purpose."""
    warnings = removed_topic_warnings(migration(topics=topics), copied("orders", "audit"))

    assert [f"no {', '.join(named)}"] * bool(named) == [warning.found for warning in warnings]
