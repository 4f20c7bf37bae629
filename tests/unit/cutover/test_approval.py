"""Rules of the approval: which answers count, and for what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_migration.core.cutover.approval import (
    Ask,
    Responder,
    evidence_changed,
    four_eyes,
    not_an_approver,
    plan_changes,
    stale_asks,
    unapproved,
)
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsPlan, Proof
from kafka_migration.core.migration.settings import Mode
from tests.unit.groups.copied_partition import moved
from tests.unit.partitions import P0

ASKED = Ask("plan-a", "12:00", 60)
APPROVED = replace(ASKED, answered_at="12:01", chosen="Approve", responded_by=Responder("7", "ada"))
ENDS = {P0: 5}
BILLING = GroupPlan("billing", (moved(3, 3, Proof.RECORD),))
PLAN = OffsetsPlan("t", Mode.CUTOVER, ("orders",), (BILLING,), ENDS, ENDS, ENDS)


def codes(findings: tuple[Finding, ...]) -> list[str]:
    return [str(finding.code) for finding in findings]


def test_run_asks_about_one_plan_only() -> None:
    """A second question about the same plan is allowed; for another plan Airflow would show the first one's text."""
    assert () == stale_asks([ASKED, APPROVED], "plan-a", ())
    assert ["APPROVAL_STALE"] == codes(stale_asks([ASKED, replace(ASKED, digest="plan-b")], "plan-b", ()))


@pytest.mark.parametrize(
    "ask",
    [
        None,
        ASKED,
        replace(APPROVED, digest="plan-b"),
        replace(APPROVED, chosen="Reject"),
        replace(APPROVED, chosen=None),
        replace(APPROVED, responded_by=Responder()),
    ],
)
def test_only_a_persons_yes_to_just_this_plan_counts(ask: Ask | None) -> None:
    """An approval is the answer `Approve` of a known person to this plan, and nothing else."""
    assert () == unapproved(APPROVED, "plan-a")
    assert ["APPROVAL_STALE"] == codes(unapproved(ask, "plan-a"))


@pytest.mark.parametrize("triggered_by", ["ada", "7", None, "", "airflow"])
def test_four_eyes_need_two_known_people(triggered_by: str | None) -> None:
    """The user who triggered the run cannot approve it; if that user is unknown or Airflow's own, no user can."""
    assert () == four_eyes(APPROVED, "grace", "airflow")
    assert ["FOUR_EYES"] == codes(four_eyes(APPROVED, triggered_by, "airflow"))


def test_other_people_are_never_asked_in_the_same_run() -> None:
    """In Airflow, only the users of a run's first question can answer the later ones."""
    asked = replace(ASKED, approvers=("ada", "bob"))

    assert () == stale_asks([asked], "plan-a", ("bob", "ada"))
    assert ["APPROVAL_STALE"] == codes(stale_asks([asked], "plan-a", ("bob",)))
    assert ["APPROVAL_STALE"] == codes(stale_asks([ASKED], "plan-a", ("bob",)))


@pytest.mark.parametrize(
    ("when_begun", "now", "is_entitled"),
    [
        ((), (), True),
        (("7",), ("7", "8"), True),
        ((), ("7",), True),
        ((), ("8",), False),
        (("8",), (), False),
        (("7",), ("8",), False),
        (("8",), ("7",), False),
        # By the id that Airflow goes by, not by a name that people may give themselves.
        (("ada",), ("ada",), False),
    ],
)
def test_only_approvers_may_approve(when_begun: tuple[str, ...], now: tuple[str, ...], is_entitled: bool) -> None:
    """An approver is in the list of the run's start and in the present list; an empty list allows every user."""
    findings = not_an_approver(APPROVED, when_begun, now)

    assert ([] if is_entitled else ["NOT_AN_APPROVER"]) == codes(findings)


@pytest.mark.parametrize(
    ("live", "text"),
    [
        (replace(PLAN, source_end_offsets={P0: 6}), "source end of orders[0]: 5 then, 6 now"),
        (replace(PLAN, target_end_offsets={}), "target end of orders[0]: 5 then, unknown now"),
        (replace(PLAN, groups=()), "group billing: no longer exists"),
        (replace(PLAN, groups=(*PLAN.groups, GroupPlan("audit"))), "group audit: new"),
        (
            replace(PLAN, groups=(GroupPlan("billing", (moved(4, 3, Proof.RECORD),)),)),
            "group billing, orders[0]: committed on the source 3 then, 4 now",
        ),
        (
            replace(PLAN, groups=(GroupPlan("billing", refusals=(Finding(Code.GROUP_ACTIVE, "s", "f", "e", "r"),)),)),
            "group billing: GROUP_ACTIVE now, may be moved then",
        ),
        (replace(PLAN, groups=(GroupPlan("billing"),)), "group billing: partitions with commits: 1 then, 0 now"),
    ],
)
def test_what_changed_is_said(live: OffsetsPlan, text: str) -> None:
    """The refusal names the end, the group or the commit that differs from the approved plan."""
    assert [text] == list(plan_changes(PLAN, live))
    assert [] == list(plan_changes(PLAN, replace(PLAN, at="later")))


def test_changed_evidence_tells_whether_an_earlier_try_wrote() -> None:
    """After a first write, the finding does not claim that nothing was written."""
    texts = [evidence_changed(["x"] * 12, has_written=written).matters for written in (False, True)]

    assert "Nothing was written" in texts[0]
    assert "may have moved groups" in texts[1]
    assert "and 2 more" in evidence_changed(["x"] * 12, has_written=False).found


def test_group_that_is_no_longer_deleted_is_named() -> None:
    """A group that committed on another topic since the approval keeps its offsets; the refusal names it."""
    deleted = replace(PLAN, mode=Mode.RESTORE, groups=(GroupPlan("billing", is_removed=True),))
    live = replace(deleted, groups=(GroupPlan("billing"),))

    assert deleted.digest != live.digest
    assert ["group billing: not to be deleted now, to be deleted then"] == list(plan_changes(deleted, live))
