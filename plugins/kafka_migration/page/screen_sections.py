"""A migration in words: the sections of its page, in the order of an operator's questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.migration.settings import MirrorSettings, Mode, Phase
from kafka_migration.core.report import report_sections
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.report.sections import (
    Line,
    Name,
    RunName,
    Section,
    Strong,
    finding_lines,
    section_of,
    table_of,
)
from kafka_migration.core.rollback.decommission import State
from kafka_migration.core.run.run_names import readable, run_names
from kafka_migration.core.run.stand_still import forecast_lines
from kafka_migration.core.run.task_steps import SKIPPED, STEPS, RunPhase, TaskId, expected_skips, idle_phases
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import duration, record_count
from kafka_migration.core.watching.drain import TopicLag
from kafka_migration.core.watching.producers_question import StopProducers
from kafka_migration.page.kept_in_airflow import TaskTimes
from kafka_migration.page.screen import Screen
from kafka_migration.steps.answers.status_answer import STANDINGS, EndedRun, ProvedTopic, StatusAnswer

# More rows would make the page slow; the command line shows all.
MOST_TOPICS = 300
_MOST_FINDINGS = 100
_VERDICTS = {
    "PASS": "The copy is proved: the target has every record that was copied.",
    "WARN": "The copy is proved, with warnings.",
    "pending": "The copy is not proved yet: its last part is not validated.",
    "nothing copied": "Nothing has been copied yet.",
    "NOT_VERIFIABLE": "A part of the copy cannot be verified.",
    "FAIL": "The copy differs from the source.",
}


def sentence_of(screen: Screen) -> str:
    """Return the verdict on the whole copy as a sentence."""
    if screen.proved.contradictions and screen.proved.standing != Verdict.FAIL:
        return "A later run contradicts what earlier runs proved of the copy."
    return _VERDICTS[screen.proved.standing]


def level_of(screen: Screen) -> str:
    """Return how the verdict is coloured: `wrong`, `proved` or `open`."""
    if screen.proved.standing == Verdict.FAIL or screen.proved.contradictions:
        return "wrong"
    return "proved" if screen.proved.standing in {Verdict.PASS, Verdict.WARN} else "open"


def next_acts(screen: Screen) -> tuple[str, ...]:
    """Return what to do next."""
    run = screen.run
    if screen.is_active:
        acts: tuple[str, ...] = ("Stop the producers.",) if stop_of(screen) else ()
        acts += ("Answer the question of the run.",) if question_of(screen) else ()
        return acts or (() if screen.problems else ("A run is active. Wait for it.",))
    return run.document.next_steps if run and run.document and screen.is_newest else ()


def stop_of(screen: Screen) -> StopProducers | None:
    """Return which producers must stop now."""
    return screen.run.stop if screen.is_active and screen.run else None


def question_of(screen: Screen) -> TaskId | None:
    """Return the task of the active run that asks a person."""
    steps = screen.run.document.steps if screen.is_active and screen.run and screen.run.document else None
    if steps is None:
        return None
    if steps.approve and steps.approve.answered_at is None:
        return TaskId.APPROVE
    asks = stop_of(screen) and steps.producers and steps.producers.chosen is None
    return TaskId.STOP_PRODUCERS if asks else None


_ENDED = {"success", "failed", "skipped", "upstream_failed", "removed"}


@dataclass(frozen=True, slots=True)
class PhaseRow:
    """A phase of the run: `done`, `now`, `failed`, `not reached`, `skipped` or `later`, and its seconds so far.

    `left_s` is the forecast of what is left, `share` the done part of the current step; `None`: unknown.
    """

    name: str
    state: str
    seconds: float | None
    began_at: datetime | None
    left_s: int | None = None
    share: float | None = None


def phase_rows(screen: Screen) -> list[PhaseRow]:
    """Return the phases of the run, from the times of its tasks in Airflow and the forecast."""
    tasks = {task.task: task for task in (screen.run.tasks if screen.run else ())}
    now = screen.status.now
    is_same = screen.is_active
    left = now.forecast.seconds if now and now.forecast and is_same else {}
    share = now.share if now and is_same else None
    for task in _skipped(screen, tasks):
        tasks[task] = replace(tasks[task], state=SKIPPED)
    rows = (_phase_row(phase, tasks, screen.at, left, share) for phase in RunPhase)
    return [row for row in rows if row]


def _skipped(screen: Screen, tasks: Mapping[str, TaskTimes]) -> list[str]:
    """Return the tasks that the run will skip, or that have nothing to do in it; none if its mode is not known."""
    mode = _mode_of(screen)
    if mode is None:
        return []
    later = expected_skips(mode) if screen.is_active else frozenset()
    idle = {step.task for step in STEPS if step.phase in idle_phases(mode)}
    states = {task: times.state for task, times in tasks.items()}
    return [
        task
        for task, state in states.items()
        if (task in later and state is None) or (task in idle and state not in {"failed", "upstream_failed"})
    ]


def _mode_of(screen: Screen) -> Mode | None:
    document = screen.run.document if screen.run else None
    told = screen.status.now.mode if screen.status.now and screen.is_active else document.mode if document else ""
    return Mode(told) if told in set(Mode) else None


def _phase_row(
    phase: RunPhase, tasks: Mapping[str, TaskTimes], at: datetime, left: Mapping[str, int], share: float | None
) -> PhaseRow | None:
    own = [tasks[step.task] for step in STEPS if step.phase is phase and step.task in tasks]
    if not own:
        return None
    state = _state_of([task.state for task in own])
    began = min((task.began_at for task in own if task.began_at and task.state != "skipped"), default=None)
    ends = [task.ended_at for task in own if task.ended_at and task.state != "skipped"]
    end = at if state == "now" else max(ends, default=None)
    # Airflow gives a task that was not reached two moments too.
    seconds = (end - began).total_seconds() if began and end and state != "not reached" else None
    return PhaseRow(str(phase), state, seconds, began, left.get(str(phase)), share if state == "now" else None)


def _state_of(states: list[str | None]) -> str:
    if all(state == "skipped" for state in states):
        return "skipped"
    if "failed" in states:
        return "failed"
    if "upstream_failed" in states:
        return "not reached"
    if all(state in _ENDED for state in states):
        return "done"
    return "now" if any(state is not None and state != "skipped" for state in states) else "later"


def facts_of(screen: Screen) -> list[tuple[str, str]]:
    """Return what the migration does now, as rows of a name and a text."""
    status = screen.status
    rows = [("Phase", status.phase.replace("_", " ")), ("Ledger", str(screen.proved.ledger))]
    if screen.filed:
        source, target = screen.filed.source.connection, screen.filed.target.connection
        rows.insert(0, ("Copies", f"{source} to {target}"))
    rows += _now_rows(status, screen.local)
    rows.append(("Next run", _next_run(status.last_run, screen.at, screen.local)))
    return [*rows, *_mirror_rows(screen)]


def _next_run(last: EndedRun | None, at: datetime, local: LocalTime) -> str:
    if last is None:
        return "no limit is known yet: the first run that stops MirrorMaker calculates it"
    if last.next_start is None:
        return "no limit is known: the source keeps the records, or no run has stopped MirrorMaker yet"
    must = "had to" if last.next_start.is_over(at) else "must"
    return f"{must} start before {last.next_start.words(local)} (reported)"


def _now_rows(status: StatusAnswer, local: LocalTime) -> Iterator[tuple[str, str]]:
    now, last = status.now, status.last_run
    if now is None:
        yield "Now", "No run is active."
    else:
        yield "Progress", now.words or "This step reports no progress."
        if now.copy_words and now.copy_words != now.words:
            yield "Copied", now.copy_words
        yield "Run ends", now.forecast.words(local) if now.forecast else "unknown"
        yield from (("Silent", f"{each.party} since {local.minute(each.since)}: {each.reason}") for each in now.silent)
    if last:
        yield "Last run", f"{last.mode}, {last.outcome}, ended at {local.minute(last.at)} (reported)"


def _mirror_rows(screen: Screen) -> Iterator[tuple[str, str]]:
    last, filed, local = screen.status.last_generation, screen.filed, screen.local
    if filed:
        on = f" on {filed.mirror.connection}" if filed.mirror.connection else ""
        yield "Engine", f"{filed.mirror.engine}{on}; {_without_airflow(filed.mirror)}"
    if last is None:
        yield "MirrorMaker", "was never started"
    else:
        state = (
            "has no stop certificate yet" if last.certificate is None else f"stopped: {last.certificate.words(local)}"
        )
        yield "MirrorMaker", f"generation {last.number}, started {local.minute(last.started_at)}; {state}"
    if last and last.stop_request:
        yield "Stop request", local.within(str(last.stop_request))


def _without_airflow(mirror: MirrorSettings) -> str:
    """Return what happens to MirrorMaker while Airflow does not look."""
    if mirror.abilities.needs_host:
        return f"without a renewal MirrorMaker stops itself after {duration(mirror.lease_s)}"
    return "no lease: it copies until a run or kafka-migration stop stops it"


def sections_of(screen: Screen) -> tuple[Section, ...]:
    """Return the sections below the charts."""
    document = screen.run.document if screen.run else None

    def of_run(section: Callable[[RunDocument], tuple[Section, ...]]) -> tuple[Section, ...]:
        return section(document) if document else ()

    return (
        *of_run(report_sections.differences),
        *(of_run(report_sections.groups) or _groups_without_plan(screen)),
        *readiness_section(screen),
        *of_run(report_sections.standing_still),
        *(of_run(report_sections.decommission) or _source_needed(screen)),
        *_run_sections(document),
        *section_of("What happened", tuple(f"{screen.local.minute(at)}: {what}" for at, what in screen.events)),
    )


def _groups_without_plan(screen: Screen) -> tuple[Section, ...]:
    """Return the plan of the newest rehearsal for a run that has none, else how to see one."""
    planned = screen.rehearsed.document if screen.rehearsed else None
    if planned and (found := report_sections.groups(planned)):
        ended = planned.local.minute(planned.finished_at)
        made = f"This run has no plan of its groups. The rehearsal that ended at {ended} made this one."
        return (replace(found[0], lead=(made, "The groups may have read on since.", *found[0].lead)), *found[1:])
    lines: tuple[Line, ...] = (
        "This run has no plan of its groups. Rehearsals and cutovers make one after the validation.",
        ("To see the plan as it would be now: ", Name(f"kafka-migration plan {screen.name} --mode cutover")),
    )
    return (Section("Consumer groups", lines),)


def _source_needed(screen: Screen) -> tuple[Section, ...]:
    """Return why the source is needed, or that the run of the page did not look."""
    if screen.status.phase is not Phase.CUT_OVER:
        answer: Line = (Strong("No"), ": not all topics are cut over.")
    else:
        look = Name(f"kafka-migration decommission {screen.name}")
        answer = (Strong("Not known"), ": this run did not look. To look: ", look)
    return (Section("May the source be switched off?", (answer,)),)


def _run_sections(run: RunDocument | None) -> Iterator[Section]:
    if run is None:
        return
    yield from section_of("What the run found wrong", finding_lines(run.findings)[:_MOST_FINDINGS])
    yield from section_of("Worth knowing", finding_lines(run.warnings)[:_MOST_FINDINGS])
    yield from section_of("Who decided", tuple(report_sections.decisions(run)))


@dataclass(frozen=True, slots=True)
class TopicRow:
    """A topic; each text is a cell after its name."""

    topic: str
    cells: tuple[str, ...]


def topic_rows(screen: Screen) -> list[TopicRow]:
    """Return the topics, the worst first: those that differ, then those that are behind, then the others."""
    now = screen.status.now
    behind = {each.topic: each for each in (now.behind if now and now.step == TaskId.WATCH_LAG else ())}
    topics = screen.proved.topics
    ordered = sorted({*topics, *behind}, key=lambda topic: _badness(topic, topics, behind))
    return [TopicRow(topic, _topic_cells(screen, topic, behind)) for topic in ordered[:MOST_TOPICS]]


def _badness(topic: str, topics: Mapping[str, ProvedTopic], behind: Mapping[str, TopicLag]) -> tuple[int, float, str]:
    standing = topics[topic].standing if topic in topics else "nothing copied"
    rank = -1 if standing in {Verdict.FAIL, Verdict.NOT_VERIFIABLE} else 0 if topic in behind else 1
    lag = behind[topic].lag if topic in behind else 0
    return rank * 10 + STANDINGS.index(standing), -(float("inf") if lag is None else lag), topic


def _topic_cells(screen: Screen, topic: str, behind: Mapping[str, TopicLag]) -> tuple[str, ...]:
    found = screen.proved.topics.get(topic)
    left = (record_count(behind[topic].lag), behind[topic].trend) if topic in behind else ("–", "–")
    if found is None:
        return "nothing copied", *left, "–", "–", "never", "–"
    counts = (found.source_records, found.target_records) if found.judged_at else (None, None)
    because = some(readable(found.reasons, screen.local), 3, separator="; ") or "–"
    judged = screen.local.cell(found.judged_at or "never")
    return found.standing, *left, *map(record_count, counts), judged, because


def readiness_section(screen: Screen) -> tuple[Section, ...]:
    """Return whether a cutover may follow, with every condition."""
    ready, title = screen.ready, "May the migration be cut over?"
    because = [some(readable(each.reasons, screen.local), separator="; ") or "–" for each in ready.conditions]
    rows = tuple((each.condition, each.state.upper(), why) for each, why in zip(ready.conditions, because, strict=True))
    lead = f"{ready.answer.capitalize()}: {sum(each.state is State.MET for each in ready.conditions)} of {len(rows)} "
    found = ready.rehearsal
    notes: tuple[Line, ...] = ()
    if found:
        name = RunName.of(found.run, run_names([found.run]))
        notes = (("The newest rehearsal ended at ", screen.local.minute(found.at), " (", name, ")."), *found.notes)
    notes += forecast_lines(found.stand_still if found else None)
    return table_of(title, ("Condition", "State", "Because"), rows, lead=(f"{lead}conditions are met.",), notes=notes)
