"""Exit codes and output of the command line."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeAlias

from kafka_migration.cli.shell.progress_line import end_progress
from kafka_migration.core.text.terminal_text import shown

if TYPE_CHECKING:
    from kafka_migration.core.findings.errors import Finding

# The JSON form of an answer. It is only printed: nothing reads a value back from it.
JsonObject: TypeAlias = Mapping[str, object]


class JsonAnswer(Protocol):
    """An answer with a JSON form, such as a `Document`."""

    def to_document(self) -> dict[str, Any]:
        """Return the JSON object."""


# A wider cell, such as a topic's name of 249 characters, does not widen its column.
WIDEST = 100
_answers: ContextVar[TextIO | None] = ContextVar("answers", default=None)


class ExitCode(IntEnum):
    """The exit codes of the command."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    REFUSED = 3
    PARTLY_DONE = 4
    NOT_READY = 5


EXIT_CODES = (
    "exit codes: 0 done; 1 failed, or a problem was found; 2 wrong usage; 3 refused; "
    "4 partly done, or something is unknown; 5 not ready"
)


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return one line per row, each column as wide as its widest cell; a very wide cell moves only its own row."""
    cells = [tuple(map(shown, row)) for row in rows]
    widths = [
        max((len(cell) for cell in column if len(cell) <= WIDEST), default=0) for column in zip(*cells, strict=True)
    ]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


@contextmanager
def only_answers() -> Iterator[None]:
    """Reserve standard output for `say`; the log lines of Airflow and its providers go to standard error."""
    token = _answers.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _answers.reset(token)


def answer_stream() -> TextIO:
    """Return the standard output that answers go to."""
    return _answers.get() or sys.stdout


def say(lines: Iterable[str]) -> None:
    """Write lines to standard output and flush each one."""
    for line in lines:
        # A line that takes long to make may name what the command does.
        end_progress()
        print(shown(line), file=_answers.get(), flush=True)


def say_text(text: str) -> None:
    """Write a document to standard output as it is; on a terminal, with its control characters escaped."""
    end_progress()
    if answer_stream().isatty():
        say(text.splitlines())
    else:
        answer_stream().write(text)


def say_json(answer: JsonAnswer | JsonObject) -> None:
    """Write one JSON document to standard output: an answer, or the object of a foreign format."""
    document = answer if isinstance(answer, Mapping) else answer.to_document()
    say(json.dumps(document, indent=1, ensure_ascii=False).split("\n"))


def respond(
    arguments: Namespace,
    answer: JsonAnswer | JsonObject,
    lines: Iterable[str],
    findings: Iterable[Finding] = (),
    **others: Callable[[], str | JsonObject],
) -> None:
    """Write an answer in the form that `add_output` offers; the findings of lines, which JSON has, are complaints.

    `others` makes each form that a verb offers besides: a text, or the JSON document of a foreign format.
    """
    if is_json(arguments):
        say_json(answer)
    elif made := others.get(arguments.output):
        form = made()
        say(form.split("\n")) if isinstance(form, str) else say_json(form)
    else:
        say(lines)
        complain(findings)


def is_json(arguments: Namespace) -> bool:
    """Return whether the answer is one JSON document instead of lines."""
    return bool(arguments.output == "json")


def remark(line: str) -> None:
    """Write a line about the answer to standard error."""
    end_progress()
    print(shown(line), file=sys.stderr, flush=True)


def complain(findings: Iterable[Finding]) -> None:
    """Write each finding as lines to standard error, and those of one cause as one."""
    if not (findings := list(findings)):
        return
    end_progress()
    # Findings and their codes take time to import, and most commands have none.
    from kafka_migration.core.findings.by_cause import by_cause, finding_lines

    for line in (line for finding in by_cause(findings) for line in finding_lines(finding)):
        sys.stderr.write(f"{shown(line)}\n")
