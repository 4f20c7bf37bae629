"""Rules of the look into what differs: what is proved is never lost, and nothing is explained that was not found."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_digest.keys import compare as units_module
from kafka_digest.keys.compare import KeyComparison, Unit
from kafka_digest.keys.difference_file import DifferenceFile
from kafka_digest.reading.isolation import Isolation
from kafka_digest.reading.kafka_clusters import SIDES
from kafka_digest.reading.read_windows import SideRange
from kafka_digest.runtime.job_errors import JobError

Damaged = Callable[[set[int] | Exception], dict[int, dict[str, Any]]]


class Written(DifferenceFile):
    """A file that is only begun, and remembers what was added."""

    def add(self, found: Any, windows: Any) -> None:
        """Take nothing."""

    def _read(self) -> dict[int, dict[str, Any]]:
        return {}


@pytest.fixture
def damaged(monkeypatch: pytest.MonkeyPatch) -> Damaged:
    """Compare one unit of which two buckets differ; in the `explained` ones the second reading finds something."""

    def compare(explained: set[int] | Exception) -> dict[int, dict[str, Any]]:
        ranges = {side: [SideRange("orders", 0, 0, 9)] for side in SIDES}
        unit = Unit(0, {"topic": "orders", "target_topic": "orders", "generation": 1}, 0, ranges)
        frame = SimpleNamespace(unpersist=lambda: None)
        frame.persist = lambda: frame

        def aligned(self: KeyComparison, units: object) -> object:
            if isinstance(explained, Exception):
                raise explained
            return frame

        monkeypatch.setattr(KeyComparison, "_compare", lambda self, units: unit.buckets.update({3, 4}))
        monkeypatch.setattr(KeyComparison, "_aligned", aligned)
        monkeypatch.setattr(units_module, "explained_buckets", lambda frame: {0: explained})
        monkeypatch.setattr(units_module, "reconciled", lambda frame: frame)
        file = Written(SimpleNamespace(), "nowhere")
        clusters: Any = SimpleNamespace(compacted=dict.fromkeys(SIDES, ()))
        KeyComparison(clusters, file, null_keys_have_order=False).run([unit], Isolation())
        return file.summaries()

    return compare


def test_difference_that_cannot_be_read_again_is_reported(damaged: Damaged, capsys: pytest.CaptureFixture[str]) -> None:
    """Regression: an error of the second reading ended the job, and what the first one proved was lost."""
    found = damaged(JobError("the log starts at offset 7"))

    assert {0: {"counts": {"unclassified": 2}, "first": []}} == found
    assert "the log starts at offset 7" in capsys.readouterr().err


def test_bucket_without_a_finding_is_unclassified(damaged: Damaged) -> None:
    """Keys that are equal in the second reading explain no bucket that differed in the first."""
    assert {0: {"counts": {"unclassified": 1}, "first": []}} == damaged({4})
    assert {} == damaged({3, 4})
