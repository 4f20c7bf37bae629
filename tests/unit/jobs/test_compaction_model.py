"""Random histories of copies under Kafka's log cleaner: no good copy fails, and nothing that is refuted passes."""

from __future__ import annotations

import logging
import os
from collections import Counter

import pytest

from kafka_migration.core.findings.verdict import Verdict
from tests.compaction.histories import DAMAGES, History, history
from tests.compaction.product import verdict_on
from tests.compaction.truth import Truth, truth_of

# So many histories of each mode; `COMPACTION_HISTORIES` for a campaign.
HISTORIES = int(os.environ.get("COMPACTION_HISTORIES", "300"))
EXPECTED = {
    Truth.EXPLAINED: {Verdict.PASS},
    Truth.UNPROVED: {Verdict.NOT_VERIFIABLE},
    Truth.REFUTED: {Verdict.FAIL},
}


def allowed(made: History) -> set[Verdict]:
    """Return the verdicts that a history may have.

    A generation that was killed sends records again, which is a warning, or leaves a tail, which is not verifiable.
    """
    expected = set(EXPECTED[truth_of(made)])
    if made.killed:
        expected |= {Verdict.WARN, Verdict.NOT_VERIFIABLE}
    if not made.damages and not made.is_late:
        expected -= {Verdict.FAIL}
        assert expected, "a good copy is refuted by the model"
    return expected


@pytest.mark.parametrize("by_key", [False, True], ids=["by position", "by key"])
def test_verdicts_are_those_of_the_definition(by_key: bool) -> None:
    """Half of the histories are of good copies, half of damaged ones; each has a verdict that its truth allows."""
    wrong = []
    seen: Counter[tuple[str, bool, Verdict]] = Counter()
    for seed in range(HISTORIES):
        made = history(seed, by_key=by_key, damage=DAMAGES[seed // 2 % len(DAMAGES)] if seed % 2 else None)
        (verdict, counts), right = verdict_on(made), allowed(made)
        seen[truth_of(made).name, bool(made.damages), verdict] += 1
        if verdict not in right:
            wrong.append((seed, verdict, sorted(right), counts, made.damages))

    logging.getLogger(__name__).info("%s", dict(sorted(seen.items())))
    assert [] == wrong
    assert {*Verdict} == {verdict for _, _, verdict in seen}
    assert {(truth.name, is_damaged) for truth in (Truth.EXPLAINED, Truth.REFUTED) for is_damaged in (True, False)} <= {
        kind[:2] for kind in seen
    }
