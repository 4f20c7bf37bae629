"""The commands of a script: its words with their lines, as a shell, systemd or `cmd.exe` splits them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.model.lint_limits import MOST_SHELL_COMMANDS, require_few
from kafka_migration.mirrormaker_files.model.remarks import OpenQuote

_PLAIN = regex(r"[^\s'\"\\$`^%#;&|<>()*?\[]+")
_MOST_REPLACED, _LONGEST_EXPRESSION = 1_000_000, 1_000
_IN_QUOTES = {'"': regex(r'[^"\\$`%\n]+'), "'": regex(r"[^']+")}
_NAME = regex(r"\$(?:(\w+)|\{(\w+)\})")
_BATCH_NAME = regex(r"%(\w+)%")
_OPERATOR = regex(r"<<<|<<-|<<|>>|[<>]&|&&|\|\||;;|\d?>|[;&|<>()]")
_BLANKS = regex(r"[ \t\r\f\v]+")
_OPTION = regex(r"--?[A-Za-z]")
_IMAGE = regex(r"^FROM[ \t]{1,20}\S", re.MULTILINE)
_CONTINUED = regex(r"\\[ \t]{0,100}$")
# Words between which commands are run under a condition.
OPENS, CLOSES = frozenset({"if", "case", "while", "until", "for"}), frozenset({"fi", "esac", "done"})


class Syntax(Enum):
    """Who splits a text into words."""

    SHELL = "shell"
    BATCH = "cmd.exe"
    # Neither operators nor file name patterns: systemd, Compose and Kubernetes.
    WORDS = "words"

    @property
    def is_shell(self) -> bool:
        """Whether a shell reads the text."""
        return self is Syntax.SHELL


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its line. `is_quoted` if a part of it stands in quotes, `is_glob` if the shell looks for files."""

    line: int
    text: str
    is_quoted: bool = False
    is_glob: bool = False


@dataclass(slots=True)
class Command:
    """A simple command. `ends_with` is the operator after it, with its line; `is_glued` if no blank is before it."""

    words: list[Word] = field(default_factory=list)
    ends_with: str = ""
    is_glued: bool = False
    # The file that gets its output, and whether it is added at its end.
    output: str = ""
    appends: bool = False
    input: str = ""
    here: HereDocument | None = None
    # The line on which it ends, and those on which it ends although its options follow on another one.
    end: int = 0
    cut: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class HereDocument:
    """A text in a script that a command reads, with the line before its first line and the file that it becomes."""

    line: int
    text: str
    file: str
    # The shell puts no variables into it.
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class Assigned:
    """A variable that a script sets. `is_known` if it always has this text: no condition, no other variable in it."""

    line: int
    name: str
    value: str
    is_known: bool
    # It is set once and under no condition, whatever other variables are in its text.
    is_single: bool = False


class Splitter:
    """Splits one text. `variables` replaces names whose values are known; other names stay as they are written."""

    def __init__(self, text: str, line: int, syntax: Syntax, variables: Mapping[str, str]) -> None:
        self._text, self._line, self._syntax, self._variables = text, line, syntax, variables
        self._at, self._end, self._start = 0, len(text), line
        self._parts, self._quoted, self._glob, self._is_word = list[str](), False, False, False
        self._commands, self._command, self._pending = list[Command](), Command(), ""
        self._ends = list[tuple[Word, bool, Command]]()
        self.here_documents = list[HereDocument]()
        # So many characters are put in for names or searched for the end of an expression, so that both end soon.
        self._left = 2 * len(text) + _MOST_REPLACED

    def commands(self) -> list[Command]:
        """Return the simple commands. Raises `OpenQuote`, and `TooMany` for more than any script has."""
        while self._at < self._end:
            self._step()
        self._close_command("")
        return self._commands

    def _step(self) -> None:
        sign = self._text[self._at]
        if match := _PLAIN.match(self._text, self._at):
            self._add(match[0], match.end())
        elif match := _BLANKS.match(self._text, self._at):
            self._close_word()
            self._at = match.end()
        elif sign == "\n":
            self._new_line()
        elif sign in self._quotes:
            self._quote(sign)
        elif sign in "$`%":
            self._variable(is_quoted=False)
        else:
            self._sign(sign)

    def _sign(self, sign: str) -> None:
        operator = None if self._syntax is Syntax.WORDS else _OPERATOR.match(self._text, self._at)
        if sign == "#" and not self._is_word and self._syntax is not Syntax.BATCH:
            self._at = self._find("\n")
        elif sign == self._escape and self._text[self._at + 1 : self._at + 2]:
            self._escaped()
        elif operator:
            self._operator(operator[0], operator.end())
        else:
            self._glob = self._glob or sign in "*?["
            self._add(sign, self._at + 1)

    @property
    def _escape(self) -> str:
        return "^" if self._syntax is Syntax.BATCH else "\\"

    @property
    def _quotes(self) -> str:
        return '"' if self._syntax is Syntax.BATCH else "'\""

    def _add(self, text: str, end: int) -> None:
        self._begin()
        self._parts.append(text)
        self._at = end

    def _begin(self) -> None:
        self._start = self._start if self._is_word else self._line
        self._is_word = True

    def _find(self, sign: str) -> int:
        place = self._text.find(sign, self._at)
        return self._end if place < 0 else place

    def _new_line(self) -> None:
        """End the command; without a shell a line break is a blank."""
        self._at += 1
        if self._syntax is Syntax.WORDS:
            self._close_word()
            self._line += 1
            return
        self._close_command("\n")
        self._line += 1
        for delimiter, is_indented, command in self._ends:
            self._here_document(delimiter, command, is_indented=is_indented)
        self._ends = []

    def _escaped(self) -> None:
        """Take the sign after a backslash as it is; at the end of a line, the line goes on."""
        sign = self._text[self._at + 1]
        width = 3 if self._text.startswith("\r\n", self._at + 1) else 2
        if sign == "\n" or width == 3:
            self._at += width
            self._line += 1
            if self._syntax is not Syntax.SHELL:
                self._close_word()
        else:
            self._add(sign, self._at + 2)
            self._quoted = True

    def _quote(self, sign: str) -> None:
        self._begin()
        start, self._quoted = self._line, True
        self._at += 1
        while self._at < self._end and self._text[self._at] != sign:
            self._within(sign)
        if self._at >= self._end:
            raise OpenQuote(start)
        self._at += 1

    def _within(self, quote: str) -> None:
        sign, after = self._text[self._at], self._text[self._at + 1 : self._at + 2]
        if quote == '"' and sign == "\\" and after and after in '"\\$`\n' and self._syntax is not Syntax.BATCH:
            self._line += after == "\n"
            self._add("" if after == "\n" else after, self._at + 2)
        elif quote == '"' and sign in "$`%":
            self._variable(is_quoted=True)
        else:
            match = _IN_QUOTES[quote].match(self._text, self._at)
            end = match.end() if match else self._at + 1
            self._add(self._text[self._at : end], end)
            self._line += self._parts[-1].count("\n")

    def _variable(self, *, is_quoted: bool) -> None:
        at = self._text, self._at
        match = _BATCH_NAME.match(*at) if self._syntax is Syntax.BATCH else _NAME.match(*at)
        value = self._variables.get(next(filter(None, match.groups()))) if match else None
        if match and value is not None and len(value) <= self._left:
            self._left -= len(value)
            self._at = match.end()
            self._substitute(value, is_quoted=is_quoted or self._syntax is not Syntax.SHELL)
        else:
            end = match.end() if match else self._end_of_expression()
            self._add(self._text[self._at : end], end)
            self._line += self._parts[-1].count("\n")

    def _substitute(self, value: str, *, is_quoted: bool) -> None:
        """Put a value in: a shell splits it at blanks, unless it stands in quotes."""
        first, *others = [value] if is_quoted else value.split() or [""]
        self._glob = self._glob or (not is_quoted and any(sign in value for sign in "*?["))
        if first or is_quoted:
            self._add(first, self._at)
        for each in others:
            self._close_word()
            self._add(each, self._at)

    def _end_of_expression(self) -> int:
        """Return where `$(…)`, `${…}` or a pair of backquotes ends; one sign if it is none of them."""
        closing = {"$(": ")", "${": "}"}.get(self._text[self._at : self._at + 2], "")
        if self._text[self._at] == "`":
            end = self._text.find("`", self._at + 1)
            return end + 1 if end > 0 else self._at + 1
        depth, opening = 0, self._text[self._at + 1 : self._at + 2]
        longest = min(_LONGEST_EXPRESSION, self._left) if closing else 0
        places = range(self._at + 1, min(self._end, self._at + longest))
        if self._text.find(closing, places.start, places.stop) < 0:
            self._left -= len(places)
            return self._at + 1
        for place in places:
            self._left -= 1
            depth += (self._text[place] == opening) - (self._text[place] == closing)
            if depth == 0:
                return place + 1
        return self._at + 1

    def _operator(self, operator: str, end: int) -> None:
        is_glued = self._is_word
        is_number = is_glued and operator[0] in "<>" and "".join(self._parts).isdigit()
        if is_number:
            self._parts, self._is_word = [], False
        self._close_word()
        self._at = end
        is_both = operator == "&" and self._text[end : end + 1] == ">"
        if operator[0] in "<>" or operator[0].isdigit() or is_both:
            self._pending = operator
        else:
            self._close_command(operator, is_glued=is_glued and not self._text[end : end + 1].isspace())

    def _close_word(self) -> None:
        if not self._is_word:
            return
        text = "".join(self._parts)
        word = Word(self._start, text, self._quoted, self._glob and not self._quoted)
        self._parts, self._is_word, self._quoted, self._glob = [], False, False, False
        if self._pending in {"<<", "<<-"}:
            self._ends.append((word, self._pending == "<<-", self._command))
        elif self._pending:
            self._command.input = text if self._pending == "<" else self._command.input
            is_output = self._pending in {">", ">>", "1>"}
            self._command.output = text if is_output else self._command.output
            self._command.appends = self._pending == ">>" if is_output else self._command.appends
        else:
            self._command.words.append(word)
        self._pending = ""

    def _close_command(self, operator: str, *, is_glued: bool = False) -> None:
        self._close_word()
        self._pending = ""
        if self._command.words or self._command.output:
            self._command.ends_with, self._command.is_glued = operator, is_glued
            self._command.end = self._line
            self._commands.append(self._command)
            require_few(self._commands, MOST_SHELL_COMMANDS, "commands in one script")
            self._command = Command()

    def _here_document(self, word: Word, command: Command, *, is_indented: bool) -> None:
        """Take the lines up to the delimiter, or all that follow, as a shell does."""
        start, before, content = self._at, self._line - 1, ""
        end = self._end
        while self._at < self._end:
            place, self._at = self._at, min(self._find("\n") + 1, self._end)
            content = self._text[place : self._at].rstrip("\r\n")
            self._line += 1
            if (content.lstrip("\t") if is_indented else content) == word.text:
                end = place
                break
        text = self._text[start:end]
        text = re.sub(r"^\t+", "", text, flags=re.MULTILINE) if is_indented else text
        command.here = HereDocument(before, text, command.output or _written(command), word.is_quoted)
        self.here_documents.append(command.here)


def _written(command: Command) -> str:
    """Return the file that `tee` writes."""
    words = [word.text for word in command.words]
    return words[-1] if "tee" in words else ""


def whole_commands(commands: Iterable[Command]) -> list[Command]:
    """Return the commands as they are meant: with the lines after each that are only its options.

    The lines on which such a command ends too early are in its `cut`, each with that of its next word.
    """
    found = list[Command]()
    for command in commands:
        if found and _is_cut(found[-1], command):
            found[-1] = _joined(found[-1], command)
        else:
            found.append(command)
    return found


def _is_cut(before: Command, after: Command) -> bool:
    if before.ends_with != "\n" or not before.words or not after.words:
        return False
    first = after.words[0]
    return _ends_with_blank(before) or (not first.is_quoted and _OPTION.match(first.text) is not None)


def _ends_with_blank(command: Command) -> bool:
    """Return whether the last word is a blank with a backslash before it."""
    return len(command.words) > 1 and command.words[-1].text.isspace()


def _joined(before: Command, after: Command) -> Command:
    words = before.words[:-1] if _ends_with_blank(before) else before.words
    cut = (*before.cut, (before.end, after.words[0].line), *after.cut)
    return replace(after, words=[*words, *after.words], cut=cut, here=before.here or after.here)


def as_docker_reads(text: str) -> str:
    """Return the file of an image as its builder reads it: comments and empty lines do not end a continued line."""
    if not _IMAGE.search(text):
        return text
    lines, is_continued = list[str](), False
    for line in text.split("\n"):
        is_passed_over = is_continued and (not line.strip() or line.lstrip().startswith("#"))
        lines.append("\\" if is_passed_over else _CONTINUED.sub(r"\\", line))
        is_continued = lines[-1].endswith("\\")
    return "\n".join(lines)
