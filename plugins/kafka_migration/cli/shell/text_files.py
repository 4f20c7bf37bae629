"""Reading of text files that a user names."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.migration_file.regular_files import regular_bytes
from kafka_migration.mirrormaker_files.model.lint_finding import refusal

MOST_BYTES = 1_000_000
_STANDARD_INPUT = frozenset({"-", "/dev/stdin"})


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
