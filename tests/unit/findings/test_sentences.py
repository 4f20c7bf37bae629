"""Rules of the sentences of findings: each says what happened, why it matters and what to do, also when merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from kafka_migration.core.cutover.approval import Ask, Responder, four_eyes, not_an_approver, timed_out, unapproved
from kafka_migration.core.findings.by_cause import by_cause
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.group_writes import (
    CUTOVER,
    active_finding,
    after_write,
    before_write,
    unreadable_finding,
)
from kafka_migration.core.groups.uncommitted import no_commit_finding, uncommitted_finding
from kafka_migration.core.kafka.cluster import GroupDescription, GroupMember, GroupState
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from kafka_migration.core.ledger.generations import Remembered, StopCertificate
from kafka_migration.core.target.topic_identity import IdentityWatch, recreated_finding
from kafka_migration.core.watching.drain import beyond_end_findings, deletion_findings, gap_findings
from kafka_migration.core.watching.gap_guard import continuity_findings, stale_state_findings

P0, P1, P2 = (TopicPartition("orders", number) for number in range(3))
PARTITIONS = (P0, P1, P2)
NAMES = ("audit", "billing", "shop")
ASK = Ask("d1" * 32, "12:00", 3_600, ("ada",), "12:10", "Approve", Responder("bob", "bob"))


def _certificate(positions: dict[TopicPartition, int]) -> StopCertificate:
    return StopCertificate(1, "run", "t", True, 143, "", positions, positions, Remembered(positions))


def _continuity(stored: int | None, end: int) -> tuple[Finding, ...]:
    """Return what a start finds if position and end were 10 to 12 at the last stop."""
    last = _certificate({p: 10 + p.partition for p in PARTITIONS})
    present = {} if stored is None else {p: stored + p.partition for p in PARTITIONS}
    return continuity_findings(last, present, {p: end + p.partition for p in PARTITIONS})


def _changed(group: str) -> tuple[Finding, ...]:
    written = before_write(
        GroupDescription(group, GroupState.EMPTY, ()),
        {p: CommittedOffset(4 + p.partition) for p in PARTITIONS},
        {},
        {p: CommittedOffset(7 + p.partition) for p in PARTITIONS},
        CUTOVER,
    )
    return written.findings if written else ()


def _recreated() -> tuple[Finding, ...]:
    watch = IdentityWatch("source", 1, {name: f"{number}" for number, name in enumerate(NAMES)})
    return watch.take({name: f"{7 + number}" for number, name in enumerate(NAMES)}, {})


MANY: dict[str, Callable[[], Sequence[Finding]]] = {
    "gaps": lambda: gap_findings({p: (5, 8 + p.partition) for p in PARTITIONS}),
    "deletions": lambda: deletion_findings({p: (5, 8 + p.partition) for p in PARTITIONS}),
    "beyond the end": lambda: beyond_end_findings(
        {p: 9 + p.partition for p in PARTITIONS}, dict.fromkeys(PARTITIONS, 5)
    ),
    "lost positions": lambda: _continuity(None, 10),
    "changed positions": lambda: _continuity(3, 10),
    "foreign writes": lambda: _continuity(10, 20),
    "stale state": lambda: stale_state_findings({p: 4 + p.partition for p in PARTITIONS}, (), "reset"),
    "recreated while it ran": _recreated,
    "recreated at the stop": lambda: [recreated_finding("target", topic) for topic in NAMES],
    "changed offsets": lambda: _changed("billing"),
    "offsets not written": lambda: (
        after_write(
            "billing",
            {},
            dict.fromkeys(PARTITIONS, CommittedOffset(1)),
            dict.fromkeys(PARTITIONS, CommittedOffset(7)),
            (),
        ).findings
    ),
    "uncommitted": lambda: [uncommitted_finding("billing", p) for p in PARTITIONS],
    "no commit": lambda: [no_commit_finding(group) for group in NAMES],
    "unreadable": lambda: [unreadable_finding(group, "its coordinator fails") for group in NAMES],
    "active": lambda: [active_finding(GroupDescription(group, GroupState.STABLE, ()), "target") for group in NAMES],
}


@pytest.mark.parametrize("name", MANY)
def test_findings_of_one_cause_are_one_sentence(name: str) -> None:
    """Names and numbers that differ are listed inside of the sentence, which has one full stop at its end."""
    found = MANY[name]()
    (merged,) = by_cause(found)

    assert 3 == len(found)
    assert merged.happened.endswith(".")
    assert merged.happened.count(". ") == found[0].happened.count(". ")
    assert len(merged.happened) < 3 * len(found[0].happened)


@pytest.mark.parametrize("name", MANY)
def test_each_line_says_something_else(name: str) -> None:
    """What happened, why it matters and what to do are three whole sentences, none of which repeats another."""
    happened, matters, remedy = MANY[name]()[0].sentences

    assert 3 == len({happened, matters, remedy})
    assert all(text[:1].isupper() for text in (happened, matters, remedy))
    assert happened.endswith(".")
    assert matters.endswith(".")


def test_members_that_stop_a_group_are_named() -> None:
    """The finding names the state and the members, because the operator has to stop them."""
    member = GroupMember("m-1", "app-1", "/10.0.0.7")
    finding = active_finding(GroupDescription("billing", GroupState.STABLE, (member,)), "target")

    assert (
        "The consumers of group billing (state STABLE; app-1 on /10.0.0.7) still run on the target.",
        "Kafka writes offsets only for groups without members, so a run leaves active groups out.",
        "Stop these consumers, then trigger a new run.",
    ) == finding.sentences


def test_approval_by_another_user_names_the_list_that_lacks_them() -> None:
    """The approver list counts that refuses: the one of the begin, the one of now, or both."""
    (begun,) = not_an_approver(ASK, ("ada",), ("ada", "bob"))
    (both,) = not_an_approver(ASK, ("ada",), ("eve",))

    assert begun.happened.endswith("bob, who is not in cutover.approvers (when the run began: ada).")
    assert both.happened.endswith("bob, who is not in cutover.approvers (when the run began: ada; now: eve).")


@pytest.mark.parametrize(
    ("findings", "happened"),
    [
        (lambda: unapproved(None, "ab" * 32), "Plan abababababab has no approval."),
        (
            lambda: unapproved(ASK, "ab" * 32),
            "The newest approval is about plan d1d1d1d1d1d1, but this run's newest plan is abababababab.",
        ),
        (
            lambda: unapproved(Ask("ab" * 32, "12:00", 60), "ab" * 32),
            "The request to approve plan abababababab has no answer.",
        ),
        (
            lambda: unapproved(Ask("ab" * 32, "12:00", 60, chosen="Reject", responded_by=Responder("bob")), "ab" * 32),
            "The request to approve plan abababababab has the answer Reject by bob.",
        ),
        (
            lambda: four_eyes(ASK, "airflow", "airflow"),
            "The run was triggered by airflow, the login under which Airflow itself runs, and its plan was approved by "
            "bob.",
        ),
        (
            lambda: (timed_out(ASK),),
            "The request of 12:00 to approve the plan had no answer within 1h00m (cutover.approval_time_limit).",
        ),
    ],
)
def test_plan_that_is_not_approved_is_refused_in_a_sentence(
    findings: Callable[[], tuple[Finding, ...]], happened: str
) -> None:
    """The first line says who or what lacks; the second always says that nothing was written."""
    (finding,) = findings()

    assert happened == finding.happened
    assert "Nothing was written: no consumer group was moved." in finding.matters
    assert finding.code in {Code.APPROVAL_STALE, Code.FOUR_EYES, Code.APPROVAL_TIMED_OUT}
