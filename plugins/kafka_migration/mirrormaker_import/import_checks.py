"""What a person must check before the first run of an imported migration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.migration.migration_text import NO_GROUP
from kafka_migration.core.text.shortened import some
from kafka_migration.mirrormaker_files.model.lint_finding import quoted
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorSetting, Place
from kafka_migration.mirrormaker_import.flow_readers import CHECKPOINTS, CONNECTOR, CONSUMER, TARGET, FlowReaders
from kafka_migration.mirrormaker_import.import_rules import ELSEWHERE, OF_CHECKPOINTS, OLD_NAMES, Use
from kafka_migration.mirrormaker_import.imported_connections import addresses_in
from kafka_migration.mirrormaker_import.imported_flow import ImportedFlow
from kafka_migration.mirrormaker_import.line_values import plain

# Settings whose loss changes the copy most, by the beginning of their keys.
_IMPORTANT = {
    "replication.policy.class": "replication policy",
    "topic.filter.class": "topic filter",
    "group.filter.class": "group filter",
    "config.property.filter.class": "filter of configurations",
    "config.properties.exclude": "excluded configurations",
    "config.properties.blacklist": "excluded configurations",
    "transforms": "transformations of records",
    "predicates": "transformations of records",
    "message.handler": "handler of records",
}
_CONVERTERS = frozenset({"key.converter", "value.converter", "header.converter"})
_COPIED = (
    "No record that was copied before can become part of the migration: `kafka-migration explain "
    "TARGET_TOPIC_NOT_EMPTY` says what to do with the copies."
)
_KAFKAS = ("DefaultTopicFilter", "DefaultGroupFilter", "DefaultConfigPropertyFilter", "ByteArrayConverter")


@dataclass(frozen=True, slots=True)
class ImportCheck(Document):
    """One thing to check: what it is about, and what is in the migration file or missing from it."""

    about: str
    text: str


def checks_of(facts: ImportedFlow) -> tuple[ImportCheck, ...]:
    """Return what to check before the first run."""
    parts = (
        ("flow", _flow(facts)),
        ("names on the target", _names(facts)),
        ("replication factor", _replication(facts)),
        ("topics", _topics(facts)),
        ("groups", _groups(facts)),
        ("isolation level", _isolation(facts)),
        ("connections", _connections(facts)),
        ("Connect cluster", _connect(facts)),
        ("not taken over", _not_taken_over(facts)),
        ("what is already copied", (_COPIED,)),
    )
    return tuple(ImportCheck(about, quoted(text)) for about, texts in parts if (text := " ".join(texts)))


def _flow(facts: ImportedFlow) -> Iterator[str]:
    chosen = facts.chosen
    if chosen.doubt:
        yield f"{chosen.doubt} Make sure that this is the direction."
    if chosen.others:
        flows = some([str(flow) for flow in chosen.others])
        yield f"The files have other flows too: {flows}. Each needs a migration of its own."


def _connections(facts: ImportedFlow) -> Iterator[str]:
    extras = [connection.fields["extra"] for connection in facts.clusters]
    sides = ("source", "target")
    for side, role, extra in zip(sides, (CONSUMER, TARGET), extras, strict=True):
        yield f"The {side} has {_protected(facts.readers.line(role, 'security.protocol'), extra)}."
    if any(extra["security.protocol"] == "<PROTOCOL>" for extra in extras):
        yield "If the protocol has a login or TLS, the connection needs their settings too."
    if unknown := [side for side, extra in zip(sides, extras, strict=True) if extra["bootstrap.servers"] == _ADDRESSES]:
        yield f"The files give no usable addresses of the {' and the '.join(unknown)}."
    elif set(extras[0]["bootstrap.servers"].split(",")) & set(extras[1]["bootstrap.servers"].split(",")):
        yield "Source and target have a broker in common, so this is no copy between two clusters."
    meant = facts.readers.meant_target
    if meant and extras[1]["bootstrap.servers"] not in {_ADDRESSES, addresses_in({"bootstrap.servers": plain(meant)})}:
        yield f"The producer writes to other addresses than those of line {meant.line}; the producer's count."
    if FileKind.CONNECTORS in facts.kinds and FileKind.WORKER not in facts.kinds:
        yield "The worker of Kafka Connect writes the records; its file was not given, and may name another target."


def _connect(facts: ImportedFlow) -> Iterator[str]:
    if not facts.uses.is_on_connect:
        return
    if "status_topic" not in facts.values.workers:
        yield "Write the workers' status.storage.topic into mirror.connect.status_topic; the files do not have it."
    yield "The workers must be of Kafka 3.7 or newer, in distributed mode, with the target as their Kafka."
    yield "To copy with a MirrorMaker 2 on a host instead, import again with --to-mirrormaker2."


_ADDRESSES = "<ADDRESSES>"


def _protected(line: MirrorSetting | None, extra: Mapping[str, str]) -> str:
    """Return the protocol and the login in words."""
    protocol = extra["security.protocol"]
    if protocol == "<PROTOCOL>":
        return "a security protocol that the files do not give"
    if protocol == "PLAINTEXT" and line is None:
        return "PLAINTEXT, the default, because no line gives another"
    return f"{protocol} with {extra['sasl.mechanism']}" if "sasl.mechanism" in extra else protocol


def _names(facts: ImportedFlow) -> Iterator[str]:
    names = facts.names
    topic = next((item.text for item in facts.topics.items if item.is_name), "orders")
    if names.theirs:
        yield f"MirrorMaker has {names.theirs}."
    transforms = facts.readers.line(CONNECTOR, "transforms")
    if transforms and plain(transforms):
        yield f"The transformations of line {transforms.line}, which may give other names, are not taken over."
    if names.naming == "identity":
        yield f"{topic} keeps its name ({names.reason})."
        return
    yield f"{topic} becomes {names.of(topic)} ({names.reason})."
    yield "If consumers must find the same names, import again with --naming identity."


def _replication(facts: ImportedFlow) -> Iterator[str]:
    given = facts.readers.line(CONNECTOR, "replication.factor")
    factor = facts.values.replication_factor
    if facts.is_mirrormaker1:
        yield "3, the default of a migration file. MirrorMaker 1 leaves it to the brokers of the target."
    elif given is None:
        yield f"{factor}, MirrorMaker's default. Set target.replication_factor to what the target needs."
    elif factor is None and plain(given) == "-1":
        yield "3, the default of a migration file. MirrorMaker asks the brokers of the target for theirs (-1)."
    elif factor is None:
        yield "3, the default of a migration file. The value in the files is no usable number."
    else:
        yield f"{factor}, as in the files."


def _topics(facts: ImportedFlow) -> Iterator[str]:
    topics = facts.topics
    yield f"{some([item.text for item in topics.items])}."
    if topics.has_patterns:
        excluded = some([item.regex for item in topics.exclusions])
        yield f"Without {excluded}." if excluded else "Without exclusions."
        yield "Patterns never take topics of Kafka and its tools, such as __…, _schemas and ….replica. Name these."
    if topics.left_out:
        yield f"MirrorMaker does not copy {some(topics.left_out)}: excluded or internal."
    excluding = (each for _, each, decision in facts.uses.decisions if decision.gives.topics_excluded is not None)
    old = [each.line for each in excluding if each.key == OLD_NAMES["topics.exclude"]]
    if old and facts.readers.is_assumed:
        yield f"Line {old[-1]} counts up to Kafka 3.9; Kafka 4 ignores it. Give the version with --kafka-version."
    if loose := topics.loose_names():
        yield f"Taken as names, although MirrorMaker reads a dot as any letter: {some(loose)}."


def _groups(facts: ImportedFlow) -> Iterator[str]:
    if facts.groups == (NO_GROUP,):
        yield "None: `groups` is blank, so the cutover moves no group. Name them in cutover.groups if it must."
        return
    if not facts.groups:
        yield "The cutover moves the default of a migration file: all but those of consoles and of this package."
    else:
        yield f"The cutover moves {some(facts.groups)}."
    if not facts.is_mirrormaker1:
        yield from _moved(facts.readers)


def _moved(readers: FlowReaders) -> Iterator[str]:
    """Yield whether their MirrorMaker moved groups."""
    unless = f"If the cutover must not either, write {NO_GROUP} into cutover.groups."
    if not readers.has(CHECKPOINTS):
        yield f"MirrorMaker did not move groups: the files have no checkpoint connector of this flow. {unless}"
        return
    values = {key: readers.line(CHECKPOINTS, key) for key in _SYNC}
    words = {key: plain(each).lower() for key, each in values.items() if each}
    if words.get("emit.checkpoints.enabled") == "false":
        yield "MirrorMaker did not move groups: emit.checkpoints.enabled is false. " + unless
    elif words.get("sync.group.offsets.enabled") != "true":
        yield "MirrorMaker did not move groups: sync.group.offsets.enabled is not true. " + unless
    else:
        yield "MirrorMaker wrote their offsets too; the cutover writes exact ones."
    yield from _disagreements(readers)


_SYNC = ("emit.checkpoints.enabled", "sync.group.offsets.enabled")
_SHARED = (
    "replication.policy.class",
    "replication.policy.separator",
    "source.cluster.bootstrap.servers",
    "target.cluster.bootstrap.servers",
)


def _disagreements(readers: FlowReaders) -> Iterator[str]:
    for key in _SHARED:
        source, checkpoints = (readers.line(role, key) for role in (CONNECTOR, CHECKPOINTS))
        values = [each.value.strip() if each else "" for each in (source, checkpoints)]
        if values[0] != values[1]:
            yield f"Source and checkpoint connector differ in {key}; that of the source connector counts."


def _isolation(facts: ImportedFlow) -> Iterator[str]:
    level = facts.values.isolation_level
    if facts.values.exactly_once:
        yield "read_committed, as exactly-once needs it."
    elif level == "read_committed":
        yield "read_committed: records of aborted transactions are not copied."
    else:
        yield f"{level}: records of aborted transactions are copied too, as MirrorMaker does it."
        yield "If producers on the source use transactions, write read_committed."


def _not_taken_over(facts: ImportedFlow) -> Iterator[str]:
    of_flow = [decision.use for _, _, decision in facts.uses.decisions if decision is not ELSEWHERE]
    counts = [of_flow.count(use) for use in (Use.REPORTED, Use.IGNORED)]
    if any(counts):
        yield f"{counts[0]} reported and {counts[1]} ignored lines of the list."
    if important := some(list(_important(facts))):
        yield f"The most important: {important}."
    acls = facts.readers.line(CONNECTOR, "sync.topic.acls.enabled")
    if not facts.is_mirrormaker1 and not (acls and acls.value.strip().lower() == "false"):
        yield "MirrorMaker 2 copies access control lists of topics; here kafka-migration source-acls prints them."


def _important(facts: ImportedFlow) -> Iterator[str]:
    seen = set[str]()
    for _, setting, decision in facts.uses.decisions:
        is_kafkas = setting.value.strip().endswith(_KAFKAS)
        words = next((text for start, text in _IMPORTANT.items() if setting.key.startswith(start)), "")
        # A policy of the checkpoint connector is compared with that of the source connector.
        words = "converter" if setting.key in _CONVERTERS else "" if decision is OF_CHECKPOINTS else words
        # The key of a connector wins over that of its worker.
        is_hidden = setting.place is Place.WORKER and facts.readers.line(CONNECTOR, setting.key) is not None
        if words not in {"", *seen} and not is_kafkas and not is_hidden and decision.use is not Use.USED:
            seen.add(words)
            yield f"{words} (line {setting.line})"
