"""The approval of a plan: which answers count, and for what.

An answer is bound to the digest of the plan that was shown. Airflow keeps the text of a run's first question.
Therefore a run that has asked once never asks about another plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsPlan
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.kafka.offsets import Commits, Offsets
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some
from kafka_migration.core.text.terminal_text import duration

APPROVE = "Approve"
_NOTHING_WRITTEN = "Nothing was written: no consumer group was moved."
_UNAPPROVED = "No user has agreed to what this run would write."


@dataclass(frozen=True, slots=True)
class Responder(Document):
    """The user who answered, as Airflow names them; `None` without an answer."""

    id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Ask(Document):
    """An approval request: its plan, when it was asked, who may answer, the time limit and the answer.

    `chosen` is the selected option; `None` with `answered_at` set means that the request timed out.
    """

    digest: str
    asked_at: str
    time_limit_s: int
    approvers: tuple[str, ...] = ()
    answered_at: str | None = None
    chosen: str | None = None
    responded_by: Responder = Responder()

    @property
    def is_approved(self) -> bool:
        """Whether a user approved the plan."""
        return self.chosen == APPROVE and self.responded_by.id is not None

    @property
    def until(self) -> datetime | None:
        """The moment by which it must be answered; `None` if it cannot be read."""
        try:
            return datetime.fromisoformat(self.asked_at) + timedelta(seconds=self.time_limit_s)
        except (OverflowError, ValueError):
            return None

    @property
    def who(self) -> str:
        """The name of the user who answered."""
        known = [text for text in (self.responded_by.name, self.responded_by.id) if text]
        return known[0] if known else "a user whose name Airflow does not know"


def stale_asks(asks: Iterable[Ask], digest: str, approvers: tuple[str, ...]) -> tuple[Finding, ...]:
    """Refuse to ask again if the run has already asked about another plan or asked other users."""
    asks = tuple(asks)
    other = next((ask for ask in asks if ask.digest != digest), None)
    if other is not None:
        return _stale(
            f"plan {digest[:12]}, while the question of {other.asked_at} shows plan {other.digest[:12]}",
            "the plan that the run asked about before; Airflow would show the old text",
            f"The plan is now {digest[:12]}, but this run asked about plan {other.digest[:12]} at {other.asked_at}.",
            "Airflow keeps the text of a run's first question, so a user would approve what the page does not show.",
        )
    others = next((ask for ask in asks if set(ask.approvers) != set(approvers)), None)
    if others is not None:
        return _stale(
            f"cutover.approvers {_people(approvers)}, while the approvers asked at {others.asked_at} were "
            f"{_people(others.approvers)}",
            "the same approvers; Airflow accepts answers only from those of a run's first question",
            f"The approvers (cutover.approvers) are now {_people(approvers)}, but this run asked "
            f"{_people(others.approvers)} at {others.asked_at}.",
            "Airflow accepts answers only from the users of a run's first question.",
        )
    return ()


def not_an_approver(ask: Ask, when_begun: Collection[str], now: Collection[str]) -> tuple[Finding, ...]:
    """Refuse an approval by a user whom `cutover.approvers` did not list when the run began, or does not list now.

    An empty list allows every user with the right to answer in Airflow.
    """
    lists = {"when the run began": when_begun, "now": now}
    without = [when for when, people in lists.items() if people and ask.responded_by.id not in people]
    if not without:
        return ()
    return (
        Finding(
            Code.NOT_AN_APPROVER,
            "the approval",
            f"approved by {ask.who}, who is not in cutover.approvers {' or '.join(without)}",
            "; ".join(f"{when}: {_people(people)}" for when, people in lists.items()),
            "Clear the task approve with its downstream tasks. A user must answer who is in the list now and was in "
            "it when the run began.",
            happened=f"The plan was approved by {ask.who}, who is not in cutover.approvers "
            f"({'; '.join(f'{when}: {_people(lists[when])}' for when in without)}).",
            matters=f"Only an approver may decide on a cutover. {_NOTHING_WRITTEN}",
        ),
    )


def _people(users: Collection[str]) -> str:
    return ", ".join(users) or "every user"


def unapproved(ask: Ask | None, digest: str) -> tuple[Finding, ...]:
    """Refuse to write a plan unless the newest approval request was about exactly this plan and was approved."""
    if ask is None:
        expected = f"an approval of plan {digest[:12]}"
        return _stale("no approval", expected, f"Plan {digest[:12]} has no approval.", _UNAPPROVED)
    if ask.digest != digest:
        found, expected = f"an approval of plan {ask.digest[:12]}", f"an approval of plan {digest[:12]}"
        happened = f"The newest approval is about plan {ask.digest[:12]}, but this run's newest plan is {digest[:12]}."
        return _stale(found, f"{expected}, this run's newest", happened, _UNAPPROVED)
    if not ask.is_approved:
        answer = f"the answer {ask.chosen} by {ask.who}" if ask.chosen else "no answer"
        found = answer if ask.chosen else f"{answer} to the approval request"
        happened = f"The request to approve plan {digest[:12]} has {answer}."
        return _stale(found, f"an approval of plan {digest[:12]} by a user", happened, _UNAPPROVED)
    return ()


def four_eyes(ask: Ask, triggered_by: str | None, service_login: str) -> tuple[Finding, ...]:
    """Refuse an approval by the user who triggered the run, or if the two cannot be shown to be different people.

    `service_login` is the login under which Airflow runs. A run with this login was triggered from Airflow's own
    command line, and the user is not known.
    """
    is_service = triggered_by == service_login
    if (
        triggered_by
        and not is_service
        and ask.responded_by.id
        and triggered_by not in {ask.responded_by.id, ask.responded_by.name}
    ):
        return ()
    unnamed = ", the login under which Airflow itself runs" * is_service
    remedy = "Clear the task approve with its downstream tasks. Another user must answer."
    if is_service or not triggered_by:
        remedy = "Trigger a new run under your own login in Airflow. Another user must approve its plan."
    return (
        Finding(
            Code.FOUR_EYES,
            "the approval",
            f"triggered by {triggered_by or 'a user whose name Airflow does not know'}{unnamed}, approved by {ask.who}",
            "two different people (cutover.four_eyes)",
            remedy,
            happened=f"The run was triggered by {triggered_by or 'a user whose name Airflow does not know'}{unnamed}, "
            f"and its plan was approved by {ask.who}.",
            matters=f"With cutover.four_eyes, two different people must decide. {_NOTHING_WRITTEN}",
        ),
    )


def rejected(ask: Ask) -> Finding:
    """Return the finding for a rejected plan."""
    found = f"the answer {ask.chosen} by {ask.who} at {ask.answered_at}"
    happened = f"The plan was not approved: {ask.who} answered {ask.chosen} at {ask.answered_at}."
    return _not_approved(Code.APPROVAL_REFUSED, ask, found, "the reason is resolved", happened)


def timed_out(ask: Ask) -> Finding:
    """Return the finding for an approval request without an answer in time."""
    found = f"no answer within {ask.time_limit_s:,} s (cutover.approval_time_limit), asked at {ask.asked_at}"
    happened = (
        f"The request of {ask.asked_at} to approve the plan had no answer within {duration(ask.time_limit_s)} "
        "(cutover.approval_time_limit)."
    )
    return _not_approved(Code.APPROVAL_TIMED_OUT, ask, found, "an approver is available", happened)


def _not_approved(code: Code, ask: Ask, found: str, when: str, happened: str) -> Finding:
    remedy = f"Start the producers again on the cluster that they wrote to. Trigger a new run when {when}."
    return Finding(
        code, f"plan {ask.digest[:12]}", found, "an approval", remedy, happened=happened, matters=_NOTHING_WRITTEN
    )


def answer_changed(folder: str) -> Finding:
    """Refuse an answer if Airflow's copy differs from the one that the task `approve` recorded."""
    return Finding(
        Code.EVIDENCE_CHANGED,
        f"the answer to the approval, in Airflow's XCom and in {folder}",
        "two different answers",
        "the same answer in both places",
        "Find out who changed the XCom of the task approve or the evidence root. Then trigger a new run.",
        happened=f"The answer in Airflow's XCom differs from the answer in {folder}.",
        matters=f"One of the two was changed, so what the approver decided is unknown. {_NOTHING_WRITTEN}",
    )


def evidence_changed(changes: Iterable[str], *, has_written: bool) -> Finding:
    """Say what changed since the approval; with `has_written`, an earlier attempt may have moved groups."""
    earlier = (
        "This attempt wrote nothing, but an earlier attempt may have moved groups: compare with its "
        "offsets-before-*.csv."
    )
    found = some(tuple(changes), separator="; ", longest=LONGEST_SENTENCE) or "another digest"
    return Finding(
        Code.EVIDENCE_CHANGED,
        "the approved plan",
        found,
        "no change on either cluster since the plan was approved",
        "Find and stop the client that still writes or commits, then trigger a new run.",
        happened=f"The clusters changed after the plan was approved: {found}.",
        matters=f"The approved offsets may be wrong now. {earlier if has_written else _NOTHING_WRITTEN}",
    )


def plan_changes(approved: OffsetsPlan, live: OffsetsPlan) -> Iterator[str]:
    """Describe how a plan made from the clusters' current state differs from the approved plan."""
    yield from _moved_ends("source", approved.source_end_offsets, live.source_end_offsets)
    yield from _moved_ends("target", approved.target_end_offsets, live.target_end_offsets)
    now = {group.group: group for group in live.groups}
    then = {group.group: group for group in approved.groups}
    for name in sorted(now | then):
        yield from _changed_group(group_subject(name), live.left_side, then.get(name), now.get(name))


def _moved_ends(side: str, then: Offsets, now: Offsets) -> Iterator[str]:
    for partition in sorted(set(then) | set(now)):
        if then.get(partition) != now.get(partition):
            yield f"{side} end of {partition}: {_number(then.get(partition))} then, {_number(now.get(partition))} now"


def _changed_group(subject: str, left: Side, then: GroupPlan | None, now: GroupPlan | None) -> Iterator[str]:
    if then is None or now is None:
        yield f"{subject}: {'no longer exists' if now is None else 'new'}"
        return
    earlier, codes = then.refusal_codes, now.refusal_codes
    if codes != earlier:
        yield f"{subject}: {', '.join(codes) or 'may be moved'} now, {', '.join(earlier) or 'may be moved'} then"
    elif then.is_removed != now.is_removed:
        yield f"{subject}: {_fate(now)} now, {_fate(then)} then"
    before, after = then.committed, now.committed
    yield from _other_offsets(subject, f"committed on the {left}", before, after)
    if before == after:
        yield from _other_offsets(subject, "planned offset", then.proposed, now.proposed)
        if codes == earlier and then.proposed.keys() != now.proposed.keys():
            yield f"{subject}: planned offsets: {len(then.proposed)} then, {len(now.proposed)} now"
    if codes == earlier and set(before) != set(after):
        yield f"{subject}: partitions with commits: {len(before)} then, {len(after)} now"


def _fate(group: GroupPlan) -> str:
    return "to be deleted" if group.is_removed else "not to be deleted"


def _other_offsets(subject: str, what: str, then: Commits, now: Commits) -> Iterator[str]:
    for partition in sorted(then.keys() & now.keys()):
        if then[partition] != now[partition]:
            yield f"{subject}, {partition}: {what} {then[partition].offset:,} then, {now[partition].offset:,} now"


def _number(offset: int | None) -> str:
    return "unknown" if offset is None else f"{offset:,}"


def not_final(plan: OffsetsPlan) -> tuple[Finding, ...]:
    """Refuse a plan from a rehearsal: it was made without a fence."""
    if plan.is_final:
        return ()
    happened = "The plan is from a rehearsal, which has no fence."
    matters = "Producers may have written to the source after this plan was made, and it does not know these records."
    return _stale("a plan from a rehearsal", "a plan that was made after the fence", happened, matters)


def _stale(found: str, expected: str, happened: str, matters: str) -> tuple[Finding, ...]:
    remedy = "Trigger a new run, which asks for approval of its own plan."
    matters = f"{matters} {_NOTHING_WRITTEN}"
    return (Finding(Code.APPROVAL_STALE, "the approval", found, expected, remedy, happened=happened, matters=matters),)
