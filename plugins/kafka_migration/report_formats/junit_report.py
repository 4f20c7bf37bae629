"""The report of a run as JUnit XML, for programs that show the results of tests.

A test case stands for the run, for each check of preflight, each topic and each group. A *failure* is wrong or was not
moved, an *error* is unknown, and *skipped* is what nothing was decided about, with the reason.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from kafka_migration.core.findings.junit_cases import findings_case
from kafka_migration.core.groups.offsets_plan import GroupVerdict
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.first_page import MOVED
from kafka_migration.core.report.run_assembly import UNKNOWN
from kafka_migration.core.report.run_document import GroupResult, RunDocument
from kafka_migration.core.report.standing_still import seconds_between
from kafka_migration.core.stored.stored_documents import CheckDocument
from kafka_migration.core.text.junit import CaseOutcome, JunitCase, JunitSuite, junit_xml
from kafka_migration.core.validation.judge_document import JudgedTopic

PASSED, FAILED, ERROR, SKIPPED = CaseOutcome


def render_junit(run: RunDocument) -> str:
    """Return the whole report."""
    checks = run.steps.preflight.checks if run.steps.preflight else ()
    cases = {
        "run": [_of_run(run)],
        "preflight": [_of_check(check) for check in checks],
        "topics": [_of_topic(topic) for topic in run.topics],
        "groups": [_of_group(run, group) for group in run.groups],
    }
    at, properties = _ended_at(run), _properties(run)
    return junit_xml(*(JunitSuite(name, found, run.migration, at, properties) for name, found in cases.items()))


def _ended_at(run: RunDocument) -> str:
    """Return the end of the run in UTC, without a zone, as the format wants it; empty if it is unreadable."""
    try:
        return f"{datetime.fromisoformat(run.finished_at).astimezone(UTC):%Y-%m-%dT%H:%M:%S}"
    except (OverflowError, ValueError):
        return ""


def _properties(run: RunDocument) -> dict[str, str]:
    return {
        "dag_id": run.dag_id,
        "run_id": run.run_id,
        "attempt": str(run.attempt),
        "mode": run.mode,
        "outcome": run.outcome,
        "verdict": run.verdict or "none",
        "migration_digest": run.migration_digest,
        "package_version": run.package_version,
    }


def _of_run(run: RunDocument) -> JunitCase:
    """Return the case of the run itself: without it, a run that failed early would have nothing that fails."""
    seconds = seconds_between(run.started_at, run.finished_at) or 0
    if run.findings:
        return replace(findings_case(run.mode, run.findings), seconds=seconds)
    outcome = FAILED if run.has_failed else PASSED if run.outcome == "success" else SKIPPED
    return JunitCase(run.mode, outcome, run.outcome, seconds=seconds)


# Nothing measures the time of a check, a topic or a group, which the format writes as 0.
def _of_check(check: CheckDocument) -> JunitCase:
    if check.findings:
        is_unknown = all(finding.code.is_unanswered for finding in check.findings)
        case = findings_case(check.check, check.findings)
        return replace(case, outcome=ERROR if is_unknown else FAILED, seconds=0)
    is_skipped = check.state not in {"passed", "accepted"}
    return JunitCase(check.check, SKIPPED if is_skipped else PASSED, check.reason or check.state, seconds=0)


def _of_topic(topic: JudgedTopic) -> JunitCase:
    outcome = FAILED if topic.differs else PASSED if topic.is_proved else SKIPPED
    found, reasons = findings_case(topic.topic, topic.findings), topic.whole.reasons if topic.whole else ()
    text = "\n".join(filter(None, (found.text, *reasons))) if outcome else ""
    return JunitCase(topic.topic, outcome, topic.standing, text, 0)


def _of_group(run: RunDocument, group: GroupResult) -> JunitCase:
    reason, outcome = f"plan: {group.verdict}, {group.outcome.replace('_', ' ')}", _outcome_of_group(run, group)
    return JunitCase(group.group, outcome, reason, "\n".join(group.reasons) if outcome else "", 0)


def _outcome_of_group(run: RunDocument, group: GroupResult) -> CaseOutcome:
    if group.outcome in MOVED:
        return PASSED
    if group.outcome == UNKNOWN:
        return ERROR
    if group.verdict == GroupVerdict.NOTHING:
        return SKIPPED
    if run.mode == Mode.REHEARSE:
        return SKIPPED if group.verdict == GroupVerdict.LEFT_OUT else PASSED
    return FAILED
