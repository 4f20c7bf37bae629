"""`kafka-migration lint`: the mistakes in the MirrorMaker files that a team already has."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

from kafka_migration.cli.shell.arguments import VerbParser, Verbs, add_bare_verb, add_output
from kafka_migration.cli.shell.output import ExitCode, complain, respond
from kafka_migration.cli.shell.progress_line import working
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.migration_file.regular_files import regular_bytes
from kafka_migration.mirrormaker_files.effective.all_files import readers_of
from kafka_migration.mirrormaker_files.ground.given_variables import unused
from kafka_migration.mirrormaker_files.model.lint_codes import Severity
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, minor, refusal, span
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile
from kafka_migration.mirrormaker_files.model.sarif import sarif_log
from kafka_migration.mirrormaker_files.reading.any_file import Unrelated, not_settings, read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint, read_together

LINT_SCHEMA = 2
MOST_BYTES = 1_000_000
_STANDARD_INPUT = frozenset({"-", "/dev/stdin"})


class LintExit(IntEnum):
    """The exit codes of `lint`, which differ from those of the other verbs."""

    CLEAN = 0
    WARNINGS = 1
    ERRORS = 2


LINT_EXIT_CODES = "exit codes: 0 clean; 1 warnings; 2 errors, or wrong usage; 3 a file could not be read"


def add_lint(verbs: Verbs) -> None:
    """Add the verb `lint`."""
    verb = add_bare_verb(verbs, run_lint, "lint", "lint connect-mirror-maker.properties", LINT_EXIT_CODES)
    add_mirror_files(verb)
    verb.add_argument(
        "--effective", action="store_true", help="show what each part of MirrorMaker gets, and from which line"
    )
    add_output(verb, "table", "json", "sarif")


def add_mirror_files(verb: VerbParser) -> None:
    """Add the arguments that name MirrorMaker files; `mirror_files_of` reads them."""
    verb.add_argument("files", nargs="+", type=Path, metavar="FILE", help="file to read, or - for standard input")
    verb.add_argument(
        "--kind", type=FileKind, choices=list(FileKind), help="kind of all files (default: each file's content decides)"
    )
    verb.add_argument(
        "--kafka-version",
        type=kafka_version,
        metavar="VERSION",
        help="version of the MirrorMaker that reads them, such as 3.9 (default: any)",
    )


def run_lint(arguments: Namespace) -> int:
    """Print the findings on all files that can be read, and a refusal for each other file."""
    if arguments.effective:
        if arguments.output == "sarif":
            arguments.parser.error("-o sarif shows findings, and --effective has none")
        return _run_effective(arguments)
    files, refusals = _read(arguments)
    findings = lint(files, kafka_keys(), arguments.kafka_version or "")
    answer = LintAnswer(arguments.kafka_version, files, findings, refusals)
    respond(arguments, answer, answer.lines(), sarif=lambda: sarif_log(findings, refusals, Path.cwd()))
    complain(refusals)
    return ExitCode.REFUSED if refusals else lint_exit(findings)


def _run_effective(arguments: Namespace) -> int:
    """Print what each reader gets, and the lines that nothing reads. Files that belong together are read together."""
    from kafka_migration.mirrormaker_files.effective.effective_text import EffectiveAnswer, shown_readers, shown_unread

    files, refusals = _read(arguments)
    groups = [(group, readers_of(group, arguments.kafka_version or "")) for group in read_together(files)]
    shown = tuple(each for _, readers in groups for each in shown_readers(readers))
    unread = tuple(each for group, readers in groups for each in shown_unread(group, readers))
    answer = EffectiveAnswer(LINT_SCHEMA, arguments.kafka_version, shown, unread, tuple(refusals))
    respond(arguments, answer, answer.lines())
    complain(refusals)
    return ExitCode.REFUSED if refusals else LintExit.CLEAN


def mirror_files_of(arguments: Namespace) -> tuple[list[MirrorFile], list[Finding]]:
    """Read the named files; the findings are about those that hold nothing of MirrorMaker.

    Raises `Refused` with a finding for each file that cannot be read, or if no file holds anything of MirrorMaker.
    """
    files, refusals, unrelated = _read_all(arguments)
    if refusals or not files:
        raise Refused([*refusals, *unrelated])
    return files, unrelated


def _read(arguments: Namespace) -> tuple[list[MirrorFile], list[Finding]]:
    """Return the configurations of the files that can be read, and a finding for each file that cannot."""
    files, refusals, unrelated = _read_all(arguments)
    return files, [*refusals, *unrelated]


def _read_all(arguments: Namespace) -> tuple[list[MirrorFile], list[Finding], list[Finding]]:
    """Return the configurations, and a finding for each file that cannot be read or holds nothing of MirrorMaker."""
    texts, refusals = read_texts(arguments.files)
    # Not before: a person may be typing the standard input.
    working("Judging the files of MirrorMaker")
    files, unrelated = list[MirrorFile](), list[Finding]()
    for each in texts:
        try:
            files += read_mirror_files(each.name, each.text, arguments.kind, is_utf8=each.is_utf8)
        except Unrelated as refused:
            unrelated += refused.findings
        except Refused as refused:
            refusals += refused.findings
    idle = {id(each): each.name for each in unused(files)}
    unrelated += map(not_settings, idle.values())
    return [each for each in files if id(each) not in idle], refusals, unrelated


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text with the name that its user gave. `is_utf8` is false if its bytes were read as ISO 8859-1."""

    name: str
    text: str
    is_utf8: bool


def read_texts(paths: Iterable[Path]) -> tuple[list[TextFile], list[Finding]]:
    """Return the text of each file, each file once, and one finding for each file that cannot be read."""
    texts, findings = list[TextFile](), list[Finding]()
    for path in dict.fromkeys(paths):
        try:
            texts.append(_text(path))
        except (OSError, ValueError) as error:
            findings.append(_unread(path, error))
    return texts, findings


def _text(path: Path) -> TextFile:
    """Return the text. Properties that are not UTF-8 are ISO 8859-1, as in Java. A byte order mark stays."""
    content = _input() if str(path) in _STANDARD_INPUT else regular_bytes(path, MOST_BYTES)
    if b"\0" in content:
        raise ValueError("bytes that are no text")
    try:
        return TextFile(str(path), content.decode("utf-8"), is_utf8=True)
    except UnicodeDecodeError:
        return TextFile(str(path), content.decode("iso-8859-1"), is_utf8=False)


def _input() -> bytes:
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES:,} bytes")
    return content


def _unread(path: Path, error: Exception) -> Finding:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    expected = "a text file that this user may read"
    return refusal(Code.MIRROR_FILE_UNREADABLE, str(path), reason, expected, "Correct the path or the file.")


def lint_exit(findings: Sequence[LintFinding]) -> LintExit:
    """Return the exit code for the worst finding."""
    if any(each.severity is Severity.ERROR for each in findings):
        return LintExit.ERRORS
    is_clean = all(each.severity is Severity.INFO for each in findings)
    return LintExit.CLEAN if is_clean else LintExit.WARNINGS


class LintAnswer(NamedTuple):
    """The files that could be read, their mistakes, and a refusal for each other file."""

    kafka_version: str | None
    files: Sequence[MirrorFile]
    findings: Sequence[LintFinding]
    refused: Sequence[Finding]

    def lines(self) -> Iterator[str]:
        """Yield one line for each finding, and a last line with their numbers; none without a file."""
        yield from map(str, self.findings)
        counts = Counter(each.severity for each in self.findings)
        severities = (Severity.ERROR, Severity.WARNING)
        errors, warnings = (f"{counts[each]} {each}{'s' * (counts[each] != 1)}" for each in severities)
        all_versions = f"{span(kafka_keys().versions)}; name yours with --kafka-version"
        judged = f"Kafka {self.kafka_version}" if self.kafka_version else all_versions
        if number := len({file.name for file in self.files}):
            yield f"{errors} and {warnings} in {number} file{'s' * (number != 1)}, compared with {judged}"

    def to_document(self) -> dict[str, Any]:
        """Return the JSON document, each finding with its severity."""
        return {
            "schema": LINT_SCHEMA,
            "kafka_version": self.kafka_version,
            "files": [{"file": file.name, "kind": file.kind, "line": file.line} for file in self.files],
            "findings": [{"severity": each.severity, **each.to_document()} for each in self.findings],
            "refused": [each.to_document() for each in self.refused],
        }


def kafka_version(text: str) -> str:
    """Return a version as `major.minor` if the tables have it."""
    known = dict.fromkeys(minor(each) for each in kafka_keys().versions)
    if minor(text) not in known:
        raise argparse.ArgumentTypeError(f"one of {', '.join(known)}")
    return minor(text)
