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
from kafka_migration.cli.shell.output import (
    ExitCode,
    aligned,
    complain,
    is_json,
    remark,
    respond,
    say_text,
)
from kafka_migration.core.evidence.verification import FileState
from kafka_migration.core.findings.errors import EvidenceUnreadable, StoreFailed
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.text.terminal_text import counted
from kafka_migration.report_formats.report_format import ReportFormat
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.report_check import AskedAirflow, CheckedReport, ReportState, checked_report
from kafka_migration.steps.answers.run_folders import RunFolder, run_folder
from kafka_migration.steps.answers.run_report import formatted_report, result_text

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
    verb = add_verb(verbs, report, "report", "report demo --verify")
    text = "run id, or a part of it (default: the run that ended last)"
    verb.add_argument("run_id", nargs="?", type=place, metavar="RUN", help=text)
    what = verb.add_mutually_exclusive_group()
    forms = [str(form) for form in ReportFormat]
    what.add_argument("--format", choices=forms, help=f"format of the report (default: {ReportFormat.MARKDOWN})")
    text = "compare the files of the report with their digests, in Airflow if it can be asked"
    what.add_argument("--verify", action="store_true", help=text)
    add_server(verb)
    add_output(verb)


def report(arguments: Namespace) -> int:
    """Print the report of a run, or what its check found; the exit code tells that too."""
    _require_fitting(arguments)
    try:
        run = run_folder(store := opened(arguments.evidence_root, arguments.name), arguments.run_id)
        return _verified(arguments, store, run) if arguments.verify else _printed(arguments, run)
    except (EvidenceUnreadable, StoreFailed) as error:
        # Not 1, which means that files were changed.
        complain(error.findings)
        return ExitCode.REFUSED


def _require_fitting(arguments: Namespace) -> None:
    if not arguments.verify and (arguments.server or arguments.connection):
        arguments.parser.error("--server and --connection belong to --verify")
    if arguments.format and is_json(arguments):
        arguments.parser.error("-o json prints run.json, so --format is not allowed with it")


def _printed(arguments: Namespace, run: RunFolder) -> int:
    if is_json(arguments):
        say_text(result_text(run))
        return ExitCode.DONE
    found = formatted_report(run, ReportFormat(arguments.format or ReportFormat.MARKDOWN))
    if found.remark:
        remark(found.remark)
    say_text(found.text)
    return ExitCode.DONE


def _verified(arguments: Namespace, store: MigrationStore, run: RunFolder) -> int:
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
