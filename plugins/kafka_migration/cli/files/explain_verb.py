"""`kafka-migration explain`: what a code, a kind of alert, a label or a verdict means, and what to do."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka_migration.cli.files.explanations import Explanation, explanations, listed, named, near
from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_output
from kafka_migration.cli.shell.output import ExitCode, respond
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.text.shortened import brief

if TYPE_CHECKING:
    from kafka_migration.core.findings.errors import Finding

EXPLAIN_SCHEMA = 1


def add_explain(verbs: Verbs) -> None:
    """Add the verb `explain`."""
    verb = add_bare_verb(verbs, explain, "explain", "explain COPY_DIFFERS")
    argument = verb.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="code of a finding or of lint, kind of an alert, label of a difference, or verdict, in upper or lower "
        "case (default: a list of all)",
    )
    # The attribute is the interface of argcomplete.
    argument.completer = _names  # type: ignore[attr-defined]
    add_output(verb)


def explain(arguments: Namespace) -> int:
    """Print the explanations of the names, and a finding for each name that does not exist."""
    known = explanations()
    found = [each for name in arguments.names for each in named(name, known)] if arguments.names else known
    answer = ExplainAnswer(tuple(dict.fromkeys(found)), is_list=not arguments.names)
    unknown = [_unknown(name, near(name, known)) for name in arguments.names if not named(name, known)]
    respond(arguments, answer, answer.lines(), unknown)
    return ExitCode.USAGE if unknown else ExitCode.DONE


class ExplainAnswer(NamedTuple):
    """The explanations of the given names, or of all as a list."""

    explained: Sequence[Explanation]
    is_list: bool

    def lines(self) -> Iterator[str]:
        """Yield a line for each of a list; else the lines of each, with an empty line between two."""
        if self.is_list:
            yield "kafka-migration explain NAME shows the cause, what to do and the commands."
            yield from listed(self.explained)
            return
        for number, each in enumerate(self.explained):
            yield from ("",) if number else ()
            yield from each.lines()

    def to_document(self) -> dict[str, Any]:
        """Return the JSON document."""
        return {"schema": EXPLAIN_SCHEMA, "explained": [each.to_document() for each in self.explained]}


def _unknown(name: str, nearest: Iterable[str]) -> Finding:
    # Most names exist, and findings take time to import.
    from kafka_migration.core.findings.errors import Finding

    shown, meant = brief(name, 60), " or ".join(nearest)
    everything = "`kafka-migration explain` without a name lists all."
    return Finding(
        Code.COMMAND_INVALID,
        "the command line",
        f"no code, alert, label or verdict {shown}",
        meant or "a name of the list",
        f"Use {meant} if you mean it. {everything}" if meant else everything,
        happened=f"There is no code, alert, label or verdict {shown}.",
        matters="It cannot be explained.",
    )


def _names(prefix: str, **_: object) -> list[str]:
    """Return all names, in the case of what was typed."""
    names = sorted({each.name for each in explanations()})
    return [*names, *(name.lower() if prefix.islower() else name.upper() for name in names)] if prefix else names
