"""What is wrong with a running MirrorMaker by its own account, and why a partition may stand still."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.engine import MirrorHealth

_MEND = "Mend the cause that the trace names and trigger the run again; what was copied stays."


def health_findings(health: MirrorHealth, alarm: str) -> tuple[Finding, ...]:
    """Name failed tasks, a configuration that is not the rendered one, and what the log must never hold."""
    failed = (
        Finding(Code.MIRROR_TASK_FAILED, "MirrorMaker", f"{t.name}: {t.causes}", "every task in state RUNNING", _MEND)
        for t in health.failed
    )
    differing = (
        Finding(
            Code.CONFIG_NOT_EFFECTIVE,
            "MirrorMaker",
            difference,
            "the configuration that was rendered",
            "Find out what else writes into MirrorMaker's configuration topic; nothing but this migration may.",
        )
        for difference in health.differences
    )
    return (*failed, *differing, *((_too_large(alarm),) if alarm else ()))


def _too_large(line: str) -> Finding:
    return Finding(
        Code.RECORD_TOO_LARGE,
        "MirrorMaker",
        f"its log: {line}",
        "batches that the target takes",
        "A topic on the target takes smaller records than MirrorMaker sends. Raise max.message.bytes of the topic on "
        "the target to at least the source's and trigger the run again.",
    )


def unassigned_finding(unassigned: Iterable[TopicPartition], still_s: float) -> Finding:
    """Name the partitions that nobody copies, `still_s` seconds after they should have been given to somebody."""
    named = sorted(unassigned)
    return Finding(
        Code.PARTITION_NOT_ASSIGNED,
        str(named[0]),
        f"{len(named)} partition(s) without a task of MirrorMaker for {still_s:.0f} s",
        "every partition of the migration assigned",
        "MirrorMaker does not see the topic (it may not describe it), or no task of it came up. Look at its log.",
    )


@dataclass(frozen=True, slots=True)
class _Cause:
    """What lines of MirrorMaker's log mean."""

    pattern: re.Pattern[str]
    text: str


# Names of the Java exceptions and of what the clients log with them; the first that fits counts.
_CAUSES = tuple(
    _Cause(re.compile(pattern), text)
    for pattern, text in (
        (r"RecordTooLarge|MESSAGE_TOO_LARGE|splitting and retrying", "a record is too large for the target"),
        (r"AuthorizationException|AUTHORIZATION_FAILED|Not authorized", "MirrorMaker's user lacks a right"),
        (r"SaslAuthentication|AuthenticationException|SSL handshake failed", "MirrorMaker cannot log in"),
        (r"NotEnoughReplicas|NOT_ENOUGH_REPLICAS", "the target has not enough replicas in sync"),
        (r"CorruptRecord|CORRUPT_MESSAGE|InvalidRecord|INVALID_RECORD|INVALID_TIMESTAMP", "a side refuses a record"),
        (r"could not be established|Bootstrap broker .* disconnected|UnknownHost", "a cluster cannot be reached"),
        (r"OutOfMemoryError", "MirrorMaker is out of memory"),
        (r"TimeoutException|REQUEST_TIMED_OUT", "a cluster answers too late"),
    )
)
OPEN_TRANSACTION = "a transaction is open on the source, behind which nothing can be read"
NO_SIGN = "its log shows no sign; a quota on MirrorMaker's user would look like this"


def likely_cause(log: str, *, open_transaction: bool) -> str:
    """Return why a partition may stand still, with the newest log line that says so."""
    if open_transaction:
        return OPEN_TRANSACTION
    found = _newest_cause(log)
    return NO_SIGN if found is None else f"{found[0]}; its log: {found[1][:500]}"


def cause_in(log: str) -> str:
    """Return what the log's newest telling line means, in words; empty where there is none."""
    found = _newest_cause(log)
    return "" if found is None else found[0]


def _newest_cause(log: str) -> tuple[str, str] | None:
    """Return what a line means and the line, of the newest that means something."""
    for line in reversed(log.splitlines()):
        for cause in _CAUSES:
            if cause.pattern.search(line):
                return cause.text, line.strip()
    return None


def explained(findings: Iterable[Finding], causes: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return the findings, those of stalled partitions with their likely cause, by the partition's name."""
    return tuple(
        replace(f, found=f"{f.found}; likely cause: {causes[f.subject]}")
        if f.code is Code.MIRROR_STALLED and f.subject in causes
        else f
        for f in findings
    )
