"""Reads a run's evidence. It relies on the documented file format, not on the package's code."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_SUBJECT = re.compile(r"^topic (?P<topic>\S+)(?: \([^)]*\))?, partition (?P<partition>\d+)\b")
_DIFFERENCE = re.compile(
    r"first difference (?P<kind>[a-z]+)\b.*? at source offset (?P<source>\d+), target offset (?P<target>\d+)"
)


class Count(NamedTuple):
    """Records that a run validated of a topic, on either side."""

    source_records: int
    target_records: int


class Place(NamedTuple):
    """Where and how a copy differs from its source first."""

    kind: str
    topic: str
    partition: int
    source_offset: int
    target_offset: int

    def __str__(self) -> str:
        return (
            f"topic {self.topic}, partition {self.partition}, source offset {self.source_offset}, "
            f"target offset {self.target_offset} ({self.kind})"
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """One entry of `findings`."""

    code: str
    subject: str
    found: str
    expected: str
    remedy: str
    happened: str = ""
    matters: str = ""

    @property
    def lines(self) -> list[str]:
        """Code and subject, then what happened, why it matters and what to do, each on a line of its own."""
        happened = self.happened or f"found {self.found}; expected {self.expected}."
        return [
            f"{self.code} · {self.subject}",
            *(f"  {each}" for each in (happened, self.matters, self.remedy) if each),
        ]

    @property
    def place(self) -> Place | None:
        """The place that the finding names, or `None` if it names none."""
        subject, difference = _SUBJECT.search(self.subject), _DIFFERENCE.search(self.found)
        if subject is None or difference is None:
            return None
        return Place(
            difference["kind"],
            subject["topic"],
            int(subject["partition"]),
            int(difference["source"]),
            int(difference["target"]),
        )


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """The content of `run.json`; a topic that the run did not read is missing in `records`."""

    folder: Path
    verdict: str | None
    outcome: str
    records: Mapping[str, Count]
    findings: tuple[Finding, ...]
    groups: tuple[Mapping[str, Any], ...] = ()

    @property
    def total_records(self) -> int:
        """Source records that the run validated."""
        return sum(count.source_records for count in self.records.values())

    @property
    def counts_words(self) -> str:
        """The validated source records per topic as text."""
        counts = ", ".join(f"{topic} {count.source_records:,}" for topic, count in self.records.items())
        return counts or "no records"


def run_folder(evidence_root: Path, dag_id: str, run_id: str) -> Path:
    """Return the folder with a run's attempts."""
    digest = sha256(f"{dag_id}/{run_id}".encode()).hexdigest()[:16]
    return evidence_root / dag_id.partition("__")[2] / f"{_UNSAFE.sub('_', run_id)}-{digest}"


def read_run(evidence_root: Path, dag_id: str, run_id: str) -> RunEvidence | None:
    """Return the evidence of a run's newest attempt, or `None` if it has no `run.json`."""
    found = run_folder(evidence_root, dag_id, run_id).glob("attempt-*/run.json")
    newest = max(found, key=lambda path: int(path.parent.name.partition("-")[2]), default=None)
    return parse_run(newest.parent, json.loads(newest.read_text())) if newest else None


def parse_run(folder: Path, document: Mapping[str, Any]) -> RunEvidence:
    """Return the parts of `run.json` that the demo uses."""
    return RunEvidence(
        folder=folder,
        verdict=document["verdict"],
        outcome=document["outcome"],
        records={topic: Count(c["source"], c["target"]) for topic, c in document["records"].items()},
        findings=tuple(Finding(**{name: f.get(name, "") for name in Finding.__slots__}) for f in document["findings"]),
        groups=tuple(document.get("groups", ())),
    )
