"""The pages: what each of them answers to a visit."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

import kafka_migration
from kafka_migration.core.findings.errors import FindingsError, TransientError
from kafka_migration.core.report.alerts import run_link
from kafka_migration.core.report.progress_series import ProgressSeries
from kafka_migration.core.report.sections import RunName, Table, section_of, table_of
from kafka_migration.core.run.run_identity import MANUAL_DAG_PREFIX, RunIdentity, migration_of
from kafka_migration.core.run.run_names import readable, run_name, run_names
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.terminal_text import record_count
from kafka_migration.orchestration.report_link import report_link
from kafka_migration.page import kept_in_airflow
from kafka_migration.page import screen_sections as words
from kafka_migration.page.kept_in_airflow import KnownDag, known_dags
from kafka_migration.page.kept_run import ACTIVE, KeptRun
from kafka_migration.page.known_ledgers import LedgerBeingRead, ledger_state
from kafka_migration.page.rendering import rendered
from kafka_migration.page.screen import MaySee, Screen, Waiting, filed_migration, fleet_of, opened, screen_of
from kafka_migration.page.topic_page import left_to_copy
from kafka_migration.report_formats.report_format import ReportFormat
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.status_answer import is_fresh, verdict_answer

# So often a page is made again, even if nothing seems to have changed: ages and limits move on.
_MADE_AGAIN_S = 300
_MOST_POINTS = 60
_MOST_PROBLEMS = 50

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Visit:
    """A request: what its user may see, the relative address of the list, the tag of the known page, the time."""

    may_see: MaySee
    root: str
    known: str
    now: datetime


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """An answer; with `tag`, the same page need not be sent again."""

    status: int
    body: str = ""
    media: str = "text/html; charset=utf-8"
    tag: str = ""


_REFUSALS = {
    401: (
        "Sign in again",
        "Your session in Airflow has ended.",
        "Open Airflow and sign in, then open this page again.",
    ),
    403: ("Not permitted", "You may not read the runs of this DAG.", "If you should, sign in to Airflow again."),
    404: ("No such page", "There is no page at this address."),
}


def refusal(root: str, status: int) -> WebAnswer:
    """Return the page of a status of HTTP."""
    title, *sentences = _REFUSALS.get(status, ("Not shown", f"Airflow refused the request with HTTP status {status}."))
    return WebAnswer(status, _message(root, title, *sentences, with_list=status != 401))


def _message(root: str, title: str, *sentences: str, with_list: bool = True, polls: bool = False) -> str:
    return rendered("message.html", root=root, title=title, sentences=sentences, with_list=with_list, polls=polls)


def fleet(visit: Visit) -> WebAnswer:
    """Return the list of all migrations whose runs the user may see."""
    dags = [dag for dag in known_dags() if visit.may_see(dag.dag_id)]
    tag = _tag(visit, [_state_of(dag.migration, visit.now) for dag in dags], *map(str, dags))
    return _made(visit, tag, lambda: _fleet_page(visit, dags, tag))


def _fleet_page(visit: Visit, dags: list[KnownDag], tag: str) -> WebAnswer:
    rows = fleet_of(dags, visit.now)
    page = rendered("fleet.html", root=visit.root, rows=rows)
    return WebAnswer(200, page, tag="" if any(row.reading or row.problem for row in rows) else tag)


def migration(visit: Visit, dag_id: str, run_id: str | None = None) -> WebAnswer:
    """Return the page of a migration, with a run: that of the address, else the active or the last one."""
    name = migration_of(dag_id)
    if refused := _refused(visit, dag_id, name):
        return refused
    if run_id is not None and ("\0" in run_id or kept_in_airflow.run_state(dag_id, run_id) is None):
        return refusal(visit.root, 404)
    asked = None if run_id is None else RunIdentity(dag_id, run_id, 1)
    return _readable(visit, lambda: _migration(visit, str(name), asked))


def _migration(visit: Visit, name: str, asked: RunIdentity | None) -> WebAnswer:
    tag = _tag(visit, [_state_of(name, visit.now)], name, asked.run_id if asked else "")

    def page() -> WebAnswer:
        return WebAnswer(200, _page_of(visit, screen_of(name, asked, visit.may_see, visit.now)), tag=tag)

    return _made(visit, tag, page)


def _page_of(visit: Visit, screen: Screen | Waiting) -> str:
    if isinstance(screen, Waiting):
        filed = screen.status.from_file if screen.status else None
        copies = f"Its file copies {filed}." if filed else "Its migration file is not on this server."
        then = f"First run kafka-migration preflight {screen.name}, then trigger the DAG in mode rehearse."
        return _message(visit.root, screen.name, "No run yet.", copies, then, polls=True)
    run, asks = screen.run, words.question_of(screen)
    address = run_link(f"{visit.root}..", run.dag_id, run.run_id) if run else ""
    return rendered(
        "migration.html",
        root=visit.root,
        screen=screen,
        dag_id=f"{MANUAL_DAG_PREFIX}{screen.name}",
        problems=screen.problems[:_MOST_PROBLEMS],
        more_problems=max(0, len(screen.problems) - _MOST_PROBLEMS),
        sentence=words.sentence_of(screen),
        level=words.level_of(screen),
        stop=words.stop_of(screen),
        acts=words.next_acts(screen),
        question=run_link(f"{visit.root}..", run.dag_id, run.run_id, asks) if run and asks else "",
        airflow_run=address,
        run_name=run_name(run.run_id) if run else "",
        report=_report_of(visit, run),
        formats=tuple(ReportFormat),
        phases=words.phase_rows(screen),
        facts=words.facts_of(screen),
        topics=words.topic_rows(screen),
        more_topics=len(screen.proved.topics) - words.MOST_TOPICS,
        points=_point_table(screen.series, screen.local),
        sections=words.sections_of(screen),
    )


def _report_of(visit: Visit, run: KeptRun | None) -> str:
    """Return the address of the report of a run; empty before `finish` has written it."""
    is_written = run is not None and run.document is not None and run.document.outcome != ACTIVE
    return report_link(f"{visit.root}..", run.dag_id, run.run_id) if run and is_written else ""


def _point_table(series: ProgressSeries, local: LocalTime) -> Table | None:
    rows = tuple(
        (
            local.cell(each.at),
            *map(record_count, (each.end, each.copied, each.lag)),
            _rate(each.rate),
            each.event or "–",
        )
        for each in reversed(series.points[-_MOST_POINTS:])
    )
    return Table(("Time", "Source end", "Copied", "Lag", "Rate", "Event"), rows) if rows else None


def _rate(rate: float | None) -> str:
    return "not known" if rate is None else f"{rate:,.0f}/s"


def series(visit: Visit, dag_id: str) -> WebAnswer:
    """Return the progress over time: a list of numbers per line of the charts, and the events."""
    name = migration_of(dag_id)
    if refused := _refused(visit, dag_id, name):
        return refused
    return _readable(visit, lambda: WebAnswer(200, json.dumps(_columns(str(name))), "application/json"))


def _columns(name: str) -> dict[str, list[object]]:
    store = opened(name)
    points = store.series().points if store else ()
    polled = [point for point in points if not point.event]
    columns: dict[str, list[object]] = {"at": [point.at.timestamp() for point in polled]}
    for line in ("end", "copied", "lag", "rate"):
        columns[line] = [getattr(point, line) for point in polled]
    columns["events"] = [[point.at.timestamp(), point.event] for point in points if point.event]
    return columns


def topic(visit: Visit, dag_id: str, topic: str) -> WebAnswer:
    """Return the partitions of a topic: what the active run has to copy, and what is proved on both clusters."""
    name = migration_of(dag_id)
    return _refused(visit, dag_id, name) or _readable(visit, lambda: _topic(visit, str(name), topic))


def _topic(visit: Visit, name: str, topic: str) -> WebAnswer:
    store = opened(name)
    answer = verdict_answer(store) if store else None
    found = answer.topics.get(topic) if answer else None
    if store is None or answer is None or found is None:
        return refusal(visit.root, 404)
    partitions = sorted(found.partitions.items())
    names = run_names(run for _, each in partitions for *_, run in (*each.source, *each.target))
    stretches = [
        (str(number), side, f"{start:,}", f"{end:,}", verdict, RunName.of(run, names))
        for number, each in partitions
        for side, judged in (("source", each.source), ("target", each.target))
        for start, end, verdict, run in judged
    ]
    header = ("Partition", "Cluster", "From offset", "Up to offset", "Verdict", "Judged by")
    flaws = tuple(f"{flaw.side} partition {flaw.partition}: {flaw.text}" for flaw in found.flaws)
    left = left_to_copy(store, topic, visit.may_see, visit.now)
    sections = (
        *left,
        *section_of("Not proved", tuple(readable(flaws, answer.local))),
        *table_of("Proved offsets", header, tuple(stretches)),
    )
    page = rendered("topic.html", root=visit.root, name=name, topic=topic, standing=found.standing, sections=sections)
    return WebAnswer(200, page)


def _refused(visit: Visit, dag_id: str, name: str | None) -> WebAnswer | None:
    """Refuse who may not read the runs of the DAG, and of the migration's own DAG, whose runs the page shows too."""
    if not visit.may_see(dag_id):
        return refusal(visit.root, 403)
    if name is None:
        text = "This DAG is not one of a Kafka migration, so there is nothing to show here."
        return WebAnswer(200, _message(visit.root, dag_id, text))
    return None if visit.may_see(f"{MANUAL_DAG_PREFIX}{name}") else refusal(visit.root, 403)


def _readable(visit: Visit, answer: Callable[[], WebAnswer]) -> WebAnswer:
    """Return an answer, or the page that says why the evidence is not shown."""
    try:
        return answer()
    except LedgerBeingRead as reading:
        then = "This page shows the migration as soon as the ledger is read."
        return _not_shown(visit, 202, "The ledger is being read", *reading.sentences, then)
    except FindingsError as error:
        return _not_shown(visit, 409, "The evidence cannot be shown", *error.findings[0].sentences)
    except TransientError as error:
        return _not_shown(visit, 503, "Airflow did not answer", str(error), "The page asks again.")
    except Exception as error:
        # Anyone may write to the evidence root, and no file there may end in an error of the server.
        log.exception("A page cannot be shown")
        text = f"Its documents have values that this version of the package does not expect: {type(error).__name__}."
        return _not_shown(visit, 409, "The evidence cannot be shown", text, "Airflow's log of the api-server has more.")


def _not_shown(visit: Visit, status: int, title: str, *sentences: str) -> WebAnswer:
    return WebAnswer(status, _message(visit.root, title, *sentences, polls=True))


def _made(visit: Visit, tag: str, make: Callable[[], WebAnswer]) -> WebAnswer:
    return WebAnswer(304, tag=tag) if tag and tag in visit.known else make()


def _tag(visit: Visit, states: Iterable[str | None], *more: str) -> str:
    """Return a tag that changes with all that a page shows; empty if the state of the evidence is unknown."""
    known = list(states)
    if None in known:
        return ""
    since = int(visit.now.timestamp()) // _MADE_AGAIN_S
    text = json.dumps([kafka_migration.__version__, since, visit.root, known, more])
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def _state_of(name: str, now: datetime) -> str | None:
    """Return a text that changes with the evidence of a migration, without its ledger being read; `None`: unknown."""
    try:
        store, filed = opened(name), filed_migration(name)
        return f"{filed and filed.digest} {_store_state(store, now) if store else None}"
    except Exception:
        # The page itself says why.
        return None


def _store_state(store: MigrationStore, now: datetime) -> str:
    news, progress = store.news, store.progress()
    last = news.last_run() or {}
    run = RunIdentity.from_holder(progress.run if progress else str(last.get("run", "")))
    own = kept_in_airflow.all_of(run.dag_id, run.run_id) if run else ()
    is_recent = progress is not None and is_fresh(progress, now)
    told = [progress, last, news.series(), ledger_state(store, now), is_recent, *own]
    return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()
