"""`kafka-migration import`: a migration file and its connections from the MirrorMaker files that a team already has."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kafka_migration.cli.files.lint_verb import add_mirror_files, mirror_files_of
from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_output, migration_name
from kafka_migration.cli.shell.output import aligned, respond
from kafka_migration.core.discovery.connections_to_create import placeholders
from kafka_migration.core.text.shortened import some
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.mirrormaker_files.model.lint_codes import Severity
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile
from kafka_migration.mirrormaker_files.rules.linter import lint
from kafka_migration.mirrormaker_import.imported_flow import ImportChoices
from kafka_migration.mirrormaker_import.names_on_target import NAMINGS
from kafka_migration.mirrormaker_import.proposal import Imported, import_files
from kafka_migration.steps.waves.wave_files import check_files, files_in, write_files

IMPORT_SCHEMA = 2
IMPORT_EXIT_CODES = "exit codes: 0 the file is printed or written; 2 wrong usage; 3 refused, and nothing is written"


def add_import(verbs: Verbs) -> None:
    """Add the verb `import`."""
    example = "import mm2.properties --name orders --write ."
    verb = add_bare_verb(verbs, run_import, "import", example, IMPORT_EXIT_CODES)
    add_mirror_files(verb)
    verb.add_argument("--name", type=migration_name, required=True, help="name of the migration")
    flow = "flow to import, such as 'old->new', if not exactly one is enabled, or a disabled one"
    verb.add_argument("--flow", metavar="FLOW", help=flow)
    naming = "names of topics on the target, instead of those that the files give"
    verb.add_argument("--naming", choices=NAMINGS, help=naming)
    lists = ", as names and patterns with commas, instead of those that the files give"
    verb.add_argument("--topics", metavar="LIST", help=f"topics{lists}")
    verb.add_argument("--groups", metavar="LIST", help=f"groups{lists}")
    verb.add_argument(
        "--command", type=int, metavar="LINE", help="line of the MirrorMaker 1 command, if there are several"
    )
    verb.add_argument(
        "--to-mirrormaker2", action="store_true", help="replace MirrorMaker 1 or connectors by MirrorMaker 2 on a host"
    )
    verb.add_argument("--write", type=Path, metavar="FOLDER", help="write the migration file into this folder")
    add_output(verb)


def run_import(arguments: Namespace) -> int:
    """Print the errors of `lint`, the use of each setting, the connections, the migration file, and what to check.

    Raises `Refused` if a file cannot be read or imported, or if the migration file exists or overlaps with another.
    """
    files, passed_over = mirror_files_of(arguments)
    findings = lint(files, kafka_keys(), arguments.kafka_version or "")
    imported = import_files(files, arguments.name, arguments.flow, _choices(arguments))
    written = _written(arguments.write, {arguments.name: imported.text})
    passed = [(each.subject, each.found) for each in passed_over]
    passed += [(file.name, f"a {file.kind.words}") for file in files if file.kind is FileKind.LOGINS]
    answer = ImportAnswer(files, _errors(findings), imported, written, passed)
    respond(arguments, answer, answer.lines())
    return 0


def _choices(arguments: Namespace) -> ImportChoices:
    return ImportChoices(
        naming=arguments.naming,
        topics=arguments.topics,
        groups=arguments.groups,
        command=arguments.command,
        to_mirrormaker2=arguments.to_mirrormaker2,
        kafka_version=arguments.kafka_version or "",
    )


def _written(folder: Path | None, proposed: dict[str, str]) -> list[Path]:
    """Check the file, and write it if there is a folder."""
    if folder is None:
        for name, text in proposed.items():
            load_migration(text, where=f"{name}.yaml")
        return []
    check_files(folder, proposed, files_in([folder]).migrations)
    return write_files(folder, proposed)


def _errors(findings: Sequence[LintFinding]) -> dict[tuple[str, str], list[int]]:
    """Return the lines that MirrorMaker does not read as they are meant, by file and code of `lint`."""
    found = dict[tuple[str, str], list[int]]()
    for each in findings:
        if each.severity is Severity.ERROR:
            found.setdefault((each.file, str(each.code)), []).extend((each.line, *each.others))
    return found


class ImportAnswer(NamedTuple):
    """What was imported and written. `errors` are lines by file and code, `passed` files with what they hold."""

    files: Sequence[MirrorFile]
    errors: dict[tuple[str, str], list[int]]
    imported: Imported
    written: Sequence[Path]
    passed: Sequence[tuple[str, str]]

    def lines(self) -> Iterator[str]:
        """Yield the lines; all but the commands and the migration file are comments."""
        yield from self._of_files()
        of_keys = ((use.key, f"{use.file}:{use.line}", use.use, use.where) for use in self.imported.uses)
        yield from (f"# {line}" for line in aligned([("key", "line", "use", "where"), *of_keys]))
        for connection in self.imported.connections:
            yield ""
            yield from (f"# {note}" for note in connection.notes)
            yield f"# {connection.command()}"
        yield ""
        yield f"# Replace before you run a command: {', '.join(placeholders(self.imported.connections))}"
        yield "# The migration file also needs a connection of type spark with the id spark."
        yield ""
        yield from [f"# written: {path}" for path in self.written] or self.imported.text.splitlines()
        yield ""
        yield "# Check before the first run:"
        yield from (f"# - {each.about}: {each.text}" for each in self.imported.checks)

    def _of_files(self) -> Iterator[str]:
        yield from (f"# passed over: {name}, {found}" for name, found in self.passed)
        if self.errors:
            yield "# MirrorMaker does not do what these lines say (kafka-migration lint explains them):"
            of_codes = [(code, file, f"line {some(list(map(str, of)))}") for (file, code), of in self.errors.items()]
            yield from (f"# {line}" for line in aligned(of_codes))
            yield ""

    def to_document(self) -> dict[str, Any]:
        """Return the JSON document."""
        return {
            "schema": IMPORT_SCHEMA,
            "files": [{"file": file.name, "kind": file.kind} for file in self.files],
            "errors": [{"file": file, "code": code, "lines": of} for (file, code), of in self.errors.items()],
            "keys": [use.to_document() for use in self.imported.uses],
            "connections": [
                {"id": each.name, "fields": dict(each.fields), "command": each.command()}
                for each in self.imported.connections
            ],
            "migration_file": self.imported.text,
            "written": [str(path) for path in self.written],
            "checks": [each.to_document() for each in self.imported.checks],
            "passed_over": [{"file": name, "found": found} for name, found in self.passed],
        }
