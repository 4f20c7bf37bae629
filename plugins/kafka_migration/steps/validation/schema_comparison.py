"""Compares the schemas of the ids in the copied records: asks both registries about every id that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.ledger.judgements import SchemaIdsFound
from kafka_migration.core.validation.schemas import (
    SchemaFindings,
    Schemas,
    known_ids,
    parts_of,
    schema_findings,
    unread_generations,
)
from kafka_migration.core.validation.validation_contract import ValidationRequest, ValidationResult
from kafka_migration.steps.run.guards import hold_reservation
from kafka_migration.steps.run.migration_run import MigrationRun


def record_schema_ids(run: MigrationRun, request: ValidationRequest, result: ValidationResult) -> None:
    """Add the ids that Spark found to the ledger, if the migration file names registries."""
    if not request.generations or not request.schema_ids:
        return
    names = {window.target_topic: window.topic for window in request.windows}
    parts = tuple(replace(each, topic=names[each.topic]) for each in result.schema_ids)
    found = SchemaIdsFound(run.identity.holder, run.now(), request.topic_generations, parts)
    if any(replace(each, at=found.at) == found for each in run.ledger.known().schema_ids):
        return
    hold_reservation(run)
    run.ledger.append(found.to_document())


def compare_schemas(run: MigrationRun) -> dict[str, SchemaFindings]:
    """Compare the schemas of all ids that the ledger knows of the run's topics; nothing without registries.

    Raises `Refused` (`REGISTRY_REFUSED`), or `TransientError` if a registry does not answer.
    """
    named, ledger = run.migration.schema_registry, run.ledger.known()
    wanted = parts_of(named, run.migration.topics)
    if named is None or not wanted:
        return {}
    known = known_ids(ledger, wanted)
    source = _schemas(run, "source", named.source, {i for parts in known.values() for part in parts for i in part.ids})
    target = _schemas(run, "target", named.target, (i for i, schema in source.items() if schema is not None))
    strict, unread = run.request.mode.plans_groups, unread_generations(ledger, wanted)
    return {
        topic: schema_findings(topic, known[topic], source, target, unread[topic], strict=strict) for topic in wanted
    }


def verdict_on_schemas(found: Mapping[str, SchemaFindings]) -> Verdict:
    """Return the verdict on the schemas of all topics. Unknown ids change it only where groups are planned."""
    wrong = {finding.code for each in found.values() for finding in each.wrong}
    warned = {finding.code for each in found.values() for finding in each.warnings}
    if wrong & {Code.SCHEMA_MISSING, Code.SCHEMA_DIFFERS}:
        return Verdict.FAIL
    if wrong:
        return Verdict.NOT_VERIFIABLE
    return Verdict.WARN if Code.SCHEMA_IDS_NOT_READ in warned else Verdict.PASS


def _schemas(run: MigrationRun, side: Side, connection: str, ids: Iterable[int]) -> Schemas:
    with closing(run.deployment.open_registry(side, connection)) as registry:
        return {schema_id: registry.schema(schema_id) for schema_id in sorted(ids)}
