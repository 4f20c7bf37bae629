"""Proposes, checks and writes the migration files of waves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.run.overlap import overlap_findings
from kafka_migration.core.waves.wave_file import Names, wave_file
from kafka_migration.core.waves.wave_plan import WavePlan
from kafka_migration.engines.mirrormaker2 import never_copied_findings
from kafka_migration.migration_file.loading import MAX_FILE_BYTES, load_migration, load_migration_file


@dataclass(frozen=True, slots=True)
class FilesThere:
    """The existing migration files, and what is unknown because a file cannot be read."""

    migrations: tuple[Migration, ...]
    not_known: tuple[str, ...]

    def topics_between(self, source: str, target: str, listed: Collection[str]) -> dict[str, str]:
        """Return the topics that the files copy between these connections, each with its file.

        `listed` are the topics of the source, with which the patterns of the files are compared.
        """
        return {
            topic: f"already in {each.name}.yaml"
            for each in reversed(self.migrations)
            if (each.source.connection, each.target.connection) == (source, target)
            for topic in (*each.topics, *filter(each.rules.finds, listed))
        }


def files_in(folders: Iterable[Path]) -> FilesThere:
    """Read the migration files in some folders; a missing folder has none."""
    migrations, not_known = [], []
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        for path in sorted(folder.glob("*.yaml")):
            try:
                migrations.append(load_migration_file(path)[1])
            except Refused:
                not_known.append(f"the topics of {path.name}: it is not a valid migration file")
    return FilesThere(tuple(migrations), tuple(not_known))


def proposed_files(plan: WavePlan, names: Names, prefix: str, not_known: Iterable[str]) -> dict[str, str]:
    """Return the name and text of a migration file per wave, in the order of the waves."""
    digits = max(2, len(str(len(plan.waves))))
    remarks = [f"unknown when this file was proposed: {text}" for text in not_known]
    called = (f"{prefix}-{number:0{digits}}" for number in range(1, len(plan.waves) + 1))
    return {name: wave_file(name, wave, names, remarks) for name, wave in zip(called, plan.waves, strict=True)}


def check_files(folder: Path, files: Mapping[str, str], others: Iterable[Migration]) -> None:
    """Raise `Refused` if a file exists already, is invalid, or overlaps with another migration."""
    others = tuple(others)
    findings = [finding for name, text in files.items() for finding in _findings(folder, name, text, others)]
    if findings:
        raise Refused(findings)


def _findings(folder: Path, name: str, text: str, others: tuple[Migration, ...]) -> Iterator[Finding]:
    if (folder / f"{name}.yaml").exists():
        yield Finding(
            Code.MIGRATION_FILE_EXISTS,
            str(folder / f"{name}.yaml"),
            "an existing file",
            "no file, because existing files are never overwritten",
            "Use another name or another folder, or remove the file.",
            happened=f"The file {folder / f'{name}.yaml'} exists already.",
            matters="It may describe a migration that has already copied records, so it was not overwritten.",
        )
    if len(text.encode()) > MAX_FILE_BYTES:
        yield Finding(
            Code.MIGRATION_FILE_INVALID,
            f"{name}.yaml",
            f"{len(text.encode()):,} bytes",
            f"at most {MAX_FILE_BYTES:,}",
            "Make the wave smaller: use --ignore-group for groups that tie too many topics together.",
            happened=f"The file {name}.yaml would have {len(text.encode()):,} bytes; the most that a migration "
            f"file may have is {MAX_FILE_BYTES:,}.",
            matters="No run would read a file of this size, so no file was written.",
        )
    try:
        migration = load_migration(text, where=f"{name}.yaml")
    except Refused as refused:
        yield from refused.findings
    else:
        # A file that exists already is a finding of its own.
        yield from overlap_findings(migration, tuple(each for each in others if each.name != name))
        yield from never_copied_findings(migration)


def write_files(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """Write all files or none: after an error, the files written so far are removed.

    Raises `Refused` if a file cannot be written.
    """
    written: list[Path] = []
    try:
        for name, text in files.items():
            path = folder / f"{name}.yaml"
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(text)
    except BaseException as error:
        for done in written:
            done.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise Refused([not_written(path, error.strerror or str(error))]) from error
        raise
    return written


def not_written(path: Path, reason: str) -> Finding:
    """Return the finding for a place where no file can be written."""
    return Finding(
        Code.MIGRATION_FILE_NOT_WRITTEN,
        str(path),
        reason,
        "a new file in a folder in which this user may write",
        "Create the folder, or correct its permissions. Then run the command again.",
        happened=f"No file can be written at {path} ({reason}).",
        matters="The command writes all of its files or none, so it wrote none.",
    )
