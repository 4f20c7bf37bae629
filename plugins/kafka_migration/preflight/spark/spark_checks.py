"""Checks of Spark and of the evidence root that it shares with Airflow."""

from __future__ import annotations

from kafka_migration.core.evidence.root import EvidencePlace
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.spark.spark_target import (
    CLUSTER,
    SparkTarget,
    cipher_findings,
    shipping_findings,
    unprotected_findings,
)
from kafka_migration.core.spark.spark_versions import Version
from kafka_migration.preflight.scene.check import Asked, Findings, check
from kafka_migration.preflight.scene.scene import Scene, asked_once

_MATTERS = "Spark's results would not reach Airflow, so no copy could be proved."


@check("evidence", asks={Asked.SPARK}, needs=("connections",))
def evidence(scene: Scene) -> Findings:
    """Airflow and Spark use the same evidence root."""
    place, connection = scene.airflow.evidence_place, scene.migration.validation.spark_connection
    if not place.may_be_one:
        yield _differ(place)
    elif place.lacks_account:
        yield _without_account(place)
    elif place.is_local and not place.stated_for_spark and scene.airflow.spark.spark_target(connection).ships_files:
        yield _local(place, connection)


def _differ(place: EvidencePlace) -> Finding:
    return Finding(
        Code.EVIDENCE_ROOTS_DIFFER,
        "[kafka_migration] spark_evidence_root",
        f"{place.spark_root}, with evidence_root {place.root}",
        "the same location: the same kind of store, the same bucket, the same path",
        "Correct one of the two settings, or remove spark_evidence_root: it is then derived from evidence_root.",
        happened=f"Airflow and Spark are configured with different evidence roots: evidence_root is {place.root}, "
        f"spark_evidence_root is {place.spark_root}.",
        matters=_MATTERS,
    )


def _without_account(place: EvidencePlace) -> Finding:
    return Finding(
        Code.EVIDENCE_ROOTS_DIFFER,
        "[kafka_migration] spark_evidence_root",
        f"{place.spark_root}, which names no account of Azure",
        "the evidence root as Hadoop spells it, such as abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER",
        f"Set spark_evidence_root to Hadoop's address of the evidence root {place.root}.",
        happened=f"Spark would open the evidence root as {place.spark_root}, but Hadoop's addresses of Azure contain "
        "the account.",
        matters=_MATTERS,
    )


def _local(place: EvidencePlace, connection: str) -> Finding:
    return Finding(
        Code.EVIDENCE_ROOT_LOCAL,
        f"connection {connection} (validation.spark_connection)",
        f"deploy mode {CLUSTER}, with the evidence root in the local folder {place.root}",
        "an evidence root that Spark's driver can reach from any host",
        "Set [kafka_migration] evidence_root to an object store, or set deploy-mode to client in the connection's "
        "extra. If Airflow and all Spark hosts share the folder, set spark_evidence_root to its path on the Spark "
        "hosts.",
        happened=f"The evidence root is the local folder {place.root}, but in deploy mode {CLUSTER} Spark's driver "
        "runs on another host.",
        matters=_MATTERS,
    )


def _declared(scene: Scene) -> tuple[Finding, ...]:
    """Return the findings that the migration file allows as warnings."""
    return _unprotected(scene, declared=True) if scene.migration.validation.spark_unprotected else ()


@check("spark", asks={Asked.SPARK}, needs=("connections",), warn=_declared)
def spark(scene: Scene) -> Findings:
    """Spark protects Kafka's credentials from everyone else who uses the cluster or its network."""
    if scene.mode is Mode.RESTORE or scene.migration.validation.spark_unprotected:
        return ()
    target = _target(scene)
    return (*_unprotected(scene, declared=False), *cipher_findings(target, _version(scene, target)))


def _unprotected(scene: Scene, *, declared: bool) -> tuple[Finding, ...]:
    target = _target(scene)
    return unprotected_findings(target, _version(scene, target), declared=declared)


def _target(scene: Scene) -> SparkTarget:
    return scene.airflow.spark.spark_target(scene.migration.validation.spark_connection)


def _version(scene: Scene, target: SparkTarget) -> Version:
    """Return Spark's version; none if it decides nothing, because the question starts Java."""
    return scene.airflow.spark.spark_numbers(target) if target.needs_version else ()


@check("spark client", asks={Asked.SPARK}, needs=("clusters",))
def spark_client(scene: Scene) -> Findings:
    """Spark can be given the logins of the Kafka connections, and its Kafka client is new enough for them."""
    if scene.mode is Mode.RESTORE or not scene.has_login:
        return ()
    spark = scene.airflow.spark
    target = spark.spark_target(scene.migration.validation.spark_connection)
    return (*shipping_findings(target), *spark.spark_client_findings())


@asked_once
def _version_findings(scene: Scene) -> tuple[Findings, Findings]:
    """Return which versions of Spark cannot work together, and which are unknown; mode `restore` needs no Spark."""
    if scene.mode is Mode.RESTORE:
        return (), ()
    return scene.airflow.spark.spark_version_findings(scene.migration.validation.spark_connection)


@check("spark versions", asks={Asked.SPARK}, needs=("connections",), warn=lambda scene: _version_findings(scene)[1])
def spark_versions(scene: Scene) -> Findings:
    """Spark, its Kafka connector and its Python have versions with which the jobs work."""
    return _version_findings(scene)[0]
