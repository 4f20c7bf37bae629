"""`kafka-migration waves`: groups topics that must move together into waves, with a migration file for each."""

from __future__ import annotations

import argparse
import os
import re
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_output, duration_s, is_json
from kafka_migration.cli.shell.output import ExitCode, say, say_json
from kafka_migration.cli.shell.wave_output import waves_document, waves_lines
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.migration.patterns import pattern_problem
from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.core.waves.wave_file import Names
from kafka_migration.core.waves.wave_plan import WavePlan, Wish, plan_waves
from kafka_migration.steps.waves.wave_files import (
    FilesThere,
    check_files,
    files_in,
    not_written,
    proposed_files,
    write_files,
)


def add_waves(verbs: Verbs) -> None:
    """Add the verb `waves`."""
    verb = add_bare_verb(
        verbs,
        "waves",
        "show which topics must move together, and propose migration files",
        "waves --source old_kafka --target new_kafka",
    )
    for side in ("source", "target"):
        verb.add_argument(f"--{side}", required=True, metavar="CONNECTION", help="Airflow connection of type kafka")
        verb.add_argument(
            f"--{side}-insecure",
            action="append",
            default=[],
            choices=[str(each) for each in Insecurity],
            help="a protection that the connection may disable; may be repeated (default: none)",
        )
    for option, of_what in (
        ("--topic", "topics to propose; may be repeated (default: all)"),
        ("--ignore-group", "groups that do not tie topics together; may be repeated"),
    ):
        text = f"regular expression for the whole name of {of_what}"
        verb.add_argument(option, type=_pattern, action="append", default=[], metavar="PATTERN", help=text)
    verb.add_argument(
        "--min-topics",
        type=_count,
        default=1,
        metavar="NUMBER",
        help="combine small waves until each has at least this many topics (default: 1)",
    )
    verb.add_argument(
        "--timeout", type=duration_s, default="5m", metavar="TIME", help="for reading transactions (default: 5m)"
    )
    verb.add_argument("--write", type=Path, metavar="FOLDER", help="write a migration file per wave")
    verb.add_argument("--prefix", type=_prefix, default="wave", help="waves are named PREFIX-01, … (default: wave)")
    verb.add_argument("--mirror-host", metavar="CONNECTION", help="for --write: Airflow connection of type ssh")
    verb.add_argument("--spark", metavar="CONNECTION", help="for --write: Airflow connection of type spark")
    verb.add_argument("--kafka-home", metavar="FOLDER", help="for --write: Kafka on the MirrorMaker host")
    add_output(verb)
    verb.set_defaults(run=partial(_waves, verb))


def waves(arguments: Namespace) -> int:
    """Write the requested files, then print the waves as lines or as one JSON document.

    The exit code tells if everything could be read.
    """
    # Outside of a task, connections in Airflow's database are visible only with this setting.
    os.environ.setdefault("_AIRFLOW_PROCESS_CONTEXT", "server")
    there = _files_there(arguments.write)
    source_insecure, target_insecure = _insecure(arguments.source_insecure), _insecure(arguments.target_insecure)
    source = _cluster("source", arguments.source, source_insecure)
    target = _cluster("target", arguments.target, target_insecure)
    brokers = _different(source, target)
    plan = _plan(arguments, there, source, target)
    not_known = (*plan.not_known, *there.not_known)
    names = Names(
        source=arguments.source,
        target=arguments.target,
        mirror_host=arguments.mirror_host or "",
        spark=arguments.spark or "",
        target_brokers=brokers,
        kafka_home=arguments.kafka_home or "",
        source_insecure=source_insecure,
        target_insecure=target_insecure,
    )
    files = proposed_files(plan, names, arguments.prefix, not_known)
    written = _written(arguments.write, files, there)
    if is_json(arguments):
        say_json(waves_document(plan, list(files), names, not_known, datetime.now(UTC), written))
    else:
        say(waves_lines(plan, list(files), names, not_known, written))
    return ExitCode.PARTLY_DONE if not_known else ExitCode.DONE


def _insecure(named: Sequence[str]) -> tuple[Insecurity, ...]:
    return tuple(Insecurity(each) for each in dict.fromkeys(named))


def _files_there(folder: Path | None) -> FilesThere:
    """Return the migration files in the configured folder and in the output folder."""
    # Importing Airflow takes seconds, and few verbs need it.
    from kafka_migration.airflow_adapters.airflow_settings import migrations_folder

    if folder is not None and not folder.is_dir():
        raise Refused([not_written(folder, "no folder")])
    return files_in([migrations_folder(), *([folder] if folder else [])])


def _plan(arguments: Namespace, there: FilesThere, source: KafkaCluster, target: KafkaCluster) -> WavePlan:
    from kafka_migration.steps.waves.read_waves import read_clusters

    clusters = read_clusters(source, target, arguments.timeout)
    wish = Wish(
        topics=tuple(arguments.topic),
        ignored_groups=tuple(arguments.ignore_group),
        elsewhere=there.topics_between(arguments.source, arguments.target, clusters.partitions),
        min_topics=arguments.min_topics,
    )
    return plan_waves(clusters, wish)


def _written(folder: Path | None, files: dict[str, str], there: FilesThere) -> list[Path]:
    if folder is None:
        return []
    check_files(folder, files, there.migrations)
    return write_files(folder, files)


def _cluster(side: str, connection_id: str, allowed: Sequence[Insecurity]) -> KafkaCluster:
    from kafka_migration.airflow_adapters import airflow_connections as connections

    try:
        return connections.cluster_named(side, connection_id, allowed)
    except Refused as refused:
        subject = f"connection {connection_id} (--{side})"
        raise Refused(
            replace(finding, subject=subject, remedy=_remedy(side, finding)) for finding in refused.findings
        ) from None


def _remedy(side: str, finding: Finding) -> str:
    if finding.code is not Code.CONNECTION_INSECURE:
        return finding.remedy
    kinds = " and ".join(f"--{side}-insecure {each}" for each in Insecurity if each in finding.remedy)
    return f"Correct the connection, or allow this with {kinds}. The proposed migration files then allow it too."


def _different(source: KafkaCluster, target: KafkaCluster) -> int:
    """Return the number of target brokers; refuse if both connections lead to one cluster."""
    source_facts, target_facts = source.facts(), target.facts()
    if source_facts.cluster_id == target_facts.cluster_id:
        raise Refused(
            [
                Finding(
                    Code.SAME_CLUSTER,
                    "--source and --target",
                    f"the same cluster, id {source_facts.cluster_id}",
                    "two different clusters",
                    "Correct one of the two connections.",
                    happened="The connections --source and --target lead to the same cluster, id "
                    f"{source_facts.cluster_id}.",
                    matters="A cluster cannot be copied to itself, so no wave was proposed.",
                )
            ]
        )
    return target_facts.brokers


def _waves(verb: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    if arguments.write is not None and None in {arguments.mirror_host, arguments.spark}:
        verb.error("--write needs --mirror-host and --spark: a migration file names both connections")
    return waves(arguments)


def _pattern(text: str) -> str:
    if problem := pattern_problem(text):
        raise argparse.ArgumentTypeError(f"not a regular expression; expected {problem}")
    return text


def _count(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,2}", text):
        raise argparse.ArgumentTypeError("a number from 1 to 999")
    return int(text)


def _prefix(text: str) -> str:
    """Return a valid prefix for migration names; a number of up to five digits is appended to it."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,56}", text):
        raise argparse.ArgumentTypeError("lower-case letters, digits and hyphens, at most 57")
    return text
