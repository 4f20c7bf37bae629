"""Certificates that end soon: in time to renew them, and before a run that would outlive its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.certificates import Certificate

WARNED_BEFORE = timedelta(days=30)


def ending_before(connection: str, own: tuple[Certificate, ...], planned_end: datetime) -> Iterator[Finding]:
    """Yield a finding for each client certificate of a connection that ends before the run may end."""
    for certificate in own:
        if certificate.ends < planned_end:
            yield Finding(
                Code.CERTIFICATE_ENDS_IN_RUN,
                f"connection {connection}",
                f"the client certificate {certificate.subject} expires at {certificate.ends:%F %T} UTC",
                f"a certificate that is valid until the run ends, at the latest at {planned_end:%F %T} UTC",
                "Renew the certificate in the connection, or shorten watch.time_limit. Nothing was started.",
            )


def ending_soon(connection: str, certificates: Mapping[str, Certificate], now: datetime) -> Iterator[Finding]:
    """Yield a warning for each certificate that ends within 30 days; the keys say whose it is."""
    for whose, certificate in certificates.items():
        if certificate.ends < now + WARNED_BEFORE:
            yield Finding(
                Code.CERTIFICATE_ENDS_SOON,
                f"connection {connection}",
                f"the certificate of {whose} expires at {certificate.ends:%F %T} UTC",
                "a certificate that does not expire in the next 30 days",
                "Renew it in time. New connections fail when it has ended.",
            )
