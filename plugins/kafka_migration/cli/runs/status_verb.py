"""`kafka-migration status`: the phase of a migration, its current run and the result of the last run."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from kafka_migration.cli.runs.watching_status import watched
from kafka_migration.cli.shell.airflow_access import knows_files, migration_names, migration_of
from kafka_migration.cli.shell.arguments import Verbs, add_folder, add_output, add_verb, place
from kafka_migration.cli.shell.evidence_access import all_opened, opened
from kafka_migration.cli.shell.output import ExitCode, aligned, answer_stream, complain, is_json, respond
from kafka_migration.cli.shell.usage_problems import findings_of
from kafka_migration.core.findings.by_cause import by_cause
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.ledger.cutovers import CutOver, RolledBack
from kafka_migration.core.run.run_names import readable
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.shortened import some
from kafka_migration.steps.answers.health import CHECK_SCHEMA, Health, checked
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.status_answer import (
    STATUS_SCHEMA,
    ActiveRun,
    BriefStatus,
    EndedRun,
    LastGeneration,
    StatusAgain,
    StatusAnswer,
    UnreadStatus,
    all_statuses,
    not_run_yet,
)


def add_status(verbs: Verbs) -> None:
    """Add the verb `status`."""
    verb = add_verb(verbs, status, "status", "status demo -o json", is_name_optional=True)
    help_text = "print a line per problem; the exit code is that of the worst one"
    verb.add_argument("--check", action="store_true", help=help_text)
    help_text = "show the status of an active run until it ends"
    verb.add_argument("--watch", action="store_true", help=help_text)
    help_text = "read from both clusters which partitions of this topic are behind"
    verb.add_value("--topic", "TOPIC", help_text, type=place)
    add_folder(verb)
    add_output(verb)


def status(arguments: Namespace) -> int:
    """Print the status of one migration, or of all, as lines or as one JSON document."""
    if arguments.topic is not None:
        if arguments.name is None or arguments.check or arguments.watch:
            arguments.parser.error("--topic needs the name of a migration, and neither --check nor --watch")
        # Only this asks the clusters.
        from kafka_migration.cli.runs.topic_status import status_of_topic

        return status_of_topic(arguments)
    now = datetime.now(UTC)
    if arguments.check:
        return _check(arguments, now)
    if arguments.name is None:
        return _status_of_all(arguments, now)
    if arguments.watch and not is_json(arguments):
        answer_at = _answers(arguments)
        watched(lambda: answer_at(datetime.now(UTC)), status_lines, answer_stream(), time.sleep)
        return ExitCode.DONE
    answer = _answers(arguments)(now)
    respond(arguments, answer, status_lines(answer))
    return ExitCode.DONE


def _answers(arguments: Namespace) -> Callable[[datetime], StatusAnswer]:
    """Return what answers from the evidence at a moment, or from the migration file if there is no run yet."""
    try:
        return StatusAgain(opened(arguments.evidence_root, arguments.name)).at
    except Refused as unknown:
        if unknown.findings[0].code is not Code.MIGRATION_UNKNOWN or not knows_files(arguments):
            raise
        try:
            filed = not_run_yet(migration_of(arguments))
            return lambda _: filed
        except Refused as missing:
            raise unknown if missing.findings[0].code is Code.MIGRATION_FILE_MISSING else missing from None


_CHECKED = {Health.GOOD: ExitCode.DONE, Health.WRONG: ExitCode.FAILED, Health.NEEDS_A_PERSON: ExitCode.NOT_READY}


def _check(arguments: Namespace, now: datetime) -> int:
    """Print a line per problem of one migration or of all; return the exit code of the worst migration."""
    place, name = arguments.evidence_root, arguments.name
    found = checked(all_opened(place) if name is None else [opened(place, name)], now, findings_of)
    document = {"schema": CHECK_SCHEMA, "migrations": [each.to_document() for each in found.migrations]}
    lines = [f"{m.migration}: {line}" for m in found.migrations for line in m.told or (m.health,)]
    respond(arguments, document, lines)
    complain(found.problems)
    return ExitCode.REFUSED if found.problems else _CHECKED[found.health]


def _status_of_all(arguments: Namespace, now: datetime) -> int:
    """Print a line per migration; if its evidence cannot be read, the line shows the code of the problem."""
    filed = migration_names(arguments.migrations) if knows_files(arguments) else []
    found = all_statuses(_all_opened(arguments.evidence_root, filed), now, findings_of, filed)
    document = {"schema": STATUS_SCHEMA, "migrations": [each.to_document() for each in found.migrations]}
    respond(arguments, document, aligned([_HEADS, *map(_brief_row, found.migrations)]))
    complain(found.problems)
    return ExitCode.FAILED if found.problems else ExitCode.DONE


def _all_opened(place: str | None, filed: list[str]) -> list[MigrationStore]:
    try:
        return all_opened(place)
    except Refused as unknown:
        if not filed or unknown.findings[0].code is not Code.MIGRATION_UNKNOWN:
            raise
        return []


_HEADS = ("MIGRATION", "PHASE", "VERDICT", "NOW", "LAST RUN")


def _brief_row(brief: BriefStatus | UnreadStatus) -> tuple[str, ...]:
    if isinstance(brief, UnreadStatus):
        return brief.migration, brief.problem, "", "", ""
    now, last = brief.now, brief.last_run
    found = "" if last is None or last.code is None else f": {last.code}"
    return (
        brief.migration,
        brief.phase,
        _standing(brief),
        "–" if now is None else ", ".join(filter(None, (now.step, now.words, now.age))),
        "–" if last is None else f"{last.mode} {last.outcome}{found}, {last.ago}",
    )


def _standing(brief: BriefStatus) -> str:
    doubts = ["contradicted"] if brief.contradicted else []
    doubts += ["ledger not confirmed"] if brief.ledger.not_confirmed else []
    return ", ".join([brief.standing, *doubts])


def status_lines(answer: StatusAnswer) -> list[str]:
    """Return the status as lines of text."""
    if filed := answer.from_file:
        then = f"kafka-migration preflight {answer.migration}, then trigger the DAG in mode rehearse"
        return aligned([("Migration", answer.migration), ("File", str(filed)), ("Now", "no run yet"), ("Next", then)])
    local, names = answer.local, answer.run_names
    rows = [("Migration", answer.migration), ("Phase", str(answer.phase)), ("Ledger", str(answer.ledger))]
    rows += [*_now_rows(answer.now, local, names), *_last_run_rows(answer.last_run, local, names)]
    rows += [_happened("Cut over", each, local, names) for each in answer.cutovers]
    rows += [_happened("Rolled back", each, local, names) for each in answer.rollbacks]
    rows += _generation_rows(answer.last_generation, local, names)
    pending = some([str(number) for number in answer.pending_generations])
    rows.append(("Pending", f"generation {pending}: stopped, not validated yet" if pending else "none"))
    topics = [(topic, verdict or "not validated yet") for topic, verdict in answer.topics.items()]
    tables = (_behind(answer.now), [("TOPIC", "VERDICT"), *topics] if topics else [])
    return [*aligned(rows), *(line for table in tables if table for line in ("", *aligned(table)))]


def _behind(now: ActiveRun | None) -> list[tuple[str, ...]]:
    """Return the table of the topics that the active run has not copied completely."""
    found = now.behind if now else ()
    lags = [(each.topic, "unknown" if each.lag is None else f"{each.lag:,}", each.trend) for each in found]
    return [("TOPIC BEHIND", "OFFSETS LEFT", "TREND"), *lags] if lags else []


def _now_rows(now: ActiveRun | None, local: LocalTime, names: Mapping[str, str]) -> list[tuple[str, str]]:
    if now is None:
        return [("Now", "no active run")]
    doing = ", ".join(filter(None, (now.stage, now.mode)))
    old = "" if now.is_fresh else "; no update since: check that the run and the triggerer are still running"
    rows = [("Now", f"{now.step} for {now.in_step}, {doing}, by {names[now.run]} (news {now.age}{old})")]
    if now.words:
        rows.append(("Progress", now.words))
    if now.copy_words and now.copy_words != now.words:
        rows.append(("Copied", now.copy_words))
    if now.forecast:
        rows.append(("Ends", now.forecast.words(local)))
    return rows + [("Silent", f"{each.party} since {local.minute(each.since)}: {each.reason}") for each in now.silent]


def _last_run_rows(last: EndedRun | None, local: LocalTime, names: Mapping[str, str]) -> list[tuple[str, str]]:
    if last is None:
        return [("Last run", "none has finished")]
    verdict, at = f", verdict {last.verdict}" if last.verdict else "", local.minute(last.at)
    rows = [("Last run", f"{last.mode}, {last.outcome}{verdict}, {at}, {last.age}, {names[last.run]}")]
    found = by_cause(last.findings)
    rows += [("Found", str(finding)) for finding in found[:_NAMED_FINDINGS]]
    if (more := len(found) - _NAMED_FINDINGS) > 0:
        rows.append(("Found", f"… and {more} more; -o json shows all"))
    if last.next_start:
        rows.append(("Next run", f"must start before {last.next_start.words(local)}"))
    return rows + [("Contradicted", each) for each in readable(map(str, last.contradictions), local)]


# More would push the status itself off the screen.
_NAMED_FINDINGS = 3


def _happened(what: str, entry: CutOver | RolledBack, local: LocalTime, names: Mapping[str, str]) -> tuple[str, str]:
    by = f"at {local.minute(entry.at)} by {names[entry.run]}"
    return what, f"{some(entry.topics, where='-o json lists all')} {by}"


def _generation_rows(last: LastGeneration | None, local: LocalTime, names: Mapping[str, str]) -> list[tuple[str, str]]:
    if last is None:
        return [("Generation", "none: MirrorMaker was never started")]
    state = "open" if last.open else "stopped"
    rows = [
        ("Generation", f"{last.number}, {state}, started {local.minute(last.started_at)}"),
        ("Run", names[last.run]),
    ]
    if last.stop_request is not None:
        rows.append(("Request", local.within(str(last.stop_request))))
    if last.certificate is not None:
        rows.append(("Certificate", last.certificate.words(local)))
    return rows
