"""Rules on replication factors and converters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from kafka_migration.core.text.secret_forms import is_secret_name
from kafka_migration.mirrormaker_files.model.judging import Ground, LintFinding, at, listed, the_value
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place

_CONVERTERS = ("key.converter", "value.converter", "header.converter")
_BYTES = ("org.apache.kafka.connect.converters.ByteArrayConverter", "ByteArrayConverter", "ByteArray")


def replication(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for replication factors below `min.insync.replicas` of the file, and one for all factors of 1."""
    insync = [int(each.value) for each in file.settings if _is_number(each, "min.insync.replicas")]
    factors = [each for each in file.settings if _is_number(each, "replication.factor") and int(each.value) > 0]
    low = [each for each in factors if int(each.value) < max(insync, default=0)]
    for setting in low:
        found = f"{the_value(setting)} is below min.insync.replicas ({max(insync)})"
        effect = "brokers refuse every record of such a topic"
        fix = f"Write {max(insync) + 1}, or lower min.insync.replicas."
        yield at(file, setting, LintCode.REPLICATION_BELOW_MIN_INSYNC, found, effect, fix)
    single = [each for each in factors if int(each.value) == 1 and each not in low]
    if single and _has_several_brokers(file):
        effect = "the topics are lost with their broker"
        finding = at(
            file, single[0], LintCode.REPLICATION_TOO_LOW, "one replica", effect, "Write 3 if there are three brokers."
        )
        yield replace(finding, others=tuple(each.line for each in single[1:]))


def _has_several_brokers(file: MirrorFile) -> bool:
    """Return whether the file names several brokers of a cluster; a cluster of one broker can have one replica."""
    return any(each.key == "bootstrap.servers" and len(listed(each.value)) > 1 for each in file.settings)


def _is_number(setting: MirrorSetting, ending: str) -> bool:
    is_named = setting.key.endswith(ending) and not is_secret_name(setting.key)
    return is_named and re.fullmatch(r"-?[0-9]{1,9}", setting.value.strip()) is not None


def converters(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each converter that is not, or may not be, ByteArrayConverter."""
    for setting in file.settings:
        if setting.key in _CONVERTERS and setting.value.strip() not in _BYTES and not setting.is_reference:
            found = f"{the_value(setting)} is not ByteArrayConverter"
            effect = "the bytes of the records change, or the connector fails"
            fix = f"Write {_BYTES[0]}."
            yield at(file, setting, LintCode.CONVERTER_CHANGES_BYTES, found, effect, fix)
    if file.kind is FileKind.CONNECTORS:
        yield from _unnamed_converters(file)


def _unnamed_converters(file: MirrorFile) -> Iterator[LintFinding]:
    for setting in file.at(Place.CONNECTOR):
        # The other connectors write no records of users.
        if setting.key != "connector.class" or not setting.value.strip().endswith(
            ("MirrorSourceConnector", "MirrorSource")
        ):
            continue
        missing = [key for key in _CONVERTERS if not file.last(Place.CONNECTOR, key, setting.owner)]
        if missing:
            effect = "the worker's converter is used, which may change the bytes of the records"
            fix = f"Write {', '.join(f'{key}={_BYTES[0]}' for key in missing)}."
            yield at(file, setting, LintCode.CONVERTER_NOT_NAMED, f"no {', '.join(missing)}", effect, fix)


REPLICA_RULES = (replication, converters)
