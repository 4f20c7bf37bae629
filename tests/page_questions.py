"""The ten questions of an operator: whether a page answers each of them with what a witness has seen.

The witness asks the clusters, MirrorMaker's own positions, Airflow and the ledger's files, twice: before the page was
made and after it. What may have moved in between has two values, and the page must be between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.page_shown import ShownPage

# A task's process starts before its code does; both moments are written by the machine of the task.
STARTED_WITHIN = timedelta(seconds=20)
# The watch reports at each poll, and Spark's progress is kept every 20 s; the other steps report only their beginning.
REPORTED_WITHIN = {"watch_lag": timedelta(seconds=1), "validate_topics": timedelta(seconds=30)}
# The page writes whole minutes, rounded down.
NEXT_RUN_WITHIN = timedelta(minutes=2)
Offsets = Mapping[tuple[str, int], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a witness saw at a moment.

    `active` has the start of each task that is under way; `asked` are the tasks that wait for an answer. `positions`
    are MirrorMaker's, `groups` {(group, topic, partition): offset on the source}. `differs` are the places at which
    the copy differs, if it looked. `is_judged`: a verdict is newer than the last start of MirrorMaker.
    """

    at: datetime
    active: Mapping[str, datetime]
    asked: Mapping[str, datetime]
    last_failed: bool
    is_judged: bool
    is_rehearsed: bool
    is_cut_over: bool
    ends: Offsets
    positions: Offsets
    records: Mapping[str, tuple[int, int]]
    differs: tuple[tuple[str, int, int], ...]
    groups: Mapping[tuple[str, str, int], int]
    stopped_at: datetime | None
    retention: timedelta
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A page, and what a witness saw before it was made and after it."""

    page: ShownPage
    before: Seen
    after: Seen


def wrong_answers(asked: Asked) -> list[str]:
    """Return each question to which the page has no answer, a wrong one or a stale one, with the reason."""
    return [f"{name}: {text}" for name, question in QUESTIONS.items() for text in question(asked)]


def _all_right(asked: Asked) -> Iterator[str]:
    expected = set(_expected_problems(asked.after))
    shown = {word for word in _PROBLEMS if any(word in problem for problem in asked.page.problems)}
    if expected != shown or len(asked.page.problems) != len(expected):
        yield f"the problems {asked.page.problems} instead of {sorted(expected)}"
    if not expected and "Nothing needs a person." not in asked.page.whole:
        yield "nowhere that nothing needs a person"


_FAILED, _DIFFERS, _CONTRADICTS = "the last run failed", "the copy differs", "a later run contradicts the copy"
_PRODUCERS, _APPROVAL = "until the producers on the source stop", "waits for an approval"
_PROBLEMS = (_FAILED, _DIFFERS, _CONTRADICTS, _PRODUCERS, _APPROVAL)


def _expected_problems(seen: Seen) -> Iterator[str]:
    if seen.last_failed:
        yield _FAILED
    if seen.differs:
        # An earlier run of the walk has proved the copy.
        yield from (_DIFFERS, _CONTRADICTS)
    if "stop_producers" in seen.asked:
        yield _PRODUCERS
    if "approve" in seen.asked:
        yield _APPROVAL


def _doing_now(asked: Asked) -> Iterator[str]:
    page, active = asked.page, {**asked.before.active, **asked.after.active}
    if not asked.after.active:
        if page.step or page.facts.get("Now") != "No run is active.":
            yield f"step {page.step!r}, but Airflow has no active run"
        return
    if page.step not in active:
        yield f"step {page.step!r} instead of one of {sorted(active)}"
    elif page.step_since is None or abs(page.step_since - active[page.step]) > STARTED_WITHIN:
        yield f"since {page.step_since}, but Airflow says {active[page.step]}"
    age = REPORTED_WITHIN.get(page.step)
    if page.told_at is None or (age is not None and not asked.before.at - age <= page.told_at <= asked.after.at):
        yield f"what was reported at {page.told_at}, not between {asked.before.at} and {asked.after.at}"


def _how_far(asked: Asked) -> Iterator[str]:
    page, progress = asked.page, asked.page.facts.get("Progress", "")
    if page.step == "watch_lag":
        found = re.search(r"\blag ([\d,]+)", progress)
        least, most = _left(asked)
        if not found or not least <= _number(found[1]) <= most:
            yield f"{progress!r}, but {least} to {most} were left"
    elif page.step == "validate_topics":
        found = re.search(r"\(([\d,]+) of at most ([\d,]+) records read\)", progress)
        most = 2 * sum(asked.after.ends.values())
        if not found or not _number(found[1]) <= _number(found[2]) <= most:
            yield f"{progress!r}, but there are {most} records on both sides"
    if asked.after.active and not page.facts.get("Run ends"):
        yield "no forecast of the end"


def _left(asked: Asked, topic: str = "") -> tuple[int, int]:
    """Return between which numbers the offsets left to copy were, of a topic or of all."""

    def total(offsets: Offsets) -> int:
        return sum(offset for (name, _), offset in offsets.items() if topic in {"", name})

    before, after = asked.before, asked.after
    return total(before.ends) - total(after.positions), total(after.ends) - total(before.positions)


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _worst_topics(asked: Asked) -> Iterator[str]:
    cells = asked.page.column("Topics, the worst first", "Offsets left")
    topics = {topic for topic, _ in asked.after.ends}
    if set(cells) != topics:
        yield f"the topics {sorted(cells)} instead of {sorted(topics)}"
    if asked.page.step != "watch_lag":
        return
    shown = {topic: 0 if cell == "–" else _number(cell) for topic, cell in cells.items()}
    for topic, left in shown.items():
        least, most = _left(asked, topic)
        if not least <= left <= most:
            yield f"{left} left of {topic}, but it was {least} to {most}"
    if list(shown.values()) != sorted(shown.values(), reverse=True):
        yield f"not the worst first: {shown}"


def _is_proved(asked: Asked) -> Iterator[str]:
    seen, verdict = asked.after, asked.page.verdict
    wanted = (
        "The copy is not proved yet" if not seen.is_judged else "The copy differs" if seen.differs else "is proved:"
    )
    if wanted not in verdict:
        yield f"{verdict!r} instead of {wanted!r}"
    if seen.active or seen.differs:
        return
    for place, side in enumerate(("Source", "Target")):
        shown = asked.page.column("Topics, the worst first", f"Proved on the {side.lower()}")
        expected = {topic: f"{counts[place]:,}" for topic, counts in seen.records.items()}
        if expected and shown != expected:
            yield f"the records {shown} on the {side.lower()} instead of {expected}"


def _may_cut_over(asked: Asked) -> Iterator[str]:
    seen, title = asked.after, "May the migration be cut over?"
    good = not (seen.active or seen.last_failed or seen.differs or seen.is_cut_over)
    expected = "Yes: 9 of 9" if good and seen.is_judged and seen.is_rehearsed else "No: "
    if expected not in asked.page.sections.get(title, ""):
        yield f"{asked.page.sections.get(title, '')[:80]!r} instead of {expected!r}"
    states = asked.page.column(title, "State")
    conditions = {
        "No run is active": not seen.active,
        "The last run did not fail": not seen.last_failed,
        "The topics are not cut over yet": not seen.is_cut_over,
        "Everything that was copied is proved": seen.is_judged and not seen.differs,
    }
    for condition, is_met in conditions.items():
        if states.get(condition) != ("MET" if is_met else "NOT MET"):
            yield f"{condition}: {states.get(condition)}, but it is {is_met}"


def _groups(asked: Asked) -> Iterator[str]:
    rows = asked.page.tables.get("Offsets", ())[1:]
    if not rows:
        if "has no plan of its groups" not in asked.page.sections.get("Consumer groups", ""):
            yield "neither the groups nor that there is no plan"
        return
    shown = {f"{group} {place}": (source, planned) for group, place, source, _, planned, _ in rows}
    # MirrorMaker 2 copied each record to its own offset, so a group resumes at the same one.
    expected = {
        f"{group} {topic} {partition}": (f"{offset:,}", f"{offset:,}")
        for (group, topic, partition), offset in asked.after.groups.items()
    }
    if shown != expected:
        yield f"{shown} instead of {expected}"


def _refused(asked: Asked) -> Iterator[str]:
    for code in asked.after.findings:
        if code not in asked.page.sections.get("What the run found wrong", ""):
            yield f"nowhere {code}"
    for topic, partition, offset in asked.after.differs:
        if not any(topic in text and f"partition {partition}" in text for text in asked.page.sections.values()):
            yield f"nowhere the difference in {topic} partition {partition} at {offset}"
    if not asked.page.acts:
        yield "nothing to do next"


def _next_run(asked: Asked) -> Iterator[str]:
    text, seen = asked.page.facts.get("Next run", ""), asked.after
    found = re.search(r"start before \w{3} (\S+ \S+) UTC: ", text)
    expected = None if seen.is_cut_over else seen.stopped_at and seen.stopped_at + seen.retention
    if expected is None:
        if "no limit is known" not in text:
            yield f"{text!r}, although the source may delete nothing that is needed"
    elif not found or abs(datetime.fromisoformat(f"{found[1]}+00:00") - expected) > NEXT_RUN_WITHIN:
        yield f"{text!r} instead of about {expected}"


def _source_off(asked: Asked) -> Iterator[str]:
    answer = asked.page.sections.get("May the source be switched off?", "")
    if not asked.after.is_cut_over and "No: not all topics are cut over." not in answer:
        yield f"{answer!r}, although nothing is cut over"
    if asked.after.is_cut_over and not re.search(r"\b(Yes|No|Not known)\b", answer):
        yield f"{answer!r}"


QUESTIONS = {
    "Is everything all right?": _all_right,
    "What does it do now, and since when?": _doing_now,
    "How far is it, and until when?": _how_far,
    "Which topics are worst?": _worst_topics,
    "Is the copy proved?": _is_proved,
    "May I cut over?": _may_cut_over,
    "Which groups move where?": _groups,
    "What did it refuse?": _refused,
    "When must the next run start?": _next_run,
    "May the old cluster be switched off?": _source_off,
}
