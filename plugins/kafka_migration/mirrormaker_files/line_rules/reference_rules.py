"""Rules on references and variables in values: who replaces them, and whether it is there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.secret_forms import may_be_shown
from kafka_migration.core.text.shortened import given
from kafka_migration.kafka_tables.accepted import items_of
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.remarks import Oddity

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
