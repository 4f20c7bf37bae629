"""What becomes of each MirrorMaker setting in a migration: it is used, replaced, or reported."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kafka_migration.core.migration.client_tuning import TUNING_KEYS, owner_of, value_problem
from kafka_migration.core.text.brief import brief
from kafka_migration.core.text.secret_forms import has_secret_form
from kafka_migration.mirrormaker_files.importing.chosen_flow import Side, SidedSetting
from kafka_migration.mirrormaker_files.importing.imported_connections import CONNECTION_KEYS
from kafka_migration.mirrormaker_files.model.judging import is_shown, may_be_secret
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, Place


class Use(StrEnum):
    """What became of a setting."""

    USED = "used"
    REPLACED = "replaced"
    REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class Decision:
    """The use of a setting and where it is now, or why it has no place. `field` and `value` go into the file."""

    use: Use
    where: str
    field: str = ""
    value: str = ""


# The field that holds the group of a MirrorMaker 1.
MIRROR_GROUP = "mirror_group"
_GROUP = re.compile(r"[A-Za-z0-9._-]{1,200}")
_POLICIES = {"DefaultReplicationPolicy": "prefixed", "IdentityReplicationPolicy": "identity"}
_MIRROR = "org.apache.kafka.connect.mirror."
# Settings that name or enable the flow itself.
_FLOW_KEYS = frozenset(
    {"clusters", "enabled", "name", "connector.class", "target.cluster.alias", "source.cluster.alias"}
)
# What the package does instead, by the beginning of the key.
_REPLACED = {
    "emit.checkpoints": "the package plans exact offsets itself",
    "sync.group.offsets": "the package plans exact offsets itself, and writes them at the cutover",
    "offset-syncs.": "the package sets it",
    "offset.lag.max": "the package sets it",
    "checkpoints.": "the package sets it",
    "heartbeats.": "the package sets it",
    "emit.heartbeats": "the package watches MirrorMaker itself",
    "emit.offset-syncs": "the package sets it",
    "sync.topic.configs": "the package creates the topics with their configurations before the copy",
    "config.properties": "the package decides which configurations created topics have",
    "config.property.filter": "the package decides which configurations created topics have",
    "sync.topic.acls": "kafka-migration source-acls prints the access control lists",
    "refresh.topics": "each run reads the source's topics",
    "refresh.groups": "the package reads the groups itself",
    "topic.filter.class": "topics of the migration file",
    "group.filter.class": "cutover.groups of the migration file",
    "offset.storage": "the package sets MirrorMaker's internal topics",
    "config.storage": "the package sets MirrorMaker's internal topics",
    "status.storage": "the package sets MirrorMaker's internal topics",
    "offset.flush": "the package sets it",
    "task.shutdown": "mirror.stop_grace",
    "task.assigned": "the package sets it",
    "key.converter": "the package sets ByteArrayConverter",
    "value.converter": "the package sets ByteArrayConverter",
    "header.converter": "the package sets ByteArrayConverter",
    "scheduled.rebalance": "the package runs one process",
    "dedicated.mode": "the package runs one process",
    "listeners": "the package runs one process",
    "rest.": "the package runs one process",
    "group.id": "the package names the group after the migration",
    "client.id": "the package sets it",
    "consumer.poll.timeout.ms": "the package sets it",
    "admin.timeout.ms": "the package sets it",
    "plugin.path": "libs of mirror.kafka_home",
    "metric": "the package reads progress from the clusters",
    "config.providers": "secrets are in Airflow connections",
    "use.incremental.alter.configs": "the package creates the topics itself",
}
_ELSEWHERE = "it belongs to another flow; import that one with --flow"
_NO_PLACE = "a migration file has no such setting"


def decide(each: SidedSetting, flow: Flow) -> Decision:
    """Return what becomes of a setting."""
    if each.side is Side.OTHER:
        return Decision(Use.REPORTED, _ELSEWHERE)
    if each.setting.place is Place.FIELD:
        return _field(each)
    if each.setting.place is Place.OPTION:
        return _option(each)
    if each.setting.key.startswith(CONNECTION_KEYS) or may_be_secret(each.setting):
        return _of_connection(each)
    if each.has_client:
        return _of_client(each)
    return _of_copy(each, flow)


def _of_connection(each: SidedSetting) -> Decision:
    if each.setting.client == "admin" and each.setting.key not in {"bootstrap.servers"}:
        return Decision(Use.REPLACED, "the connection serves all clients")
    where = "both connections" if each.side is Side.BOTH else f"the connection of the {each.side}"
    if each.side is Side.COPY:
        return Decision(Use.REPORTED, "it is not known to which cluster it belongs")
    if each.setting.is_reference:
        return Decision(Use.REPORTED, f"its value is a reference; put the value into {where}")
    if re.match(r"ssl\.(truststore|keystore|key)\b", each.setting.key):
        return Decision(Use.REPLACED, f"PEM texts in {where}, which you fill in")
    if may_be_secret(each.setting):
        return Decision(Use.REPLACED, f"a placeholder in {where}, which you fill in")
    known = {"bootstrap.servers", "security.protocol", "sasl.mechanism", "sasl.kerberos.service.name"}
    if each.setting.key in {*known, "ssl.endpoint.identification.algorithm"}:
        return Decision(Use.USED, where)
    return Decision(Use.REPORTED, f"check whether {where} needs it")


def _of_client(each: SidedSetting) -> Decision:
    key = each.client_key
    if key == "consumer.isolation.level" and each.value in {"read_committed", "read_uncommitted"}:
        return Decision(Use.USED, "mirror.isolation_level", "isolation_level", each.value)
    if key == "consumer.group.id" and each.file.kind is FileKind.CONSUMER and _is_group(each.value):
        where = "the package names the group after the migration; cutover.groups leaves out the old one"
        return Decision(Use.REPLACED, where, MIRROR_GROUP, each.value)
    if key in TUNING_KEYS:
        if each.setting.is_reference:
            return Decision(Use.REPORTED, "its value is a reference")
        if problem := value_problem(key, each.value):
            is_quoted = is_shown(each.setting)
            return Decision(Use.REPORTED, f"expected {brief(problem)}" if is_quoted else "Kafka takes other values")
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", each.value) or has_secret_form(each.value):
            taken = "mirror.properties takes ASCII letters, digits, dots, _ and -, and nothing that looks like a secret"
            return Decision(Use.REPORTED, taken)
        return Decision(Use.USED, "mirror.properties", f"properties.{key}", each.value)
    owner = owner_of(key) or ("the package, which uses its own admin clients" if key.startswith("admin.") else None)
    if owner:
        return Decision(Use.REPLACED, f"set by {owner}")
    return Decision(Use.REPORTED, _NO_PLACE)


def _is_group(name: str) -> bool:
    return _GROUP.fullmatch(name) is not None and not has_secret_form(name)


def _of_copy(each: SidedSetting, flow: Flow) -> Decision:
    key = re.sub(r"\.blacklist$", ".exclude", re.sub(r"\.whitelist$", "", each.setting.key))
    if key == "source.cluster.alias" and not each.value:
        # With an empty separator, this was the way to keep names before IdentityReplicationPolicy.
        return Decision(Use.USED, "mirror.topic_names", "naming", "identity")
    if key in _FLOW_KEYS:
        return Decision(Use.USED, f"the flow {flow}")
    if key in _LISTS:
        return Decision(Use.USED, _LISTS[key], key, each.value)
    if decision := _number(key, each.value) or _special(key, each):
        return decision
    instead = next((text for start, text in _REPLACED.items() if key.startswith(start)), None)
    return Decision(Use.REPLACED, instead) if instead else Decision(Use.REPORTED, _NO_PLACE)


_LISTS = {"topics": "topics", "topics.exclude": "topics", "groups": "cutover.groups"}


def _special(key: str, each: SidedSetting) -> Decision | None:
    if key == "groups.exclude":
        return Decision(Use.REPORTED, "name the groups to move in cutover.groups; it has no exclusions")
    if key == "replication.policy.class":
        return _policy(each.value)
    if key == "replication.policy.separator" and each.value in {"", "."}:
        return Decision(Use.USED, "mirror.topic_names")
    return _exactly_once(each) if key == "exactly.once.source.support" else None


_NUMBERS: Mapping[str, tuple[str, int]] = {
    "tasks.max": ("mirror.tasks", 1000),
    "num.streams": ("mirror.tasks", 1000),
    "replication.factor": ("target.replication_factor", 32),
}


def _number(key: str, value: str) -> Decision | None:
    if key not in _NUMBERS:
        return None
    where, most = _NUMBERS[key]
    if re.fullmatch(r"[1-9][0-9]{0,3}", value) and int(value) <= most:
        return Decision(Use.USED, where, where.partition(".")[2], value)
    return Decision(Use.REPORTED, f"{where} takes numbers from 1 to {most}; it has its default")


def _policy(value: str) -> Decision:
    naming = _POLICIES.get(value.removeprefix(_MIRROR))
    if naming:
        return Decision(Use.USED, "mirror.topic_names", "naming", naming)
    return Decision(
        Use.REPORTED, "names are kept; for this class use mirror.topic_names with naming custom", "naming", "identity"
    )


def _exactly_once(each: SidedSetting) -> Decision:
    if each.side is Side.TARGET and each.value == "enabled":
        return Decision(Use.USED, "mirror.exactly_once", "exactly_once", "true")
    return Decision(Use.REPLACED, "mirror.exactly_once is false")


def _option(each: SidedSetting) -> Decision:
    key = each.setting.key
    if key in {"whitelist", "include"}:
        return Decision(Use.USED, "topics", "topics", each.value)
    if decision := _number(key, each.value):
        return decision
    if key in {"consumer.config", "producer.config", "new.consumer"}:
        return Decision(Use.REPLACED, "the package writes the files of the clients")
    if key in {"offset.commit.interval.ms", "abort.on.send.failure"}:
        return Decision(Use.REPLACED, "the package sets it, so that no record is lost")
    return Decision(Use.REPORTED, _NO_PLACE)


def _field(each: SidedSetting) -> Decision:
    """Return what becomes of a field that Strimzi reads and MirrorMaker does not."""
    name = each.setting.key
    if re.match(r"(?:authentication|tls)\b", name):
        return Decision(Use.REPORTED, "put login and certificates into the connection of the cluster")
    if name in {"alias", "sourceCluster", "targetCluster", "connectCluster", "version"}:
        return Decision(Use.USED, "the flow")
    return Decision(Use.REPLACED, "MirrorMaker runs on the host of the connection mirror_host")
