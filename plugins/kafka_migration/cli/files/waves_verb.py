"""`kafka-migration waves`: groups topics that must move together into waves, with a migration file for each."""

from __future__ import annotations

import argparse
import re
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from kafka_migration.cli.shell.airflow_access import cluster_named, migrations_folder_of
from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_output
from kafka_migration.cli.shell.output import ExitCode, JsonObject, aligned, respond
from kafka_migration.cli.shell.progress_line import working
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.migration.patterns import pattern_problem
from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.core.waves.wave_file import Names, readers, reasons, remarks, size_of
from kafka_migration.core.waves.wave_plan import GroupReads, Wave, WavePlan, Wish, plan_waves, some_plain
from kafka_migration.steps.waves.wave_files import (
    FilesThere,
    check_files,
    files_in,
    not_written,
    proposed_files,
    write_files,
)

WAVES_SCHEMA = 1
HEADS = ("WAVE", "TOPICS", "PARTITIONS", "RECORDS", "GROUPS", "ACTIVE", "FIRST TOPIC")


@dataclass(frozen=True, slots=True)
class Proposed:
    """The waves of a plan with the names of their migrations, what could not be read, and the written files."""

    plan: WavePlan
    called: tuple[str, ...]
    names: Names
    not_known: tuple[str, ...]
    written: Sequence[Path]

    @property
    def waves(self) -> list[tuple[str, Wave]]:
        """Each wave with the name of its migration."""
        return list(zip(self.called, self.plan.waves, strict=True))


def add_waves(verbs: Verbs) -> None:
    """Add the verb `waves`."""
    verb = add_bare_verb(verbs, waves, "waves", "waves --source old_kafka --target new_kafka")
    for side in ("source", "target"):
        verb.add_argument(f"--{side}", required=True, metavar="CONNECTION", help="Airflow connection of type kafka")
        text = "a protection that the connection may disable, also in the files; may be repeated (default: none)"
        verb.add_values(f"--{side}-insecure", None, text, choices=[str(each) for each in Insecurity])
    for option, of_what in (
        ("--topic-pattern", "topics to propose, which others may join; may be repeated (default: all)"),
        ("--ignore-group", "groups that do not tie topics together; may be repeated"),
    ):
        verb.add_values(option, "PATTERN", f"regular expression for the whole name of {of_what}", type=_pattern)
    verb.add_renamed("--topic", "--topic-pattern PATTERN")
    verb.add_argument(
        "--min-topics",
        type=_count,
        default=1,
        metavar="NUMBER",
        help="combine small waves until each has at least this many topics (default: 1)",
    )
    verb.add_duration("--timeout", "longest time for reading transactions; what was read by then counts", "5m")
    verb.add_argument(
        "--write",
        type=Path,
        metavar="FOLDER",
        help="write a migration file per wave, all or none; existing files are never overwritten",
    )
    verb.add_argument("--prefix", type=_prefix, default="wave", help="waves are named PREFIX-01, … (default: wave)")
    verb.add_argument("--mirror-host", metavar="CONNECTION", help="for --write: Airflow connection of type ssh")
    verb.add_argument("--spark", metavar="CONNECTION", help="for --write: Airflow connection of type spark")
    verb.add_argument("--kafka-home", metavar="FOLDER", help="for --write: Kafka on the MirrorMaker host")
    text = "for --write, in place of --mirror-host: Airflow connection of type http, for engine connect"
    verb.add_argument("--connect", dest="workers", metavar="CONNECTION", help=text)
    verb.add_argument("--status-topic", metavar="TOPIC", help="for --connect: status.storage.topic of the workers")
    add_output(verb)


def waves(arguments: Namespace) -> int:
    """Write the requested files, then print the waves as lines or as one JSON document.

    The exit code tells if everything could be read.
    """
    if problem := _problem(arguments):
        arguments.parser.error(problem)
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
        mirror=arguments.workers or arguments.mirror_host or "",
        spark=arguments.spark or "",
        target_brokers=brokers,
        kafka_home=arguments.kafka_home or "",
        status_topic=arguments.status_topic or "",
        source_insecure=source_insecure,
        target_insecure=target_insecure,
    )
    files = proposed_files(plan, names, arguments.prefix, not_known)
    written = _written(arguments.write, files, there)
    proposed = Proposed(plan, tuple(files), names, not_known, written)
    respond(arguments, waves_document(proposed, datetime.now(UTC)), waves_lines(proposed))
    return ExitCode.PARTLY_DONE if not_known else ExitCode.DONE


def _problem(arguments: Namespace) -> str:
    """Return what is wrong with the options that a proposed file needs; empty if nothing is."""
    of_host, of_workers = (arguments.mirror_host, arguments.kafka_home), (arguments.workers, arguments.status_topic)
    if any(of_host) and any(of_workers):
        return "either --mirror-host and --kafka-home, or --connect and --status-topic: one place copies"
    if any(of_workers) and not all(of_workers):
        return "--connect and --status-topic only together: a migration file of engine connect names both"
    if arguments.write is not None and not (arguments.spark and (arguments.mirror_host or arguments.workers)):
        return "--write needs --mirror-host and --spark: a migration file names both connections"
    return ""


def _insecure(named: Sequence[str]) -> tuple[Insecurity, ...]:
    return tuple(Insecurity(each) for each in dict.fromkeys(named))


def _files_there(folder: Path | None) -> FilesThere:
    """Return the migration files in the configured folder and in the output folder."""
    if folder is not None and not folder.is_dir():
        raise Refused([not_written(folder, "no folder")])
    return files_in([migrations_folder_of(None), *([folder] if folder else [])])


def _plan(arguments: Namespace, there: FilesThere, source: KafkaCluster, target: KafkaCluster) -> WavePlan:
    from kafka_migration.steps.waves.read_waves import read_clusters

    working("Reading topics, groups and transactions of both clusters")
    clusters = read_clusters(source, target, arguments.timeout)
    wish = Wish(
        topics=tuple(arguments.topic_pattern),
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
    try:
        return cluster_named(side, connection_id, allowed)
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
                    "Correct one of the two connections, then run the command again.",
                    happened="The connections --source and --target lead to the same cluster, id "
                    f"{source_facts.cluster_id}.",
                    matters="A cluster cannot be copied to itself, so no wave was proposed.",
                )
            ]
        )
    return target_facts.brokers


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


def waves_document(found: Proposed, at: datetime) -> JsonObject:
    """Return the waves as plain JSON values."""
    plan, names = found.plan, found.names
    return {
        "schema": WAVES_SCHEMA,
        "at": at.isoformat(timespec="seconds"),
        "source": names.source,
        "target": names.target,
        "waves": [_wave_document(name, wave) for name, wave in found.waves],
        "elsewhere": dict(plan.elsewhere),
        "left_out": dict(plan.left_out),
        "ignored_groups": {each.group: sorted(each.topics) for each in plan.ignored},
        "immovable_groups": {each.group: each.kind for each in plan.immovable},
        "not_known": list(found.not_known),
        "written": [str(path) for path in found.written],
    }


def _wave_document(name: str, wave: Wave) -> JsonObject:
    return {
        "name": name,
        "topics": list(wave.topics),
        "parts": wave.parts,
        "is_read": wave.is_read,
        "partitions": wave.partitions,
        "records_at_most": wave.records,
        "groups": [_group_document(each) for each in wave.groups],
        "ignored_groups": list(wave.ignored),
        "transactional_ids": list(wave.transactional_ids),
        "transactional_ids_that_commit_offsets": list(wave.committing),
        "joined_by": [{"kind": join.kind, "name": join.name, "topics": list(join.topics)} for join in wave.joins],
        "elsewhere": dict(wave.elsewhere),
        "streams_topics": list(wave.streams),
        "split": wave.split
        and {"without": list(wave.split.groups), "parts": wave.split.parts, "largest": wave.split.largest},
    }


def _group_document(group: GroupReads) -> JsonObject:
    return {
        "group": group.group,
        "kind": group.kind,
        "is_movable": group.is_movable,
        "is_active": group.is_active,
        "topics": sorted(group.topics),
        "not_known": group.not_known or None,
    }


def waves_lines(found: Proposed) -> Iterator[str]:
    """Yield a table of the waves, details of the waves that need them, and everything that is in no wave."""
    topics = sum(len(wave.topics) for _, wave in found.waves)
    count = f"{len(found.waves):,}, of {topics:,} topics"
    yield from aligned([("Source", found.names.source), ("Target", found.names.target), ("Waves", count)])
    if found.waves:
        yield from ("", *aligned([HEADS, *(_row(name, wave) for name, wave in found.waves)]))
    for name, wave in found.waves:
        if len(wave.topics) > 1 or not wave.is_read or any(remarks(wave)):
            yield from ("", *_wave_lines(name, wave))
    yield from _rest(found.plan, found.not_known)
    yield from _section("Written; read each before you use it", map(str, found.written))


def _row(name: str, wave: Wave) -> tuple[str, ...]:
    active = [each.is_active for each in wave.groups]
    return (
        name,
        f"{len(wave.topics):,}",
        f"{wave.partitions:,}",
        "unknown" if wave.records is None else f"{wave.records:,}",
        f"{len(wave.groups):,}",
        "unknown" if None in active else f"{sum(map(bool, active)):,}",
        some_plain(wave.topics, 1),
    )


def _wave_lines(name: str, wave: Wave) -> Iterator[str]:
    yield f"{name}: {size_of(wave)}"
    rows = [("Topics", some_plain(wave.topics)), ("Groups", readers(wave.groups))]
    if wave.transactional_ids:
        rows.append(("Transactions", some_plain(wave.transactional_ids)))
    for label, texts in (("Why", reasons(wave)), ("Note", remarks(wave))):
        rows += [("" if number else label, text) for number, text in enumerate(texts)]
    yield from (f"  {line}" for line in aligned(rows))


def _rest(plan: WavePlan, not_known: Sequence[str]) -> Iterator[str]:
    immovable = [each.words for each in plan.immovable]
    yield from _section("Ignored groups", [some_plain([each.group for each in plan.ignored])] if plan.ignored else [])
    yield from _section("Groups that no cutover can move", [some_plain(immovable)] if immovable else [])
    yield from _section("Topics not proposed", _by_reason(plan.elsewhere))
    yield from _section("Topics that belong to no application", _by_reason(plan.left_out))
    yield from _section("Unknown; waves may lack topics or groups", not_known)


def _by_reason(topics: Mapping[str, str]) -> Iterator[str]:
    for reason in sorted(set(topics.values())):
        yield f"{some_plain([topic for topic, why in topics.items() if why == reason])}: {reason}"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    indented = [f"  {line}" for line in lines]
    yield from ["", title, *indented] if indented else []
