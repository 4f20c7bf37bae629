"""The verdict on one topic, for tests that ask about nothing else of its coverage."""

from __future__ import annotations

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.validation.coverage_rules import coverage_of


def topic_verdict(ledger: Ledger, topic: str) -> Verdict | None:
    """Return the verdict on everything that was judged of a topic; `None` without a judgement."""
    covered = coverage_of(ledger).get(topic)
    return None if covered is None else covered.verdict
