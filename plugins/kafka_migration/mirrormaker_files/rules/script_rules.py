"""Rules on what a script does before MirrorMaker starts: its variables, and the lines of its commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kafka_migration.core.text.shortened import some
from kafka_migration.kafka_tables.accepted import nearest_word
from kafka_migration.mirrormaker_files.ground.given_variables import names_used, not_listed, uses
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, on_file
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting

# So many variables are compared with those that are not used, and so many of these.
_MOST_COMPARED = 200


def scripts(files: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield the findings on scripts and on the variables of the files that are given together."""
    yield from _cut(files)
    yield from _not_listed(files)
    yield from _not_set(files)


def _cut(files: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield a finding for each line that ends a command whose options follow."""
    for file in files:
        for line, following in file.script.cut:
            found = f"the command ends here, and line {following} has options of it"
            effect = f"line {following} is read as a command of its own, so the program lacks these options"
            fix = "End the line with a backslash. No blank, comment or empty line may follow it."
            yield on_file(file, LintCode.COMMAND_CUT, found, effect, fix, line)


def _not_listed(files: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield a finding for each `envsubst` whose list lacks variables of its file."""
    for script, line, file, names in not_listed(files):
        words = some([f"${each}" for each in names])
        found = f"`envsubst` replaces only the variables of its list, and {file.part or file.name} has also {words}"
        effect = "the text of these variables stays, and MirrorMaker gets it as the value"
        yield on_file(script, LintCode.VARIABLE_NOT_LISTED, found, effect, "Add them, or remove the list.", line)


def _not_set(files: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield a finding for each variable that no file sets, if a variable of a similar name has no use."""
    given = [file for file in files if file.kind is FileKind.VARIABLES]
    places = {each.key: (file.name, each.line) for file in given for each in file.settings}
    known = places.keys() | {name for file in files for name in file.script.assigned}
    unused = tuple(sorted(places.keys() - names_used(files)))[:_MOST_COMPARED]
    named = [use for use in uses(files) if _required(use[2]) not in known | {""}]
    for file, setting, match in named[:_MOST_COMPARED]:
        name = _required(match)
        if near := nearest_word(name, unused):
            yield _misspelt(file, setting, name, near, places[near])


def _required(match: re.Match[str]) -> str:
    """Return the name of a variable that has no default value; else an empty one."""
    name = match["plain"] or match["braced"]
    return name if match["plain"] or match[0] == f"${{{name}}}" else ""


def _misspelt(file: MirrorFile, setting: MirrorSetting, name: str, near: str, place: tuple[str, int]) -> LintFinding:
    found = f"no given file sets ${name}, and line {place[1]} of {place[0]} sets ${near}, which is not used"
    effect = "MirrorMaker gets an empty value, or the text of the variable"
    return at(file, setting, LintCode.VARIABLE_NOT_SET, found, effect, f"Write ${near}.")
