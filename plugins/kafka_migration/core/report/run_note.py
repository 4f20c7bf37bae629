"""The note of a run in Airflow: its result on one line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.validation.judge_document import JudgedTopic

# Airflow keeps 1,000 characters, and a user's own note is kept below ours.
MAX_NOTE = 300
_LONGEST = 1000
_MAX_CODES = 3
_OURS = re.compile(rf"(?:{'|'.join(Mode)}) · ")


def run_note(run: RunDocument) -> str:
    """Return the note of a run, such as `cutover · PASS · 260,000 records · CHG-1234`."""
    line = " · ".join(" ".join(part.split()) for part in _parts(run) if part)
    return line if len(line) <= MAX_NOTE else f"{line[: MAX_NOTE - 1]}…"


def joined_notes(ours: str, present: str | None) -> str:
    """Return our note with the user's text below it; our line of an earlier attempt is replaced."""
    lines = (present or "").splitlines()
    theirs = "\n".join(lines[1:] if lines and _OURS.match(lines[0]) else lines).strip()
    return f"{ours}\n\n{theirs}"[:_LONGEST] if theirs else ours


def _parts(run: RunDocument) -> Iterator[str]:
    yield run.mode
    yield run.verdict or ""
    if run.outcome != "success" or not run.verdict:
        yield ": ".join(filter(None, (run.outcome, ", ".join(run.codes[:_MAX_CODES]))))
    # How many records of the copy are proved in total.
    yield f"{sum(map(_proved, run.topics)):,} records" if run.topics else ""
    yield run.note


def _proved(topic: JudgedTopic) -> int:
    return (topic.whole and topic.whole.target_records) or 0
