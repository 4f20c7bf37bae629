"""Asks the MirrorMaker host which producers still write to the source, after the fence failed."""

from __future__ import annotations

from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.findings.errors import Finding, MigrationError
from kafka_migration.core.mirror.active_producers import (
    parse_producers,
    partitions_named,
    producers_probe,
    with_producers,
)
from kafka_migration.engines.properties import render_properties
from kafka_migration.steps.run import MigrationRun


def told_of_producers(run: MigrationRun, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings, extended with the ids of the active producers that the source's brokers report.

    If the host or the cluster does not answer, the findings stay as they are.
    """
    partitions = partitions_named(findings)
    if not partitions:
        return findings
    mirror, source = run.migration.mirror, run.migration.source
    try:
        config = run.deployment.client_settings(source)
        properties = render_properties(java_properties(source.connection, config))
        replies = {
            p: run.host.probe(producers_probe(p, properties, mirror.kafka_home, mirror.java_home)) for p in partitions
        }
    except (MigrationError, ValueError):
        return findings
    return with_producers(findings, {p: parse_producers(reply.log) for p, reply in replies.items()})
