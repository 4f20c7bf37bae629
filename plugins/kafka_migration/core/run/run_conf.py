"""Findings about the fields of a run's conf, and the modes that use each field."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.text.shortened import brief, given
from kafka_migration.core.text.terminal_text import UNSTORABLE, shown

# The modes of a manual run and of a rollback without a mode.
DEFAULT_MODE = Mode.REHEARSE
DEFAULT_ROLLBACK = Mode.FAIL_BACK
MAX_UNKNOWN = 20
_EVERY_MODE = frozenset(Mode)
USED_BY: Mapping[str, frozenset[Mode]] = {
    "mode": _EVERY_MODE,
    "note": _EVERY_MODE,
    "topics": frozenset(mode for mode in Mode if mode.is_offered),
    "groups": frozenset(mode for mode in Mode if mode.plans_groups),
    "generations": frozenset({Mode.VALIDATE}),
    "follow_until": frozenset({Mode.FOLLOW}),
    "leave_records_of": frozenset(mode for mode in Mode if mode.rolls_back),
    "mirror_outside_window": frozenset({Mode.INTERVAL}),
}
"""The modes that use a field; any other mode would ignore it, so it is refused there."""


def conf_finding(field: str, found: str, expected: str) -> Finding:
    """Return the finding about one field of the form or of `conf`."""
    subject = f"run conf field {brief(field, 100)}"
    found, expected = brief(found), brief(expected, 1000)
    return Finding(
        Code.RUN_CONF_INVALID,
        subject,
        found,
        expected,
        "Correct the field and trigger the run again.",
        happened=f"The {subject} is not what the run accepts: {found}, instead of {expected}.",
        matters="The run would do something else than you asked for, so nothing was started.",
    )


def unwritable_findings(conf: Mapping[str, object]) -> list[Finding]:
    """Refuse fields with a text that neither a file nor a database can store, at any depth, in names and in values."""
    found = [name for name, value in conf.items() if any(map(UNSTORABLE.search, texts_in([name, value])))]
    expected = "texts without NUL characters and without single surrogates (bytes that are not UTF-8)"
    return [conf_finding(shown(name), "a text that cannot be stored", expected) for name in found[:MAX_UNKNOWN]]


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, in any order; the value may be nested to any depth."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            waiting += [*each, *each.values()]
        elif isinstance(each, Iterable):
            waiting += each


def unknown_findings(field: str, names: Collection[str], expected: str) -> Iterator[Finding]:
    """Yield a finding per unknown name, up to a maximum, and one for the rest."""
    for name in itertools.islice(names, MAX_UNKNOWN):
        yield conf_finding(field, given(name), expected)
    if len(names) > MAX_UNKNOWN:
        yield conf_finding(field, f"{len(names) - MAX_UNKNOWN:,} more unknown names", expected)


def unused_findings(mode: Mode, given: Mapping[str, str]) -> Collection[Finding]:
    """Refuse fields that the mode does not use; `given` has the given fields with their values as text."""
    unused = {field: value for field, value in given.items() if mode not in USED_BY[field]}
    users = {field: " or ".join(each for each in Mode if each in USED_BY[field]) for field in unused}
    return [
        conf_finding(field, f"{value} in mode {mode}", f"mode {users[field]}, or no field {field}")
        for field, value in unused.items()
    ]
