"""Rules on keys of families that plug-ins and topics extend, of which no table can know all.

Such a key is judged only if it is almost one of Kafka's, and Kafka has no key of its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.ground.meant import renamed
from kafka_migration.mirrormaker_files.ground.right_place import right_place
from kafka_migration.mirrormaker_files.line_rules.key_rules import is_storage_of_connector
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, key_of
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import is_free, is_of_storage

# Two names of a family that are less alike than this may be two keys.
_ALMOST = 0.92
# More keys of families in one file are not compared.
_MOST_COMPARED = 100
_PROVIDER = regex(r"(config\.providers\.[\w-]{1,100})\.(?!param\.)[\w.-]{1,100}")


def families(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each key of a family that is almost a key of Kafka."""
    own = [each for each in file.settings if each.place not in {Place.OPTION, Place.FIELD} and is_free(each)]
    for setting in own[:_MOST_COMPARED]:
        near = _near(setting, ground)
        if near:
            yield _misspelled(file, setting, near, ground)


def _near(setting: MirrorSetting, ground: Ground) -> str:
    """Return the key of Kafka that is meant; empty if the key is one of Kafka, or like none."""
    key = setting.key
    if ground.keys.roles_of(key):
        return ""
    names = [each for each in ground.keys.names if _family(each) == _family(key)]
    if provider := _PROVIDER.fullmatch(key):
        names = [f"{provider[1]}.class"]
    found = get_close_matches(key, names, 1, _ALMOST)
    return found[0] if found and found[0] != key else ""


def _family(key: str) -> str:
    """Return the beginning of a key's first word, which `metrics.` and `metric.` have in common."""
    return key.partition(".")[0][:5]


def _misspelled(file: MirrorFile, setting: MirrorSetting, near: str, ground: Ground) -> LintFinding:
    found, fix = "no version of Kafka has this key", f"Write {key_of(setting, renamed(setting, near))}."
    effect = "it is ignored, unless a plug-in reads it"
    if is_storage_of_connector(setting):
        effect, fix = "no connector reads it", right_place(file, replace(setting, key=near), ground)
    elif is_of_storage(setting.key):
        effect = "the worker hands it to its topic as a setting, and brokers refuse to create the topic"
    return at(file, setting, LintCode.KEY_MISSPELLED, found, effect, fix)


FAMILY_RULES = (families,)
