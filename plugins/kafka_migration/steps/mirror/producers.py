"""Asking the MirrorMaker host who still writes to the source, after a fence was refused."""

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
    """Return the findings with the ids of producers that the source's brokers know, as far as they can be had.

    A host or a cluster that cannot tell takes nothing away from what was found.
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
