"""What becomes of each MirrorMaker setting in a migration: it is used, replaced, ignored, or reported."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from kafka_migration.core.migration.client_tuning import TUNING_KEYS, owner_of, value_problem
from kafka_migration.core.text.secret_forms import has_secret_form
from kafka_migration.core.text.shortened import brief
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.command_options import ENVIRONMENT
from kafka_migration.mirrormaker_files.model.lint_finding import is_shown, may_be_secret
from kafka_migration.mirrormaker_files.model.mirror_settings import CLIENTS, MirrorSetting
from kafka_migration.mirrormaker_import.flow_readers import (
    CHECKPOINTS,
    CONNECTION_KEYS,
    CONNECTOR,
    CONSUMER,
    PRODUCER,
    TARGET,
    WORKER,
)
from kafka_migration.mirrormaker_import.imported_connections import is_reference, value_problem_of
from kafka_migration.mirrormaker_import.line_values import NOTHING, LineValues, plain, says_more


class Use(StrEnum):
    """What became of a setting. `ignored`: MirrorMaker ignores it, so it has no effect on the copy."""

    USED = "used"
    REPLACED = "replaced"
    IGNORED = "ignored"
    REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class Decision:
    """The use of a setting and where it is now, or why it has no place. `gives` goes into the file."""

    use: Use
    where: str
    gives: LineValues = NOTHING


_GROUP = re.compile(r"[A-Za-z0-9._-]{1,200}")
# Settings that name or enable the flow itself.
_FLOW_KEYS = frozenset({"clusters", "enabled", "name", "connector.class", "target.cluster.alias"})
_NAMES = frozenset({"replication.policy.class", "replication.policy.separator", "source.cluster.alias"})
# The old names of keys, which Kafka reads if the new ones are not given.
OLD_NAMES = {"topics.exclude": "topics.blacklist", "groups.exclude": "groups.blacklist"}
_LISTS: Mapping[str, tuple[str, Callable[[str], LineValues]]] = {
    "topics": ("topics", lambda value: LineValues(topics=value)),
    "topics.exclude": ("topics", lambda value: LineValues(topics_excluded=value)),
    "topics.blacklist": ("topics", lambda value: LineValues(topics_excluded=value)),
    "groups": ("cutover.groups", lambda value: LineValues(groups=value)),
    "groups.exclude": ("cutover.groups", lambda value: LineValues(groups_excluded=value)),
    "groups.blacklist": ("cutover.groups", lambda value: LineValues(groups_excluded=value)),
}
# What the package does instead, with the beginnings of the keys. None is the beginning of another one.
_REPLACED = {
    "the package plans exact offsets itself": ("emit.checkpoints",),
    "the package plans exact offsets itself, and writes them at the cutover": ("sync.group.offsets",),
    "the package sets it": (
        "offset-syncs.",
        "offset.lag.max",
        "checkpoints.",
        "heartbeats.",
        "emit.offset-syncs",
        "offset.flush",
        "task.assigned",
        "client.id",
        "consumer.poll.timeout.ms",
        "transaction.boundary",
        "admin.timeout.ms",
    ),
    "the package watches MirrorMaker itself": ("emit.heartbeats",),
    "the package creates the topics with their configurations before the copy": ("sync.topic.configs",),
    "the package decides which configurations created topics have": ("config.properties", "config.property.filter"),
    "kafka-migration source-acls prints the access control lists": ("sync.topic.acls",),
    "each run reads the source's topics": ("refresh.topics",),
    "the package reads the groups itself": ("refresh.groups",),
    "topics of the migration file": ("topic.filter.class",),
    "cutover.groups of the migration file": ("group.filter.class",),
    "the package sets MirrorMaker's internal topics": (
        "offset.storage",
        "offsets.storage",
        "config.storage",
        "status.storage",
    ),
    "mirror.stop_grace": ("task.shutdown",),
    "the package sets ByteArrayConverter": ("key.converter", "value.converter", "header.converter"),
    "the package runs one process": ("scheduled.rebalance", "dedicated.mode", "listeners", "rest."),
    "the package names the group after the migration": ("group.id",),
    "libs of mirror.kafka_home": ("plugin.path",),
    "the package reads progress from the clusters": ("metric",),
    "the setting of the workers counts": ("exactly.once.support",),
    "secrets are in Airflow connections": ("config.providers",),
    "the package creates the topics itself": ("use.incremental.alter.configs",),
}
OF_PACKAGE = Decision(Use.REPLACED, "it reaches only parts of MirrorMaker that the package sets itself")
ELSEWHERE = Decision(Use.REPORTED, "it belongs to another flow; import that one with --flow")
_NO_PLACE = "a migration file has no such setting"
_OWN_CLIENTS = Decision(Use.REPLACED, "it reaches only clients that copy no records, which the package sets")
UNKNOWN_CLUSTERS = Decision(Use.IGNORED, "`clusters` does not name both clusters, so no part of MirrorMaker reads it")
OF_CHECKPOINTS = Decision(Use.REPLACED, "the source connector's setting counts")
OF_HEARTBEATS = Decision(Use.REPLACED, "the package watches MirrorMaker itself")
_REFERENCE = Decision(Use.REPORTED, "its value is a reference")
NOBODY = Decision(Use.IGNORED, "no part of MirrorMaker reads this line")
NO_FIELD = Decision(Use.IGNORED, "the resource has no such field")
UNKNOWN = Decision(Use.IGNORED, "no version of MirrorMaker has this key")


def decide_read(setting: MirrorSetting, readers: Mapping[str, str]) -> Decision:
    """Return what becomes of a line that Kafka uses. `readers` are their roles, with the key that each of them gets."""
    # Of `consumer.poll.timeout.ms` the consumer gets `poll.timeout.ms`, which it does not know.
    known = {role: key for role, key in readers.items() if kafka_keys().get(role, key)} or readers
    decisions = [rule(setting, readers, role) for role, rule in _RULES.items() if role in known]
    decision = next((each for each in decisions if each.use is Use.USED), decisions[0])
    if decision.use is Use.USED and says_more(setting) and not may_be_secret(setting):
        where = f"{decision.where}, without the comment or quotes, which MirrorMaker takes for a part of the value"
        return Decision(decision.use, where, decision.gives)
    return decision


def _of_client(setting: MirrorSetting, readers: Mapping[str, str], role: str) -> Decision:
    key = readers[role]
    return (
        _of_connection(setting, readers, role) if key.startswith(CONNECTION_KEYS) else tuned(setting, f"{role}.{key}")
    )


def _of_connection(setting: MirrorSetting, readers: Mapping[str, str], role: str) -> Decision:
    side = "source" if role == CONSUMER else "target"
    where = "both connections" if {CONSUMER, TARGET} <= readers.keys() else f"the connection of the {side}"
    key = readers[role]
    if not key.startswith(CONNECTION_KEYS):
        return _OWN_CLIENTS
    if setting.is_reference or (not may_be_secret(setting) and is_reference(setting)):
        return Decision(Use.REPORTED, f"its value is a reference; put the value into {where}")
    if problem := value_problem_of(key, plain(setting)):
        return Decision(Use.REPORTED, f"{problem}; complete {where}")
    if re.match(r"ssl\.(truststore|keystore|key)\b", key):
        return Decision(Use.REPLACED, f"PEM texts in {where}, which you fill in")
    if may_be_secret(setting):
        return Decision(Use.REPLACED, f"a placeholder in {where}, which you fill in")
    if key in _KNOWN_OF_CONNECTIONS:
        return Decision(Use.USED, where)
    return Decision(Use.REPORTED, f"check whether {where} needs it")


_KNOWN_OF_CONNECTIONS = {
    "bootstrap.servers",
    "security.protocol",
    "sasl.mechanism",
    "sasl.kerberos.service.name",
    "ssl.endpoint.identification.algorithm",
}


def tuned(setting: MirrorSetting, key: str) -> Decision:
    """Return what becomes of a setting of the client that reads or writes the records, with the client in its key."""
    value = plain(setting)
    if key == "consumer.isolation.level" and value in {"read_committed", "read_uncommitted"}:
        return Decision(Use.USED, "mirror.isolation_level", LineValues(isolation_level=value))
    if key in TUNING_KEYS:
        return _tuning(setting, key, value)
    owner = owner_of(key)
    return Decision(Use.REPLACED, f"set by {owner}") if owner else Decision(Use.REPORTED, _NO_PLACE)


def _tuning(setting: MirrorSetting, key: str, value: str) -> Decision:
    if is_reference(setting):
        return _REFERENCE
    if problem := value_problem(key, value):
        return Decision(Use.REPORTED, f"expected {brief(problem)}" if is_shown(setting) else "Kafka takes other values")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", value) or has_secret_form(value):
        taken = "mirror.properties takes ASCII letters, digits, dots, _ and -, and nothing that looks like a secret"
        return Decision(Use.REPORTED, taken)
    return Decision(Use.USED, "mirror.properties", LineValues(properties={key: value}))


def mirror_group(setting: MirrorSetting) -> Decision:
    """Return what becomes of the group of MirrorMaker 1."""
    value = plain(setting)
    where = "the package names the group after the migration; cutover.groups leaves out the old one"
    if _GROUP.fullmatch(value) is None or has_secret_form(value):
        return Decision(Use.REPLACED, "the package names the group after the migration")
    return Decision(Use.REPLACED, where, LineValues(mirror_group=value))


# What a connector gets for clients; the lines that reach the clients of the records have another rule before.
_OF_CLUSTERS = tuple(
    f"{side}.{client}.{key}"
    for side in ("source", "target")
    for client in ("cluster", *CLIENTS)
    for key in CONNECTION_KEYS
)


def _of_connector(setting: MirrorSetting, readers: Mapping[str, str], role: str) -> Decision:
    key = readers[role]
    if key in _FLOW_KEYS:
        return Decision(Use.USED, "the flow")
    if key in _LISTS:
        return _list(key, setting, role)
    if role == CONNECTOR and key in _NAMES:
        return Decision(Use.USED, "mirror.topic_names")
    if role == CONNECTOR and (decision := number(key, setting)):
        return decision
    if key.startswith(_OF_CLUSTERS):
        return _OWN_CLIENTS
    if key in _NAMES or key in _NUMBERS:
        return OF_CHECKPOINTS
    return replaced(setting, setting.key) or replaced(setting, key) or Decision(Use.REPORTED, _NO_PLACE)


def _list(key: str, setting: MirrorSetting, role: str) -> Decision:
    """Topics are those of the source connector, groups those of the checkpoint connector."""
    if key.startswith("topics") and role == CHECKPOINTS:
        return Decision(Use.REPLACED, "groups are moved on all topics that are copied")
    if key.startswith("groups") and role == CONNECTOR:
        return NOBODY
    where, gives = _LISTS[key]
    return Decision(Use.USED, where, gives(plain(setting)))


def replaced(setting: MirrorSetting, key: str) -> Decision | None:
    """Return what the package does instead; `None` if it does nothing instead."""
    instead = next((text for text, beginnings in _REPLACED.items() if key.startswith(beginnings)), None)
    if instead is None:
        return _OWN_CLIENTS if setting.client else None
    return Decision(Use.REPLACED, instead)


_NUMBERS: Mapping[str, tuple[str, int, Callable[[int], LineValues]]] = {
    "tasks.max": ("mirror.tasks", 1000, lambda number: LineValues(tasks=number)),
    "num.streams": ("mirror.tasks", 1000, lambda number: LineValues(tasks=number)),
    "replication.factor": ("target.replication_factor", 32, lambda number: LineValues(replication_factor=number)),
}


def number(key: str, setting: MirrorSetting) -> Decision | None:
    """Return what becomes of a number of the copy; `None` for any other key."""
    if key not in _NUMBERS:
        return None
    where, most, gives = _NUMBERS[key]
    value = plain(setting)
    if is_reference(setting):
        return _REFERENCE
    if re.fullmatch(r"[1-9][0-9]{0,3}", value) and int(value) <= most:
        return Decision(Use.USED, where, gives(int(value)))
    return Decision(Use.REPORTED, f"{where} takes numbers from 1 to {most}; it has its default")


def _of_worker(setting: MirrorSetting, readers: Mapping[str, str], role: str) -> Decision:
    key = readers[role]
    if key == "exactly.once.source.support":
        if plain(setting) == "enabled":
            return Decision(Use.USED, "mirror.exactly_once", LineValues(exactly_once=True))
        return Decision(Use.REPLACED, "mirror.exactly_once is false")
    return replaced(setting, key) or Decision(Use.REPLACED, "the package sets MirrorMaker's worker")


# The first of these rules that uses a line decides.
_RULES: Mapping[str, Callable[[MirrorSetting, Mapping[str, str], str], Decision]] = {
    CONSUMER: _of_client,
    PRODUCER: _of_client,
    TARGET: _of_connection,
    CONNECTOR: _of_connector,
    CHECKPOINTS: _of_connector,
    WORKER: _of_worker,
}


def _heap(options: str) -> int:
    """Return the largest heap that Java's options give, in MiB; 0 if `mirror.heap_mb` does not take it."""
    found = _HEAP.findall(options)
    # Java takes the last one.
    bytes_ = int(found[-1][0]) * _UNITS[found[-1][1].lower()] if found else 0
    megabytes = bytes_ // 2**20
    return megabytes if bytes_ % 2**20 == 0 and _LEAST_HEAP <= megabytes <= _MOST_HEAP else 0


_HEAP = re.compile(r"(?<!\S)-Xmx([0-9]{1,15})([kKmMgG]?)(?!\S)")
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_LEAST_HEAP, _MOST_HEAP = 128, 262_144


def of_option(setting: MirrorSetting) -> Decision:
    """Return what becomes of an option of MirrorMaker 1's command."""
    key = setting.key
    if setting.owner == ENVIRONMENT and key == "KAFKA_HEAP_OPTS" and (megabytes := _heap(setting.value)):
        return Decision(Use.USED, "mirror.heap_mb", LineValues(heap_mb=megabytes))
    if setting.owner == ENVIRONMENT:
        return Decision(Use.REPORTED, "check whether the host of the connection mirror_host needs it")
    if key in {"whitelist", "include"}:
        return Decision(Use.USED, "topics", LineValues(topics=plain(setting)))
    if key == "blacklist":
        return Decision(Use.USED, "topics", LineValues(topics_excluded=plain(setting)))
    if decision := number(key, setting):
        return decision
    if key in {"consumer.config", "producer.config", "new.consumer"}:
        return Decision(Use.REPLACED, "the package writes the files of the clients")
    if key in {"offset.commit.interval.ms", "abort.on.send.failure"}:
        return Decision(Use.REPLACED, "the package sets it, so that no record is lost")
    return Decision(Use.REPORTED, _NO_PLACE)


def of_field(setting: MirrorSetting) -> Decision:
    """Return what becomes of a field that Strimzi reads and MirrorMaker does not."""
    name = setting.key
    if name in {"authentication.type", "authentication.username"}:
        return Decision(Use.USED, "the connection of the cluster")
    if name == "jvmOptions.-Xmx" and (megabytes := _heap(f"-Xmx{plain(setting)}")):
        return Decision(Use.USED, "mirror.heap_mb", LineValues(heap_mb=megabytes))
    if re.match(r"(?:authentication|tls)\b", name):
        return Decision(Use.REPLACED, "placeholders in the connection of the cluster, which you fill in")
    if name in {"alias", "sourceCluster", "targetCluster", "connectCluster", "version"}:
        return Decision(Use.USED, "the flow")
    return Decision(Use.REPLACED, "MirrorMaker runs on the host of the connection mirror_host")
