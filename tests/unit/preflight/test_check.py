"""Rules of the results of checks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from unittest.mock import MagicMock

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import GroupListing, GroupState
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.preflight.host import other_mirrors_check as other_mirrors
from kafka_migration.preflight.scene.check import Check, CheckResult, NotApplicable, run_checks

LOWER, DIFFERS, GONE = (
    Finding(code, "topic orders", "this", "that", "Change it.")
    for code in (Code.RECORD_LIMIT_LOWER, Code.TOPIC_CONFIG_DIFFERS, Code.SOURCE_TOPIC_MISSING)
)


@pytest.mark.parametrize(
    ("findings", "warnings", "state", "reason"),
    [
        ((), (), "passed", None),
        ((), (GONE,), "passed", None),
        ((LOWER,), (), "accepted", "RECORD_LIMIT_LOWER"),
        ((LOWER,), (DIFFERS, DIFFERS, GONE), "accepted", "RECORD_LIMIT_LOWER, TOPIC_CONFIG_DIFFERS"),
        ((LOWER, GONE), (), "failed", None),
    ],
)
def test_accepted_findings_leave_the_others(
    findings: tuple[Finding, ...], warnings: tuple[Finding, ...], state: str, reason: str | None
) -> None:
    """A check with only accepted findings has passed; what is not accepted remains a finding or a warning."""
    result = CheckResult("limits", findings, warnings=warnings).accepting({LOWER.code, DIFFERS.code})

    assert (state, reason, state != "failed") == (result.state, result.reason, result.has_passed)
    assert {GONE} >= {*result.findings, *result.warnings}
    assert {LOWER, DIFFERS} >= set(result.accepted)
    assert len(findings + warnings) == len(result.findings + result.warnings + result.accepted)


def lacking(side: str, code: Code = Code.RIGHT_MISSING) -> Finding:
    return Finding(code, f"{side} (x)", "no right", "a right", "Grant it.")


@pytest.mark.parametrize(
    ("earlier", "later", "is_hidden"),
    [
        ([lacking("source")], [lacking("source")], True),
        ([lacking("source"), lacking("target")], [lacking("target")], True),
        ([lacking("source")], [lacking("target")], False),
        ([lacking("source")], [lacking("source"), lacking("target")], False),
        ([lacking("source")], [lacking("source"), GONE], False),
        ([lacking("source")], [lacking("source", Code.LOGIN_REFUSED)], False),
        ([lacking("source", Code.LOGIN_REFUSED)], [lacking("source")], False),
        ([], [lacking("source")], False),
    ],
)
def test_missing_right_is_named_once(earlier: list[Finding], later: list[Finding], is_hidden: bool) -> None:
    """A check that ends for a right says nothing if an earlier check names what is missing on that cluster."""

    def refuse(subject: Any) -> Any:
        raise Refused(later)

    subject: Any = MagicMock()
    subject.migration.accept = frozenset()
    checks = [Check("rights", lambda _: earlier), Check("topics", refuse), Check("limits", lambda _: (), ("topics",))]
    _, topics, limits = run_checks(checks, subject)

    assert ([] if is_hidden else later) == list(topics.findings)
    assert "not applicable" == limits.state
    assert is_hidden == (topics.not_applicable is not None)


@pytest.mark.parametrize(
    ("error", "codes"),
    [
        (ValueError("odd"), [GONE.code, Code.CHECK_FAILED]),
        (Refused([DIFFERS]), [GONE.code, DIFFERS.code]),
        (NotApplicable("no tool"), [GONE.code]),
    ],
)
def test_warnings_that_fail_hide_no_finding(error: Exception, codes: list[Code]) -> None:
    """What a check has found stays, whatever ends the search for its warnings."""

    def warn(subject: Any) -> Any:
        raise error

    subject: Any = MagicMock()
    subject.migration.accept = frozenset()
    (result,) = run_checks([Check("limits", lambda _: (GONE,), warn=warn)], subject)

    assert codes == [finding.code for finding in result.findings]


def test_not_applicable_is_never_accepted() -> None:
    """A check that was not run keeps its reason."""
    result = CheckResult("limits", not_applicable="the check topics did not pass").accepting(set(Code))

    assert ("not applicable", False) == (result.state, result.has_passed)


@pytest.mark.parametrize(
    "code",
    [
        Code.SAME_CLUSTER,
        Code.CONNECTION_INSECURE,
        Code.TARGET_TOPIC_NOT_EMPTY,
        Code.TOPIC_PARTITIONS_DIFFER,
        Code.ALREADY_CUT_OVER,
        Code.GAP,
        Code.CHECK_FAILED,
        Code.TOPIC_NEVER_COPIED,
        Code.RIGHT_MISSING,
    ],
)
def test_what_protects_records_is_not_acceptable(code: Code) -> None:
    """No file can accept what would lose, double or skip records, or an unknown result."""
    assert not code.accepted


def test_a_running_mirrormaker_is_named_although_its_copy_is_refused() -> None:
    """Who replaces a MirrorMaker 2 learns that it still runs while its copied records make the check `topics` fail."""
    now, partition = datetime(2030, 1, 1, tzinfo=UTC), TopicPartition("heartbeats", 0)
    subject: Any = MagicMock()
    subject.now, subject.migration.accept = now, frozenset()
    subject.source.list_groups.return_value = subject.target.list_groups.return_value = []
    subject.target.topic_names.return_value = {partition.topic}
    subject.target.log_end_offsets.return_value = {partition: 1}
    subject.target.records_at.return_value = {partition: MagicMock(timestamp_ms=int(now.timestamp() * 1000))}
    before = [Check(name, lambda _: ()) for name in ("earlier runs", "clusters")]

    *_, result = run_checks([*before, Check("topics", lambda _: (GONE,)), other_mirrors.CHECK], subject)

    assert [Code.OTHER_MIRRORMAKER] == [warning.code for warning in result.warnings]


def test_a_mirrormaker_that_has_no_positions_yet_is_named() -> None:
    """A MirrorMaker 2 in its first minute has stored no position, so it is not known what it copies."""
    subject: Any = MagicMock()
    subject.migration.accept, subject.migration.name = frozenset(), "shop"
    subject.source.list_groups.return_value, subject.target.topic_names.return_value = [], frozenset()
    subject.target.list_groups.return_value = [GroupListing("primary-mm2", GroupState.STABLE, "connect")]
    subject.target.read_table.return_value = []

    (result,) = run_checks([replace(other_mirrors.CHECK, needs=())], subject)

    assert ["topics that are not known" in warning.found for warning in result.warnings] == [True]
