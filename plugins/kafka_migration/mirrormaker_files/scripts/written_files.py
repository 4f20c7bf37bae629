"""Texts within a file that are read like files of their own, and those that a script writes, as their readers get them.

A script writes them with `echo`, `printf` and here-documents.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.secret_forms import is_secret_name
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile
from kafka_migration.mirrormaker_files.model.remarks import Oddity, Remark
from kafka_migration.mirrormaker_files.scripts.shell_words import CLOSES, OPENS, Assigned, Command, Word

_SKIPPED = frozenset({"{", "(", "then", "do", "else", "!", "}", "sudo", "exec"})
# Commands that say nothing on whether the next one is run.
_PLAIN = frozenset({"echo", "printf", "cat", "mkdir", "cd", "touch", "rm", "chmod", "set", ":", "sleep", "pwd"})
_NAME = r"[A-Za-z_]\w{0,200}"
_WHOLE = regex(rf"\$(?:({_NAME})|\{{({_NAME})\}})")
# `$NAME`, `${NAME}` and its forms with a default, `$(command)` and backquotes.
_REPLACED = regex(rf"\$(?:({_NAME})|\{{({_NAME})[^{{}}]{{0,200}}\}}|\([^()]{{0,300}}\)|[0-9@*#])|`[^`]{{0,300}}`")
_ESCAPE = regex(r"\\(n|t|r|\\|0[0-7]{0,3})")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
# A line whose value has a variable of the environment; what looks like one in a secret may be a part of it.
_VARIABLE = regex(rf"\$(?:{_NAME}|\{{{_NAME}\}})")
_ONLY_VARIABLE = regex(rf"[^=:]{{1,300}}[=:]\s{{0,20}}[\"']?\$(?:{_NAME}|\{{{_NAME}\}})[\"']?\s{{0,20}}")
# Programs that read a file as it is.
_AS_IT_IS = regex(
    r"kafka|connect|mirror|java|docker|podman|kubectl|oc$|(?:cat|ls|chmod|chown|cp|mv|rm|test|\[|\[\[|tee|mkdir|touch|exec|export|head|wc)$"
)
_FORMAT = regex(r"%[sb]")
_MOST_WRITTEN = 1_000_000


@dataclass(slots=True)
class _File:
    """The lines that a file has so far: each a number of the script and a text; the last may be open."""

    lines: list[tuple[int, str]] = field(default_factory=list)
    is_open: bool = False
    is_filled: bool = False
    is_partial: bool = False
    # Lines that one command after the other may or may not write, so what is there at last is not known.
    is_unclear: bool = False
    is_used: bool = False
    # A program that is not known has it, and may replace variables in it.
    is_changed: bool = False
    remarks: list[Remark] = field(default_factory=list)
    # How many lines were there before each `>` that replaced them, with its line.
    replaced: list[tuple[int, int]] = field(default_factory=list)


class Writer:
    """Runs the commands of a script as far as they write files."""

    def __init__(self, known: Mapping[str, Assigned]) -> None:
        """Take the variables whose text is known; another one becomes a reference."""
        self._known, self._files = known, defaultdict[str, _File](_File)
        self._left, self._depth = _MOST_WRITTEN, 0
        self._longest = max((len(each.value) for each in known.values()), default=0)
        # What is written between braces, which may have one output together.
        self._group = list[tuple[Command, list[Word]]]()

    def run(self, commands: Sequence[Command]) -> None:
        """Run all commands in their order."""
        place, is_after = 0, False
        while place < len(commands):
            end = place
            while commands[end].ends_with == "|" and end + 1 < len(commands):
                end += 1
            command = commands[place]
            first = command.words[0].text if command.words else ""
            self._depth += (first in OPENS) - (first in CLOSES)
            self._run(command, commands[end], is_optional=self._depth > 0 or is_after)
            words = _without_keywords(command.words)
            is_after = command.ends_with in {"&&", "||"} and bool(words) and words[0].text not in _PLAIN
            place = end + 1

    def _run(self, command: Command, last: Command, *, is_optional: bool) -> None:
        """Run one command, whose output goes through those after it up to the last one."""
        words, first = _without_keywords(command.words), command.words[0].text if command.words else ""
        self._group = [] if first == "{" else self._group
        if first == "}" and command.output:
            for each, inner in self._group:
                self._write(each, inner, command, is_optional=is_optional)
            self._group = []
        elif last is command and not command.output and _is_text(words, command):
            self._group.append((command, words))
        else:
            self._write(command, words, last, is_optional=is_optional)

    def parts(self) -> Iterator[TextPart]:
        """Yield the files whose text is known."""
        for name, file in self._files.items():
            if file.lines and not file.is_unclear:
                yield _part(name, file)

    def _write(self, command: Command, words: Sequence[Word], last: Command, *, is_optional: bool) -> None:
        path, appends = _target(last)
        if not path:
            self._use(words)
            return
        path, first = self._expanded(path), last.words[0].text if last.words else ""
        file = self._files[path]
        text = self._text(command, words) if last is command or first == "}" or _is_tee(last) else None
        if text is None:
            file.lines, file.is_unclear = ([], True) if not appends else (file.lines, file.is_unclear)
            file.is_partial = True
            return
        if not appends:
            self._replace(file, command, is_optional=is_optional)
        file.is_partial |= is_optional
        is_raw = command.here is not None and command.here.is_quoted
        self._add(file, text, words, is_raw=is_raw)
        raw = next((number for number, line in text if is_raw and _has_variable(line)), 0)
        if command.here and raw:
            file.remarks.append(Remark(Oddity.HERE_DOCUMENT_QUOTED, command.here.line, other=raw))

    def _replace(self, file: _File, command: Command, *, is_optional: bool) -> None:
        if file.is_unclear and not is_optional:
            file.lines, file.is_unclear, file.is_partial = [], False, False
        elif file.lines and is_optional:
            file.is_unclear = True
        elif file.lines and (file.is_used or file.is_partial):
            file.lines, file.remarks, file.replaced = [], [], []
        elif file.lines:
            line = command.words[0].line if command.words else 0
            file.replaced.append((len(file.lines), line))
        file.is_used = file.is_open = False

    def _add(self, file: _File, text: Sequence[tuple[int, str]], words: Sequence[Word], *, is_raw: bool) -> None:
        for number, content in text:
            filled = content if is_raw else self._filled(content)
            file.is_filled |= not is_raw and _REPLACED.search(content) is not None
            self._left -= len(filled)
            if self._left < 0:
                file.is_unclear = True
                return
            parts = filled.split("\n")
            for position, line in enumerate(parts, 1):
                if file.is_open and file.lines:
                    number_before, before = file.lines[-1]
                    file.lines[-1] = number_before, before + line
                else:
                    file.lines.append((number, line))
                file.is_open = position == len(parts)
            # A text ends with a line break, so its last part is empty.
            if file.lines and file.is_open and not file.lines[-1][1]:
                file.lines.pop()
                file.is_open = False
        for word in words[1:]:
            if not word.is_quoted and _WHOLE.fullmatch(word.text):
                file.remarks.append(Remark(Oddity.WORDS_UNQUOTED, word.line, word.text))

    def _text(self, command: Command, words: Sequence[Word]) -> list[tuple[int, str]] | None:
        """Return what a command writes, as numbered pieces; `None` if that is not known."""
        if command.here is not None and words and words[0].text in {"cat", "tee"}:
            lines = command.here.text.removesuffix("\n").split("\n")
            return [(command.here.line + place, f"{line}\n") for place, line in enumerate(lines, 1)]
        if not words:
            return []
        name, arguments = words[0].text, list(words[1:])
        if name == "echo":
            return self._echo(arguments)
        if name == "printf" and arguments:
            return self._printf(arguments)
        return [] if name in {":", "true"} else None

    def _echo(self, arguments: list[Word]) -> list[tuple[int, str]]:
        has_escapes, has_end = False, True
        while arguments and re.fullmatch(r"-[neE]{1,3}", arguments[0].text):
            option = arguments.pop(0).text
            has_escapes, has_end = has_escapes or "e" in option, has_end and "n" not in option
        pieces = list[tuple[int, str]]()
        for place, word in enumerate(arguments):
            pieces += [(0, " ")] if place else []
            pieces += self._pieces(word, has_escapes=has_escapes)
        return _joined(pieces, "\n" if has_end else "", arguments[0].line if arguments else 0)

    def _printf(self, arguments: list[Word]) -> list[tuple[int, str]] | None:
        if arguments[0].text == "--":
            arguments.pop(0)
        form, values = _unescaped(arguments[0].text), arguments[1:]
        holes = _FORMAT.findall(form)
        if len(holes) != form.replace("%%", "").count("%"):
            return None
        if not holes:
            return _joined(list(self._pieces(arguments[0], has_escapes=True)), "", arguments[0].line)
        pieces = list[tuple[int, str]]()
        parts = _FORMAT.split(form)
        while values:
            for place, part in enumerate(parts):
                line = values[0].line if values else arguments[0].line
                pieces.append((line, part))
                if place < len(holes) and values:
                    pieces += self._pieces(values.pop(0), has_escapes=holes[place] == "%b")
        return _joined(pieces, "", arguments[0].line)

    def _pieces(self, word: Word, *, has_escapes: bool) -> Iterator[tuple[int, str]]:
        """Yield the text of a word with its lines; the text of a variable has the lines on which it is set."""
        match = _WHOLE.fullmatch(word.text)
        known = self._known.get(match[1] or match[2]) if match else None
        line, text = (known.line, known.value) if known else (word.line, word.text)
        if known and not word.is_quoted:
            text = " ".join(text.split())
        for place, each in enumerate(text.split("\n")):
            content = ("\n" if place else "") + (_unescaped(each) if has_escapes else each)
            yield line + place, content

    def _filled(self, text: str) -> str:
        """Return a text with the known variables in it; another one is written as a reference."""

        def put_in(match: re.Match[str]) -> str:
            name = match[1] or match[2] or "command"
            known = self._known.get(name)
            is_whole = known is not None and _WHOLE.fullmatch(match[0]) and not _REPLACED.search(known.value)
            return known.value if known and is_whole else f"${{{name}}}"

        return _REPLACED.sub(put_in, text) if self._longest * text.count("$") <= _MOST_WRITTEN else text

    def _expanded(self, path: str) -> str:
        return self._filled(path).replace("${", "$").replace("}", "")

    def _use(self, words: Sequence[Word]) -> None:
        """Remember which files a command names; `rm` removes them."""
        for word in words:
            path = self._expanded(word.text.rpartition("=")[2] if word.text.startswith("-") else word.text)
            if path in self._files:
                self._files[path].is_used = True
                self._files[path].is_changed |= _AS_IT_IS.search(PurePosixPath(words[0].text).name) is None
                if words[0].text == "rm":
                    del self._files[path]
                elif words[0].text in {"sed", "perl", "cp", "mv"} and any(each.text.startswith("-") for each in words):
                    self._files[path].is_unclear = True


def _without_keywords(words: Sequence[Word]) -> list[Word]:
    place = next((place for place, word in enumerate(words) if word.text not in _SKIPPED), len(words))
    return list(words[place:])


def _has_variable(line: str) -> bool:
    """Return whether a line is meant to get a variable of the shell."""
    key = _key(line)
    if not key:
        return False
    is_secret = is_secret_name(key) or "jaas" in key
    return bool(_ONLY_VARIABLE.fullmatch(line.strip()) if is_secret else _VARIABLE.search(line))


def _is_text(words: Sequence[Word], command: Command) -> bool:
    return bool(words) and (words[0].text in {"echo", "printf"} or command.here is not None)


def _is_tee(command: Command) -> bool:
    words = [word.text for word in command.words if word.text != "sudo"]
    return words[:1] == ["tee"]


def _target(command: Command) -> tuple[str, bool]:
    """Return the file that a command writes, and whether it appends to it; an empty name for none."""
    if _is_tee(command):
        files = [word.text for word in command.words if word.text not in {"sudo", "tee"}]
        return next((each for each in files if not each.startswith("-")), ""), any(each == "-a" for each in files)
    return command.output, command.appends


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _LETTERS.get(match[1], "\0"), text)


def _joined(pieces: list[tuple[int, str]], end: str, line: int) -> list[tuple[int, str]]:
    """Return the pieces as one text for each line: what follows a line break gets its own number."""
    found = list[tuple[int, str]]()
    for number, text in pieces:
        for place, content in enumerate(text.split("\n")):
            if place or not found:
                if found:
                    found[-1] = found[-1][0], found[-1][1] + "\n"
                found.append((number or line, content))
            else:
                found[-1] = found[-1][0], found[-1][1] + content
    found = found or [(line, "")]
    found[-1] = found[-1][0], found[-1][1] + end
    return found


def _part(name: str, file: _File) -> TextPart:
    """Return the file as a part. What a `>` replaced counts if it was meant: no later line has one of its keys."""
    is_kept = not file.is_changed
    lines = file.lines
    remarks = [each for each in file.remarks if is_kept or each.oddity is not Oddity.HERE_DOCUMENT_QUOTED]
    for number, line in reversed(file.replaced):
        before, after = ({_key(text) for _, text in each} - {""} for each in (lines[:number], lines[number:]))
        if before & after or not before:
            lines = lines[number:]
        else:
            first = next(number for number, text in lines if _key(text))
            remarks.append(Remark(Oddity.OVERWRITTEN, line, other=first))
    lines = _last_of_each(lines) if file.is_partial else lines
    numbers = tuple(number for number, _ in lines)
    text = "".join(f"{text}\n" for _, text in lines)
    return TextPart(
        PurePosixPath(name).as_posix(),
        text,
        0,
        numbers=numbers,
        is_filled=file.is_filled,
        is_partial=file.is_partial,
        remarks=tuple(remarks),
    )


def _key(text: str) -> str:
    return "" if text.lstrip().startswith(("#", "!")) else text.partition("=")[0].strip()


def _last_of_each(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the lines of which each key is there once: of branches only one is run."""
    last = {_key(text): place for place, (_, text) in enumerate(lines)}
    return [each for place, each in enumerate(lines) if not _key(each[1]) or last[_key(each[1])] == place]


@dataclass(frozen=True, slots=True)
class TextPart:
    """The text and its own name. `before` is the line before its first one; `is_one_line` if all is on the next.

    `numbers` gives the line of each line of the text, if they do not follow each other. `is_filled` and `is_partial`
    are those of `MirrorFile`, `remarks` have lines of the whole file, and `kind` is known if a command uses the file.
    """

    name: str
    text: str
    before: int
    is_one_line: bool = False
    numbers: tuple[int, ...] = ()
    is_filled: bool = False
    is_partial: bool = False
    remarks: tuple[Remark, ...] = ()
    kind: FileKind | None = None

    def in_place(self, file: MirrorFile, name: str) -> MirrorFile:
        """Return what was read from the text, with the name and the lines of the whole file."""
        settings = tuple(each._replace(line=self._line(each.line)) for each in file.settings)
        remarks = tuple(
            each._replace(line=self._line(each.line), other=self._line(each.other) if each.other else 0)
            for each in file.remarks
        )
        line = self._line(file.line or 1)
        return replace(
            file,
            name=name,
            settings=settings,
            faults=tuple(each._replace(line=self._line(each.line)) for each in file.faults),
            remarks=(*remarks, *self.remarks),
            line=line,
            part=file.part or self.name,
            is_filled=self.is_filled,
            is_partial=self.is_partial,
        )

    def _line(self, number: int) -> int:
        if self.numbers:
            return self.numbers[min(max(number, 1), len(self.numbers)) - 1]
        return self.before + (1 if self.is_one_line else number)
