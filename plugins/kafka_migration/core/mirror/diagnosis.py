"""Problems that a running MirrorMaker reports itself, and likely causes of a stalled partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.causes import (
    CONNECTOR_REFUSED,
    OUT_OF_MEMORY,
    WORKER_ENDED,
    Sign,
    cause_finding,
    certain_sign,
    newest_sign,
    repair,
    sign_of_end,
)
from kafka_migration.core.mirror.engine import MirrorHealth
from kafka_migration.core.mirror.log_entries import root_exception
from kafka_migration.core.mirror.mirrorctl_protocol import LOG_FOLLOWS
from kafka_migration.core.text.shortened import sentence

# What MirrorMaker did; its log may name the cause.
ENDS = frozenset(
    {Code.MIRROR_TASK_FAILED, Code.MIRROR_DEAD, Code.RECORD_TOO_LARGE, Code.MIRROR_STALLED, Code.PARTITION_NOT_ASSIGNED}
)
# One about a record names it already.
_WITHOUT_A_CAUSE = ENDS - {Code.RECORD_TOO_LARGE}
# Findings about the whole process, whose last exception is the reason.
_OF_A_PROCESS = frozenset({Code.MIRROR_DEAD, Code.PARTITION_NOT_ASSIGNED})
# What the silence of a cluster may be the cause of.
_OF_SILENCE = _WITHOUT_A_CAUSE | {Code.CLUSTER_UNREACHABLE, Code.MIRROR_TIMEOUT, Code.REPLICATION_BELOW_MIN_INSYNC}


def may_follow(finding: Finding) -> bool:
    """Return whether a host or a cluster that does not answer may be the cause; others name a cause themselves."""
    return finding.code in _OF_SILENCE


def health_findings(health: MirrorHealth, alarm: str) -> tuple[Finding, ...]:
    """Name failed tasks, differences from the rendered configuration, and an alarm in the log."""
    failed = (
        Finding(
            Code.MIRROR_TASK_FAILED,
            "MirrorMaker",
            f"{t.name}: {t.causes}",
            "every task in state RUNNING",
            repair(),
            happened=sentence(f"MirrorMaker's {t.name} failed: {t.causes}"),
            matters="The partitions of this task are not copied any more, although MirrorMaker's process is alive.",
        )
        for t in health.failed
    )
    differing = (
        Finding(
            Code.CONFIG_NOT_EFFECTIVE,
            "MirrorMaker",
            difference,
            "the configuration that was rendered",
            "Find the client that writes to MirrorMaker's configuration topic on the target besides this migration, "
            "and stop it. Then trigger the run again.",
            happened=sentence(f"MirrorMaker runs with another configuration than the run rendered: {difference}"),
            matters="It may copy other topics than the migration file names, or copy them in another way.",
        )
        for difference in health.differences
    )
    return (*failed, *differing, *((_alarm(alarm),) if alarm else ()))


# What MirrorMaker 2 does not survive although its process stays alive.
_FATAL = {
    WORKER_ENDED: "its worker has ended; its process is still alive and copies nothing",
    OUT_OF_MEMORY: "it had no memory, so one of its threads may have ended",
    CONNECTOR_REFUSED: "its copying connector was not created; its process is still alive and copies nothing",
}


def _alarm(line: str) -> Finding:
    for words, meaning in _FATAL.items():
        if words in line:
            return Finding(
                Code.MIRROR_DEAD,
                "MirrorMaker",
                meaning,
                "a running worker and connector",
                repair(),
                happened=f"MirrorMaker reports an error from which it does not recover: {meaning}.",
                matters="No further records are copied until it is started again.",
            )
    return Finding(
        Code.RECORD_TOO_LARGE,
        "MirrorMaker",
        f"its log: {line}",
        "batches that the target accepts",
        "Raise max.message.bytes of the target topic to at least the source's value and trigger the run again.",
        happened=sentence(f"MirrorMaker sends larger records than a target topic accepts; its log says: {line}"),
        matters="It sends them again and again without success, and MirrorMaker 1 may lose records.",
    )


def unassigned_finding(unassigned: Iterable[TopicPartition], still_s: float) -> Finding:
    """Name the partitions without a task, `still_s` seconds after they should have been assigned."""
    named = sorted(unassigned)
    return Finding(
        Code.PARTITION_NOT_ASSIGNED,
        str(named[0]),
        f"{len(named)} partition(s) without a MirrorMaker task for {still_s:.0f} s",
        "every partition of the migration assigned",
        "MirrorMaker lists only topics that its user may describe: grant Describe on the topic (`kafka-migration acls` "
        "prints the commands), or find the reason in its log: mirrormaker.log on the host, or the logs of the Kafka "
        "Connect workers. Then trigger the run again.",
        happened=f"{len(named)} partition(s), such as {named[0]}, had no MirrorMaker task for {still_s:.0f} s "
        "(watch.stall_after).",
        matters="The records of these partitions are not copied.",
    )


OPEN_TRANSACTION = "an open transaction on the source; later records cannot be read until it ends"
_LIKELY = "; likely cause: "
NO_SIGN = "a quota on MirrorMaker's user, because MirrorMaker's log names no other cause"


def likely_cause(log: str, *, open_transaction: bool) -> str:
    """Return why a partition may be stalled, with the newest log line that says so."""
    if open_transaction:
        return OPEN_TRANSACTION
    sign = newest_sign(log)
    return NO_SIGN if sign is None else f"{sign.cause.what}; MirrorMaker says: {sign.quote}"


def with_causes(findings: Iterable[Finding], log: str, heap_mb: int | None) -> tuple[Finding, ...]:
    """Replace findings of what MirrorMaker did by one finding for each cause that its log names.

    `log` is the end of its log, empty if it cannot be read. A finding without a known cause quotes the exception.
    `heap_mb` as for `cause_finding`.
    """
    named: dict[Code, list[tuple[Finding, Sign]]] = {}
    others = []
    for finding in findings:
        sign = _sign_of(finding, log) if finding.code in _WITHOUT_A_CAUSE else None
        if sign is None:
            others.append(_with_exception(finding, log) if finding.code in _OF_A_PROCESS else finding)
        else:
            named.setdefault(sign.cause.code, []).append((finding, sign))
    return (*(_joined(of, heap_mb) for of in named.values()), *others)


def _sign_of(finding: Finding, log: str) -> Sign | None:
    if finding.code is Code.MIRROR_TASK_FAILED:
        # It has a trace of its own.
        return newest_sign(finding.found)
    if finding.code is Code.MIRROR_DEAD:
        return sign_of_end(log or finding.found)
    # Records after an open transaction cannot be read, whatever else the log contains.
    return None if OPEN_TRANSACTION in finding.found else certain_sign(log)


def _with_exception(finding: Finding, log: str) -> Finding:
    said = root_exception(log)
    if not said or said in finding.found:
        return finding
    return _with(finding, f"; MirrorMaker says: {said}", sentence(f"MirrorMaker says: {said}"))


def _with(finding: Finding, more: str, also: str) -> Finding:
    """Return the finding with more in what was found, and with one more sentence of what happened."""
    happened = f"{finding.happened} {also}" if finding.happened else ""
    return replace(finding, found=f"{finding.found}{more}", happened=happened)


def _joined(of: list[tuple[Finding, Sign]], heap_mb: int | None) -> Finding:
    """Return one finding for all findings of a cause."""
    (first, sign), *more = of
    also = f" (and {len(more):,} more)" if more else ""
    found = first.found.partition(LOG_FOLLOWS)[0].partition(_LIKELY)[0]
    return cause_finding(sign, f"{first.subject}{also}", found, heap_mb)


def explained(findings: Iterable[Finding], causes: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return the findings; those of stalled partitions get their likely cause, looked up by the partition's name."""
    return tuple(
        _with(f, f"{_LIKELY}{causes[f.subject]}", sentence(f"The likely cause: {causes[f.subject]}"))
        if f.code is Code.MIRROR_STALLED and f.subject in causes
        else f
        for f in findings
    )
