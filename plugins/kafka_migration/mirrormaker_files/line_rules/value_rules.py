"""Rules on single values: how they are written, and what Kafka's definitions accept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.secret_forms import HIDDEN
from kafka_migration.kafka_tables.accepted import Wrong, nearest_word, trimmed
from kafka_migration.kafka_tables.kafka_keys import KafkaKey
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.line_rules import key_rules
from kafka_migration.mirrormaker_files.line_rules.pattern_rules import corrected, is_pattern
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import (
    LintFinding,
    at,
    has_comment,
    has_secret,
    is_read_as_secret,
    is_shown,
    listed,
    the_value,
    value_of,
)
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import is_free

# Policies read these before Kafka's parser removes blanks.
_READ_AS_FALSE = "replication.policy.internal.topic.separator.enabled"
_UNTRIMMED = frozenset({_READ_AS_FALSE, "replication.policy.separator"})
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER", "AWS_MSK_IAM")
# Brokers create a topic with at least one replica; -1 stands for their own default.
_BROKER_DEFAULT = -1
# 10,000 seconds are almost three hours; 100 ms are less than a round trip between two sites with a pause.
_MOST_SECONDS, _FEWEST_MS = 10_000, 100
_MS = regex(r".*(?:interval|timeout)\.ms")
_CLIENT_ROLES = frozenset({"consumer", "producer", "admin"})
_PROCESS_ROLES = frozenset({"mirror_maker", "mirror_client", "connect_worker"})


def definitions_of(setting: MirrorSetting, ground: Ground) -> list[KafkaKey]:
    """Return the definitions of those who read the value of this line."""
    return [key for key in key_rules.definitions_of(setting, ground) if ground.has(key)]


def is_quoted(setting: MirrorSetting) -> bool:
    """Return whether a value, or an item of a list, stands in quotes."""
    if setting.key.endswith("jaas.config"):
        return trimmed(setting.value)[:1] in {'"', "'"}
    texts = [setting.value.strip(), *listed(setting.value)]
    return not is_read_as_secret(setting) and any(text[:1] in {'"', "'"} or text[-1:] in {'"', "'"} for text in texts)


def texts(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each value that Kafka reads otherwise than it is written, or that it refuses."""
    for setting in file.settings:
        if setting.place is Place.FIELD or setting.is_reference:
            continue
        if has_comment(setting) and _is_unknown(setting, ground):
            continue
        if has_comment(setting):
            fix = "Write the comment on its own line."
            found = f"{the_value(setting)} has a comment"
            yield at(file, setting, LintCode.VALUE_COMMENT, found, _effect(file, setting, ground, "comment"), fix)
        elif is_quoted(setting) and setting.place is not Place.OPTION:
            yield _quoted(file, setting, ground)
        else:
            yield from _backslash(file, setting)
            yield from _blanks(file, setting)
            yield from _refused(file, setting, ground)


def _is_unknown(setting: MirrorSetting, ground: Ground) -> bool:
    """Return whether no part of Kafka has the key, which has a finding of its own."""
    return not is_free(setting) and setting.place is not Place.OPTION and not ground.keys.roles_of(setting.key)


def _effect(file: MirrorFile, setting: MirrorSetting, ground: Ground, what: str) -> str:
    """Return the consequence of quotes or of a comment, which Kafka reads as a part of the value."""
    if is_pattern(setting):
        return f"the pattern matches other names, because Kafka reads the {what} as a part of it"
    refusing = (key for key in definitions_of(setting, ground) if key.wrong_value(setting.value, ground.version))
    role = next((key.role for key in refusing), None)
    return effect_of(file, setting, role) if role else f"Kafka reads the {what} as a part of the value"


def _quoted(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding:
    fix = "Remove the quotes."
    if is_pattern(setting) and is_shown(setting):
        fix = f"Write {value_of(setting, corrected(setting.value))} without quotes."
    found, effect = f"{the_value(setting)} has quotes", _effect(file, setting, ground, "quotes")
    return at(file, setting, LintCode.VALUE_QUOTED, found, effect, fix)


def _backslash(file: MirrorFile, setting: MirrorSetting) -> Iterator[LintFinding]:
    if not setting.dropped or is_read_as_secret(setting):
        return
    letter = setting.dropped[1]
    found = f"\\{letter}, which Java reads as {letter}" if is_shown(setting) else "a backslash, which Java removes"
    fix = "Write two backslashes" + (", or [.] for a dot." if letter == "." else ".")
    if letter.isalnum():
        effect = "the value is another than what is written"
        yield at(file, setting, LintCode.BACKSLASH_LOST, found, effect, fix)
    elif is_pattern(setting):
        effect = f"the pattern matches {'any character at this place' if letter == '.' else 'other names'}"
        yield at(file, setting, LintCode.VALUE_BACKSLASH, found, effect, fix)


def _blanks(file: MirrorFile, setting: MirrorSetting) -> Iterator[LintFinding]:
    value = setting.value.strip()
    if setting.key not in _UNTRIMMED or value == setting.value or not value:
        return
    effect = "the names of the target's topics have the blanks"
    if setting.key == _READ_AS_FALSE:
        effect = "MirrorMaker reads it as false"
        if value.lower() != "true":
            return
    found = f"{the_value(setting)} has blanks at its end"
    yield at(file, setting, LintCode.VALUE_BLANK_KEPT, found, effect, "Remove the blanks at the end.")


def _refused(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for a value that a definition of a reader refuses."""
    if setting.key == "bootstrap.servers":
        return
    if setting.key == "sasl.mechanism":
        yield from _mechanism(file, setting)
        return
    keys = definitions_of(setting, ground)
    for key in keys if len({key.type for key in keys}) == 1 else ():
        wrong, effect = key.wrong_value(setting.value, ground.version), effect_of(file, setting, key.role)
        if not wrong and (wrong := _wrong_factor(key, setting)):
            effect = "brokers create no topic with it"
        if wrong:
            yield _refusal(file, setting, wrong, effect, _default(key, ground))
            return


def _default(key: KafkaKey, ground: Ground) -> str | None:
    """Return the default of a key; `None` if versions differ and none is named."""
    found = ground.defaults_in(key)
    return found.pop() if len(found) == 1 else None


def _wrong_factor(key: KafkaKey, setting: MirrorSetting) -> Wrong | None:
    """Return why brokers refuse a replication factor; Kafka's definitions do not ask everywhere."""
    number = trimmed(setting.value)
    if not key.name.endswith("replication.factor") or not re.fullmatch(r"[+-]?[0-9]{1,9}", number):
        return None
    is_right = int(number) >= 1 or int(number) == _BROKER_DEFAULT
    return None if is_right else Wrong("is no number of replicas", "Write 1 or more, or -1 for the brokers' default.")


def _refusal(file: MirrorFile, setting: MirrorSetting, wrong: Wrong, effect: str, default: str | None) -> LintFinding:
    found = f"{the_value(setting, wrong.part)} {wrong.clause}"
    fix = wrong.fix + (f" Without the line the default {default} holds." if default and len(default) < 40 else "")
    code = LintCode.VALUE_TYPE if wrong.is_type else LintCode.VALUE_REFUSED
    return at(file, setting, code, found, effect, fix)


def effect_of(file: MirrorFile, setting: MirrorSetting, role: str) -> str:
    """Return what happens if the reader of this role refuses a value."""
    if setting.key == "enabled" and file.kind is FileKind.MIRRORMAKER2:
        return "MirrorMaker reads it as false, so the flow copies nothing"
    if file.kind.is_mirrormaker1 or role in _PROCESS_ROLES:
        return "MirrorMaker does not start"
    if role in _CLIENT_ROLES:
        return f"Kafka does not create the {role}, so the connector fails"
    return "Kafka refuses the configuration, so the connector does not start"


def _mechanism(file: MirrorFile, setting: MirrorSetting) -> Iterator[LintFinding]:
    name = trimmed(setting.value)
    if name in _MECHANISMS or not name:
        return
    near = nearest_word(name, _MECHANISMS) if _is_misspelled(name) else ""
    if near:
        found = f"{the_value(setting)} is no SASL mechanism of Kafka"
        effect = "the client cannot log in"
        yield at(file, setting, LintCode.VALUE_REFUSED, found, effect, f"Write `{near}`.")
    else:
        effect = "the login fails unless a plug-in brings the mechanism"
        found = f"{the_value(setting)} is no SASL mechanism of Kafka"
        fix = f"Check the name; Kafka itself has {', '.join(_MECHANISMS[:5])}."
        yield at(file, setting, LintCode.MECHANISM_UNKNOWN, found, effect, fix)


def _is_misspelled(name: str) -> bool:
    """Return whether a name is that of a mechanism of Kafka with other letters, digits or signs."""
    near = nearest_word(name, _MECHANISMS)
    is_family = name.upper().startswith("SCRAM") or name.upper().replace("_", "-") in _MECHANISMS
    return bool(near) and (is_family or abs(len(near) - len(name)) <= 1)


def intervals(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for seconds that look like milliseconds, and for the reverse."""
    for setting in file.settings:
        if not re.fullmatch(r"\d{1,18}", setting.value.strip(), re.ASCII):
            continue
        number = int(setting.value)
        if setting.key.endswith(".interval.seconds") and number >= _MOST_SECONDS:
            effect = f"MirrorMaker waits {number / 3600:,.1f} hours"
            fix = f"Write {max(1, number // 1000)} if you mean {number:,} ms."
            yield _interval(file, setting, f"{number:,} s", effect, fix)
        elif _MS.fullmatch(setting.key) and 0 < number < _FEWEST_MS:
            effect = f"Kafka waits only {number} thousandths of a second"
            fix = f"Write {number * 1000} if you mean {number} s."
            yield _interval(file, setting, f"{number} ms", effect, fix)


def _interval(file: MirrorFile, setting: MirrorSetting, found: str, effect: str, fix: str) -> LintFinding:
    if not is_shown(setting):
        found, effect, fix = HIDDEN, "the interval is very long or short", "Write the value in the unit of the key."
    return at(file, setting, LintCode.INTERVAL_UNIT, found, effect, fix)


def protections(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each password as plain text, and for each protection that is switched off."""
    with_password = {each.owner for each in file.settings if _has_password(each)}
    for setting in file.settings:
        if has_secret(setting):
            effect = "anyone who reads the file, or a copy of it, has the secret"
            fix = "Use a configuration provider (`${file:…}`), and let only MirrorMaker's user read the file."
            yield at(file, setting, LintCode.SECRET_IN_FILE, "a secret as plain text", effect, fix)
        if setting.key == "ssl.endpoint.identification.algorithm" and not setting.value.strip():
            effect = "clients accept the certificate of any other host"
            fix = "Remove the line, and give the brokers certificates with their names."
            yield at(file, setting, LintCode.HOST_NAME_CHECK_OFF, "the value is empty", effect, fix)
        is_open = setting.key == "security.protocol" and setting.value.strip() == "SASL_PLAINTEXT"
        if is_open and setting.owner in with_password and next(ground.readers.uses_of(setting), None):
            effect = "the login crosses the network without encryption"
            fix = "Write `SASL_SSL`, if the brokers have such a listener."
            yield at(file, setting, LintCode.LOGIN_UNENCRYPTED, "SASL_PLAINTEXT with a password", effect, fix)


def _has_password(setting: MirrorSetting) -> bool:
    """Return whether a setting logs in with a password; Kerberos sends none."""
    is_login = setting.key in {"sasl.mechanism", "sasl.jaas.config"}
    return is_login and re.search("PLAIN|SCRAM|Plain|Scram", setting.value) is not None


VALUE_RULES = (texts, intervals, protections)
