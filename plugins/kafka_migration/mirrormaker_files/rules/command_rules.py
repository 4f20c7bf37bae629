"""Rules on the command line of MirrorMaker 1."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.shortened import some
from kafka_migration.mirrormaker_files.ground.ground import Ground, lacks
from kafka_migration.mirrormaker_files.model.command_options import ENVIRONMENT, FLAGS, OPTIONS, PATTERNS, option_meant
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, key_of, on_file, value_of
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.rules.client_file_rules import OF_STRIMZI
from kafka_migration.mirrormaker_files.rules.start_rules import is_of_mirrormaker2

_NOT_STARTED = "MirrorMaker does not start"
_NUMBER = regex(r"[+-]?\d{1,19}", re.ASCII)
_MOST = 2**31 - 1


def command(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each option that is missing, unknown, twice there, of another version, or without effect."""
    if file.kind is not FileKind.COMMAND or is_of_mirrormaker2(file):
        return
    options = [each for each in file.at(Place.OPTION, "") if each.key]
    for setting in options:
        yield from _option(file, setting, ground)
    yield from _words(file)
    yield from _twice(file, options)
    yield from _missing(file, {each.key if each.key in OPTIONS else option_meant(each.key) for each in options})


def _words(file: MirrorFile) -> Iterator[LintFinding]:
    """Yield a finding for each word that is neither an option nor the value of one."""
    for setting in file.at(Place.OPTION, ""):
        if not setting.key and not setting.is_reference:
            found, effect = "the word belongs to no option", "MirrorMaker ignores it"
            fix = "Write `--` before an option, and quote a value that has blanks."
            yield at(file, setting, LintCode.OPTION_WITHOUT_EFFECT, found, effect, fix)


def _missing(file: MirrorFile, there: set[str]) -> Iterator[LintFinding]:
    """Yield what is missing; a word such as `$OPTIONS` may hold any option."""
    is_open = any(not each.key and each.is_reference for each in file.at(Place.OPTION, ""))
    if is_open or there & {"help", "version"}:
        return
    for option in ("consumer.config", "producer.config"):
        if option not in there and not lacks(file, option.partition(".")[0]):
            found = f"the command has no --{option}"
            yield on_file(file, LintCode.OPTION_MISSING, found, _NOT_STARTED, f"Add --{option} FILE.", file.line)
    if not there & PATTERNS and not lacks(file, "whitelist"):
        found = "the command has no --whitelist and no --include"
        yield on_file(file, LintCode.OPTION_MISSING, found, _NOT_STARTED, "Add --whitelist PATTERN.", file.line)


def _twice(file: MirrorFile, options: Sequence[MirrorSetting]) -> Iterator[LintFinding]:
    """Yield a finding for an option that is there twice, which MirrorMaker's parser refuses, or under two names."""
    last = {each.key: each for each in options}
    for setting in options:
        final = last[setting.key]
        if final is not setting and setting.key not in FLAGS and setting.key in OPTIONS:
            found = f"the command has the option again in line {final.line}"
            yield at(file, setting, LintCode.OPTION_REPEATED, found, _NOT_STARTED, "Write the option once.")
        elif setting.key == "whitelist" and "include" in last:
            effect = "Kafka 3.0 and later ignore --whitelist; earlier versions have no --include"
            fix = "Write one of them."
            yield at(file, setting, LintCode.OPTION_WITHOUT_EFFECT, "it is beside --include", effect, fix)


def _option(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> Iterator[LintFinding]:
    version = LintCode.OPTION_OF_ANOTHER_VERSION
    if setting.key not in OPTIONS:
        found = f"MirrorMaker 1 has no option {key_of(setting, setting.name)}"
        meant = option_meant(setting.key)
        options = f"Correct or remove it. The options are {some(sorted(OPTIONS), 20)}."
        shortened = " MirrorMaker 1 takes no shortened options." if meant.startswith(setting.key) else ""
        fix = f"Write --{meant}.{shortened}" if meant else options
        yield at(file, setting, LintCode.OPTION_UNKNOWN, found, _NOT_STARTED, fix)
    elif setting.key == "blacklist":
        found, fix = (
            "only versions before Kafka 2.0 have the option",
            "Write a --whitelist that leaves these topics out.",
        )
        yield at(file, setting, version, found, f"{_NOT_STARTED} with a later version", fix)
    elif setting.key == "include" and ground.is_at_least("3.0") is False and not _is_of_operator(file):
        found = "only Kafka 3.0 and later have the option"
        yield at(file, setting, version, found, _NOT_STARTED, "Write --whitelist.")
    elif setting.key == "new.consumer":
        if ground.is_at_least("0.11") is not False:
            # Of Kafka 0.10 the first releases need the option, and a version here has two numbers.
            found = "from Kafka 0.10.1 on the new consumer is the default"
            effect = "the option has no effect"
            yield at(file, setting, LintCode.OPTION_WITHOUT_EFFECT, found, effect, "Remove it.")
    elif setting.key not in FLAGS and not setting.value:
        found = "the option has no value"
        yield at(file, setting, LintCode.VALUE_TYPE, found, _NOT_STARTED, "Write its value after it.")
    elif not setting.is_reference:
        yield from _value(file, setting)


def _is_of_operator(file: MirrorFile) -> bool:
    """Return whether Strimzi's operator makes the command, with the name that the option has in the version."""
    return any(each.value.startswith(OF_STRIMZI) for each in file.at(Place.OPTION, ""))


def _value(file: MirrorFile, setting: MirrorSetting) -> Iterator[LintFinding]:
    value, wrong = setting.value, LintCode.VALUE_TYPE
    if setting.value.startswith("--"):
        found = f"the option has no value and takes the next word, {value_of(setting)}, as its value"
        yield at(file, setting, wrong, found, "the option that was meant there is not set", "Write its value after it.")
    elif setting.key in {"num.streams", "offset.commit.interval.ms"}:
        least = 1 if setting.key == "num.streams" else 0
        is_number = _NUMBER.fullmatch(value) is not None
        if not is_number or not -_MOST - 1 <= int(value) <= _MOST:
            found = f"the value {value_of(setting)} is no whole number"
            yield at(file, setting, wrong, found, _NOT_STARTED, "Write a number.")
        elif int(value) < least:
            found = f"the value {value_of(setting)} is below {least}"
            effect = (
                "MirrorMaker ends at once and copies nothing" if least else "offsets are committed after each record"
            )
            yield at(file, setting, wrong, found, effect, "Write a higher number.")
    elif setting.key == "abort.on.send.failure":
        yield from _abort(file, setting)
    elif setting.key == "message.handler":
        found, effect = "a class of your own handles each record", "it may change, drop or rename what is copied"
        yield at(file, setting, LintCode.MESSAGE_HANDLER, found, effect, "Compare what it does with the new copy.")


def _abort(file: MirrorFile, setting: MirrorSetting) -> Iterator[LintFinding]:
    if setting.value.lower() == "false":
        found, effect = "MirrorMaker does not stop after a record that it could not write", "the record is lost"
        yield at(file, setting, LintCode.FAILURE_IGNORED, found, effect, "Remove the option.")
    elif setting.value.lower() != "true":
        found = f"the value {value_of(setting)} is neither true nor false"
        yield at(file, setting, LintCode.VALUE_TYPE, found, _NOT_STARTED, "Write true, or remove the option.")


def environment(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for a login that is in a file of its own, which this command does not copy to other places."""
    for setting in file.at(Place.OPTION, ENVIRONMENT):
        if setting.key == "java.security.auth.login.config":
            found, effect = "the login is in a file of its own", "it is not judged here"
            fix = "Write the login of MirrorMaker 2 into `sasl.jaas.config`."
            yield at(file, setting, LintCode.LOGIN_ELSEWHERE, found, effect, fix)


def removed(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding if the version has no MirrorMaker 1."""
    if file.kind.is_mirrormaker1 and ground.is_at_least("4.0"):
        found = f"Kafka {ground.version} has no MirrorMaker 1"
        yield on_file(file, LintCode.MIRRORMAKER1_REMOVED, found, _NOT_STARTED, "Use MirrorMaker 2.", file.line)


COMMAND_RULES = (command, environment, removed)
