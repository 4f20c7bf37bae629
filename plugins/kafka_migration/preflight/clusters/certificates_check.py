"""No client certificate ends before the run may end; certificates that end soon are warnings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Certificate
from kafka_migration.preflight.scene.check import BOTH, Check, Findings
from kafka_migration.preflight.scene.scene import SIDES, Scene

WARNED_BEFORE = timedelta(days=30)


def _check(scene: Scene) -> Findings:
    planned_end = scene.now + timedelta(seconds=scene.migration.watch.time_limit_s)
    for side in map(scene.named, SIDES):
        yield from ending_before(side.connection, scene.airflow.connections.certificates(side), planned_end)


def ending_before(connection: str, own: tuple[Certificate, ...], planned_end: datetime) -> Findings:
    """Yield a finding for each client certificate of a connection that ends before the run may end."""
    for certificate in own:
        if certificate.ends < planned_end:
            expires, end = f"{certificate.ends:%F %T} UTC", f"{planned_end:%F %T} UTC"
            yield Finding(
                Code.CERTIFICATE_ENDS_IN_RUN,
                f"connection {connection}",
                f"the client certificate {certificate.subject} expires at {expires}",
                f"a certificate that is valid until the run ends, at the latest at {end}",
                "Renew the certificate in the connection, or shorten watch.time_limit. Then trigger the run again.",
                happened=f"The client certificate {certificate.subject} expires at {expires}, but the run may take "
                f"until {end}.",
                matters="Once it has expired, no login with it succeeds, and the run would fail before its end.",
            )


def _warn(scene: Scene) -> Findings:
    for side in SIDES:
        named = scene.named(side)
        own = {f"the client ({each.subject})": each for each in scene.airflow.connections.certificates(named)}
        brokers = {f"broker {address}": found for address, found in scene.cluster(side).certificates().items()}
        yield from ending_soon(named.connection, {**own, **brokers}, scene.now)


def ending_soon(connection: str, certificates: Mapping[str, Certificate], now: datetime) -> Findings:
    """Yield a warning for each certificate that ends within 30 days; the keys say whose it is."""
    for whose, certificate in certificates.items():
        if certificate.ends < now + WARNED_BEFORE:
            expires = f"the certificate of {whose} expires at {certificate.ends:%F %T} UTC"
            yield Finding(
                Code.CERTIFICATE_ENDS_SOON,
                f"connection {connection}",
                expires,
                f"a certificate that does not expire in the next {WARNED_BEFORE.days} days",
                "Renew the certificate before it expires.",
                happened=f"{expires[0].upper()}{expires[1:]}, in less than {WARNED_BEFORE.days} days.",
                matters="Once it has expired, no new connection that uses it succeeds, and runs fail.",
            )


CHECK = Check("certificates", _check, asks=BOTH, needs=("clusters",), warn=_warn)
