"""`kafka-migration status`: the phase of a migration, its current run and the result of the last run."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from kafka_migration.adapters.store.document_files import naming
from kafka_migration.adapters.store.run_status_store import LAST_RUN_FILE, PROGRESS_FILE
from kafka_migration.cli.runs.verdict_verb import verdict_document
from kafka_migration.cli.shell.arguments import Verbs, add_output, add_verb, is_json
from kafka_migration.cli.shell.evidence_access import MigrationStore, all_migrations
from kafka_migration.cli.shell.output import ExitCode, aligned, complain, say, say_json
from kafka_migration.cli.shell.usage_problems import findings_of
from kafka_migration.core.findings.by_cause import by_cause
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.chain import Confirmation
from kafka_migration.core.ledger.generations import Generation
from kafka_migration.core.report.run_status import Contradiction, LastRun, age_words, progress_of
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.core.text.shortened import some
from kafka_migration.core.validation.coverage_rules import coverage_of

STATUS_SCHEMA = 5
# A progress document older than this may belong to a run that is no longer active.
FRESH_S = 120.0


def add_status(verbs: Verbs) -> None:
    """Add the verb `status`."""
    verb = add_verb(
        verbs, "status", "show the status of one migration or of all", "status demo -o json", is_name_optional=True
    )
    add_output(verb)
    verb.set_defaults(run=status)


def status(arguments: Namespace) -> int:
    """Print the status of one migration, or of all, as lines or as one JSON document."""
    now = datetime.now(UTC)
    if arguments.name is None:
        return _status_of_all(arguments, now)
    document = status_document(MigrationStore.open(arguments.evidence_root, arguments.name), now)
    say_json(document) if is_json(arguments) else say(status_lines(document))
    return ExitCode.DONE


def _status_of_all(arguments: Namespace, now: datetime) -> int:
    """Print a line per migration; if its evidence cannot be read, the line shows the code of the problem."""
    documents: list[dict[str, Any]] = []
    problems: list[Finding] = []
    for store in all_migrations(arguments.evidence_root):
        try:
            documents.append(brief_document(store, now))
        except Exception as error:
            # Any error: the other migrations are still listed.
            found = findings_of(error)
            problems += found
            documents.append({"migration": store.name, "problem": str(found[0].code)})
    if is_json(arguments):
        say_json({"schema": STATUS_SCHEMA, "migrations": documents})
    else:
        say(aligned([_HEADS, *map(_brief_row, documents)]))
    complain(problems)
    return ExitCode.FAILED if problems else ExitCode.DONE


_HEADS = ("MIGRATION", "PHASE", "VERDICT", "NOW", "LAST RUN")


def brief_document(store: MigrationStore, now: datetime) -> dict[str, Any]:
    """Return one migration's entry in the list of all migrations."""
    proved, last, progress = verdict_document(store), _last_run(store), _progress(store, now)
    return {
        "migration": store.name,
        "phase": str(store.ledger.read().phase),
        "ledger": proved["ledger"],
        "standing": proved["standing"],
        "contradicted": bool(proved["contradictions"]),
        "now": progress,
        "last_run": last and {**_brief_of(last), "ago": age_words(last.at, now)},
    }


def _brief_of(last: LastRun) -> dict[str, Any]:
    code = str(last.findings[0].code) if last.findings else None
    return {"run": last.run, "at": last.at.isoformat(), "mode": last.mode, "outcome": last.outcome, "code": code}


def _brief_row(document: Mapping[str, Any]) -> tuple[str, ...]:
    if "problem" in document:
        return document["migration"], document["problem"], "", "", ""
    last, progress = document["last_run"], document["now"]
    found = "" if last is None or last["code"] is None else f": {last['code']}"
    return (
        document["migration"],
        document["phase"],
        _standing(document),
        "–" if progress is None else ", ".join(filter(None, (progress["step"], progress["words"], progress["age"]))),
        "–" if last is None else f"{last['mode']} {last['outcome']}{found}, {last['ago']}",
    )


def _standing(document: Mapping[str, Any]) -> str:
    doubts = ["contradicted"] if document["contradicted"] else []
    doubts += ["ledger not confirmed"] if document["ledger"]["not_confirmed"] else []
    return ", ".join([document["standing"], *doubts])


def status_document(store: MigrationStore, now: datetime | None = None) -> dict[str, Any]:
    """Return the status of the migration as plain JSON values; `None` means *nothing yet*."""
    now = now or datetime.now(UTC)
    ledger = store.ledger.read()
    covered = coverage_of(ledger)
    generation = ledger.last_generation
    asked = None if generation is None else store.stop_requests.find(generation.number)
    last = _last_run(store)
    return {
        "schema": STATUS_SCHEMA,
        "migration": store.name,
        "phase": str(ledger.phase),
        "ledger": store.confirmation().to_document(),
        "now": _progress(store, now),
        "last_run": last and {**last.to_document(), "age": age_words(last.at, now)},
        "cutovers": [each.to_document() for each in ledger.cutovers],
        "rollbacks": [each.to_document() for each in ledger.rollbacks],
        "last_generation": generation and _generation(generation, asked),
        "pending_generations": [generation.number for generation in ledger.pending_generations],
        "topics": {
            topic: _text(covered[topic].verdict if topic in covered else None)
            for topic in sorted({*ledger.topics, *covered})
        },
    }


def _last_run(store: MigrationStore) -> LastRun | None:
    with naming(store.news.folder / LAST_RUN_FILE):
        document = store.news.last_run()
        return None if document is None else LastRun.from_document(document)


def _progress(store: MigrationStore, now: datetime) -> dict[str, Any] | None:
    """Return the latest progress of the active run; `None` if no run is active."""
    with naming(store.news.folder / PROGRESS_FILE):
        document = store.news.progress()
        progress = None if document is None else progress_of(document)
    if progress is None or progress.ended_at is not None:
        return None
    age_s = (now - progress.at).total_seconds()
    is_fresh = age_s <= FRESH_S
    return {
        **progress.to_document(),
        "words": progress.words,
        "age": age_words(progress.at, now),
        "is_fresh": is_fresh,
    }


def status_lines(document: Mapping[str, Any]) -> list[str]:
    """Return the status as lines of text."""
    generation = document["last_generation"]
    rows = [("Migration", document["migration"]), ("Phase", document["phase"])]
    rows.append(("Ledger", str(Confirmation.from_document(document["ledger"]))))
    rows += [*_now_rows(document["now"]), *_last_run_rows(document["last_run"])]
    rows += [_happened("Cut over", each) for each in document["cutovers"]]
    rows += [_happened("Rolled back", each) for each in document["rollbacks"]]
    rows += _generation_rows(generation) if generation else [("Generation", "none: MirrorMaker was never started")]
    pending = some([str(number) for number in document["pending_generations"]])
    rows.append(("Pending", f"generation {pending}: stopped, not validated yet" if pending else "none"))
    topics = [(topic, verdict or "not validated yet") for topic, verdict in document["topics"].items()]
    return [*aligned(rows), *(["", *aligned([("TOPIC", "VERDICT"), *topics])] if topics else [])]


def _now_rows(progress: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if progress is None:
        return [("Now", "no active run")]
    stage, mode = (f", {progress[name]}" if progress[name] else "" for name in ("stage", "mode"))
    old = "" if progress["is_fresh"] else "; no update since: check that the run and the triggerer are still running"
    rows = [("Now", f"{progress['step']}{stage}{mode}, by {progress['run']} ({progress['age']}{old})")]
    if progress["words"]:
        rows.append(("Progress", progress["words"]))
    rows += [("Silent", f"{s['party']} since {s['since']}: {s['reason']}") for s in progress["silent"]]
    return rows


def _last_run_rows(last: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if last is None:
        return [("Last run", "none has finished")]
    verdict = f", verdict {last['verdict']}" if last["verdict"] else ""
    rows = [("Last run", f"{last['mode']}, {last['outcome']}{verdict}, {last['at']} ({last['age']}), {last['run']}")]
    found = by_cause(map(Finding.from_document, last["findings"]))
    rows += [("Found", str(finding)) for finding in found[:_NAMED_FINDINGS]]
    if (more := len(found) - _NAMED_FINDINGS) > 0:
        rows.append(("Found", f"… and {more} more; -o json shows all"))
    return rows + [("Contradicted", str(Contradiction.from_document(each))) for each in last["contradictions"]]


# More would push the status itself off the screen.
_NAMED_FINDINGS = 3


def _happened(what: str, entry: Mapping[str, Any]) -> tuple[str, str]:
    return what, f"{some(entry['topics'], where='-o json lists all')} at {entry['at']} by {entry['run']}"


def _generation(generation: Generation, asked: StopRequest | None) -> dict[str, Any]:
    return {
        "number": generation.number,
        "run": generation.start.run,
        "started_at": generation.start.at,
        "open": generation.stop is None,
        "stop_request": asked and asked.to_document(),
        "certificate": generation.stop and generation.stop.to_document(),
    }


def _generation_rows(generation: Mapping[str, Any]) -> list[tuple[str, str]]:
    stop, asked = generation["certificate"], generation["stop_request"]
    state = "open" if generation["open"] else "stopped"
    rows = [
        ("Generation", f"{generation['number']}, {state}, started {generation['started_at']}"),
        ("Run", generation["run"]),
    ]
    if asked is not None:
        rows.append(("Request", str(StopRequest.from_document(asked))))
    if stop is not None:
        rows.append(("Certificate", stopped_words(stop)))
    return rows


def stopped_words(stop: Mapping[str, Any]) -> str:
    """Describe how a generation ended, from the document of its stop certificate."""
    if stop["graceful"]:
        return f"{stop['at']}, {stop['reason']}, clean stop"
    exit_code = "unknown" if stop["exit_code"] is None else stop["exit_code"]
    return f"{stop['at']}, {stop['reason']}, NOT a clean stop (exit code {exit_code})"


def _text(value: object | None) -> str | None:
    return None if value is None else str(value)
