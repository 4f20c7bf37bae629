"""The document of `judge`: the verdict of a run, with one entry per topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.interval_bounds import IntervalAnswer
from kafka_migration.core.validation.coverage import CoverageSummary
from kafka_migration.core.validation.differences import Differences

NOTHING_NEW = "nothing new"
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class JudgedDifferences(Differences):
    """The differences of a topic, and its name on the target."""

    target_topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTopic(Document):
    """The verdict of this run on one topic, and what all runs together prove.

    :param verdict: a `Verdict`, or `NOTHING_NEW` (nothing was read), or `NOTHING` (nothing of the interval)
    :param source_records: records that were compared, or that belong to the interval; `None`: unknown
    :param target_records: the same on the target
    :param whole_verdict: the verdict of all runs; `None` without a judgement
    :param whole: what all runs together prove; `None` if nothing was ever copied
    :param differences: `None` if nothing was read
    """

    topic: str
    verdict: str
    source_records: int | None
    target_records: int | None
    whole_verdict: Verdict | None
    whole: CoverageSummary | None
    findings: tuple[Finding, ...]
    differences: JudgedDifferences | None

    @property
    def is_proved(self) -> bool:
        """Whether all runs together prove the topic."""
        return self.whole is not None and self.whole.proved

    @property
    def differs(self) -> bool:
        """Whether this run or all runs together found a difference."""
        return Verdict.FAIL in {self.verdict, self.whole_verdict}

    @property
    def standing(self) -> str:
        """The verdict of all runs together, in words."""
        return self.whole.standing if self.whole else "not yet compared"


@dataclass(frozen=True, slots=True)
class RecordCounts(Document):
    """The numbers of records on both sides; `None`: unknown."""

    source: int | None
    target: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDocument(Document):
    """The verdict of a run. `interval` is the answer for the run's interval, if it has one.

    `records` are those of the topics with a verdict of this run.
    """

    at: str
    verdict: Verdict
    interval: IntervalAnswer | None
    records: Mapping[str, RecordCounts]
    topics: tuple[JudgedTopic, ...]
    warnings: tuple[Finding, ...]
