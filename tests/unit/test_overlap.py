"""Rules of migrations that would copy the same topics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.core.codes import Code
from kafka_migration.core.migration import Cluster, Migration
from kafka_migration.core.overlap import overlap_findings
from kafka_migration.spec.loading import load_migrations

pytestmark = pytest.mark.unit


def test_shared_topics_are_named_with_the_other_file(migration: Migration):
    """A topic that two files copy between the same clusters is found in either."""
    other = replace(migration, name="other", topics=("audit", "bills"))

    (finding,) = overlap_findings(migration, [other])

    assert (Code.MIGRATIONS_OVERLAP, "shop.yaml: topics") == (finding.code, finding.subject)
    assert "audit, which other.yaml names too" in finding.found
    assert "shop.yaml" in overlap_findings(other, [migration])[0].found


def test_other_topics_or_clusters_do_not_overlap(migration: Migration):
    """The same topic of another source, or for another target, is another copy."""
    others = [
        replace(migration, topics=("bills",)),
        replace(migration, source=Cluster("third_kafka", "x")),
        replace(migration, target=Cluster("third_kafka", "x")),
    ]

    assert () == overlap_findings(migration, others)


def test_files_that_cannot_be_read_are_left_out(tmp_path: Path, migration_text: str):
    """A broken file refuses its own runs only."""
    (tmp_path / "shop.yaml").write_text(migration_text)
    (tmp_path / "broken.yaml").write_text("nonsense: [")
    (tmp_path / "folder.yaml").mkdir()

    assert ["shop"] == [migration.name for migration in load_migrations(tmp_path)]
