"""`kafka-migration check`: all mistakes of the migration files that can be seen without a cluster."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError, Namespace
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from kafka_migration.cli.shell.airflow_access import migrations_folder_of
from kafka_migration.cli.shell.arguments import (
    NAME_HELP,
    Verbs,
    add_bare_verb,
    add_folder,
    add_output,
    complete_names,
    migration_name,
)
from kafka_migration.cli.shell.output import ExitCode, JsonObject, respond
from kafka_migration.cli.shell.progress_line import working
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.findings.junit_cases import findings_case
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.run.overlap import overlap_findings
from kafka_migration.core.text.junit import JunitSuite, junit_xml
from kafka_migration.core.text.shortened import some
from kafka_migration.engines.mirrormaker2 import never_copied_findings
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.migration_file.mistakes import invalid

CHECK_SCHEMA = 2


def add_check(verbs: Verbs) -> None:
    """Add the verb `check`."""
    verb = add_bare_verb(verbs, check, "check", "check include/migrations/shop.yaml")
    text = f"{NAME_HELP}; or path of a file or a folder, with a dot or a slash (default: all)"
    complete_names(verb.add_argument("names", nargs="*", type=_name_or_path, metavar="NAME", help=text))
    add_folder(verb)
    add_output(verb, "table", "json", "junit")


def check(arguments: Namespace) -> int:
    """Print for each migration file whether it is valid; findings go to standard error.

    All files of a folder are read, because two files must not copy the same topic. Raises `Refused` if a folder has no
    such file.
    """
    files = _files(arguments)
    working("Reading the migration files")
    findings = _findings(files)
    lines = (f"{label}: {_words(found)}" for label, found in findings.items())
    all_found = [each for found in findings.values() for each in found]
    respond(arguments, _document(files, findings), lines, all_found, junit=lambda: _junit(findings))
    return ExitCode.REFUSED if all_found else ExitCode.DONE


def _name_or_path(text: str) -> str:
    """Return a name, or a path, which has a dot or a slash; names of migrations have none."""
    if "\0" in text:
        raise ArgumentTypeError("a path without NUL characters")
    return text if _is_path(text) else migration_name(text)


def _is_path(word: str) -> bool:
    return re.search(r"[./]", word) is not None


def _files(arguments: Namespace) -> dict[str, Path]:
    """Return the files to check by what the answer calls them: the name of the migration, or the path as given."""
    paths = [Path(word) for word in arguments.names if _is_path(word)]
    names = [word for word in arguments.names if not _is_path(word)]
    files = {name: migrations_folder_of(arguments.migrations) / f"{name}.yaml" for name in names}
    for path in paths:
        files |= {str(each): each for each in (_all_in(path) if _is_folder(path) else [path])}
    return files or {path.stem: path for path in _all_in(migrations_folder_of(arguments.migrations))}


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        # For example, the name is too long; reading the file says so.
        return False


def _all_in(folder: Path) -> list[Path]:
    if not (paths := sorted(folder.glob("*.yaml"))):
        raise Refused([_no_file(folder)])
    return paths


def _findings(files: Mapping[str, Path]) -> dict[str, list[Finding]]:
    """Return the findings by what the answer calls the file; overlaps are looked for in the folder of each file."""
    there = {path for folder in {path.parent for path in files.values()} for path in folder.glob("*.yaml")}
    read = {path: _read(path) for path in sorted(there.union(files.values()))}
    return {label: list(_findings_of(label, path, read)) for label, path in files.items()}


def _read(path: Path) -> Migration | tuple[Finding, ...]:
    try:
        return load_migration_file(path)[1]
    except Refused as refused:
        return refused.findings


def _findings_of(label: str, path: Path, read: Mapping[Path, Migration | tuple[Finding, ...]]) -> Iterator[Finding]:
    """Yield the findings on one file; their subjects begin with the path if it was given."""
    if path.suffix != ".yaml":
        yield _not_read(path)
    found = read[path]
    if isinstance(found, Migration):
        # Airflow reads no other files.
        near = [other for other in read if other.match("*.yaml") and other.parent == path.parent and other != path]
        others = [each for each in map(read.get, near) if isinstance(each, Migration)]
        found = (*overlap_findings(found, others), *never_copied_findings(found))
    for each in found:
        is_by_name = each.subject.startswith(path.name) and label == str(path)
        yield replace(each, subject=f"{label}{each.subject.removeprefix(path.name)}") if is_by_name else each


def _not_read(path: Path) -> Finding:
    happened = "The name of the file does not end in .yaml."
    remedy = f"If it is a migration file, rename it to {path.stem}.yaml: Airflow makes no DAG from other names."
    return invalid(str(path), f"the ending {path.suffix or 'none'}", "the ending .yaml", happened, remedy)


def _no_file(folder: Path) -> Finding:
    others = [path.name for path in sorted(folder.glob("*.yml"))]
    return Finding(
        Code.MIGRATION_FILE_MISSING,
        str(folder),
        f"no file *.yaml, but {some(others)}" if others else "no file *.yaml",
        "a folder with migration files",
        "Correct the folder (--migrations, or [kafka_migration] migrations_folder), or give the files names that end "
        "in .yaml.",
        happened=f"The folder {folder} has no migration file (*.yaml){f', but {some(others)}' if others else ''}.",
        matters="Airflow makes the DAGs from the migration files, so it would have no DAG.",
    )


def _words(findings: Collection[Finding]) -> str:
    if not findings:
        return "valid"
    return f"{len(findings)} mistake{'s' * (len(findings) > 1)}"


def _junit(findings: Mapping[str, Collection[Finding]]) -> str:
    return junit_xml(
        JunitSuite("kafka-migration check", [findings_case(label, found) for label, found in findings.items()])
    )


def _document(files: Mapping[str, Path], findings: Mapping[str, Collection[Finding]]) -> JsonObject:
    checked = [
        {"migration": files[label].stem, "file": str(files[label]), "findings": [each.to_document() for each in found]}
        for label, found in findings.items()
    ]
    return {"schema": CHECK_SCHEMA, "is_valid": not any(findings.values()), "files": checked}
