"""Rules of the labels of differences: what a label is stands in its row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.migration.settings import Tolerance
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.differences import Differences, tolerated

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "plugins" / "kafka_migration"
HOME = PACKAGE / "core" / "validation" / "differences.py"
# A window whose digests differ without a place has no label of the job.
NAMED_OUTSIDE = {"core/validation/judging.py": ["UNCLASSIFIED"]}


def test_judges_ask_a_label_for_its_properties() -> None:
    """No module but the table names labels, so a new label is one row."""
    named = {
        str(path.relative_to(PACKAGE)): found
        for path in PACKAGE.rglob("*.py")
        if path != HOME and (found := re.findall(r"\bDifferenceKind\.([A-Z]+)", path.read_text()))
    }

    assert NAMED_OUTSIDE == named


def test_the_documentation_has_the_meaning_of_each_label() -> None:
    """The table of the page is what the rows say, but for its links."""
    page = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", (ROOT / "docs" / "concepts" / "validation.md").read_text())
    rows = dict(re.findall(r"^\| `([a-z]+)` \| (.*) \|$", page.partition("## Labels")[2], re.MULTILINE))

    assert {str(kind): kind.meaning for kind in DifferenceKind} == rows


@pytest.mark.parametrize("kind", DifferenceKind)
def test_only_a_tolerated_label_has_a_code_of_a_warning(kind: DifferenceKind) -> None:
    """A number of differences is a warning up to its limit and damage above it, and unlimited tolerance names all."""
    allowed = Tolerance(duplicates=5, aborted=5)
    limit = kind.tolerated(allowed, True)

    assert (limit > 0) == (kind.tolerated_as is not None)
    if limit:
        assert (Verdict.WARN, kind.tolerated_as) == tolerated(allowed, Differences({kind: limit}, ()), replayed=True)
        assert tolerated(allowed, Differences({kind: limit + 1}, ()), replayed=True) is None


@pytest.mark.parametrize("kind", DifferenceKind)
def test_what_is_unknown_or_explained_is_never_a_tail(kind: DifferenceKind) -> None:
    """A property that excuses a label excludes those that contradict it."""
    assert not (kind.is_unproved and not kind.is_unknown)
    assert 1 >= sum((not kind.is_damage, kind.is_compacted, kind.is_unknown, kind.may_be_tail))
    assert not (kind.may_be_tail and kind.is_order)
