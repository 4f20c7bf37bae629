"""Rules on addresses of brokers, read as Kafka's clients read them, and on references and variables in values."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.secret_forms import may_be_shown
from kafka_migration.core.text.shortened import given
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
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.remarks import Oddity

_SCHEME = regex(r"(?P<scheme>[0-9a-zA-Z\-%._]{0,100})://")
# Host, and port after the last colon; an address of IPv6 may stand in brackets.
_ADDRESS = regex(r"\[?(?P<host>[0-9a-zA-Z\-%._:]{0,300})\]?:(?P<port>[0-9]{1,20})")
_IPV6 = regex(r"[0-9a-fA-F:]{1,39}(?:\.[0-9.]{1,15})?(?:%[0-9a-zA-Z._-]{1,30})?")
_SEPARATOR = regex(r"[0-9][\s;|]{1,10}[0-9a-zA-Z]")
_PLACEHOLDER = regex(
    r"<[^<>]{0,100}>|\b(?:change|replace)[-_]?(?:me|this)\b|\b(?:your|my-?own)[-_]|\bx{3,40}\b|\bTODO\b|\bFIXME\b",
    re.IGNORECASE,
)
_BARE_VARIABLE = regex(r"[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,10}(?::\w{1,20})?")
_WHOLE_PLACEHOLDER = regex(r"<[^<>]{1,100}>")
# What has any text as its value, so that no other rule sees a placeholder.
_NAMES = frozenset({"group.id", "client.id", "topics", "groups", "topics.exclude", "groups.exclude"})
_NAMES |= {"topics.blacklist", "groups.blacklist", *PATTERNS}
_HIGHEST_PORT = 65_535
_ZOOKEEPER = ":2181"
# Schemes of the web; the others are names of listeners, which Kafka itself prints.
_WEB = frozenset({"http", "https", "tcp", "kafka", "ssl+tcp"})
_NOT_THERE = "MirrorMaker does not reach the cluster"
_OTHER_SIGN = "has another sign than a comma between addresses"
# Kafka replaces `${provider:path:key}` and `${provider:key}`.
_PROVIDER = regex(r"\$\{(?P<name>[A-Za-z][\w.-]{0,100}):(?P<rest>[^{}]{0,500})\}")
# A shell's variable, also with a default (`${NAME:-1}`), and the expression of a template.
_VARIABLE = regex(r"\$\{[A-Za-z_]\w{0,100}(?::?[-=?+][^{}]{0,200})?\}|\$\([A-Za-z_][\w.]{0,100}\)|\{\{[^{}]{0,300}\}\}")
_WITH_DEFAULT = regex(r":?[-=?+]|\{\{")
# Strimzi's operator adds these by itself.
_OF_STRIMZI = regex(r"strimzi\w{1,30}|file|env|dir|secrets|configmaps")
# A file with more variables is a template.
_FEW = 2
_PROPERTIES = frozenset({FileKind.MIRRORMAKER2, FileKind.CONSUMER, FileKind.PRODUCER})


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
    if _PLACEHOLDER.search(item) or _BARE_VARIABLE.fullmatch(item):
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


def providers(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each provider that the file does not configure, with all lines that refer to it."""
    named, users = _named(file), defaultdict[str, list[MirrorSetting]](list)
    for setting in file.settings:
        for name in dict.fromkeys(_references(setting)):
            if name not in named and not (file.kind is FileKind.STRIMZI and _OF_STRIMZI.fullmatch(name)):
                users[name].append(setting)
    for name, own in users.items():
        found = _missing(file, own[0], given(name) if may_be_shown(name) else "of the reference")
        yield replace(found, others=tuple(dict.fromkeys(each.line for each in own[1:] if each.line != own[0].line)))


def _references(setting: MirrorSetting) -> list[str]:
    if setting.place in {Place.FIELD, Place.OPTION}:
        return []
    found = _PROVIDER.finditer(setting.value)
    return [each["name"] for each in found if each["rest"][:1] not in set("-=?+")]


def _named(file: MirrorFile) -> set[str]:
    """Return the providers that `config.providers` names and that have a class; without it Kafka skips them."""
    names = {name for each in file.settings if each.key == "config.providers" for name in items_of(each.value)}
    keys = {each.key for each in file.settings}
    return {name for name in names if f"config.providers.{name}.class" in keys}


def _missing(file: MirrorFile, setting: MirrorSetting, name: str) -> LintFinding:
    if file.kind is FileKind.CONNECTORS:
        fix = f"Check that `config.providers` of the worker names {name}."
        effect = "the worker resolves it, not the connector"
        return at(file, setting, LintCode.PROVIDER_OF_WORKER, f"a reference to the provider {name}", effect, fix)
    fix = f"Name {name} in `config.providers`, and give `config.providers.….class`."
    effect = "Kafka takes the text of the reference as the value"
    found = f"no configuration of the provider {name}"
    return at(file, setting, LintCode.PROVIDER_MISSING, found, effect, fix)


def variables(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield one finding for all variables of a shell or template in a file that no shell reads."""
    is_quoted = any(each.oddity is Oddity.HERE_DOCUMENT_QUOTED for each in file.remarks)
    if file.kind is FileKind.COMMAND or file.is_filled or is_quoted:
        return
    used = [each for each in file.settings if _VARIABLE.search(each.value) and each.place is not Place.FIELD]
    if not used:
        return
    is_few = len(used) <= _FEW and not any(_is_template(each) for each in used)
    if file.kind in _PROPERTIES and is_few:
        effect = "Kafka does not replace it, so its text is the value"
        fix = "Write the value, or a reference `${provider:path:key}` with a provider."
        finding = at(file, used[0], LintCode.VARIABLE_NOT_REPLACED, "a variable of a shell", effect, fix)
    else:
        effect = "Kafka does not replace them, and they are not judged"
        fix = "Judge the file again after they are replaced."
        finding = at(file, used[0], LintCode.TEMPLATE, "variables of a shell or template", effect, fix)
    yield replace(finding, others=tuple(each.line for each in used[1:]))


def _is_template(setting: MirrorSetting) -> bool:
    return any(_WITH_DEFAULT.search(each[0]) for each in _VARIABLE.finditer(setting.value))


REFERENCE_RULES = (providers, variables)
