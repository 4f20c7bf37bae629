"""`kafka-migration report`: the report of a run, and whether its files are those that the run wrote."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from functools import partial

from kafka_migration.adapters.store.digest_keeper import KEY
from kafka_migration.cli.shell.airflow_server import SERVER, add_server, airflow_of
from kafka_migration.cli.shell.arguments import Verbs, add_output, add_verb, place
from kafka_migration.cli.shell.evidence_access import opened
from kafka_migration.cli.shell.output import ExitCode, aligned, complain, respond
from kafka_migration.core.evidence.verification import FileState
from kafka_migration.core.findings.errors import EvidenceUnreadable, StoreFailed
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.text.terminal_text import counted
from kafka_migration.steps.answers.report_check import AskedAirflow, CheckedReport, ReportState, checked_report
from kafka_migration.steps.answers.run_folders import run_folder

_EXIT_CODES = {
    ReportState.UNCHANGED: ExitCode.DONE,
    ReportState.CHANGED: ExitCode.FAILED,
    ReportState.NOT_FULLY_CHECKED: ExitCode.NOT_READY,
}
_WORDS = {
    ReportState.UNCHANGED: "UNCHANGED: every file is the one that the run wrote",
    ReportState.CHANGED: "CHANGED: do not rely on this report",
    ReportState.NOT_FULLY_CHECKED: "nothing wrong was found, but not everything could be checked",
}


def add_report(verbs: Verbs) -> None:
    """Add the verb `report`."""
    text = "check that the report of a run is unchanged"
    verb = add_verb(verbs, report, "report", text, "report demo --verify")
    verb.add_argument(
        "run_id", nargs="?", type=place, metavar="RUN", help="run id, or a part of it (default: the last run)"
    )
    verb.add_argument("--verify", action="store_true", help="compare the files of the report with their digests")
    add_server(verb)
    add_output(verb)


def report(arguments: Namespace) -> int:
    """Check the report of a run, and print what was found; the exit code tells it too."""
    try:
        return _verified(arguments)
    except (EvidenceUnreadable, StoreFailed) as error:
        # Not 1, which means that files were changed.
        complain(error.findings)
        return ExitCode.REFUSED


def _verified(arguments: Namespace) -> int:
    store = opened(arguments.evidence_root, arguments.name)
    run = run_folder(store, arguments.run_id)
    answer = checked_report(store, run, _airflow(arguments))
    respond(arguments, answer, check_lines(answer))
    return _EXIT_CODES[answer.answer]


def _airflow(arguments: Namespace) -> AskedAirflow:
    """Return the Airflow at the given address, or else the one whose database this is."""
    if arguments.server or arguments.connection or os.environ.get(SERVER):
        airflow_of(arguments).close()
        return AskedAirflow(partial(_over_http, arguments))
    if arguments.evidence_root is not None:
        return AskedAirflow(reason="Airflow was not asked, which needs --server or --connection")
    from kafka_migration.airflow_adapters.stored_digests import stored_of

    return AskedAirflow(stored_of)


def _over_http(arguments: Namespace, run: RunIdentity) -> list[object]:
    with closing(airflow_of(arguments)) as airflow:
        return airflow.values(run.dag_id, run.run_id, KEY)


def check_lines(answer: CheckedReport) -> list[str]:
    """Return the answer as lines of text: its head, the files that are wrong, and what was not checked."""
    ended = f"{answer.outcome}, ended at {answer.finished_at}" if answer.finished_at else "not known"
    by = [f"{counted(count, 'file')} by the digests in {source}" for source, count in answer.verified_by.items()]
    head = [
        ("Migration", answer.migration),
        ("Run", answer.run),
        ("Result", ended),
        ("Evidence", answer.evidence),
        ("Verified", ", ".join(by) or "no file"),
        ("Report", _WORDS[answer.answer]),
    ]
    rows = [(each.state, each.file, each.found) for each in answer.files if each.state.is_wrong]
    table = ["", *aligned([("STATE", "FILE", "FOUND"), *rows])] if rows else []
    return [*aligned(head), *table, *_remarks(answer)]


def _remarks(answer: CheckedReport) -> Iterator[str]:
    if answer.not_checked:
        yield from ("", "Not checked:", *(f"  {each}" for each in answer.not_checked))
    if unused := [each.file for each in answer.files if each.state is FileState.NOT_USED]:
        yield from ("", "Not used by the report:", *(f"  {each}" for each in unused))
