"""Rules on replication factors: one finding for all lines with the same cause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kafka_migration.core.text.secret_forms import is_secret_name
from kafka_migration.mirrormaker_files.model.judging import LintFinding, at, value_of
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting
from kafka_migration.mirrormaker_files.model.roles import is_free
from kafka_migration.mirrormaker_files.rules.ground import Ground
from kafka_migration.mirrormaker_files.rules.key_rules import is_storage_of_connector
from kafka_migration.mirrormaker_files.rules.views import CONNECTORS, hosts, lines

_INSYNC = "min.insync.replicas"


def replication(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield findings for factors of one, above the brokers that are named, and below `min.insync.replicas`."""
    factors = [each for each in file.settings if _is_number(each, "replication.factor") and _is_read(each, ground)]
    most = max(
        (int(each.value) for each in file.settings if _is_number(each, _INSYNC) and _is_read(each, ground)), default=0
    )
    low = [each for each in factors if 0 < int(each.value) < most]
    brokers = _brokers(ground)
    if low:
        found = f"{value_of(low[0])} replicas, and `{_INSYNC}` is {most}"
        effect = "brokers refuse every record that is written with acks=all"
        yield _one(file, low, LintCode.REPLICATION_BELOW_MIN_INSYNC, found, effect, f"Write at least {most}.")
    if single := [each for each in factors if int(each.value) == 1 and each not in low]:
        yield _single(file, single, brokers)
    # The address of a resource is that of a service, not of brokers.
    is_counted = file.kind is not FileKind.STRIMZI
    if high := [each for each in factors if is_counted and 1 <= brokers < int(each.value)]:
        found = f"{value_of(high[0])} replicas, and the file names {brokers} broker{'s' * (brokers > 1)} of a cluster"
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
    """Return whether a part of Kafka reads a factor, also of topics with names of their own."""
    is_free_key = is_free(setting) and not is_storage_of_connector(setting)
    return next(ground.readers.uses_of(setting), None) is not None or (is_free_key and bool(ground.readers.of(setting)))


def _brokers(ground: Ground) -> int:
    """Return the smallest number of addresses that the connectors have for a cluster; 0 if it is unknown."""
    lists = [
        each.values[key].value
        for each in ground.readers.at(*CONNECTORS)
        for key in ("source.cluster.bootstrap.servers", "target.cluster.bootstrap.servers")
        if key in each.values
    ]
    if any("$" in text or "{{" in text for text in lists):
        return 0
    return min((len(hosts(text)) for text in lists), default=0)


def _is_number(setting: MirrorSetting, ending: str) -> bool:
    is_named = setting.key.endswith(ending) and not is_secret_name(setting.key)
    return is_named and re.fullmatch(r"-?\d{1,9}", setting.value.strip(), re.ASCII) is not None


REPLICATION_RULES = (replication,)
