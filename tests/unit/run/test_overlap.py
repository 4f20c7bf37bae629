"""Rules of migrations that would copy the same topics."""

from __future__ import annotations

from dataclasses import replace

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.settings import Cluster, Migration, TopicNames, TopicNaming
from kafka_migration.core.run.overlap import overlap_findings


def test_shared_topics_are_named_with_the_other_file(migration: Migration) -> None:
    """A topic that two files copy between the same clusters is found in either."""
    other = replace(migration, name="other", topics=("audit", "bills"))

    (finding,) = overlap_findings(migration, [other])

    assert (Code.MIGRATIONS_OVERLAP, "shop.yaml: topics") == (finding.code, finding.subject)
    assert "audit, also in other.yaml" in finding.found
    assert "shop.yaml" in overlap_findings(other, [migration])[0].found


def with_names(migration: Migration, naming: TopicNaming, alias: str = "x") -> Migration:
    mirror = replace(migration.mirror, topic_names=TopicNames(naming))
    return replace(migration, source=replace(migration.source, alias=alias), mirror=mirror)


def reverse(migration: Migration, *topics: str) -> Migration:
    ends = {"source": Cluster("new_kafka", "back-source"), "target": Cluster("old_kafka", "back-target")}
    return replace(migration, name="back", topics=topics, **ends)  # type: ignore[arg-type]


def test_other_topics_or_targets_do_not_overlap(migration: Migration) -> None:
    """The same topic for another target is another copy; so is one under another name of another source."""
    prefixed = with_names(replace(migration, source=Cluster("third_kafka", "x")), "prefixed")
    others = [replace(migration, topics=("bills",)), replace(migration, target=Cluster("third_kafka", "x"))]

    assert () == overlap_findings(migration, [*others, prefixed])


def test_two_sources_do_not_write_one_topic(migration: Migration) -> None:
    """What counts is the topic of the target: kept names of two sources meet, and so do equal prefixes."""
    third = replace(migration, name="third", source=Cluster("third_kafka", "x"), topics=("audit",))
    mine, theirs = with_names(migration, "prefixed", "eu"), with_names(third, "prefixed", "eu")
    kept = replace(third, topics=("eu.orders",))

    assert ["audit"] == [f.found.partition(",")[0] for f in overlap_findings(migration, [third])]
    assert ["audit"] == [f.found.partition(",")[0] for f in overlap_findings(mine, [theirs])]
    assert ["orders"] == [f.found.partition(",")[0] for f in overlap_findings(mine, [kept])]


def test_kept_names_in_both_directions_are_a_loop(migration: Migration) -> None:
    """What one direction writes, the other one would copy back; both files are refused."""
    back = reverse(migration, "audit", "bills")
    found = [*overlap_findings(migration, [back]), *overlap_findings(back, [migration])]

    assert [(Code.REPLICATION_LOOP, "shop.yaml: topics"), (Code.REPLICATION_LOOP, "back.yaml: topics")] == [
        (finding.code, finding.subject) for finding in found
    ]
    assert all("audit, copied in a loop" in finding.found for finding in found)


def test_prefixed_names_in_both_directions_are_no_loop(migration: Migration) -> None:
    """Prefixed copies have names that no direction copies; so have topics that only one direction copies."""
    both = (migration, reverse(migration, *migration.topics))
    mine, back = (with_names(m, "prefixed", f"{m.name}-source") for m in both)

    assert () == overlap_findings(mine, [back])
    assert () == overlap_findings(migration, [reverse(migration, "bills")])


def test_copying_a_prefixed_copy_back_is_a_loop(migration: Migration) -> None:
    """A copy that the other direction names is on its way round."""
    mine = with_names(migration, "prefixed", "eu")

    (finding,) = overlap_findings(mine, [reverse(migration, "eu.orders")])

    assert Code.REPLICATION_LOOP is finding.code
