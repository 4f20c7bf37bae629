"""Findings as people read them. Those that say the same about several objects are one: one cause is one finding.

Evidence, ledger and JSON answers keep one finding per object, because rules and programs look for the object.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from kafka_migration.core.findings.errors import Finding

# A name, or a path with all its names.
_WORD = re.compile(r"[\w./-]+")
# Numbers, and ids of topics and clusters (22 characters of base64).
_VALUE = re.compile(r"(?<![\w-])[\w-]{22}(?![\w-])|[0-9][0-9,.]*")
# What is listed of one text: evidence, mails and pages show a finding as a whole.
_LONGEST, _MOST = 4_000, 10


def by_cause(findings: Iterable[Finding], most: int = _MOST) -> tuple[Finding, ...]:
    """Return the findings with those of one cause merged, in the order of their first ones; for readers only.

    They have one cause if their texts are equal, or differ only by numbers, ids and the words of their subjects. Of the
    differences, the first ones are listed, at most `most`.
    """
    equal = _grouped(([finding] for finding in findings), _texts)
    return tuple(merged(group, most) for group in _grouped(equal, _shape))


def _grouped(groups: Iterable[list[Finding]], key_of: Callable[[Finding], Hashable]) -> list[list[Finding]]:
    """Join the groups whose first findings have the same key."""
    joined: dict[Hashable, list[Finding]] = {}
    for group in groups:
        joined.setdefault(key_of(group[0]), []).extend(group)
    return list(joined.values())


def _texts(finding: Finding) -> Hashable:
    return finding if finding.code.one_by_one else (finding.code, *_parts(finding))


def _shape(finding: Finding) -> Hashable:
    if finding.code.one_by_one:
        return finding
    words = frozenset(word.rstrip(".") for word in _WORD.findall(finding.subject))
    return (finding.code, *(_without(words, text) for text in _parts(finding)))


def _parts(finding: Finding) -> tuple[str, ...]:
    return finding.found, finding.expected, finding.remedy, finding.happened, finding.matters


def _without(words: frozenset[str], text: str) -> str:
    # A sentence may end with a name.
    without_names = _WORD.sub(lambda word: "" if word[0].rstrip(".") in words else word[0].rstrip("."), text)
    return _VALUE.sub("", without_names)


def merged(group: Sequence[Finding], most: int = _MOST) -> Finding:
    """Return one finding for those of one cause; texts that differ list their differences in the same order."""
    first, *others = dict.fromkeys(group)
    if not others:
        return first
    each = (first, *others)

    def joined(text_of: Callable[[Finding], str], cut: _Cut) -> str:
        return _joined([text_of(finding) for finding in each], cut, most)

    return Finding(
        first.code,
        joined(lambda finding: finding.subject, _WORDS),
        joined(lambda finding: finding.found, _WORDS),
        joined(lambda finding: finding.expected, _WORDS),
        # A command must stay whole.
        joined(lambda finding: finding.remedy, _CLAUSES),
        happened=joined(lambda finding: finding.happened, _WORDS),
        matters=joined(lambda finding: finding.matters, _WORDS),
    )


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where texts may be divided into what they share and what differs, and what is between the differences."""

    after: tuple[str, ...]
    before: tuple[str, ...]
    between: str


_WORDS = _Cut((" ",), (" ", ", "), ", ")
_CLAUSES = _Cut((". ", ": "), (". ",), "; ")


def _joined(texts: Sequence[str], cut: _Cut, most: int) -> str:
    """Return the texts as one: what they share once, around a list of what differs."""
    if len(set(texts)) == 1:
        return texts[0]
    prefix = _common_start(texts)
    head = prefix[: max((prefix.rfind(end) + len(end) for end in cut.after if end in prefix), default=0)]
    rests = [text[len(head) :] for text in texts]
    suffix = _common_start([rest[::-1] for rest in rests])[::-1]
    tail = suffix[min((suffix.find(start) for start in cut.before if start in suffix), default=len(suffix)) :]
    parts = [rest[: len(rest) - len(tail)] for rest in rests]
    if head and not head.endswith(". ") and all(part.endswith(".") for part in parts):
        # The ends of one sentence, not whole ones.
        parts, tail = [part[:-1] for part in parts], f".{tail}"
    return f"{head}{_listed(parts, cut.between, most)}{tail}"


def _listed(parts: Sequence[str], between: str, most: int) -> str:
    """Return the first parts as a whole, as many as are readable, and the number of the others."""
    lengths = accumulate(len(part) for part in parts)
    shown = min(most, max(1, sum(length <= _LONGEST for length in lengths)))
    more = f" and {len(parts) - shown:,} more" if len(parts) > shown else ""
    if all(part.endswith(".") for part in parts):
        # Whole sentences need nothing between them.
        between = " "
    elif any("," in part for part in parts):
        # A comma between them would look like one within them.
        between = "; "
    return f"{between.join(parts[:shown])}{more}"


def _common_start(texts: Sequence[str]) -> str:
    # What the least and the greatest text share, all share.
    least, greatest = min(texts), max(texts)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(least, greatest, strict=False))
    return least[: sum(1 for _ in same)]


# A longer line does not fit the task log in a browser window of 1440 pixels.
_LINE_WIDTH = 96


def finding_lines(finding: Finding) -> list[str]:
    """Return code and subject, then what happened, why it matters and what to do, each on a line of its own.

    A document of an older version has no sentences and becomes one line.
    """
    if not finding.happened:
        return [str(finding)]
    return [f"{finding.code} · {finding.subject}", *(f"  {sentence}" for sentence in finding.sentences)]


def wrapped_lines(finding: Finding) -> list[str]:
    """Return the lines of a finding for a page that does not wrap them."""
    data = (f"Found: {finding.found}", f"Expected: {finding.expected}", f"What to do: {finding.remedy}")
    parts = finding.sentences if finding.happened else data
    return [f"{finding.code} · {finding.subject}", *(line for part in parts for line in _wrapped(part))]


def _wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(
        sentence,
        _LINE_WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
