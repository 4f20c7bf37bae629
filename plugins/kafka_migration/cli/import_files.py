"""`kafka-migration import`: a migration file and its connections from the MirrorMaker files that a team already has."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kafka_migration.cli.arguments import Verbs, add_bare_verb, add_output, is_json, migration_name
from kafka_migration.cli.lint import (
    LINT_EXIT_CODES,
    add_mirror_files,
    lint_document,
    lint_exit,
    lint_lines,
    mirror_files_of,
)
from kafka_migration.cli.output import aligned, say, say_json
from kafka_migration.cli.wave_files import check_files, files_in, write_files
from kafka_migration.core.discovery.commands import placeholders
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.mirrormaker_files.importing.proposal import Imported, KeyUse, import_files
from kafka_migration.mirrormaker_files.model.judging import LintFinding
from kafka_migration.mirrormaker_files.model.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile
from kafka_migration.mirrormaker_files.rules.lint import lint

IMPORT_SCHEMA = 1


def add_import(verbs: Verbs) -> None:
    """Add the verb `import`."""
    text = "propose a migration file and its connections from files of MirrorMaker 1 or 2"
    verb = add_bare_verb(verbs, "import", text, "import mm2.properties --name orders --write .", LINT_EXIT_CODES)
    add_mirror_files(verb)
    verb.add_argument("--name", type=migration_name, required=True, help="name of the migration")
    verb.add_argument("--flow", metavar="FLOW", help="flow to import, such as 'old->new', if several are enabled")
    verb.add_argument("--to-mirrormaker2", action="store_true", help="replace MirrorMaker 1 by MirrorMaker 2")
    verb.add_argument("--write", type=Path, metavar="FOLDER", help="write the migration file into this folder")
    add_output(verb)
    verb.set_defaults(run=run_import)


def run_import(arguments: Namespace) -> int:
    """Print findings, the use of each setting, the connections and the migration file.

    Raises `Refused` if a file cannot be read or imported, or if the migration file exists or overlaps with another.
    """
    files = mirror_files_of(arguments)
    findings = lint(files, kafka_keys(), arguments.kafka_version or "")
    imported = import_files(files, arguments.name, arguments.flow, to_mirrormaker2=arguments.to_mirrormaker2)
    proposed = {arguments.name: imported.text}
    written = _written(arguments.write, proposed)
    if is_json(arguments):
        say_json(_document(files, findings, imported, written, arguments.kafka_version))
    else:
        say(_lines(files, findings, imported, written, arguments.kafka_version))
    return lint_exit(findings)


def _written(folder: Path | None, proposed: dict[str, str]) -> list[Path]:
    """Check the file, and write it if there is a folder."""
    if folder is None:
        for name, text in proposed.items():
            load_migration(text, where=f"{name}.yaml")
        return []
    check_files(folder, proposed, files_in([folder]).migrations)
    return write_files(folder, proposed)


def _lines(
    files: Sequence[MirrorFile],
    findings: Sequence[LintFinding],
    imported: Imported,
    written: Sequence[Path],
    version: str | None,
) -> Iterator[str]:
    """Yield the lines; all but the commands and the migration file are comments."""
    yield from (f"# {line}" for line in lint_lines(files, findings, version))
    yield ""
    rows = [("key", "line", "use", "where"), *(_row(use) for use in imported.uses)]
    yield from (f"# {line}" for line in aligned(rows))
    for connection in imported.connections:
        yield ""
        yield from (f"# {note}" for note in connection.notes)
        yield f"# {connection.command()}"
    yield ""
    yield f"# Replace before you run a command: {', '.join(placeholders(imported.connections))}"
    yield "# The migration file also needs a connection of type spark with the id spark."
    yield ""
    yield from imported.text.splitlines() if not written else [f"# written: {path}" for path in written]


def _row(use: KeyUse) -> tuple[str, str, str, str]:
    return use.key, f"{use.file}:{use.line}", use.use, use.where


def _document(
    files: Sequence[MirrorFile],
    findings: Sequence[LintFinding],
    imported: Imported,
    written: Sequence[Path],
    version: str | None,
) -> dict[str, Any]:
    connections = [
        {"id": each.name, "fields": dict(each.fields), "command": each.command()} for each in imported.connections
    ]
    return {
        "schema": IMPORT_SCHEMA,
        **lint_document(files, findings, version),
        "keys": [use.to_document() for use in imported.uses],
        "connections": connections,
        "migration_file": imported.text,
        "written": [str(path) for path in written],
    }
