"""The first page of a report, for readers who were not there: what is proved, and what to keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_migration.core.evidence.evidence_documents import attempt_folder_name, run_folder_name
from kafka_migration.core.groups.offsets_plan import GroupVerdict
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.run_document import GroupResult, RunDocument
from kafka_migration.core.report.sections import Chart, ChartBar, Line, Name, Section, ShellCommand, Strong
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.stand_still import PhaseTime, StandStill, Still
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.text.shortened import MOST_NAMES, brief
from kafka_migration.core.text.terminal_text import counted, duration, record_count, storable
from kafka_migration.core.validation.judge_document import JudgedTopic

MOVED = frozenset({"moved", "already_moved"})


def proved(run: RunDocument) -> tuple[Section, ...]:
    """Return what is proved about the copy and about the groups, and what is not."""
    facts = (*_topics(run), *_groups(run))
    limits = (_LIMITS.format(at=run.local.second(run.judged_at or "not known")),) if run.topics else ()
    lead = () if run.topics else ("This run judged no topic, so it proves nothing about the copy.",)
    return (Section("What is proved", lead, facts=facts, notes=limits, charts=_shares(run)),)


_LIMITS = "The verdicts describe the copy as it was read at {at}. They do not show that the source is right."


def _topics(run: RunDocument) -> Iterator[Line]:
    if not run.topics:
        return
    good = [topic for topic in run.topics if topic.is_proved]
    yield f"Proved by all runs together: {len(good):,} of {counted(len(run.topics), 'topic')}, {_records(good)}."
    if bad := [topic for topic in run.topics if not topic.is_proved]:
        yield (Strong("Not proved"), ": ", *_names([(topic.topic, topic.standing) for topic in bad]), ".")
    source, target = ([getattr(each, side) for each in run.records.values()] for side in ("source", "target"))
    if run.records:
        yield f"Compared by this run: {_sum(source)} source records, {_sum(target)} target records."


def _records(topics: Sequence[JudgedTopic]) -> str:
    return f"{_sum([topic.whole.target_records if topic.whole else None for topic in topics])} records on the target"


def _sum(counts: Sequence[int | None]) -> str:
    """Write the sum of numbers, which is not known if one of them is not."""
    return record_count(None if None in counts else sum(count or 0 for count in counts))


def _groups(run: RunDocument) -> Iterator[Line]:
    if not run.groups:
        return
    if run.mode == Mode.REHEARSE:
        done, left = "that a cutover would move", [each for each in run.groups if each.verdict == GroupVerdict.LEFT_OUT]
    else:
        done = "put back" if run.steps.rollback_plan else "moved to the target"
        left = [each for each in run.groups if each.outcome not in MOVED]
    yield f"Consumer groups {done}: {len(run.groups) - len(left):,} of {len(run.groups):,}."
    if left:
        yield (Strong("Not moved"), ": ", *_names([(group.group, _why(group)) for group in left]), ".")


def _why(group: GroupResult) -> str:
    return f"{group.outcome.replace('_', ' ')}, plan: {group.verdict}"


def _names(named: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield names with a text on each; the first of many."""
    for number, (name, text) in enumerate(named[:MOST_NAMES]):
        yield from (", " * (number > 0), Name(brief(name, 100)), f" ({brief(text, 100)})")
    if len(named) > MOST_NAMES:
        yield f" and {len(named) - MOST_NAMES:,} more"


def _shares(run: RunDocument) -> tuple[Chart, ...]:
    """Return how many topics are proved, not proved, and different."""
    found = {"proved": 0, "not proved": 0, "differs": 0}
    for topic in run.topics:
        found["differs" if topic.differs else "proved" if topic.is_proved else "not proved"] += 1
    bars = tuple(ChartBar(name, 0, number, counted(number, "topic")) for name, number in found.items())
    return (Chart("Topics by what is proved", bars, len(run.topics)),) if run.topics else ()


def still_charts(found: StandStill) -> tuple[Chart, ...]:
    """Return the phases in which producers and consumers stood still, each after the one before it, on one scale."""
    sides = (("Producers", found.producers), ("Consumers", found.consumers))
    end = max(side.seconds for _, side in sides)
    return tuple(Chart(f"{name}, by phase", tuple(_phases(side)), end) for name, side in sides if side.is_measured)


def _phases(side: Still) -> Iterator[ChartBar]:
    begin = 0.0
    for each in side.phases:
        yield ChartBar(each.phase, begin, each.seconds or 0, still_words(each))
        begin += each.seconds or 0


def still_words(time: PhaseTime) -> str:
    """Write the time of a phase."""
    return "not measured" if time.seconds is None else duration(time.seconds)


def to_keep(run: RunDocument) -> tuple[Section, ...]:
    """Return which files an auditor needs, below the evidence root and in Airflow's database."""
    command = ShellCommand(f"kafka-migration report {run.migration} {shell_word(run.run_id)} --verify")
    notes = (_DIGESTS, ("To compare the files with the digests: ", command))
    return (Section("What to keep", ("Below the evidence root:",), facts=tuple(_files(run)), notes=notes),)


_DIGESTS = (
    "In Airflow's database: the XCom entries of the run, and the variables of the migration's ledger. They have the "
    "digests that show whether someone has changed these files."
)


def _files(run: RunDocument) -> Iterator[Line]:
    identity = RunIdentity(storable(run.dag_id), storable(run.run_id), run.attempt)
    folder = f"{run.migration}/{run_folder_name(identity)}"
    yield (
        Name(f"{folder}/{attempt_folder_name(run.attempt)}/"),
        ": this report in each format, ",
        Name("run.json"),
        ", the migration file, and the documents of the tasks.",
    )
    if run.steps.has_saved_offsets:
        yield "There too: ", Name("offsets-before-*.csv"), ", the offsets of the groups before the first write."
    if run.attempt > 1:
        yield "The folders of the earlier attempts beside it: documents of tasks that were not cleared are there."
    yield Name(f"{run.migration}/ledger/"), ": what all runs together prove."
