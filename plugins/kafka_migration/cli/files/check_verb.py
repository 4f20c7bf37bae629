"""`kafka-migration check`: all mistakes of the migration files that can be seen without a cluster."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Iterable, Mapping
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
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.run.overlap import overlap_findings
from kafka_migration.core.text.shortened import some
from kafka_migration.engines.mirrormaker2 import never_copied_findings
from kafka_migration.migration_file.loading import load_migration_file

CHECK_SCHEMA = 1


def add_check(verbs: Verbs) -> None:
    """Add the verb `check`."""
    verb = add_bare_verb(verbs, check, "check", "check --migrations include/migrations")
    names = verb.add_argument(
        "names", nargs="*", type=migration_name, metavar="NAME", help=f"{NAME_HELP} (default: all)"
    )
    complete_names(names)
    add_folder(verb)
    add_output(verb)


def check(arguments: Namespace) -> int:
    """Print for each migration file whether it is valid; findings go to standard error.

    All files of the folder are read, because two files must not copy the same topic. Raises `Refused` if the folder
    has no such file.
    """
    folder = migrations_folder_of(arguments.migrations)
    there = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    named = arguments.names or list(there)
    # Reading a file that does not exist gives its finding.
    paths = there | {name: folder / f"{name}.yaml" for name in named}
    findings = {name: found for name, found in _findings(paths.values(), named).items() if name in named}
    if not findings:
        raise Refused([_no_file(folder)])
    lines = (f"{name}: {_words(found)}" for name, found in findings.items())
    respond(arguments, _document(findings), lines, [each for found in findings.values() for each in found])
    return ExitCode.REFUSED if any(findings.values()) else ExitCode.DONE


def _findings(paths: Iterable[Path], named: Collection[str]) -> dict[str, list[Finding]]:
    """Return the findings by migration; overlaps are looked for only for the named ones."""
    valid: dict[str, Migration] = {}
    findings: dict[str, list[Finding]] = {}
    for path in paths:
        try:
            valid[path.stem] = load_migration_file(path)[1]
            findings[path.stem] = []
        except Refused as refused:
            findings[path.stem] = list(refused.findings)
    for name in [name for name in valid if name in named]:
        findings[name] += overlap_findings(valid[name], [other for key, other in valid.items() if key != name])
        findings[name] += never_copied_findings(valid[name])
    return findings


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


def _document(findings: Mapping[str, Collection[Finding]]) -> JsonObject:
    files = [{"migration": name, "findings": [each.to_document() for each in of]} for name, of in findings.items()]
    return {"schema": CHECK_SCHEMA, "is_valid": not any(findings.values()), "files": files}
