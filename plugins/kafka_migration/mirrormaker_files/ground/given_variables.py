"""Values that stand elsewhere: in the variables of a container, or put into a file by a script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.model.command_options import PATTERNS
from kafka_migration.mirrormaker_files.model.mirror_settings import (
    FileKind,
    MirrorFile,
    MirrorSetting,
    Place,
    VariableList,
)
from kafka_migration.mirrormaker_files.model.remarks import Oddity, Remark

_NAME = regex(r"\$(?:(?P<plain>[A-Za-z_]\w{0,199})|\{(?P<braced>[A-Za-z_]\w{0,199})(?::?-[^{}]{0,200})?\})")
# What replaces a text whose value is not known; Kafka's keys have no such reference.
_UNKNOWN = "${replaced}"
_CONTEXT = frozenset({FileKind.COMMAND, FileKind.START, FileKind.VARIABLES})
# A value with more characters is not put in.
_LONGEST = 1_000


def with_variables(files: Sequence[MirrorFile]) -> list[MirrorFile]:
    """Return the files with the values that their readers get, each with the line on which it stands."""
    given, filled = _given(files), _Filled(files)
    appended = {PurePosixPath(path).name for file in files for path in file.script.appended if "/" in path}
    whole = {_name(file) for file in files if file.kind is FileKind.MIRRORMAKER2 and "/" not in file.part}
    # The lines that a script adds to a file of MirrorMaker 2 are no file of their own.
    own = [each for each in files if "/" not in each.part or _name(each) not in whole & appended]
    return [_appended_to(_with_values(file, given, filled), appended) for file in own]


def _appended_to(file: MirrorFile, names: set[str]) -> MirrorFile:
    """Return a file with a note that a script adds lines to it; what the script writes itself has a path."""
    is_open = file.kind not in _CONTEXT and "/" not in file.part and _name(file) in names
    return replace(file, is_partial=True) if is_open else file


def names_used(files: Sequence[MirrorFile]) -> frozenset[str]:
    """Return the names of the variables that commands, and files into which a script puts values, use."""
    return frozenset(_of(match) for _, _, match in uses(files))


def uses(files: Sequence[MirrorFile]) -> Iterator[tuple[MirrorFile, MirrorSetting, re.Match[str]]]:
    """Yield each use of a variable in a command, and in a file into which a script puts values."""
    filled = _Filled(files)
    for file in files:
        if file.kind is FileKind.COMMAND or filled.is_filled(file):
            for each in file.settings:
                yield from ((file, each, match) for match in _NAME.finditer(each.value))


def unused(files: Sequence[MirrorFile]) -> Iterator[MirrorFile]:
    """Yield the files of variables of which no other file uses one, and scripts that fill none of the files."""
    used = names_used(files)
    for file in files:
        is_idle = file.kind is FileKind.VARIABLES and not used & {each.key for each in file.settings}
        filled = _Filled([file])
        if is_idle and not any(map(filled.is_filled, files)):
            yield file


def _given(files: Sequence[MirrorFile]) -> dict[str, tuple[str, str, int]]:
    """Return value, file and line of each variable; Kubernetes and Compose replace those of an image's file."""
    found, doubtful = dict[str, tuple[str, str, int]](), set[str]()
    of_variables = [file for file in files if file.kind is FileKind.VARIABLES]
    for file in sorted(of_variables, key=lambda each: _is_manifest(each.name)):
        for each in file.settings:
            before = found.get(each.key)
            if before and before[0] != each.value and _is_manifest(before[1]) == _is_manifest(file.name):
                doubtful.add(each.key)
            found[each.key] = each.value, file.name, each.line
    return {name: each for name, each in found.items() if name not in doubtful and "$" not in each[0]}


def _is_manifest(name: str) -> bool:
    return name.lower().endswith((".yaml", ".yml"))


def _name(file: MirrorFile) -> str:
    return PurePosixPath(file.part or file.name).name


class _Filled:
    """What scripts put into files."""

    def __init__(self, files: Sequence[MirrorFile]) -> None:
        self._texts = {each for file in files for each in file.script.filled}
        self._lists = list(dict.fromkeys(each for file in files for each in file.script.lists))

    def is_filled(self, file: MirrorFile) -> bool:
        return bool(self.texts(file) or self.lists(file))

    def texts(self, file: MirrorFile) -> set[str]:
        """Return the texts that are replaced in a file; an empty one for all variables."""
        return {text for name, text in self._texts if name == _name(file)} if file.kind not in _CONTEXT else set()

    def lists(self, file: MirrorFile) -> list[VariableList]:
        """Return the lists of the variables that are replaced in a file."""
        return [each for each in self._lists if _name(file) in each.files] if file.kind not in _CONTEXT else []


def not_listed(files: Sequence[MirrorFile]) -> Iterator[tuple[MirrorFile, int, MirrorFile, list[str]]]:
    """Yield each script and the line of its list, with a file and its variables that no list has."""
    filled = _Filled(files)
    for file in files:
        lists, texts = filled.lists(file), filled.texts(file)
        used = list(dict.fromkeys(_of(match) for each in file.settings for match in _NAME.finditer(each.value)))
        listed = frozenset[str]().union(*(each.names for each in lists))
        left = [name for name in used if name not in listed and not any(name in text for text in texts)]
        # A single name that the file does not have may hold the list.
        is_known = len(listed) != 1 or bool(listed & set(used))
        if lists and left and "" not in texts and is_known:
            script = next(each for each in files if lists[0] in each.script.lists)
            yield script, lists[0].line, file, left


def _with_values(file: MirrorFile, given: Mapping[str, tuple[str, str, int]], filled: _Filled) -> MirrorFile:
    if file.kind is FileKind.COMMAND:
        known = {name: each for name, each in given.items() if name not in file.script.assigned}
        settings = tuple(_put_in(each, known) if each.place is Place.OPTION else each for each in file.settings)
        return replace(file, settings=settings, remarks=tuple(_unquoted(file, settings)))
    texts, lists = filled.texts(file), filled.lists(file)
    if not texts and not lists:
        return file
    settings = tuple(_replaced(each, texts) for each in file.settings)
    if "" in texts:
        settings = tuple(_put_in(each, given, is_open=True) for each in settings)
    elif lists:
        known = {name: each for name, each in given.items() if any(name in listed.names for listed in lists)}
        settings = tuple(_put_in(each, known, is_open=True) for each in settings)
    return replace(file, settings=settings, is_filled=True)


def _unquoted(file: MirrorFile, settings: Sequence[MirrorSetting]) -> Iterator[Remark]:
    """Yield the remarks, with those on variables without quotes whose value has signs that the shell replaces."""
    values = {(each.line, each.name): each.value for each in settings if each.key in PATTERNS and each.origin}
    for remark in file.remarks:
        if remark.oddity is not Oddity.VARIABLE_UNQUOTED:
            yield remark
        elif any(sign in values.get((remark.line, remark.name), "") for sign in "*?["):
            yield remark._replace(oddity=Oddity.UNQUOTED)


def _replaced(setting: MirrorSetting, texts: set[str]) -> MirrorSetting:
    """Return a setting whose value is not known if `sed` replaces a text in its line."""
    line = "=".join((setting.name, setting.value))
    return setting._replace(value=_UNKNOWN) if any(text and text in line for text in texts) else setting


def _put_in(
    setting: MirrorSetting, given: Mapping[str, tuple[str, str, int]], *, is_open: bool = False
) -> MirrorSetting:
    """Return a setting with the values of its variables; `is_open` if an unknown one becomes a reference."""
    used = [found for match in _NAME.finditer(setting.value) if (found := given.get(_of(match)))]
    value = _NAME.sub(lambda match: _value(match, given, is_open=is_open), setting.value)
    if value == setting.value or len(value) > len(setting.value) + _LONGEST:
        return setting
    return setting._replace(value=value, origin=used[0][1:] if used else None)


def _value(match: re.Match[str], given: Mapping[str, tuple[str, str, int]], *, is_open: bool) -> str:
    found = given.get(_of(match))
    return found[0] if found else f"${{{_of(match)}}}" if is_open else match[0]


def _of(match: re.Match[str]) -> str:
    return match["plain"] or match["braced"]
