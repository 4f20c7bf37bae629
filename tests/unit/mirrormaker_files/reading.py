"""Short views of what is read from a text, and of what `lint` says about its text."""

from __future__ import annotations

from kafka_migration.core.findings.errors import Refused
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint


def lines_of(file: MirrorFile) -> list[str]:
    """Return each setting as `line name=value`."""
    return [f"{each.line} {each.name}={each.value}" for each in file.settings]


def read(name: str, text: str, kind: FileKind | None = None) -> list[tuple[str, int, list[str]]]:
    """Return the kind, the line and the settings of each configuration."""
    return [(file.kind.value, file.line, lines_of(file)) for file in read_mirror_files(name, text, kind)]


def refused(name: str, text: str, kind: FileKind | None = None) -> str:
    """Return the only refusal of a text."""
    try:
        read_mirror_files(name, text, kind)
    except Refused as error:
        (finding,) = error.findings
        return str(finding)
    raise AssertionError("the text was read")


def judged(name: str, text: str, version: str = "") -> list[LintFinding]:
    """Return all findings on a text."""
    return lint(read_mirror_files(name, text), kafka_keys(), version)


def found(name: str, text: str, *codes: LintCode, version: str = "") -> list[str]:
    """Return the findings of the codes, or all without one, as `line CODE`."""
    return [f"{each.line} {each.code}" for each in judged(name, text, version) if not codes or each.code in codes]


def read_mirror_file(name: str, text: str, kind: FileKind | None = None) -> MirrorFile:
    """Return the first configuration of a file. Raises `Refused`, as `read_mirror_files`."""
    return read_mirror_files(name, text, kind)[0]
