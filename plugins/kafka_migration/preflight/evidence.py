"""Airflow and Spark can see one evidence root."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.evidence.root import EvidencePlace
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.check import Check, Subject

CLUSTER = "cluster"


def _check(subject: Subject) -> Iterable[Finding]:
    place, connection = subject.evidence_place, subject.migration.validation.spark_connection
    if not place.may_be_one:
        yield _differ(place)
    elif place.is_local and not place.stated_for_spark and subject.connections.deploy_mode(connection) == CLUSTER:
        yield _local(place, connection)


def _differ(place: EvidencePlace) -> Finding:
    return Finding(
        Code.EVIDENCE_ROOTS_DIFFER,
        "[kafka_migration] spark_evidence_root",
        f"{place.spark_root}, with evidence_root {place.root}",
        "two spellings of one place: the same kind of store, the same bucket, the same path",
        "Correct one of the two settings, or leave out spark_evidence_root, which is then derived; Spark would write "
        "its result where Airflow does not look.",
    )


def _local(place: EvidencePlace, connection: str) -> Finding:
    return Finding(
        Code.EVIDENCE_ROOT_LOCAL,
        f"connection {connection} (validation.spark_connection)",
        f"deploy mode {CLUSTER}, with the evidence root in the local folder {place.root}",
        "an evidence root that Spark's driver sees on whatever host it runs",
        "Set [kafka_migration] evidence_root to an object store, or deploy-mode in the connection's extra to client. "
        "If all of Spark's hosts share the folder, say so by naming it in spark_evidence_root.",
    )


CHECK = Check("evidence", _check, needs=("connections",))
