"""What a run was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.ledger.generations import NO_GENERATIONS, parse_generations
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.run_conf import (
    DEFAULT_MODE,
    DEFAULT_ROLLBACK,
    MAX_UNKNOWN,
    conf_finding,
    unused_findings,
    unwritable_findings,
)
from kafka_migration.core.run.run_window import Interval, RunType
from kafka_migration.core.text.shortened import given

# The maximum number of topics in a migration file.
MAX_NAMES = 5_000
LONGEST_NAME = 1_000
LONGEST_NOTE = 2_000


@dataclass(frozen=True, slots=True)
class Occasion:
    """What started a run; the interval of a manual run has no meaning."""

    run_type: RunType
    interval: Interval


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The parameters of a run, from the form or `conf`, or from the schedule or a backfill.

    `follow_until` is when mode `follow` ends; `None` means that it waits for a stop request. `mirror_outside_window`
    lets a backfill mirror missing records at any time of day. `generations` are those whose windows mode `validate`
    reads again; none means the whole copy. `leave_records_of` are topics whose records may stay on the target only
    after a rollback.
    """

    mode: Mode = DEFAULT_MODE
    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    note: str = ""
    follow_until: datetime | None = None
    mirror_outside_window: bool = False
    generations: range = NO_GENERATIONS
    leave_records_of: tuple[str, ...] = ()

    MANUAL_FIELDS = ("mode", "topics", "groups", "generations", "follow_until", "note")
    NIGHTLY_FIELDS = ("mirror_outside_window", "note")
    ROLLBACK_FIELDS = ("mode", "leave_records_of", "note")

    @property
    def reads_whole(self) -> bool:
        """Whether the run reads the whole copy."""
        return self.mode is Mode.VALIDATE and not self.generations

    @classmethod
    def from_params(
        cls, params: Mapping[str, Any], nightly_mode: Mode | None = None, *, is_rollback: bool = False
    ) -> RunRequest:
        """Read the run's params; a field that is missing has its default.

        `nightly_mode` is the mode of a run that was not triggered manually. Raises `Refused` (`RUN_CONF_INVALID`) for
        an unknown field or value, or a text that cannot be stored; Airflow itself accepts them.
        """
        manual = cls.ROLLBACK_FIELDS if is_rollback else cls.MANUAL_FIELDS
        fields = manual if nightly_mode is None else cls.NIGHTLY_FIELDS
        if unwritable := unwritable_findings(params):
            raise Refused(unwritable)
        findings = [
            conf_finding(name, "an unknown field", f"one of {', '.join(fields)}")
            for name in sorted(set(params) - set(fields))[:MAX_UNKNOWN]
        ]
        mode = nightly_mode or params.get("mode", DEFAULT_ROLLBACK if is_rollback else DEFAULT_MODE)
        offered = [str(mode) for mode in Mode if (mode.rolls_back if is_rollback else mode.is_offered)]
        if nightly_mode is None and mode not in offered:
            findings.append(conf_finding("mode", given(mode), f"one of {', '.join(offered)}"))
        topics, groups, left = (_names(params, field, findings) for field in ("topics", "groups", "leave_records_of"))
        follow_until = _moment(params, "follow_until", findings)
        generations = _generations(params, findings)
        outside = _of_type(params, "mirror_outside_window", False, "true or false", findings)
        note = _of_type(params, "note", "", "a text", findings)
        if len(note) > LONGEST_NOTE:
            findings.append(conf_finding("note", given(note), f"a text of at most {LONGEST_NOTE:,} characters"))
        if not findings:
            findings += unused_findings(Mode(mode), {name: str(params[name]) for name in fields if params.get(name)})
        if findings:
            raise Refused(findings)
        return cls(Mode(mode), topics, groups, note, follow_until, outside, generations, left)


T = TypeVar("T")


def _of_type(params: Mapping[str, Any], field: str, default: T, expected: str, findings: list[Finding]) -> T:
    """Return a conf field that has the default's type, or the default; a value of another type is a finding."""
    value = params.get(field)
    if value is None:
        return default
    if isinstance(value, type(default)):
        return value
    findings.append(conf_finding(field, given(value), expected))
    return default


def _moment(params: Mapping[str, Any], field: str, findings: list[Finding]) -> datetime | None:
    """Return the date and time in a conf field; an invalid one, or one without a time zone, is a finding."""
    text = params.get(field)
    if text is None or text == "":
        return None
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        moment = None
    if moment is None or moment.tzinfo is None:
        findings.append(conf_finding(field, given(text), 'a time with a zone, such as "2030-01-31T05:30:00+01:00"'))
        return None
    return moment


def _generations(params: Mapping[str, Any], findings: list[Finding]) -> range:
    """Return the generations in a conf field; anything but a number or a range is a finding."""
    text = params.get("generations")
    if text is None or text == "":
        return NO_GENERATIONS
    try:
        return parse_generations(text)
    except (TypeError, ValueError):
        findings.append(conf_finding("generations", given(text), 'a generation, or a range such as "3-5"'))
        return NO_GENERATIONS


def _names(params: Mapping[str, Any], field: str, findings: list[Finding]) -> tuple[str, ...]:
    """Return the names in a conf field; anything but a list of strings is a finding."""
    names = params.get(field)
    if names is None:
        return ()
    if not isinstance(names, list) or len(names) > MAX_NAMES or not all(_is_name(name) for name in names):
        kind = field.removesuffix("s")
        findings.append(conf_finding(field, given(names), f"a list of at most {MAX_NAMES:,} {kind} names"))
        return ()
    return tuple(dict.fromkeys(names))


def _is_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= LONGEST_NAME
