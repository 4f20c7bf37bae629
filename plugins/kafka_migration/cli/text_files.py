"""Reading of text files that a user names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.migration_file.regular_files import regular_bytes
from kafka_migration.mirrormaker_files.model.judging import refusal

MOST_BYTES = 1_000_000


def read_texts(paths: Iterable[Path]) -> tuple[dict[str, str], list[Finding]]:
    """Return the text of each file by its name as given, and one finding for each file that cannot be read."""
    texts, findings = dict[str, str](), list[Finding]()
    for path in paths:
        try:
            texts[str(path)] = _text(path)
        except (OSError, ValueError) as error:
            findings.append(_unread(path, error))
    return texts, findings


def _text(path: Path) -> str:
    """Return the text. Properties without a byte order mark or UTF-8 are ISO 8859-1, as in Java."""
    content = regular_bytes(path, MOST_BYTES)
    if b"\0" in content:
        raise ValueError("bytes that are no text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("iso-8859-1")


def _unread(path: Path, error: Exception) -> Finding:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    expected = "a text file that this user may read"
    return refusal(Code.MIRROR_FILE_UNREADABLE, str(path), reason, expected, "Correct the path or the file.")
