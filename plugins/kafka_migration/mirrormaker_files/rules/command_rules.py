"""Rules on the command line of MirrorMaker 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_migration.core.text.brief import some
from kafka_migration.mirrormaker_files.model.judging import (
    LintFinding,
    at,
    is_false,
    key_of,
    listed,
    on_file,
    value_of,
)
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.rules.ground import Ground

_OPTIONS = frozenset(
    {
        "consumer.config",
        "producer.config",
        "num.streams",
        "whitelist",
        "include",
        "blacklist",
        "offset.commit.interval.ms",
        "consumer.rebalance.listener",
        "rebalance.listener.args",
        "message.handler",
        "message.handler.args",
        "abort.on.send.failure",
        "new.consumer",
        "help",
        "version",
    }
)


def command(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each option that is missing, unknown, of another version, or without effect."""
    if file.kind is not FileKind.COMMAND:
        return
    there = {each.key for each in file.settings}
    for setting in file.settings:
        yield from _option(file, setting, ground)
    if "consumer.config" not in there:
        yield on_file(file, LintCode.OPTION_MISSING, "no --consumer.config", "it", "Add --consumer.config FILE.")
    if not there & {"whitelist", "include", "blacklist", "help", "version"}:
        fix = "Add --whitelist PATTERN."
        yield on_file(file, LintCode.OPTION_MISSING, "no --whitelist and no --include", "one of them", fix)


def _option(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> Iterator[LintFinding]:
    version = LintCode.OPTION_OF_ANOTHER_VERSION
    if setting.key not in _OPTIONS:
        expected = f"one of {some(sorted(_OPTIONS), 20)}"
        yield at(
            file, setting, LintCode.OPTION_UNKNOWN, key_of(setting, setting.name), expected, "Correct or remove it."
        )
    elif setting.key == "blacklist":
        fix = "Write a --whitelist that leaves these topics out."
        yield at(file, setting, version, "an option of Kafka before 2.0", "--whitelist", fix)
    elif setting.key == "include" and ground.is_at_least("3.0") is False:
        yield at(file, setting, version, "an option of Kafka 3.0 and later", "--whitelist", "Write --whitelist.")
    elif setting.key == "new.consumer":
        expected = "no such option"
        yield at(file, setting, LintCode.OPTION_WITHOUT_EFFECT, "it", expected, "Remove it.")
    elif setting.key == "abort.on.send.failure" and is_false(setting):
        yield at(file, setting, LintCode.FAILURE_IGNORED, "false", "true", "Remove it.")
    elif setting.key in {"num.streams", "offset.commit.interval.ms"} and not setting.value.isdecimal():
        yield at(file, setting, LintCode.VALUE_TYPE, value_of(setting), "a whole number", "Correct the value.")


def removed(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding if the version has no MirrorMaker 1."""
    if file.kind.is_mirrormaker1 and ground.is_at_least("4.0"):
        fix = "Use MirrorMaker 2."
        expected = "MirrorMaker 2"
        yield on_file(file, LintCode.MIRRORMAKER1_REMOVED, f"MirrorMaker 1 with Kafka {ground.version}", expected, fix)


def mirrormaker1_loop(files: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield a finding if a consumer and a producer of MirrorMaker 1 use the same cluster."""
    consumed = {address for file in files if file.kind is FileKind.CONSUMER for address in _addresses(file)}
    for file in files:
        setting = file.last(Place.CLIENT, "bootstrap.servers")
        if file.kind is FileKind.PRODUCER and setting and consumed & _addresses(file):
            found = "an address of the consumer's cluster"
            expected = "an address of the target"
            yield at(file, setting, LintCode.LOOP, found, expected, "Correct `bootstrap.servers`.")


def _addresses(file: MirrorFile) -> frozenset[str]:
    setting = file.last(Place.CLIENT, "bootstrap.servers")
    return frozenset(listed(setting.value)) if setting else frozenset()


COMMAND_RULES = (command, removed)
