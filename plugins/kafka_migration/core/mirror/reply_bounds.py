"""How much of a host's reply is kept: no more than mirrorctl itself sends.

A host may be hostile. Every later use of its words, such as a search in its log, may take time that grows with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kafka_migration.core.mirror.host import HostReply

# What mirrorctl sends: the end of a log, the output of Kafka's tools, and the end of their errors.
MOST_LOG = 128 * 1024
MOST_OUTPUT = 4 * 1024 * 1024
MOST_ERRORS = 4 * 1024
# The addresses of the 200 names that a probe of the host looks up.
MOST_NAMES = 128 * 1024
MOST_LINES = 2_000
LONGEST_LINE = 1_000
LONGEST_WORD = 1_000
MOST_FACTS = 32
CUT = "… (cut)"
_MOST = {"output": MOST_OUTPUT, "errors": MOST_ERRORS, "names": MOST_NAMES}


def bounded(reply: HostReply) -> HostReply:
    """Return the reply with each text cut to what mirrorctl sends, and the log to 2,000 lines of 1,000 letters."""
    return replace(
        reply,
        code=_word(reply.code),
        message=_word(reply.message),
        verb=_word(reply.verb),
        migration=_word(reply.migration),
        exit_reason=_word(reply.exit_reason),
        holder=_word(reply.holder),
        boot_id=_word(reply.boot_id),
        alarm=_word(reply.alarm),
        log=_lines(reply.log, MOST_LOG),
        facts=_facts(reply.facts),
    )


def _word(text: str) -> str:
    return text[:LONGEST_WORD]


def _lines(text: str, most: int) -> str:
    """Return the last lines of a text, the long ones cut at their ends."""
    lines = text[-most:].split("\n")[-MOST_LINES:]
    return "\n".join(line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + CUT for line in lines)


def _facts(facts: Mapping[str, str]) -> dict[str, str]:
    """Return the first facts, each cut. An output that mirrorctl would not send is one that is too large."""
    kept = {_word(name): _fact(name, facts[name]) for name in list(facts)[:MOST_FACTS]}
    return {**kept, "exit": "large", "output": ""} if len(facts.get("output", "")) > MOST_OUTPUT else kept


def _fact(name: str, text: str) -> str:
    if name == "errors":
        return _lines(text, MOST_ERRORS)
    return text[: _MOST.get(name, LONGEST_WORD)]
