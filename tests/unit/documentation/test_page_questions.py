"""The judge of the long walk through the pages: it accepts right answers, and no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.page_questions import QUESTIONS, Asked, Seen, wrong_answers
from tests.page_shown import ShownPage

AT = datetime(2030, 1, 2, 12, tzinfo=UTC)
TOPICS, READY, OFFSETS = "Topics, the worst first", "May the migration be cut over?", "Offsets"
HEADS = ("Topic", "Verdict", "Offsets left", "Proved on the source", "Proved on the target")
CONDITIONS = ("No run is active", "The last run did not fail", "The topics are not cut over yet")
PROVED = "Everything that was copied is proved"


def idle() -> Asked:
    seen = Seen(
        at=AT,
        active={},
        asked={},
        last_failed=False,
        is_judged=True,
        is_rehearsed=True,
        is_cut_over=False,
        ends={("a", 0): 100, ("b", 0): 1_200},
        positions={("a", 0): 100, ("b", 0): 1_200},
        records={"a": (100, 100), "b": (1_200, 1_200)},
        differs=(),
        groups={("g", "a", 0): 1_050},
        stopped_at=AT,
        retention=timedelta(days=7),
    )
    page = ShownPage(
        whole="Nothing needs a person.",
        banners=(),
        verdict="The copy is proved: the target has every record that was copied.",
        problems=(),
        acts=("Cut over.",),
        step="",
        step_since=None,
        told_at=None,
        facts={"Now": "No run is active.", "Next run": "must start before Wed 2030-01-09 12:00 UTC: a[0], retention"},
        sections={
            READY: "Yes: 9 of 9 conditions are met.",
            "May the source be switched off?": "No: not all topics are cut over.",
        },
        tables={
            TOPICS: (HEADS, ("b", "PASS", "–", "1,200", "1,200"), ("a", "PASS", "–", "100", "100")),
            READY: (("Condition", "State"), *((each, "MET") for each in (*CONDITIONS, PROVED))),
            OFFSETS: (("Group",), ("g", "a 0", "1,050", "none", "1,050", "0")),
        },
        links=(),
    )
    return Asked(page, seen, seen)


def copying() -> Asked:
    asked, start = idle(), AT - timedelta(seconds=30)
    before = replace(asked.after, active={"watch_lag": start}, is_judged=False, positions={("a", 0): 90, ("b", 0): 200})
    after = replace(before, at=AT + timedelta(seconds=5), positions={("a", 0): 95, ("b", 0): 700})
    conditions = {"No run is active": "NOT MET", PROVED: "NOT MET"}
    page = replace(
        asked.page,
        verdict="The copy is not proved yet: its last part is not validated.",
        step="watch_lag",
        step_since=start + timedelta(seconds=4),
        told_at=AT + timedelta(seconds=2),
        facts={
            **asked.page.facts,
            "Progress": "54.0% (600 of 1,110 offsets), lag 708, rate 100/s",
            "Run ends": "about",
        },
        sections={**asked.page.sections, READY: "No: 7 of 9 conditions are met."},
        tables={
            **asked.page.tables,
            TOPICS: (HEADS, ("b", "pending", "700", "–", "–"), ("a", "pending", "8", "–", "–")),
            READY: (("Condition", "State"), *((c, conditions.get(c, "MET")) for c in (*CONDITIONS, PROVED))),
        },
    )
    return Asked(page, before, after)


def differing() -> Asked:
    asked = idle()
    seen = replace(asked.after, last_failed=True, differs=(("a", 0, 50),), findings=("COPY_DIFFERS",))
    failed = {"The last run did not fail": "NOT MET", PROVED: "NOT MET"}
    page = replace(
        asked.page,
        verdict="The copy differs from the source.",
        problems=("the copy differs: a", "a later run contradicts the copy: x", "the last run failed 5s ago"),
        sections={
            **asked.page.sections,
            READY: "No: 7 of 9 conditions are met.",
            "What the run found wrong": "COPY_DIFFERS topic a, partition 0",
        },
        tables={
            **asked.page.tables,
            READY: (("Condition", "State"), *((c, failed.get(c, "MET")) for c in (*CONDITIONS, PROVED))),
        },
    )
    return Asked(page, seen, seen)


@pytest.mark.parametrize("state", [idle, copying, differing])
def test_right_answers_are_accepted(state: Callable[[], Asked]) -> None:
    """A page that shows what the witness saw has no wrong answer."""
    assert [] == wrong_answers(state())


@pytest.mark.parametrize("state", [idle, copying, differing])
def test_page_without_answers_has_none_right(state: Callable[[], Asked]) -> None:
    """An empty page leaves no question answered."""
    empty = ShownPage("", (), "", (), (), "", None, None, {}, {}, {}, ())
    wrong = {each.partition(":")[0] for each in wrong_answers(replace(state(), page=empty))}
    # Without a run and without a problem there is no progress to show.
    expected = {name for name in QUESTIONS if name != "How far is it, and until when?" or state is copying}
    assert expected == wrong


def wrong_questions(asked: Asked, **shown: object) -> set[str]:
    changed = replace(asked.page, **shown)  # type: ignore[arg-type]
    return {each.partition(":")[0] for each in wrong_answers(replace(asked, page=changed))}


@pytest.mark.parametrize(
    ("state", "shown", "question"),
    [
        (idle, {"problems": ("the last run failed",)}, "Is everything all right?"),
        (differing, {"problems": ()}, "Is everything all right?"),
        (idle, {"facts": {**idle().page.facts, "Now": "watch_lag"}}, "What does it do now, and since when?"),
        (copying, {"step": "judge"}, "What does it do now, and since when?"),
        (copying, {"step_since": AT + timedelta(minutes=1)}, "What does it do now, and since when?"),
        (copying, {"told_at": AT - timedelta(seconds=9)}, "What does it do now, and since when?"),
        (copying, {"facts": {**copying().page.facts, "Progress": "lag 1,200"}}, "How far is it, and until when?"),
        (copying, {"facts": {**copying().page.facts, "Progress": "lag 499"}}, "How far is it, and until when?"),
        (copying, {"facts": {**copying().page.facts, "Run ends": ""}}, "How far is it, and until when?"),
        (
            copying,
            {"tables": {**copying().page.tables, TOPICS: (HEADS, ("a", "", "8"), ("b", "", "700"))}},
            "Which topics are worst?",
        ),
        (copying, {"tables": {**copying().page.tables, TOPICS: (HEADS, ("b", "", "700"))}}, "Which topics are worst?"),
        (copying, {"verdict": idle().page.verdict}, "Is the copy proved?"),
        (differing, {"verdict": idle().page.verdict}, "Is the copy proved?"),
        (
            idle,
            {"tables": {**idle().page.tables, TOPICS: (HEADS, ("b", "", "–", "9", "9"), ("a", "", "–", "100", "100"))}},
            "Is the copy proved?",
        ),
        (differing, {"sections": {**differing().page.sections, READY: "Yes: 9 of 9"}}, "May I cut over?"),
        (copying, {"tables": idle().page.tables}, "May I cut over?"),
        (idle, {"tables": {**idle().page.tables, OFFSETS: ()}}, "Which groups move where?"),
        (
            idle,
            {"tables": {**idle().page.tables, OFFSETS: ((), ("g", "a 0", "1,050", "none", "1,051", "0"))}},
            "Which groups move where?",
        ),
        (differing, {"sections": idle().page.sections}, "What did it refuse?"),
        (
            idle,
            {"facts": {**idle().page.facts, "Next run": "must start before Thu 2030-01-10 12:00 UTC: x"}},
            "When must the next run start?",
        ),
        (
            idle,
            {"sections": {**idle().page.sections, "May the source be switched off?": "Yes: all conditions are met."}},
            "May the old cluster be switched off?",
        ),
    ],
)
def test_each_wrong_answer_is_found(state: Callable[[], Asked], shown: dict[str, object], question: str) -> None:
    """An answer that is wrong, stale or missing is named with its question."""
    assert question in wrong_questions(state(), **shown)
