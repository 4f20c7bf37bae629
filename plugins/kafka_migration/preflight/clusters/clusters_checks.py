"""Checks of both clusters and both schema registries as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import Certificate, ClusterFacts, Side
from kafka_migration.core.ledger.copy_basis import ClusterSeen, changed_clusters
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.shortened import capitalized, sentence
from kafka_migration.engines.engine_rights import missing_rights
from kafka_migration.preflight.scene.check import BOTH, Asked, Findings, check
from kafka_migration.preflight.scene.scene import SIDES, Scene, facts


@check("clusters", asks=BOTH, needs=("connections", "security"))
def clusters(scene: Scene) -> Findings:
    """Both clusters answer, and they are those of earlier runs and different ones."""
    (source, lost), (target, lost_too) = scene.airflow.at_once([partial(_facts, scene, side) for side in SIDES])
    findings = (*lost, *lost_too)
    if source is not None and target is not None:
        seen = ClusterSeen.of(source), ClusterSeen.of(target)
        changed = tuple(changed_clusters(scene.ledger.basis, scene.migration, *seen))
        return changed or difference_findings(scene.migration, source, target)
    return findings


def _facts(scene: Scene, side: Side) -> tuple[ClusterFacts | None, tuple[Finding, ...]]:
    """Return the facts of a cluster, or why there are none."""
    try:
        return facts(scene, side), ()
    except Refused as refused:
        return None, tuple(refused.findings)
    except TransientError as error:
        return None, (_unreachable(side, error),)


def _unreachable(side: Side, error: TransientError) -> Finding:
    return Finding(
        Code.CLUSTER_UNREACHABLE,
        f"{side}.connection",
        str(error),
        "an answer from the cluster",
        "Check bootstrap.servers and the security settings in the Airflow connection, and that Airflow reaches the "
        "brokers' advertised listeners. Then trigger the run again.",
        happened=sentence(f"The {side} did not answer Airflow: {error}"),
        matters="It is unknown what a run would copy, so the other checks of the clusters were left out.",
    )


def difference_findings(migration: Migration, source: ClusterFacts, target: ClusterFacts) -> Findings:
    """Yield why a migration between these clusters is impossible."""
    if source.cluster_id == target.cluster_id:
        yield Finding(
            Code.SAME_CLUSTER,
            "source and target",
            f"the same cluster, id {source.cluster_id}",
            "two different clusters",
            "Correct source.connection or target.connection in the migration file, or the connection in Airflow.",
            happened="The connections source.connection and target.connection lead to the same cluster, with the id "
            f"{source.cluster_id}.",
            matters="With equal topic names MirrorMaker would read what it writes, and copy each record without end.",
        )
    wanted = migration.target_replication_factor
    if wanted > target.brokers:
        yield Finding(
            Code.REPLICATION_FACTOR_TOO_HIGH,
            "target.replication_factor",
            f"{wanted}, with {target.brokers} broker(s) on the target",
            f"at most {target.brokers}",
            "Lower target.replication_factor in the migration file, or add brokers to the target.",
            happened=f"target.replication_factor is {wanted}, but the target has {target.brokers} broker(s).",
            matters="Each replica needs a broker of its own, so the target would create no topic.",
        )


WARNED_BEFORE = timedelta(days=30)


def _certificates_warnings(scene: Scene) -> Findings:
    for side in SIDES:
        named = scene.named(side)
        own = {f"the client ({each.subject})": each for each in scene.airflow.connections.certificates(named)}
        brokers = {f"broker {address}": found for address, found in scene.cluster(side).certificates().items()}
        yield from ending_soon(named.connection, {**own, **brokers}, scene.now)


@check("certificates", asks=BOTH, needs=("clusters",), warn=_certificates_warnings)
def certificates(scene: Scene) -> Findings:
    """No client certificate ends before the run may end; certificates that end soon are warnings."""
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
                happened=f"{capitalized(expires)}, in less than {WARNED_BEFORE.days} days.",
                matters="Once it has expired, no new connection that uses it succeeds, and runs fail.",
            )


@check("rights", asks=BOTH, needs=("earlier runs", "clusters"))
def rights(scene: Scene) -> Findings:
    """The logins of both connections have the rights that a run of this mode needs, as far as the brokers show them."""
    migration, principal_of = scene.migration, scene.airflow.connections.principal
    yield from missing_rights(scene.source, migration, "source", scene.mode, principal_of(migration.source))
    yield from missing_rights(scene.target, migration, "target", scene.mode, principal_of(migration.target))


# Any id shows whether address, login and rights are good: a registry answers with its schema, or that it has none.
_ANY_ID = 1


@check("registries", asks={Asked.REGISTRY}, needs=("connections",))
def registries(scene: Scene) -> Findings:
    """Both schema registries of the migration file answer."""
    named = scene.migration.schema_registry
    if named is None:
        return
    yield from _ask(scene, "source", named.source)
    yield from _ask(scene, "target", named.target)


def _ask(scene: Scene, side: Side, connection: str) -> tuple[Finding, ...]:
    try:
        with closing(scene.run.deployment.open_registry(side, connection)) as registry:
            registry.schema(_ANY_ID)
    except Refused as refused:
        return refused.findings
    return ()
