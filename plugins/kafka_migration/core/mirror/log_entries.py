"""Reads MirrorMaker's log: its entries with their traces, and the exception that ended it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

LONGEST_QUOTE = 500
# The log's lines begin with the time and the level (`engines.launching`); all others continue an entry.
_HEAD = re.compile(r"\[(\d{4}-\d\d-\d\d [\d:]{8})[\d,.]{0,8}\] (\w+) ")
_WORD = re.compile(r"[\w.$]+")
_EXCEPTION = re.compile(r"[\w.$](?:Exception|Error)\b")
_OF_A_TRACE = re.compile(r"\s|Caused by:")
_FRAME = re.compile(r"\s{1,20}(?:at |\.\.\. \d)")
# What MirrorMaker 2 tries in vain without rights that it does not need, and what its copy does not need (Kafka 3.9.1).
_NEEDLESS = re.compile(
    r"occurred while trying to describe configs|Mirror(?:Checkpoint|Heartbeat)Connector"
    r"|caught exception in scheduled task: (?!loading initial set of topic-partitions|refreshing topics)"
)
# How the JVM's own words begin that may stand right before such an end of a log.
_OF_THE_JVM = ("Exception in ", "Error: ", "Error occurred ", "Terminating due to ")
# After it a thread of MirrorMaker may be missing as long as the process lives.
_NEVER_OVER = "OutOfMemoryError"
# Earlier words than this before the last line are about something that is over.
RECENT = timedelta(minutes=3)
# What other threads log once one of them has ended.
_AFTERWARDS = re.compile(
    r"closed forcefully|Producer is closed|Interrupt|WakeupException|CancellationException|AdminClient thread has ex"
)


def telling_lines(log: str) -> list[str]:
    """Return the lines that may tell a cause, the newest first: recent warnings and errors, without traces' frames."""
    lines = [line for entry in _recent(log) if _may_tell(entry) for line in entry]
    return [line.strip() for line in reversed(lines) if line.strip() and not _FRAME.match(line)]


def root_exception(log: str) -> str:
    """Return the exception that ended MirrorMaker, with its message; empty if the log has none.

    It is the last `Caused by:` of the newest error that did not follow from another one.
    """
    for entry in reversed(_recent(log)):
        if _level(entry) != "WARN" and _may_tell(entry) and (found := _root(entry)) and not _AFTERWARDS.search(found):
            return found[:LONGEST_QUOTE]
    return ""


def from_exception(line: str, place: int) -> str:
    """Return a line from the last name of an exception on that begins at or before a place."""
    begins = [start for start in exceptions_in(line) if start <= place]
    return line[max(begins, default=0) :].strip()


def exceptions_in(line: str) -> list[int]:
    """Return where the names of exceptions and errors begin in a line."""
    return [word.start() for word in _WORD.finditer(line) if _EXCEPTION.search(word[0])]


def _recent(log: str) -> list[list[str]]:
    """Return the entries shortly before the last one; the JVM's own words have no time, and always count."""
    entries = list(_entries(log))
    times = [_time(entry) for entry in entries]
    last = max(filter(None, times), default=None)
    return [
        entry
        for entry, at in zip(entries, times, strict=True)
        if at is None or last is None or last - at <= RECENT or any(_NEVER_OVER in line for line in entry)
    ]


def _time(entry: list[str]) -> datetime | None:
    head = _HEAD.match(entry[0]) if entry else None
    try:
        return datetime.fromisoformat(head[1]) if head else None
    except ValueError:
        return None


def _entries(log: str) -> Iterator[list[str]]:
    """Yield each entry as its lines. What comes before the first one, as the JVM's own words, is one without a level.

    The end of a log may begin in the middle of a trace, which is left out: what it is about is not known.
    """
    entry: list[str] = []
    for line in log.splitlines():
        if _HEAD.match(line) and entry:
            yield entry if _HEAD.match(entry[0]) else _without_traces(entry)
            entry = []
        entry.append(line)
    if entry:
        yield entry


def _without_traces(lines: list[str]) -> list[str]:
    """Return the lines that are no part of a trace; the JVM's own words stay, whatever follows them."""
    begins = {number for number, line in enumerate(lines[1:]) if _OF_A_TRACE.match(line)}
    return [
        line
        for number, line in enumerate(lines)
        if not _OF_A_TRACE.match(line) and (number not in begins or line.startswith(_OF_THE_JVM))
    ]


def _level(entry: list[str]) -> str:
    head = _HEAD.match(entry[0]) if entry else None
    return head[2] if head else ""


def _may_tell(entry: list[str]) -> bool:
    return _level(entry) not in {"INFO", "DEBUG", "TRACE"} and not (entry and _NEEDLESS.search(entry[0]))


def _root(entry: list[str]) -> str:
    lines = [line for line in entry if not _FRAME.match(line) and exceptions_in(line)]
    caused = [line for line in lines if line.lstrip().startswith("Caused by:")]
    named = caused[-1:] or [line for line in lines if not _HEAD.match(line)][:1] or lines[:1]
    return "".join(line[min(exceptions_in(line)) :].strip() for line in named)
