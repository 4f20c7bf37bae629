"""Rules on keys that stand twice, under one name or under an old and a new one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, has_secret, key_of, value_of
from kafka_migration.mirrormaker_files.model.mirror_settings import PER_OWNER, MirrorFile, MirrorSetting, Place


def repeated_keys(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each line that a later line of the same key replaces with another value."""
    lines = defaultdict[tuple[str, str], list[MirrorSetting]](list)
    for setting in file.settings:
        if setting.place is not Place.OPTION:
            lines[setting.owner if file.kind in PER_OWNER else "", setting.name].append(setting)
    for same in lines.values():
        last = same[-1]
        for setting in same[:-1]:
            # A resource may say the same for several connectors of a flow.
            if setting.value != last.value and setting.place is not Place.FIELD and setting.line != last.line:
                found = "a secret" if has_secret(setting) else value_of(setting)
                found = f"the key stands twice, here with {found}"
                effect = f"the value of line {last.line} is used, and this one is ignored"
                fix = "Remove the wrong line."
                yield at(file, setting, LintCode.KEY_REPEATED, found, effect, fix, (last.line,))


def overlapping_keys(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each old name that stands beside its new name."""
    there = {(each.place, each.owner, each.key): each for each in file.settings}
    for setting in file.settings:
        new = there.get((setting.place, setting.owner, re.sub(r"\.blacklist$", ".exclude", setting.key)))
        if new is not None and new.key != setting.key:
            found = f"{key_of(new)}, the new name of this key, is in the file too"
            effect = f"Kafka 2.7 to 3.9 use {key_of(new)} only, earlier versions {key_of(setting)} only"
            fix = "Remove the line that your version ignores."
            yield at(file, setting, LintCode.KEYS_OVERLAP, found, effect, fix, (new.line,))


TWICE_RULES = (repeated_keys, overlapping_keys)
