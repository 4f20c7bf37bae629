"""Rules on the addresses of brokers, read as Kafka's clients read them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_migration.core.text.regex import regex
from kafka_migration.kafka_tables.accepted import items_of
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.model.command_options import PATTERNS
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import (
    REFERENCE,
    LintFinding,
    at,
    has_comment,
    is_shown,
    the_value,
    value_of,
)
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting, Place

_SCHEME = regex(r"(?P<scheme>[0-9a-zA-Z\-%._]{0,100})://")
# Host, and port after the last colon; an address of IPv6 may stand in brackets.
_ADDRESS = regex(r"\[?(?P<host>[0-9a-zA-Z\-%._:]{0,300})\]?:(?P<port>[0-9]{1,20})")
_IPV6 = regex(r"[0-9a-fA-F:]{1,39}(?:\.[0-9.]{1,15})?(?:%[0-9a-zA-Z._-]{1,30})?")
_SEPARATOR = regex(r"[0-9][\s;|]{1,10}[0-9a-zA-Z]")
_PLACEHOLDER = regex(
    r"<[^<>]{0,100}>|\b(?:change|replace)[-_]?(?:me|this)\b|\b(?:your|my-?own)[-_]|\bx{3,40}\b|\bTODO\b|\bFIXME\b"
    # A name of a variable in capital letters.
    r"|^(?-i:[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,10})(?::\w{1,20})?$",
    re.IGNORECASE,
)
_WHOLE_PLACEHOLDER = regex(r"<[^<>]{1,100}>")
# What has any text as its value, so that no other rule sees a placeholder.
_NAMES = frozenset({"group.id", "client.id", "topics", "groups", "topics.exclude", "groups.exclude"})
_NAMES |= {"topics.blacklist", "groups.blacklist", *PATTERNS}
_HIGHEST_PORT = 65_535
_ZOOKEEPER = ":2181"
# Schemes of the web; the others are names of listeners, which Kafka itself prints.
_WEB = frozenset({"http", "https", "tcp", "kafka", "ssl+tcp"})
_NOT_THERE = "MirrorMaker does not reach the cluster"


def addresses_of_clusters(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for the first item of each list of addresses that is no address."""
    for setting in file.settings:
        if setting.key != "bootstrap.servers" or setting.place in {Place.FIELD, Place.OPTION} or has_comment(setting):
            continue
        items = [REFERENCE.sub("reference:1", item) for item in items_of(setting.value)]
        if not any(items):
            found, fix = "no address", "Write the addresses of brokers as `host:port`, with commas between them."
            yield at(file, setting, LintCode.ADDRESS_REFUSED, found, _effect(file, ""), fix)
            continue
        findings = (_judged(file, setting, item) for item in items if item and not _is_variable(item))
        yield from [each for each in findings if each][:1]


def _is_variable(item: str) -> bool:
    """Return whether a part of an address is filled in before Kafka reads it."""
    return "reference:1" in item or "$" in item or "{" in item or item.strip("\"'") != item


def _effect(file: MirrorFile, reason: str) -> str:
    if reason == _OTHER_SIGN:
        # `ClientUtils` before 3.8 takes what stands last for the host.
        return "Kafka refuses the list, or before 3.8 takes only the last address"
    return "MirrorMaker does not start" if file.kind.is_mirrormaker1 else "Kafka refuses the address, so nothing starts"


def _judged(file: MirrorFile, setting: MirrorSetting, item: str) -> LintFinding | None:
    if _PLACEHOLDER.search(item):
        found = f"{the_value(setting, item)} is a placeholder"
        fix = "Write the address of a broker."
        return at(file, setting, LintCode.ADDRESS_PLACEHOLDER, found, _NOT_THERE, fix)
    scheme = _SCHEME.match(item)
    rest = item[scheme.end() :] if scheme else item
    if reason := _reason(rest):
        found = f"{the_value(setting, item)} {reason}"
        return at(file, setting, LintCode.ADDRESS_REFUSED, found, _effect(file, reason), _fix(reason))
    if rest.endswith(_ZOOKEEPER):
        found = f"{the_value(setting, item)} has the usual port of ZooKeeper"
        effect = "if ZooKeeper listens there, clients of Kafka get no answer"
        fix = "Write the address of a broker, unless a broker listens at this port."
        return at(file, setting, LintCode.ADDRESS_OF_ZOOKEEPER, found, effect, fix)
    if scheme and scheme["scheme"].lower() in _WEB:
        found = f"{the_value(setting, item)} has a scheme"
        fix = f"Write {value_of(setting, rest)}." if is_shown(setting) else "Remove the scheme."
        return at(file, setting, LintCode.ADDRESS_SCHEME, found, "Kafka ignores it and speaks its own protocol", fix)
    return None


_OTHER_SIGN = "has another sign than a comma between addresses"


def _reason(address: str) -> str:
    """Return why Kafka does not connect to an address; empty if it does."""
    found = _ADDRESS.fullmatch(address)
    if not found:
        return _OTHER_SIGN if _SEPARATOR.search(address) else "is no host and port"
    host, port = found["host"], int(found["port"])
    if not host:
        return "has no host, which Java reads as the own machine"
    if not 0 < port <= _HIGHEST_PORT:
        return f"has a port outside of 1 to {_HIGHEST_PORT:,}"
    if ":" in host and not (_IPV6.fullmatch(host) and host.count(":") > 1):
        return "has two ports"
    return ""


def _fix(reason: str) -> str:
    if "comma" in reason:
        return "Write a comma between two addresses."
    return "Write the port of the broker." if "port outside" in reason else "Write `host:port`."


def placeholders(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each name or pattern that is a placeholder."""
    for setting in file.settings:
        is_name = setting.key in _NAMES and setting.place is not Place.FIELD
        if is_name and _WHOLE_PLACEHOLDER.fullmatch(setting.value.strip()):
            found, effect = (
                f"the value {value_of(setting)} is a placeholder",
                "MirrorMaker takes this text as the value",
            )
            yield at(file, setting, LintCode.VALUE_PLACEHOLDER, found, effect, "Write the value.")


ADDRESS_RULES = (addresses_of_clusters, placeholders)
