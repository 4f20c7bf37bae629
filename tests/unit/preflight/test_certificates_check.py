"""Rules of certificates that end: during the run it is a refusal for a client's, within 30 days a warning for any."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import Certificate
from kafka_migration.preflight.clusters.clusters_checks import WARNED_BEFORE, ending_before, ending_soon

NOW = datetime(2026, 1, 10, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def ending(at: datetime) -> Certificate:
    """Return a certificate that ends at a moment."""
    return Certificate("CN=me", "CN=ca", (), NOW - timedelta(days=1), at)


def test_client_certificate_must_last_as_long_as_the_run() -> None:
    """One that ends a second before the planned end is refused, with both moments; at the planned end it is not."""
    end = NOW + timedelta(hours=8)
    (finding,) = ending_before("old", (ending(end), ending(end - SECOND)), end)

    assert (Code.CERTIFICATE_ENDS_IN_RUN, "connection old") == (finding.code, finding.subject)
    assert "CN=me expires at 2026-01-10 07:59:59 UTC" in finding.found
    assert "at the latest at 2026-01-10 08:00:00 UTC" in finding.expected


def test_warning_comes_thirty_days_before() -> None:
    """Each certificate that ends within 30 days is a warning of its own that says whose it is."""
    late, soon = ending(NOW + WARNED_BEFORE), ending(NOW + WARNED_BEFORE - SECOND)
    (warning,) = ending_soon("old", {"broker b1:9093": late, "broker b2:9093": soon}, NOW)

    assert (Code.CERTIFICATE_ENDS_SOON, "connection old") == (warning.code, warning.subject)
    assert "broker b2:9093 expires at 2026-02-08 23:59:59 UTC" in warning.found
