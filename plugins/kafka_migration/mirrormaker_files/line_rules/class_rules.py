"""Rules on the classes that settings name."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.secret_forms import may_be_shown
from kafka_migration.core.text.shortened import given
from kafka_migration.kafka_tables.accepted import nearest, trimmed
from kafka_migration.kafka_tables.kafka_keys import SIMILAR
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, the_value
from kafka_migration.mirrormaker_files.model.lint_limits import LONGEST_CLASS
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import CONVERTERS

_KAFKA = "org.apache.kafka."
_MIRROR = f"{_KAFKA}connect.mirror."
_PROVIDER = f"{_KAFKA}common.config.provider."
_CONNECTOR, _PROVIDER_CLASS = "connector.class", "config.providers.….class"
_SIMPLE_CONVERTERS = ("ByteArray", "Boolean", "Double", "Float", "Integer", "Long", "Short")
_STORAGE = f"{_KAFKA}connect.storage."
_OF_CONVERTERS = {
    **{f"{_KAFKA}connect.converters.{each}Converter": "2.4" for each in _SIMPLE_CONVERTERS},
    f"{_STORAGE}StringConverter": "2.4",
    f"{_KAFKA}connect.json.JsonConverter": "2.4",
}
# Kafka's classes by the key that names them, each with the version that has it first.
_CLASSES = {
    _CONNECTOR: {
        f"{_MIRROR}MirrorSourceConnector": "2.4",
        f"{_MIRROR}MirrorCheckpointConnector": "2.4",
        f"{_MIRROR}MirrorHeartbeatConnector": "2.4",
    },
    "replication.policy.class": {
        f"{_MIRROR}DefaultReplicationPolicy": "2.4",
        f"{_MIRROR}IdentityReplicationPolicy": "3.0",
    },
    "topic.filter.class": {f"{_MIRROR}DefaultTopicFilter": "2.4"},
    "group.filter.class": {f"{_MIRROR}DefaultGroupFilter": "2.4"},
    "config.property.filter.class": {f"{_MIRROR}DefaultConfigPropertyFilter": "2.4"},
    "forwarding.admin.class": {f"{_KAFKA}clients.admin.ForwardingAdmin": "3.3"},
    "key.converter": _OF_CONVERTERS,
    "value.converter": _OF_CONVERTERS,
    "header.converter": {**_OF_CONVERTERS, f"{_STORAGE}SimpleHeaderConverter": "2.4"},
    _PROVIDER_CLASS: {
        f"{_PROVIDER}FileConfigProvider": "2.4",
        f"{_PROVIDER}DirectoryConfigProvider": "2.7",
        f"{_PROVIDER}EnvVarConfigProvider": "3.5",
    },
}
# Distributions of Kafka have their own policies, which are for MirrorMaker.
_DISTRIBUTIONS = ("io.strimzi.", "com.cloudera.", "com.amazonaws.", "com.redhat.", "io.confluent.", "com.hortonworks.")
_SIMILAR = 0.75


def classes(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each class that no version, or not the named one, has, or that a plug-in must bring."""
    for setting in file.settings:
        of_key = _CLASSES.get(_kind(setting), {})
        name = trimmed(setting.value)
        if not of_key or not name or setting.is_reference or setting.place is Place.FIELD:
            continue
        if name in of_key:
            yield from _of_another_version(file, setting, of_key[name], ground)
        elif not _is_alias(setting, name, of_key) and (found := _strange(file, setting, name, of_key)):
            yield found


def _kind(setting: MirrorSetting) -> str:
    is_provider = setting.key.startswith("config.providers.") and setting.key.endswith(".class")
    return _PROVIDER_CLASS if is_provider else setting.key


def _of_another_version(file: MirrorFile, setting: MirrorSetting, first: str, ground: Ground) -> Iterator[LintFinding]:
    if ground.is_at_least(first) is False:
        found = f"a class of Kafka {first} and later"
        fix = f"Run Kafka {first} or later, or remove the line."
        effect = f"Kafka {ground.version} does not have it, so the connector does not start"
        yield at(file, setting, LintCode.CLASS_OF_ANOTHER_VERSION, found, effect, fix)


def _is_alias(setting: MirrorSetting, name: str, of_key: dict[str, str]) -> bool:
    """Return whether Connect finds a connector by this short name."""
    simple = {each.rpartition(".")[2] for each in of_key}
    if setting.key in CONVERTERS:
        return name in simple | {each.removesuffix("Converter") for each in simple}
    return setting.key == _CONNECTOR and name in simple | {each.removesuffix("Connector") for each in simple}


def is_unknown_converter(name: str) -> bool:
    """Return whether a converter is of Kafka by its package or its short name, and Kafka does not have it."""
    package, _, simple = name.rpartition(".")
    if package:
        return name.startswith(_KAFKA) and name not in _CLASSES["header.converter"]
    known = {each.rpartition(".")[2] for each in _CLASSES["header.converter"]}
    short = known | {each.removesuffix("Converter") for each in known}
    # A plug-in may have any other short name.
    return simple not in short and bool(nearest(simple[:LONGEST_CLASS], known, SIMILAR))


def _converter(file: MirrorFile, setting: MirrorSetting, name: str, of_key: dict[str, str]) -> LintFinding | None:
    if not is_unknown_converter(name):
        return None
    fix = f"Write {_near(name, of_key) or next(iter(of_key))}."
    effect = "the worker does not start" if setting.place is Place.WORKER else "the connector does not start"
    return at(file, setting, LintCode.CLASS_UNKNOWN, f"{_shown(setting, name)} is no class of Kafka", effect, fix)


def _shown(setting: MirrorSetting, name: str) -> str:
    """Return the value; the name of a class in Kafka's packages is no secret, whatever its key."""
    is_class = _CLASS_OF_KAFKA.fullmatch(name) and setting.key.endswith(".class") and may_be_shown(name)
    return f"the value {given(name)}" if is_class else the_value(setting)


_CLASS_OF_KAFKA = regex(r"org\.apache\.kafka(?:\.[a-z]{1,40}){1,8}\.[A-Z][A-Za-z]{1,60}")


def _strange(file: MirrorFile, setting: MirrorSetting, name: str, of_key: dict[str, str]) -> LintFinding | None:
    if setting.key in CONVERTERS:
        return _converter(file, setting, name, of_key)
    near = _near(name, of_key)
    package, _, simple = name.rpartition(".")
    is_of_kafka = name.startswith(_KAFKA) or not package
    is_mistyped = package and f"{_MIRROR}{simple}" in of_key and not name.startswith(_DISTRIBUTIONS)
    if is_of_kafka or is_mistyped or (near and package.count(".") == near.count(".") - 1 and package[:7] == "org.apa"):
        words = f"Write {near}." if near else f"Write one of {', '.join(of_key)}."
        found = f"{_shown(setting, name)} is no class of Kafka for this key"
        return at(file, setting, LintCode.CLASS_UNKNOWN, found, "the connector does not start", words)
    if setting.key == _CONNECTOR:
        # The reader says that the connector belongs to another product.
        return None
    effect = "each node of MirrorMaker must have it on its class path, or the connector does not start"
    fix = "Install its plug-in on each node."
    return at(file, setting, LintCode.CLASS_OF_PLUGIN, f"{the_value(setting)} is no class of Kafka", effect, fix)


def _near(name: str, of_key: dict[str, str]) -> str:
    """Return the class of Kafka that is probably meant; empty if it is not clear."""
    simple = {each.rpartition(".")[2].lower(): each for each in of_key}
    found = nearest(name.rpartition(".")[2].lower()[:200], simple, _SIMILAR)
    return simple[found] if found else next(iter(of_key)) if len(of_key) == 1 else ""


CLASS_RULES = (classes,)
