"""Follows the third sentence of a finding literally, as a reader would who knows nothing else."""

from __future__ import annotations

import re

from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding

_WRITE = re.compile(r"Write [`']([^`']+)[`']|Write (true|false|earliest|-?\d+)\b")
_ADD = re.compile(r"(?<=[`'])([^`'\s]+=[^`'\s]*)(?=[`'])")
_OF_KEYS = ("KEY_", "CLIENT_LIMITED")


def fixed(text: str, finding: LintFinding) -> str | None:
    """Return the text of a properties file after the fix, or `None` if the fix leaves a decision to the reader."""
    lines = text.split("\n")
    if finding.line == 0:
        return None
    numbers = sorted((finding.line, *finding.others), reverse=True)
    if finding.fix.startswith(("Remove it", "Remove the line", "Remove the wrong line")):
        for number in numbers:
            del lines[number - 1]
    elif finding.fix.startswith("Add ") and (added := _ADD.findall(finding.fix)):
        lines = [*filter(None, lines), *added, ""]
    elif found := _WRITE.match(finding.fix):
        for number in numbers:
            lines[number - 1] = _written(lines[number - 1], found[1] or found[2], finding)
    else:
        return _by_hand(lines, finding)
    return "\n".join(lines)


def _written(line: str, word: str, finding: LintFinding) -> str:
    """Return a line with the word: a whole line, a key, or a value."""
    if re.fullmatch(r"[\w.>-]+\s*=.*", word):
        return word
    key, _, value = (part.strip() for part in line.partition("="))
    return f"{word} = {value}" if finding.code.startswith(_OF_KEYS) else f"{key} = {word}"


def _by_hand(lines: list[str], finding: LintFinding) -> str | None:
    """Do what the words of the other fixes say."""
    line = lines[finding.line - 1]
    key, _, value = (part.strip() for part in line.partition("="))
    if finding.fix.startswith("Remove the blank"):
        lines[finding.line - 1] = line.rstrip()
    elif finding.fix.startswith("Remove the quotes"):
        lines[finding.line - 1] = f"{key} = {value.replace(chr(34), '').replace(chr(39), '')}"
    elif finding.fix.startswith("Write the line again, with plain blanks"):
        lines[finding.line - 1] = line.replace("\u00a0", " ").rstrip()
    elif finding.fix.startswith("Write the comment above"):
        for number in sorted((finding.line, *finding.others), reverse=True):
            del lines[number - 1]
    elif finding.fix.startswith("Write the comment on"):
        lines[finding.line - 1] = re.sub(r"\s+#.*", "", line)
    else:
        return None
    return "\n".join(lines)
