"""Problems that a running MirrorMaker reports itself, and likely causes of a stalled partition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.engine import MirrorHealth

_REPAIR = "Fix the cause that the trace names and trigger the run again. Copied records are kept."


def health_findings(health: MirrorHealth, alarm: str) -> tuple[Finding, ...]:
    """Name failed tasks, differences from the rendered configuration, and an alarm in the log."""
    failed = (
        Finding(Code.MIRROR_TASK_FAILED, "MirrorMaker", f"{t.name}: {t.causes}", "every task in state RUNNING", _REPAIR)
        for t in health.failed
    )
    differing = (
        Finding(
            Code.CONFIG_NOT_EFFECTIVE,
            "MirrorMaker",
            difference,
            "the configuration that was rendered",
            "Find out what else writes to MirrorMaker's configuration topic. Only this migration may write to it.",
        )
        for difference in health.differences
    )
    return (*failed, *differing, *((_too_large(alarm),) if alarm else ()))


def _too_large(line: str) -> Finding:
    return Finding(
        Code.RECORD_TOO_LARGE,
        "MirrorMaker",
        f"its log: {line}",
        "batches that the target accepts",
        "MirrorMaker sends larger records than a target topic accepts. Raise max.message.bytes of the target topic to "
        "at least the source's value and trigger the run again.",
    )


def unassigned_finding(unassigned: Iterable[TopicPartition], still_s: float) -> Finding:
    """Name the partitions without a task, `still_s` seconds after they should have been assigned."""
    named = sorted(unassigned)
    return Finding(
        Code.PARTITION_NOT_ASSIGNED,
        str(named[0]),
        f"{len(named)} partition(s) without a MirrorMaker task for {still_s:.0f} s",
        "every partition of the migration assigned",
        "MirrorMaker does not see the topic (its user may lack Describe), or no task started. Check its log.",
    )


@dataclass(frozen=True, slots=True)
class _Cause:
    """A pattern in MirrorMaker's log, and its meaning."""

    pattern: re.Pattern[str]
    text: str


# Names of Java exceptions and of the clients' log messages; the first match counts.
_CAUSES = tuple(
    _Cause(re.compile(pattern), text)
    for pattern, text in (
        (r"RecordTooLarge|MESSAGE_TOO_LARGE|splitting and retrying", "a record is too large for the target"),
        (r"AuthorizationException|AUTHORIZATION_FAILED|Not authorized", "MirrorMaker's user lacks a permission"),
        (r"SaslAuthentication|AuthenticationException|SSL handshake failed", "MirrorMaker cannot log in"),
        (r"NotEnoughReplicas|NOT_ENOUGH_REPLICAS", "the target has not enough replicas in sync"),
        (r"CorruptRecord|CORRUPT_MESSAGE|InvalidRecord|INVALID_RECORD|INVALID_TIMESTAMP", "a cluster rejects a record"),
        (r"could not be established|Bootstrap broker .{0,300} disconnected|UnknownHost", "a cluster is unreachable"),
        (r"OutOfMemoryError", "MirrorMaker is out of memory"),
        (r"TimeoutException|REQUEST_TIMED_OUT", "a cluster answers too late"),
    )
)
OPEN_TRANSACTION = "an open transaction on the source; later records cannot be read until it ends"
NO_SIGN = "nothing in its log; a quota on MirrorMaker's user has this effect"


def likely_cause(log: str, *, open_transaction: bool) -> str:
    """Return why a partition may be stalled, with the newest log line that says so."""
    if open_transaction:
        return OPEN_TRANSACTION
    found = _newest_cause(log)
    return NO_SIGN if found is None else f"{found[0]}; its log: {found[1][:500]}"


def cause_in(log: str) -> str:
    """Return the meaning of the newest matching log line; empty if there is none."""
    found = _newest_cause(log)
    return "" if found is None else found[0]


def newest_cause_line(log: str) -> str:
    """Return the newest matching log line; empty if there is none."""
    found = _newest_cause(log)
    return "" if found is None else found[1]


def _newest_cause(log: str) -> tuple[str, str] | None:
    """Return the newest matching log line with its meaning."""
    for line in reversed(log.splitlines()):
        for cause in _CAUSES:
            if cause.pattern.search(line):
                return cause.text, line.strip()
    return None


def explained(findings: Iterable[Finding], causes: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return the findings; those of stalled partitions get their likely cause, looked up by the partition's name."""
    return tuple(
        replace(f, found=f"{f.found}; likely cause: {causes[f.subject]}")
        if f.code is Code.MIRROR_STALLED and f.subject in causes
        else f
        for f in findings
    )
