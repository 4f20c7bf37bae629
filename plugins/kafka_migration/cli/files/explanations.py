"""What the command and the manual say of each code, kind of alert, label and verdict, from its row."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from kafka_migration.cli.shell.output import aligned
from kafka_migration.cli.shell.verb_table import PROGRAM
from kafka_migration.core.findings.codes import Code, CodeArea
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.text.shortened import capitalized, sentence
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode, Severity

# More would be no help.
_MOST_NEAR = 3


class Explanation(NamedTuple):
    """What is the same for all findings with a name; names are unique within their kind.

    `heading` is that of its group. `cause` is empty if the meaning says it, `more` if the act is enough, and `accepted`
    if no file may accept the code. All texts are Markdown without links; a list in `more` follows an empty line.
    """

    name: str
    kind: str
    heading: str
    meaning: str
    act: str
    commands: tuple[str, ...]
    cause: str = ""
    more: str = ""
    accepted: str = ""

    def lines(self) -> Iterator[str]:
        """Yield its lines for a terminal."""
        yield f"{self.name} · {self.kind}"
        yield f"  Meaning: {self.meaning}"
        if self.cause:
            yield f"  Cause: {self.cause}"
        yield f"  What to do: {self.act}"
        yield from (f"    {line}" for line in self.more.split("\n") if line)
        if self.accepted:
            yield f"  With `accept` you say: {self.accepted}"
        yield from (f"  Command: {command}" for command in self.commands)

    def to_document(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {**self._asdict(), "commands": list(self.commands)}


def explanations() -> tuple[Explanation, ...]:
    """Return all, those of one group together."""
    areas, severities = list(CodeArea), list(Severity)
    codes = sorted(Code, key=lambda code: (areas.index(code.area), code))
    lint_codes = sorted(LintCode, key=lambda code: (severities.index(code.severity), code))
    return (
        *map(_of_code, codes),
        *map(_of_lint_code, lint_codes),
        *map(_of_alert, AlertKind),
        *map(_of_label, DifferenceKind),
        *map(_of_verdict, Verdict),
    )


def named(name: str, known: Iterable[Explanation]) -> list[Explanation]:
    """Return those with a name, however it is written: one name may be a code, a lint code and a kind of alert."""
    return [each for each in known if _plain(each.name) == _plain(name)]


def near(name: str, known: Iterable[Explanation]) -> list[str]:
    """Return the names that are most like a name that does not exist."""
    names = {_plain(each.name): each.name for each in known}
    return [names[each] for each in difflib.get_close_matches(_plain(name), names, _MOST_NEAR, 0.6)]


def listed(known: Iterable[Explanation]) -> Iterator[str]:
    """Yield a line for each, below the heading of its group."""
    for heading, group in groupby(known, lambda each: each.heading):
        yield from ("", heading, *aligned((f"  {each.name}", each.meaning) for each in group))


def _plain(name: str) -> str:
    return name.strip(" \t`'\".,:;()").lower().replace("-", "_").replace(" ", "_")


def _commands(*words: str) -> tuple[str, ...]:
    return tuple(f"{PROGRAM} {each}" for each in words)


def _of_code(code: Code) -> Explanation:
    return Explanation(
        str(code),
        "error code",
        f"Error codes: {code.area.heading}",
        code.meaning,
        code.act,
        _commands(*(code.commands or code.area.commands)),
        code.cause,
        code.more,
        code.accepted,
    )


def _of_lint_code(code: LintCode) -> Explanation:
    commands = _commands("lint FILE", "lint --effective FILE")
    kind, heading = f"lint code, {code.severity}", f"Lint codes: {code.severity}"
    return Explanation(str(code), kind, heading, code.meaning, code.act, commands)


def _of_alert(kind: AlertKind) -> Explanation:
    act = kind.first_step.replace("<name>", "NAME")
    return Explanation(str(kind), f"alert, act {kind.urgency}", "Alerts", kind.meaning, act, _commands("status NAME"))


def _of_label(kind: DifferenceKind) -> Explanation:
    meaning, commands = capitalized(sentence(kind.meaning)), _commands("verdict NAME")
    return Explanation(str(kind), "label", "Labels of differences", meaning, kind.act, commands, kind.cause)


def _of_verdict(verdict: Verdict) -> Explanation:
    commands = _commands("verdict NAME")
    return Explanation(str(verdict), "verdict", "Verdicts", verdict.meaning, verdict.act, commands)
