"""`status --topic`: which partitions of a topic are behind now, read from both clusters."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from kafka_migration.cli.shell.airflow_access import shown_deployment
from kafka_migration.cli.shell.evidence_access import evidence_root
from kafka_migration.cli.shell.output import ExitCode, aligned, respond
from kafka_migration.cli.shell.progress_line import working
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.text.terminal_text import record_count
from kafka_migration.steps.answers.kept_migration import no_anchor
from kafka_migration.steps.before.partitions_behind import PartitionsBehind, partitions_behind


def status_of_topic(arguments: Namespace) -> int:
    """Print the partitions that are behind as lines or as one JSON document."""
    deployment, place = shown_deployment(arguments.migrations), arguments.evidence_root
    if place is not None:
        deployment = replace(deployment, evidence_root=evidence_root(place), anchor=no_anchor)
    working("Reading the evidence and both clusters")
    found = partitions_behind(arguments.name, arguments.topic, deployment)
    respond(arguments, found, topic_lines(found))
    return ExitCode.DONE


def topic_lines(found: PartitionsBehind) -> list[str]:
    """Return the partitions that are behind as lines of text."""
    head = [("Migration", found.migration), ("Topic", found.topic), ("Read", f"{found.at}, from both clusters")]
    if found.generation is None:
        next_run = f"kafka-migration plan {found.migration} --topic {shell_word(found.topic)}"
        return aligned([*head[:2], ("Generation", f"none is open; what the next run copies: {next_run}")])
    rows = [
        (str(each.partition), *map(record_count, (each.next_offset, each.source_end, each.lag)))
        for each in found.behind
    ]
    behind = f"{len(rows):,} of {found.total:,} partitions, up to the present end of the source"
    table = ["", *aligned([("PARTITION", "NEXT OFFSET", "SOURCE END", "OFFSETS LEFT"), *rows])] if rows else []
    return [*aligned([*head, ("Generation", f"{found.generation} is open"), ("Behind", behind)]), *table]
