"""Java properties with line numbers, read as `java.util.Properties` reads them, and what the files of each kind set.

The place of each key of MirrorMaker 2 is that to which `MirrorMakerConfig` resolves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from kafka_migration.core.text.regex import regex
from kafka_migration.kafka_tables.accepted import trimmed
from kafka_migration.mirrormaker_files.model.lint_limits import LONGEST_ALIAS, require_few_clusters
from kafka_migration.mirrormaker_files.model.mirror_settings import (
    CLIENTS,
    FileKind,
    Flow,
    MirrorFile,
    MirrorSetting,
    Place,
)
from kafka_migration.mirrormaker_files.model.remarks import Oddity, Remark

_BLANK = " \t\f"
_SEPARATOR = regex(rf"[{_BLANK}]*[=:]?[{_BLANK}]*")
_ESCAPE = regex(r"\\(u[0-9A-Fa-f]{4}|.|$)", re.DOTALL)
# A backslash that Java removes although the writer meant it: of a regular expression, or of a path. Within brackets
# most signs mean themselves without it.
_DROPPED = regex(r"\\[^\\tnrfu\W_]|\\[.*+?()\[\]{}|^$]")
_DROPPED_IN_BRACKETS = regex(r"\\[^\\tnrfu\W_]|\\[\[\]^&]")
_ESCAPE_OR_BRACKET = regex(r"\\.|[\[\]]", re.DOTALL)
# The arrow of a flow, and later a `=`: the blank before it ends the key.
_ARROW = regex(r"(?:[^\s=:\\]{1,200}[ \t\f]{1,20}->|[^\s=:\\]{1,200}->[ \t\f]{1,20})[^=:]{1,200}[=:]")
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BREAK = regex(r"\r\n|\r|\n")
_MARK = "\ufeff"
# Keys of connectors that begin like a prefix.
_WHOLE_KEYS = frozenset(
    {"consumer.poll.timeout.ms", "admin.timeout.ms", "source.cluster.alias", "target.cluster.alias"}
)
_SIDES = regex(r"(?:(source|target)\.)?(cluster|producer|consumer|admin)(?:\.override)?\.(.+)")


class Entry(NamedTuple):
    """A key and its value, with the number of the line on which the key starts.

    `dropped` is the first backslash of the value, with the letter after it, that Java removes; empty if there is none.
    `last` is the line on which a value ends that backslashes continue, else 0.
    """

    line: int
    name: str
    value: str
    dropped: str = ""
    last: int = 0


class _LogicalLine(NamedTuple):
    """A logical line: its first physical line, and each of them without the backslash that continues it."""

    parts: tuple[tuple[int, str], ...]
    # The comment before it ends with a backslash, so the writer may have meant a part of the comment.
    after_comment: int = 0

    @property
    def number(self) -> int:
        return self.parts[0][0]

    @property
    def content(self) -> str:
        return "".join(part for _, part in self.parts)


def entries(text: str) -> list[Entry]:
    """Return the entries in the order of the file, repeated keys included.

    A value keeps its trailing blanks, and `#` starts a comment only at the beginning of a line.
    """
    return [_entry(line) for line in _logical_lines(text)]


def remarks(text: str, *, is_utf8: bool = True) -> list[Remark]:
    """Return where Java reads something other than what is meant. Java takes the bytes of the file as ISO 8859-1."""
    lines = _logical_lines(text)
    found = [each for line, after in zip(lines, [*lines[1:], None], strict=True) for each in _of_line(line, after)]
    if text.startswith(_MARK) and lines and lines[0].number == 1:
        found.append(Remark(Oddity.FIRST_BYTES, 1, _entry(lines[0]).name))
    if is_utf8:
        found += [
            Remark(Oddity.NOT_ISO_8859_1, number, _entry(line).name)
            for line in lines
            for number, part in line.parts
            if not part.isascii()
        ]
    return found


def _of_line(line: _LogicalLine, after: _LogicalLine | None) -> Iterator[Remark]:
    name = _entry(line).name
    if line.after_comment:
        yield Remark(Oddity.COMMENT_NOT_CONTINUED, line.after_comment, other=line.number)
    elif not _separator(line.content).strip(_BLANK):
        yield Remark(Oddity.BLANK_IN_KEY if _ARROW.match(line.content) else Oddity.NO_SEPARATOR, line.number, name)
    if _is_refused(line.content):
        yield Remark(Oddity.BAD_ESCAPE, _line_of_escape(line), name)
    last, ending = line.parts[-1]
    if after and after.number == last + 1 and _is_cut(ending) and not _separator(after.content).strip(_BLANK):
        yield Remark(Oddity.NOT_CONTINUED, last, name, after.number)
    for number, part in line.parts[1:]:
        if part[:1] in {"#", "!"}:
            yield Remark(Oddity.COMMENT_IN_VALUE, number, name)


def _is_cut(ending: str) -> bool:
    """Return whether a line ends with a backslash and blanks after it, which continue nothing."""
    stripped = ending.rstrip(_BLANK)
    return stripped != ending and _is_continued(stripped)


def _line_of_escape(line: _LogicalLine) -> int:
    return next((number for number, part in line.parts if _is_refused(part)), line.number)


def _is_refused(text: str) -> bool:
    """Return whether Java refuses the whole file: `\\u` without four hexadecimal digits."""
    return any(match[0] == "\\u" for match in _ESCAPE.finditer(text))


def _logical_lines(text: str) -> list[_LogicalLine]:
    """Return the lines with continued ones joined; comments and empty lines are left out."""
    found, parts, comment = list[_LogicalLine](), list[tuple[int, str]](), 0
    for number, line in enumerate(_BREAK.split(text.removeprefix(_MARK)), 1):
        stripped = line.lstrip(_BLANK)
        if not parts and (not stripped or stripped[0] in "#!"):
            comment = number if stripped and _is_continued(stripped) else 0
            continue
        is_continued = _is_continued(stripped)
        parts.append((number, stripped[:-1] if is_continued else stripped))
        if not is_continued:
            found.append(_made(parts, comment))
            parts, comment = [], 0
    return [*found, _made(parts, comment)] if parts else found


def _made(parts: Sequence[tuple[int, str]], comment: int) -> _LogicalLine:
    line = _LogicalLine(tuple(parts))
    return _LogicalLine(line.parts, comment) if comment and not _separator(line.content).strip(_BLANK) else line


def _is_continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _entry(line: _LogicalLine) -> Entry:
    content = line.content
    end = _end_of_key(content)
    value = content[end + len(_separator(content)) :]
    last = line.parts[-1][0] if len(line.parts) > 1 else 0
    return Entry(line.number, _unescaped(content[:end]), _unescaped(value), _dropped(value), last)


def _separator(content: str) -> str:
    """Return what stands between the key and the value."""
    match = _SEPARATOR.match(content, _end_of_key(content))
    return match[0] if match else ""


def _dropped(value: str) -> str:
    is_in_brackets = False
    for match in _ESCAPE_OR_BRACKET.finditer(value):
        if match[0] in {"[", "]"}:
            is_in_brackets = match[0] == "["
        elif (_DROPPED_IN_BRACKETS if is_in_brackets else _DROPPED).fullmatch(match[0]):
            return match[0]
    return ""


def _end_of_key(content: str) -> int:
    position = 0
    while position < len(content) and content[position] not in f"=:{_BLANK}":
        position += 2 if content[position] == "\\" else 1
    return min(position, len(content))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _letter(match[1]), text)


def _letter(escape: str) -> str:
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    return _LETTERS.get(escape, escape)


def mirrormaker2_file(name: str, entries: Sequence[Entry]) -> MirrorFile:
    """Return the file with each setting at its place. An entry without an alias of `clusters` is at the top level."""
    aliases = clusters_of(entries)
    require_few_clusters(aliases)
    known = frozenset(aliases)
    settings = tuple(_placed(entry, known) for entry in entries)
    return MirrorFile(name, FileKind.MIRRORMAKER2, settings, aliases, tuple(_enabled(settings, aliases)))


def clusters_of(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return the aliases that `clusters` lists; empty if it is missing."""
    values = [entry.value for entry in entries if entry.name == "clusters"]
    return tuple(dict.fromkeys(filter(None, map(str.strip, values[-1].split(","))))) if values else ()


def _placed(entry: Entry, aliases: frozenset[str]) -> MirrorSetting:
    if entry.name not in _WHOLE_KEYS:
        if "->" in entry.name:
            return _of_flow(entry, aliases)
        if alias := _beginning(entry.name, ".", aliases):
            return _split(entry, Place.CLUSTER, alias, entry.name.removeprefix(f"{alias}."))
    return _split(entry, Place.TOP, "", entry.name)


def _of_flow(entry: Entry, aliases: frozenset[str]) -> MirrorSetting:
    source = _beginning(entry.name, "->", aliases) or entry.name.partition("->")[0]
    rest = entry.name.removeprefix(f"{source}->")
    target = _beginning(rest, ".", aliases) or rest.partition(".")[0]
    owner = f"{source}->{target}" if source and target else entry.name
    return prefixed(entry, Place.FLOW, owner, rest[len(target) + 1 :] if target else "")


def _beginning(name: str, separator: str, aliases: frozenset[str]) -> str:
    """Return the longest alias with which a name starts, before a separator; empty if there is none."""
    found, place = "", name.find(separator)
    while 0 <= place <= LONGEST_ALIAS:
        found = name[:place] if name[:place] in aliases else found
        place = name.find(separator, place + 1)
    return found


def _split(entry: Entry, place: Place, owner: str, key: str) -> MirrorSetting:
    client, _, rest = key.partition(".")
    if client in CLIENTS and key not in _WHOLE_KEYS:
        return _setting(entry, place, rest, owner, client)
    return _setting(entry, place, key, owner)


def prefixed(entry: Entry, place: Place, owner: str, key: str) -> MirrorSetting:
    """Return a setting of a flow or connector, whose clients have prefixes such as `source.consumer.`."""
    match = _SIDES.fullmatch(key)
    if match and key not in _WHOLE_KEYS:
        return _setting(entry, place, match[3], owner, match[2], match[1] or "")
    return _setting(entry, place, key, owner)


def _setting(entry: Entry, place: Place, key: str, owner: str, client: str = "", side: str = "") -> MirrorSetting:
    texts = entry.line, entry.name, entry.value
    return MirrorSetting(*texts, place, key, owner, client, side, entry.dropped, last=entry.last)


def _enabled(settings: Iterable[MirrorSetting], aliases: Sequence[str]) -> Iterator[Flow]:
    """Yield the flows whose connectors are to run: they read `enabled` without blanks, and that of the top level too.

    Whether a flow has a worker is decided by the version (`Dedicated.has_worker`).
    """
    values = {each.owner: trimmed(each.value).lower() for each in settings if _is_switch(each)}
    order = {alias: number for number, alias in enumerate(aliases)}
    pairs = (owner.partition("->")[::2] for owner, value in values.items() if value == "true")
    found = {(order[source], order[target]) for source, target in pairs if source in order and target in order}
    if values.get("") == "true":
        found |= {pair for pair in permutations(range(len(aliases)), 2) if _name(pair, aliases) not in values}
    return (Flow(aliases[source], aliases[target]) for source, target in sorted(found) if source != target)


def _is_switch(setting: MirrorSetting) -> bool:
    return setting.key == "enabled" and setting.place in {Place.FLOW, Place.TOP} and not setting.client


def _name(pair: tuple[int, int], aliases: Sequence[str]) -> str:
    return f"{aliases[pair[0]]}->{aliases[pair[1]]}"


def client_file(name: str, kind: FileKind, entries: Iterable[Entry]) -> MirrorFile:
    """Return a consumer or producer file."""
    settings = (
        MirrorSetting(each.line, each.name, each.value, Place.CLIENT, each.name, dropped=each.dropped, last=each.last)
        for each in entries
    )
    return MirrorFile(name, kind, tuple(settings))


def worker_file(name: str, entries: Sequence[Entry], version: str = "", line: int = 0) -> MirrorFile:
    """Return the settings of a Connect worker; `producer.`, `consumer.` and `admin.` are those of its clients."""
    settings = []
    for each in entries:
        client, _, rest = each.name.partition(".")
        is_client = client in CLIENTS and bool(rest)
        key, client = (rest, client) if is_client else (each.name, "")
        settings.append(
            MirrorSetting(
                *(each.line, each.name, each.value, Place.WORKER, key),
                client=client,
                dropped=each.dropped,
                last=each.last,
            )
        )
    return MirrorFile(name, FileKind.WORKER, tuple(settings), kafka_version=version, line=line)
