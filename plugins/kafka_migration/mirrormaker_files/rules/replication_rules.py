"""Rules on replication factors: one finding for all lines with the same cause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.secret_forms import is_secret_name
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given
from kafka_migration.mirrormaker_files.ground.ground import (
    CHECKPOINT,
    CONNECTORS,
    HEARTBEAT,
    SOURCE,
    Ground,
    at_given,
    is_given,
    lines,
    lines_in,
)
from kafka_migration.mirrormaker_files.line_rules.key_rules import is_storage_of_connector
from kafka_migration.mirrormaker_files.line_rules.place_rules import users_elsewhere
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import REFERENCE, LintFinding, at, listed, value_of
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting

_INSYNC, _FACTOR = "min.insync.replicas", "replication.factor"
# A worker hands further keys of its stores to the topics that it creates, and Connect those of a group of topics.
_OF_TOPIC = regex(rf"((?:config|offset|status)\.storage|topic\.creation\.[\w-]{{1,100}})\.{re.escape(_INSYNC)}")
_CREATORS = {
    "": SOURCE,
    "offset-syncs.topic.": SOURCE,
    "checkpoints.topic.": CHECKPOINT,
    "heartbeats.topic.": HEARTBEAT,
}
_OF_STORE = regex(r"(?:(?:config|offset|status)\.storage|topic\.creation\.[\w-]{1,100})\.replication\.factor")


def replication(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield findings for factors of one, and above the brokers that are named for the cluster of the topic."""
    factors = [each for each in file.settings if _is_number(each) and _is_read(each, ground)]
    brokers = {id(each): _brokers(each, ground) for each in factors}
    if single := [each for each in factors if int(each.value) == 1]:
        yield _single(file, single, min(brokers[id(each)] for each in single))
    # The address of a resource is that of a service, not of brokers.
    is_counted = file.kind is not FileKind.STRIMZI
    if high := [each for each in factors if is_counted and 1 <= brokers[id(each)] < int(each.value)]:
        least = brokers[id(high[0])]
        found = f"{value_of(high[0])} replicas, and the file names {least} broker{'s' * (least > 1)} of the cluster"
        effect = "a cluster with fewer brokers than replicas refuses to create the topic"
        fix = "Compare it with the number of brokers; nothing has to be done if the cluster has enough."
        yield _one(file, high, LintCode.REPLICATION_ABOVE_BROKERS, found, effect, fix)


def _single(file: MirrorFile, single: Sequence[MirrorSetting], brokers: int) -> LintFinding:
    found = "topics are created with one replica"
    effect = "their records are lost with their broker"
    if brokers == 1:
        fix = "Write 3, if the cluster has three brokers; nothing has to be done for a single broker."
        return _one(file, single, LintCode.REPLICATION_ONE, found, effect, fix)
    return _one(file, single, LintCode.REPLICATION_TOO_LOW, found, effect, "Write 3, if the cluster has three brokers.")


def _one(
    file: MirrorFile, settings: Sequence[MirrorSetting], code: LintCode, found: str, effect: str, fix: str
) -> LintFinding:
    first, *others = settings
    return at(file, first, code, found, effect, fix, lines(others))


def _is_read(setting: MirrorSetting, ground: Ground) -> bool:
    if _OF_STORE.fullmatch(setting.key):
        return bool(ground.readers.of(setting)) and not is_storage_of_connector(setting)
    is_created = any(_creates(each, key) for each, key in ground.readers.uses_of(setting))
    return is_created and not users_elsewhere(setting, ground)


def _creates(each: Effective, key: str) -> bool:
    """Return whether a reader creates the topic of a factor; connectors of early versions also have those of others."""
    role = each.reader.role
    return role not in CONNECTORS or role == _CREATORS.get(key.removesuffix(_FACTOR), role)


def _brokers(setting: MirrorSetting, ground: Ground) -> int:
    """Return the smallest number of addresses that a reader has for the cluster of the topic; 0 if it is unknown."""
    lists = [
        _addresses(each, key) for each, key in ground.readers.of(setting) if key == setting.key and _creates(each, key)
    ]
    return min((len(listed(text)) for text in lists if text and not REFERENCE.search(text)), default=0)


def _addresses(each: Effective, key: str) -> str:
    """Return the addresses of the cluster on which a reader creates the topic; empty if it creates none."""
    role = each.reader.role
    if role == "connect_worker":
        return each.value("bootstrap.servers")
    is_source = key.startswith("offset-syncs.") and each.value("offset-syncs.topic.location") != "target"
    side = "source" if is_source else "target"
    return each.value(f"{side}.cluster.bootstrap.servers") if role.startswith("mirror_") else ""


def _is_number(setting: MirrorSetting) -> bool:
    is_named = setting.key.endswith(_FACTOR) and not is_secret_name(setting.key)
    return is_named and re.fullmatch(r"-?\d{1,9}", setting.value.strip(), re.ASCII) is not None


def in_sync(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each topic with fewer replicas than its `min.insync.replicas`.

    Workers hand such keys to their topics since Kafka 2.6.
    """
    seen = set[tuple[int, int]]()
    readers = ground.readers.at("connect_worker", "mirror_source") if ground.is_at_least("2.6") is not False else ()
    for each in readers:
        for key in [key for key in each.values if key.endswith(_INSYNC)]:
            match = _OF_TOPIC.fullmatch(key)
            factor, least = each.values.get(f"{match[1]}.{_FACTOR}") if match else None, each.values[key]
            pair = id(factor and factor.setting), id(least.setting)
            if factor and pair not in seen and is_given(least, file) and 0 < _number(factor) < _number(least):
                seen.add(pair)
                yield _below(file, factor, least)


def _below(file: MirrorFile, factor: Given, least: Given) -> LintFinding:
    found = f"the topic has {_number(factor)} replica{'s' * (_number(factor) > 1)}, and `{_INSYNC}` is {_number(least)}"
    effect = "brokers refuse every record that is written to it with acks=all"
    fix = f"Write at least {_number(least)} replicas."
    others = lines_in(file, factor)
    return at_given(file, least, LintCode.REPLICATION_BELOW_MIN_INSYNC, found, effect, fix, others)


def _number(given: Given) -> int:
    text = given.value.strip()
    return int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) else 0


REPLICATION_RULES = (replication, in_sync)
