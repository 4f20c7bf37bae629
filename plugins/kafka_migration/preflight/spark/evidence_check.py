"""Airflow and Spark use the same evidence root."""

from __future__ import annotations

from kafka_migration.core.evidence.root import EvidencePlace
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.spark.spark_target import CLUSTER
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene

_MATTERS = "Spark's results would not reach Airflow, so no copy could be proved."


def _check(scene: Scene) -> Findings:
    place, connection = scene.airflow.evidence_place, scene.migration.validation.spark_connection
    if not place.may_be_one:
        yield _differ(place)
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


def _local(place: EvidencePlace, connection: str) -> Finding:
    return Finding(
        Code.EVIDENCE_ROOT_LOCAL,
        f"connection {connection} (validation.spark_connection)",
        f"deploy mode {CLUSTER}, with the evidence root in the local folder {place.root}",
        "an evidence root that Spark's driver can reach from any host",
        "Set [kafka_migration] evidence_root to an object store, or deploy-mode in the connection's extra to client. "
        "If all Spark hosts share the folder, set spark_evidence_root to it.",
        happened=f"The evidence root is the local folder {place.root}, but in deploy mode {CLUSTER} Spark's driver "
        "runs on another host.",
        matters=_MATTERS,
    )


CHECK = Check("evidence", _check, asks={Asked.SPARK}, needs=("connections",))
