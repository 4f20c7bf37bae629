"""Plans by key and by vector on random histories, against every other place: nothing is skipped, and early is said."""

from __future__ import annotations

import logging
import os
from collections import Counter
from dataclasses import replace

import pytest

from kafka_migration.core.translation.translation_contract import TopicToTranslate, Vector, VectorTranslation
from tests.translation.histories import History, history
from tests.translation.product import translations
from tests.translation.truth import Truth

# So many plans in the quick test; `PLANS` in the campaign.
QUICK_PLANS = 500
PLANS = int(os.environ.get("PLANS", "100000"))


def whole(made: History, vector: Vector) -> TopicToTranslate:
    """Return the question about a vector as if the source had deleted nothing."""
    asked = replace(made.topic, source_log_start={}).to_translate([vector])
    assert asked is not None
    return asked


def judged(made: History, vector: Vector, plan: VectorTranslation, truth: Truth, *, is_by_ledger: bool) -> str:
    """Return what a plan is; an error begins with an exclamation mark."""
    places = plan.goes_on_at
    if plan.missing:
        return "refused" if made.how.is_compacted else "! refused although nothing was deleted"
    if not truth.loses_nothing(vector, places):
        return "! skipped"
    if plan.delivered_again < truth.again(vector, places):
        return "! more is delivered again than is said"
    if truth.is_best(vector, places):
        return "exact"
    if plan.is_minimal:
        return "! early, and is said to be minimal"
    if truth.has_best(vector) and not is_by_ledger:
        return "! early, although every key has an order"
    return "by ledger" if is_by_ledger else "early"


def judge(seed: int) -> Counter[str]:
    """Return how many plans on a history are what."""
    made = history(seed)
    found = translations(made, max_known_records=seed % 2 * 1000).get("old", {})
    asked = made.topic.to_translate(made.vectors)
    of_job = None if asked is None else Truth(made, asked)
    seen: Counter[str] = Counter()
    for vector in made.vectors:
        if of_job is not None and vector in found:
            kind = judged(made, vector, found[vector], of_job, is_by_ledger=False)
        else:
            truth = Truth(made, whole(made, vector))
            kind = judged(made, vector, made.topic.by_ledger(vector), truth, is_by_ledger=True)
        seen[kind + (f" (seed {seed}, {dict(vector)})" if kind.startswith("!") else "")] += 1
    return seen


def judge_plans(count: int, first_seed: int) -> Counter[str]:
    """Judge at least so many plans, and require that none is wrong."""
    seen: Counter[str] = Counter()
    seed = first_seed
    while seen.total() < count:
        seen += judge(seed)
        seed += 1
    logging.getLogger(__name__).info("%s plans: %s", seen.total(), dict(sorted(seen.items())))

    assert [] == [kind for kind in seen if kind.startswith("!")]
    return seen


def test_no_plan_by_key_skips_and_every_early_one_says_so() -> None:
    """After kills, replays, aborted records and compaction no unread record is skipped, and no more is read again than
    the plan says. A plan is early only for records without a key, for keys in several partitions, and for equal records
    of which compaction has removed some; it never says then that it is minimal."""
    seen = judge_plans(QUICK_PLANS, first_seed=0)

    assert {"exact", "early", "by ledger", "refused"} == set(seen)


@pytest.mark.campaign
def test_many_plans_by_key() -> None:
    """The same with many more histories."""
    judge_plans(PLANS, first_seed=1_000_000)
