"""The note of a run in Airflow: its result on one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kafka_migration.core.migration.settings import Mode

# Airflow keeps 1,000 characters, and a user's own note is kept below ours.
MAX_NOTE = 300
_LONGEST = 1000
_MAX_CODES = 3
_OURS = re.compile(rf"(?:{'|'.join(Mode)}) · ")


def run_note(run: Mapping[str, Any]) -> str:
    """Return the note of an assembled run, such as `cutover · PASS · 260,000 records · CHG-1234`."""
    line = " · ".join(" ".join(part.split()) for part in _parts(run) if part)
    return line if len(line) <= MAX_NOTE else f"{line[: MAX_NOTE - 1]}…"


def joined_notes(ours: str, present: str | None) -> str:
    """Return our note with the user's text below it; our line of an earlier attempt is replaced."""
    lines = (present or "").splitlines()
    theirs = "\n".join(lines[1:] if lines and _OURS.match(lines[0]) else lines).strip()
    return f"{ours}\n\n{theirs}"[:_LONGEST] if theirs else ours


def _parts(run: Mapping[str, Any]) -> Iterator[str]:
    yield str(run["mode"])
    yield run["verdict"] or ""
    if run["outcome"] != "success" or not run["verdict"]:
        codes = list(dict.fromkeys(finding["code"] for finding in run["findings"]))
        yield ": ".join(part for part in (run["outcome"], ", ".join(codes[:_MAX_CODES])) if part)
    yield _records(run)
    yield run["note"]


def _records(run: Mapping[str, Any]) -> str:
    """Return how many records of the copy are proved in total, or else how many this run compared."""
    counts = [_proved(topic) for topic in run["topics"]]
    return f"{sum(counts):,} records" if counts else ""


def _proved(topic: Mapping[str, Any]) -> int:
    whole = topic.get("whole")
    return int((whole["target_records"] if whole else topic["target_records"]) or 0)
