"""Rules on the aliases of connectors on Kafka Connect: blank ones, equal ones, and those of connectors that differ.

`DefaultReplicationPolicy.topicSource` splits a name at the separator, and `MirrorSourceConnector.isCycle` compares the
first part with the alias of the target. `IdentityReplicationPolicy.topicSource` is always the alias of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kafka_migration.mirrormaker_files.effective.readers import Effective, Given
from kafka_migration.mirrormaker_files.ground.ground import (
    CONNECTORS,
    SOURCE,
    Ground,
    at_given,
    given_in,
    is_of,
    lines_in,
    value,
)
from kafka_migration.mirrormaker_files.line_rules.name_rules import (
    ALIAS,
    DEFAULT,
    IDENTITY,
    SEPARATOR,
    blank_separator,
    kept_by_blanks,
    naming,
)
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile

TARGET_ALIAS = "target.cluster.alias"
_BLANK_FIX = "Give both clusters aliases; from Kafka 3.0 on IdentityReplicationPolicy keeps the names."


def connector_names(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each connector with a blank alias or separator, or with one alias for both clusters."""
    for each in ground.readers.at(*CONNECTORS) if file.kind is FileKind.CONNECTORS else ():
        if is_of(file, each):
            source, target = (given_in(file, each, key) for key in (ALIAS, TARGET_ALIAS))
            if source and target and source.value.strip() == target.value.strip():
                yield from _equal(file, each, source, target)
            yield from _blank(file, each, source, target)


def _equal(file: MirrorFile, each: Effective, source: Given, target: Given) -> Iterator[LintFinding]:
    found = "source and target have one and the same alias"
    fix = "Give each cluster an alias of its own, the same in all connectors."
    if naming(each).policy == IDENTITY and each.reader.role == SOURCE:
        effect = "IdentityReplicationPolicy takes every topic for a copy from the target, so none is copied"
        yield at_given(file, target, LintCode.NO_TOPIC_COPIED, found, effect, fix, lines_in(file, source))
    elif value(each, ALIAS):
        effect = "connectors with the real aliases do not find its offset syncs"
        if naming(each).policy == DEFAULT:
            effect = f"topics that begin with this alias are not copied, and {effect}"
        yield at_given(file, target, LintCode.ALIASES_EQUAL, found, effect, fix, lines_in(file, source))


def _blank(file: MirrorFile, each: Effective, source: Given | None, target: Given | None) -> Iterator[LintFinding]:
    own = naming(each)
    separator = given_in(file, each, SEPARATOR) if own.policy == DEFAULT else None
    blank = [given for given in (source, target, separator) if given and not given.value.strip()]
    if not blank or own.policy not in {DEFAULT, IDENTITY}:
        return
    others = lines_in(file, *blank[1:])
    if blank == [separator]:
        yield blank_separator(file, blank[0], own.alias)
    elif blank == [source, separator]:
        yield kept_by_blanks(file, blank[0], others)
    else:
        found, effect = _of_alias(own.policy, source in blank, separator in blank)
        yield at_given(file, blank[0], LintCode.ALIAS_BLANK, found, effect, _BLANK_FIX, others)


def _of_alias(policy: str, is_source: bool, is_separator: bool) -> tuple[str, str]:
    """Return what is found, and its effect, if an alias is blank."""
    if not is_source:
        return "the alias of the target is blank", "MirrorMaker copies topics again that the way back has copied"
    if is_separator:
        effect = "topics keep their names, copies are not recognised, and all such flows share their internal topics"
        return "the aliases and the separator are blank", effect
    if policy == IDENTITY:
        return "the alias is blank", "all flows with a blank alias share their internal topics"
    return "the alias is blank, and the separator is not", "a topic gets only the separator in front of its name"


def at_aliases(finding: LintFinding, file: MirrorFile, each: Effective, sources: Sequence[Effective]) -> LintFinding:
    """Return a finding about connectors whose flows differ with the lines of their aliases that differ."""
    keys = [key for key in (ALIAS, TARGET_ALIAS) if all(value(one, key) != value(each, key) for one in sources)]
    own = [given for key in keys if (given := given_in(file, each, key))]
    others = [given for one in sources for key in keys if (given := given_in(file, one, key))]
    lines = lines_in(file, *own, *others)
    return replace(finding, line=lines[0], others=lines[1:]) if lines else finding


ALIAS_RULES = (connector_names,)
