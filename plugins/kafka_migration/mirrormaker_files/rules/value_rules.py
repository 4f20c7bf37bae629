"""Rules on single values."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_migration.core.text.secret_forms import HIDDEN
from kafka_migration.mirrormaker_files.model.judging import (
    LintFinding,
    at,
    has_secret,
    is_shown,
    listed,
    may_be_secret,
    value_of,
)
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import COMMENT, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.rules.ground import Ground
from kafka_migration.mirrormaker_files.rules.key_rules import definitions_of

_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_TYPES = {
    "BOOLEAN": (re.compile(r"true|false", re.IGNORECASE), "true or false"),
    "INT": (_WHOLE, "a whole number"),
    "LONG": (_WHOLE, "a whole number"),
    "SHORT": (_WHOLE, "a whole number"),
    "DOUBLE": (re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"), "a number"),
}
# MirrorMaker reads these before Kafka's parser removes blanks.
_UNTRIMMED = frozenset({"enabled", "emit.heartbeats.enabled"})
# 10,000 seconds are almost three hours; 100 ms are less than a round trip between two sites with a pause.
_MOST_SECONDS, _FEWEST_MS = 10_000, 100
_MS = re.compile(r".*(?:interval|timeout)\.ms")
_MIRROR = "org.apache.kafka.connect.mirror."
# The classes that settings name, and the version that has them first.
_CLASSES = {
    "MirrorSourceConnector": "2.4",
    "MirrorCheckpointConnector": "2.4",
    "MirrorHeartbeatConnector": "2.4",
    "DefaultReplicationPolicy": "2.4",
    "IdentityReplicationPolicy": "3.0",
    "DefaultTopicFilter": "2.4",
    "DefaultGroupFilter": "2.4",
    "DefaultConfigPropertyFilter": "2.4",
}


def has_comment(setting: MirrorSetting) -> bool:
    """Return whether a value is followed by what looks like a comment."""
    return not may_be_secret(setting) and COMMENT.search(setting.value) is not None


def is_quoted(setting: MirrorSetting) -> bool:
    """Return whether a value, or an item of a list, stands in quotes."""
    texts = [setting.value.strip(), *listed(setting.value)]
    return not may_be_secret(setting) and any(text[:1] in {'"', "'"} or text[-1:] in {'"', "'"} for text in texts)


def texts(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for comments, quotes and blanks in values, and for values of a wrong type."""
    for setting in file.settings:
        if setting.place is Place.FIELD or setting.is_reference:
            continue
        if has_comment(setting):
            fix = "Write the comment on its own line."
            yield at(file, setting, LintCode.VALUE_COMMENT, value_of(setting), "a value without a comment", fix)
        elif is_quoted(setting):
            yield at(file, setting, LintCode.VALUE_QUOTED, value_of(setting), "no quotes", "Remove the quotes.")
        else:
            yield from _backslash(file, setting)
            yield from _blanks(file, setting)
            yield from _typed(file, setting, ground)


def _backslash(file: MirrorFile, setting: MirrorSetting) -> Iterator[LintFinding]:
    if setting.dropped and not may_be_secret(setting):
        letter = setting.dropped[1] if is_shown(setting) else "a letter"
        found, expected = f"\\{letter}, which Java reads as {letter}", f"\\\\{letter}"
        fix = "Write two backslashes" + (", or [.] for a dot." if letter == "." else ".")
        yield at(file, setting, LintCode.VALUE_BACKSLASH, found, expected, fix)


def _blanks(file: MirrorFile, setting: MirrorSetting) -> Iterator[LintFinding]:
    if setting.value != setting.value.rstrip() and setting.value.strip():
        is_kept = setting.key in _UNTRIMMED and setting.place in {Place.TOP, Place.FLOW}
        code = LintCode.VALUE_BLANK_KEPT if is_kept else LintCode.VALUE_BLANK
        yield at(file, setting, code, value_of(setting), "no blanks at the end", "Remove the blanks.")


def _typed(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> Iterator[LintFinding]:
    types = {key.type for key in definitions_of(setting, ground)}
    pattern, expected = _TYPES.get(types.pop(), (None, "")) if len(types) == 1 else (None, "")
    if pattern and not pattern.fullmatch(setting.value.strip()):
        yield at(file, setting, LintCode.VALUE_TYPE, value_of(setting), expected, "Correct the value.")


def intervals(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for seconds that look like milliseconds, and for the reverse."""
    for setting in file.settings:
        if not re.fullmatch(r"\d{1,18}", setting.value.strip(), re.ASCII):
            continue
        number = int(setting.value)
        if setting.key.endswith(".interval.seconds") and number >= _MOST_SECONDS:
            expected = f"seconds, fewer than {_MOST_SECONDS:,}"
            fix = f"Write {max(1, number // 1000)} if you mean {number:,} ms."
            yield _interval(file, setting, f"{number:,} s", expected, fix)
        elif _MS.fullmatch(setting.key) and 0 < number < _FEWEST_MS:
            expected = f"milliseconds, {_FEWEST_MS} or more"
            fix = f"Write {number * 1000} if you mean {number} s."
            yield _interval(file, setting, f"{number} ms", expected, fix)


def _interval(file: MirrorFile, setting: MirrorSetting, found: str, expected: str, fix: str) -> LintFinding:
    if not is_shown(setting):
        found, fix = HIDDEN, "Write the value in the unit that the key names."
    return at(file, setting, LintCode.INTERVAL_UNIT, found, expected, fix)


def classes(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each class of MirrorMaker that no version, or not the named one, has."""
    for setting in file.settings:
        name = setting.value.strip()
        simple = name.removeprefix(_MIRROR)
        if not setting.key.endswith(".class") or (name == simple and "." in name) or "." in simple or not name:
            continue
        if simple not in _CLASSES:
            fix = f"Write one of {', '.join(sorted(_of_key(setting.key)) or ['the classes of your version'])}."
            yield at(file, setting, LintCode.CLASS_UNKNOWN, value_of(setting), "a class of a released version", fix)
        elif name == simple and setting.key != "connector.class":
            fix = f"Write {_MIRROR}{simple}."
            yield at(file, setting, LintCode.CLASS_UNKNOWN, value_of(setting), "a class with its package", fix)
        elif ground.is_at_least(_CLASSES[simple]) is False:
            expected = f"a class of Kafka {ground.version}"
            fix = f"Run Kafka {_CLASSES[simple]} or later."
            yield at(file, setting, LintCode.CLASS_OF_ANOTHER_VERSION, value_of(setting), expected, fix)


def _of_key(key: str) -> list[str]:
    """Return the classes that a key may name."""
    word = {"connector.class": "Connector", "replication.policy.class": "ReplicationPolicy"}.get(key, "Filter")
    return [f"{_MIRROR}{name}" for name in _CLASSES if name.endswith(word)]


def protections(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each password as plain text, and for each protection that is switched off."""
    with_password = {each.owner for each in file.settings if _has_password(each)}
    for setting in file.settings:
        if has_secret(setting):
            fix = "Use a configuration provider (`${file:…}`), and let only MirrorMaker's user read the file."
            yield at(file, setting, LintCode.SECRET_IN_FILE, "a secret as plain text", "a reference to a secret", fix)
        if setting.key == "ssl.endpoint.identification.algorithm" and not setting.value.strip():
            fix = "Remove it, and give the brokers certificates with their names."
            yield at(file, setting, LintCode.HOST_NAME_CHECK_OFF, "an empty value", "https", fix)
        is_open = setting.key == "security.protocol" and setting.value.strip() == "SASL_PLAINTEXT"
        if is_open and setting.owner in with_password:
            yield at(file, setting, LintCode.LOGIN_UNENCRYPTED, "SASL_PLAINTEXT", "SASL_SSL", "Use SASL_SSL.")


def _has_password(setting: MirrorSetting) -> bool:
    """Return whether a setting logs in with a password; Kerberos sends none."""
    is_login = setting.key in {"sasl.mechanism", "sasl.jaas.config"}
    return is_login and re.search("PLAIN|SCRAM|Plain|Scram", setting.value) is not None


VALUE_RULES = (texts, intervals, classes, protections)
