"""Which variables the functions of a POSIX shell script read and assign, in their order.

It reads the style of mirrorctl: `name() {` and `}` stand at the start of a line. It knows quotes, comments, `$(…)`,
subshells, `read`, `for` and `eval`. Both branches of a condition are read one after the other.
Only names in lower case are variables here: the others are constants and the caller's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

FUNCTION = re.compile(r"((?:^#[^\n]*\n)*)^(\w+)\(\) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
ANNOUNCED = re.compile(r"`([a-z_]+)`")
EVENT = re.compile(
    r"(?P<open>\x01)|(?P<close>\x02)|(?P<background>\x03)"
    r"|\bread (?:-r )?(?P<fields>[a-z_ ]+)|\bfor (?P<loop>[a-z_]+) in\b|\$\{?(?P<read>[a-z_]+)\b"
    r"|(?<![\w$./{-])(?P<assigned>[a-z_]+)=(?P<value>(?:\x01[^\x02]*\x02|[^\s;\x02])*)"
    r"|(?:^|[;&|!({\x01]|\b(?:then|do|else|if|elif|until|while|each [A-Z_]+ [A-Z_]+|with_command))\s*"
    r"(?!(?:for|read|if|elif|while|until|then|else|do)\b)(?P<call>[a-z_]+)\b(?![)=])",
    re.MULTILINE,
)
# A variable, the start of a substitution, or one character that is not escaped.
PIECE = re.compile(r"(?:\\.)*(\$\{?[a-z_]+|\$\(|[^\\])", re.DOTALL)
# What opens a quotation or a subshell within double quotes, and elsewhere.
OPENING = {'"': ("$(",), "": ("'", '"', "$(", "(")}


@dataclass(frozen=True)
class Event:
    """`kind` is read, assigned or call. What happens in a subshell changes nothing outside."""

    kind: str
    name: str
    in_subshell: bool


@dataclass
class Function:
    """One function: the results that its comment names in backticks, and its events."""

    name: str
    results: frozenset[str]
    events: list[Event] = field(default_factory=list)
    last_command: str = ""
    has_loop: bool = False

    @property
    def assigned(self) -> set[str]:
        """The variables that it assigns itself."""
        return {event.name for event in self.events if event.kind == "assigned" and not event.in_subshell}


class Script:
    """All functions of a script, and what a call of each changes and reads."""

    def __init__(self, text: str) -> None:
        found = list(FUNCTION.finditer(text))
        names = {match[2] for match in found}
        self.functions = {match[2]: _function(match, names) for match in found}

    @cached_property
    def ending(self) -> set[str]:
        """The functions that never return to their caller."""
        last = {name: function.last_command for name, function in self.functions.items()}
        ending = {name for name, command in last.items() if re.match(r"exit\b|kill -s KILL -- ", command)}
        while more := {name for name, command in last.items() if command.split(" ")[0] in ending} - ending:
            ending |= more
        return ending

    def results(self, name: str) -> set[str]:
        """The variables that the function's comment names, with those of the functions that it names."""
        named = set(self.functions[name].results)
        return named.union(*(self.results(each) for each in named if each in self.functions))

    def changed(self, name: str, seen: frozenset[str] = frozenset()) -> set[str]:
        """The variables that a call of the function may change."""
        if name in seen or name in self.ending:
            return set()
        function = self.functions[name]
        called = {e.name for e in function.events if e.kind == "call" and not e.in_subshell}
        return function.assigned.union(*(self.changed(each, seen | {name}) for each in called))

    def changed_below(self, name: str, seen: frozenset[str] = frozenset()) -> set[str]:
        """The variables that the function or any that it calls assigns, also if those never return."""
        if name in seen:
            return set()
        called = {event.name for event in self.functions[name].events if event.kind == "call"}
        below = (self.changed_below(each, seen | {name}) for each in called)
        return self.functions[name].assigned.union(*below)

    def silent_changes(self) -> set[tuple[str, str, str]]:
        """(function, variable, called function): the first reads what a call has changed without naming it."""
        return {found for name in self.functions for found in self._silent_changes(name)}

    def _silent_changes(self, name: str) -> Iterator[tuple[str, str, str]]:
        events = self.functions[name].events
        changed_by: dict[str, str] = {}
        # Twice, because a loop's first commands follow its last ones.
        for event in events * (2 if self.functions[name].has_loop else 1):
            for variable in self._read_by(event):
                if variable in changed_by:
                    yield name, variable, changed_by[variable]
            if not event.in_subshell:
                changed_by |= self._changed_by(event)
                for variable in self._set_by(event):
                    changed_by.pop(variable, None)

    def _changed_by(self, event: Event) -> dict[str, str]:
        return dict.fromkeys(self.changed(event.name), event.name) if event.kind == "call" else {}

    def _set_by(self, event: Event) -> set[str]:
        if event.kind == "assigned":
            return {event.name}
        return self.results(event.name) if event.kind == "call" else set()

    def _read_by(self, event: Event) -> set[str]:
        if event.kind == "read":
            return {event.name}
        return self.needed(event.name) if event.kind == "call" else set()

    def needed(self, name: str, seen: frozenset[str] = frozenset()) -> set[str]:
        """The variables that a call of the function reads before it has assigned them."""
        needed: set[str] = set()
        if name in seen:
            return needed
        assigned: set[str] = set()
        for event in self.functions[name].events:
            if event.kind == "read":
                needed |= {event.name} - assigned
            elif event.kind == "call":
                needed |= self.needed(event.name, seen | {name}) - assigned
                assigned |= set() if event.in_subshell else self.changed(event.name)
            else:
                assigned.add(event.name)
        return needed


def _function(match: re.Match[str], names: set[str]) -> Function:
    comment, name, body = match.groups()
    joined = re.sub(r"(\|\||&&|\||\\)\n\s*", r"\1 ", body)
    last = "" if "return" in body else joined.splitlines()[-1].strip()
    events = list(_events(_plain(body), names))
    return Function(name, frozenset(ANNOUNCED.findall(comment)), events, last, "done" in body)


def _events(text: str, names: set[str]) -> Iterator[Event]:
    """Yield the events in their order; a call follows the words of its command, which are read before it."""
    depth, end = 0, 0
    calls: list[Event] = []
    for match in EVENT.finditer(text):
        if re.search(r"[\n;&|]", text[end : match.start() + 1]):
            yield from calls
            calls = []
        end = match.end()
        depth += match[0].count("\x01") - match[0].count("\x02")
        in_subshell = depth > 0 or "\x03" in text[end:].partition("\n")[0]
        events = [Event(kind, name, in_subshell) for kind, name in _named(match)]
        yield from (event for event in events if event.kind != "call")
        calls += [event for event in events if event.kind == "call" and event.name in names]
    yield from calls


def _named(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    for inner in EVENT.finditer(f"={match['value'] or ''}"):
        yield from _named(inner)
    for name in (match["fields"] or match["loop"] or match["assigned"] or "").split():
        if name != "_":
            yield "assigned", name
    for kind in ("read", "call"):
        if match[kind]:
            yield kind, match[kind]


def _plain(body: str) -> str:
    """Return the body without comments, patterns and texts; subshells stand between \\1 and \\2, `&` is \\3."""
    body = re.sub(r"(^|\s)# .*", r"\1", body)
    body = re.sub(r'eval "((?:[^"\\]|\\.)*)"', lambda match: re.sub(r"\\(.)", r"\1", match[1]).replace('"', ""), body)
    body = re.sub(r"^(\s*)[^\s()`]+(?: \| [^\s()`]+)*\)(?=\s)", r"\1", body, flags=re.MULTILINE)
    body = re.sub(r"\$\(\((.*?)\)\)", lambda m: re.sub(r"(?<![\w$])([a-z_]+)\b", r"$\1", m[1].replace(" ", "")), body)
    body = re.sub(r"(?<=[\s)])&$", "\x03", body, flags=re.MULTILINE)
    return "".join(_without_texts(body))


def _without_texts(body: str) -> Iterator[str]:
    opened = [""]
    for piece in PIECE.findall(body):
        if piece in ("'", '"') and opened[-1] == piece:
            opened.pop()
        elif opened[-1] == "'":
            continue
        elif piece in OPENING.get(opened[-1], OPENING[""]):
            opened.append(piece)
            yield "\x01" if "(" in piece else ""
        elif piece == ")" and "(" in opened[-1]:
            opened.pop()
            yield "\x02"
        elif piece[0] == "$" or opened[-1] != '"':
            yield piece
