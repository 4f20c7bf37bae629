"""The approval of a plan: which answers count, and for what.

An answer is bound to the digest of the plan that was shown. Airflow keeps the text of a run's first question,
so a run that has asked once never asks about another plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.plan import GroupPlan, OffsetsPlan
from kafka_migration.core.kafka.commits import Commits
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.text.names import group_subject

APPROVE = "Approve"
_NOTHING_WRITTEN = "Nothing was written: no consumer group was moved."


@dataclass(frozen=True, slots=True)
class Ask:
    """A question that was put to people: about which plan, when, to whom, for how long, and what came of it.

    `chosen` is the option that was taken; `None` with `answered_at` set means that time ran out.
    """

    digest: str
    asked_at: str
    time_limit_s: int
    approvers: tuple[str, ...] = ()
    answered_at: str | None = None
    chosen: str | None = None
    user_id: str | None = None
    user_name: str | None = None

    @property
    def is_approved(self) -> bool:
        """Whether a person said yes."""
        return self.chosen == APPROVE and self.user_id is not None

    @property
    def who(self) -> str:
        """Who answered, in words."""
        known = [text for text in (self.user_name, self.user_id) if text]
        return known[0] if known else "nobody that Airflow names"

    def to_document(self) -> dict[str, Any]:
        """Return the ask as an evidence document."""
        return {
            "digest": self.digest,
            "asked_at": self.asked_at,
            "time_limit_s": self.time_limit_s,
            "approvers": list(self.approvers),
            "answered_at": self.answered_at,
            "chosen": self.chosen,
            "responded_by": {"id": self.user_id, "name": self.user_name},
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Ask:
        """Read the document back."""
        return cls(
            document["digest"],
            document["asked_at"],
            document["time_limit_s"],
            tuple(document["approvers"]),
            document["answered_at"],
            document["chosen"],
            document["responded_by"]["id"],
            document["responded_by"]["name"],
        )


def stale_asks(asks: Iterable[Ask], digest: str, approvers: tuple[str, ...]) -> tuple[Finding, ...]:
    """Refuse to ask when the run has asked about another plan before, or has asked other people."""
    asks = tuple(asks)
    other = next((ask for ask in asks if ask.digest != digest), None)
    if other is not None:
        return (
            _stale(
                f"plan {digest[:12]}, while the question of {other.asked_at} shows plan {other.digest[:12]}",
                "the plan that was asked about; Airflow would show the old text again",
            ),
        )
    others = next((ask for ask in asks if set(ask.approvers) != set(approvers)), None)
    if others is not None:
        return (
            _stale(
                f"cutover.approvers {_people(approvers)}, while the question of {others.asked_at} was put to "
                f"{_people(others.approvers)}",
                "the people who were asked; Airflow lets only those of a run's first question answer",
            ),
        )
    return ()


def not_an_approver(ask: Ask, when_begun: Collection[str], now: Collection[str]) -> tuple[Finding, ...]:
    """Refuse an approval by somebody whom `cutover.approvers` does not name, when the run began or now.

    A list that is empty names everybody whom Airflow lets answer.
    """
    lists = {"when the run began": when_begun, "now": now}
    without = [when for when, people in lists.items() if people and ask.user_id not in people]
    if not without:
        return ()
    return (
        Finding(
            Code.NOT_AN_APPROVER,
            "the approval",
            f"approved by {ask.who}, whom cutover.approvers does not name {' or '.join(without)}",
            "; ".join(f"{when}: {_people(people)}" for when, people in lists.items()),
            f"{_NOTHING_WRITTEN} Clear approve with downstream, and let a person answer whom both lists name.",
        ),
    )


def _people(users: Collection[str]) -> str:
    return ", ".join(users) or "everybody"


def unapproved(ask: Ask | None, digest: str) -> tuple[Finding, ...]:
    """Refuse to write a plan unless the newest question was about just this plan and was answered with yes."""
    if ask is None:
        return (_stale("no approval", f"an approval of plan {digest[:12]}"),)
    if ask.digest != digest:
        return (_stale(f"an approval of plan {ask.digest[:12]}", f"one of plan {digest[:12]}, the newest of this run"),)
    if not ask.is_approved:
        found = f"the answer {ask.chosen} of {ask.who}" if ask.chosen else "a question without an answer"
        return (_stale(found, f"an approval of plan {digest[:12]} by a person"),)
    return ()


def four_eyes(ask: Ask, triggered_by: str | None, service_login: str) -> tuple[Finding, ...]:
    """Refuse an approval by the one who triggered the run, or where it cannot be told that they are two.

    `service_login` is the login under which Airflow runs: a run that has it was triggered on Airflow's own command
    line, by whoever may use that.
    """
    is_nobody = triggered_by == service_login
    if triggered_by and not is_nobody and ask.user_id and triggered_by not in {ask.user_id, ask.user_name}:
        return ()
    unnamed = ", the login under which Airflow itself runs" * is_nobody
    return (
        Finding(
            Code.FOUR_EYES,
            "the approval",
            f"triggered by {triggered_by or 'a user that Airflow does not name'}{unnamed}, approved by {ask.who}",
            "two different people (cutover.four_eyes)",
            f"{_NOTHING_WRITTEN} Clear approve with downstream, and let another person answer.",
        ),
    )


def rejected(ask: Ask) -> Finding:
    """Say that a person said no, and what that means."""
    found = f"the answer {ask.chosen} of {ask.who} at {ask.answered_at}"
    return _not_approved(Code.APPROVAL_REFUSED, ask, found, "the reason is gone")


def timed_out(ask: Ask) -> Finding:
    """Say that nobody answered, which is no approval."""
    found = f"no answer within {ask.time_limit_s:,} s (cutover.approval_time_limit), asked at {ask.asked_at}"
    return _not_approved(Code.APPROVAL_TIMED_OUT, ask, found, "somebody can answer")


def _not_approved(code: Code, ask: Ask, found: str, when: str) -> Finding:
    producers = "Producers may start again on the cluster where they wrote."
    remedy = f"{_NOTHING_WRITTEN} {producers} Trigger a new run when {when}."
    return Finding(code, f"plan {ask.digest[:12]}", found, "an approval", remedy)


def answer_changed(folder: str) -> Finding:
    """Refuse an answer that Airflow keeps otherwise than the task `approve` wrote it down."""
    return Finding(
        Code.EVIDENCE_CHANGED,
        f"the answer to the approval, in Airflow's XCom and in {folder}",
        "two different answers",
        "the same answer in both places",
        "Nothing was written. Find out who changed the XCom of approve or the evidence root, and trigger a new run.",
    )


def evidence_changed(changes: Iterable[str], *, has_written: bool) -> Finding:
    """Say what is no longer as it was approved; `has_written` tells that an earlier try may have moved groups."""
    earlier = "This try wrote nothing, but an earlier one may have moved groups: compare with its offsets-before-*.csv."
    return Finding(
        Code.EVIDENCE_CHANGED,
        "the approved plan",
        _some(tuple(changes)) or "another digest",
        "both clusters as they were when the plan was approved",
        f"{earlier if has_written else _NOTHING_WRITTEN} Find out who still writes or commits, and trigger a new run.",
    )


def plan_changes(approved: OffsetsPlan, live: OffsetsPlan) -> Iterator[str]:
    """Say in words where the plan that the clusters give now differs from the approved one."""
    yield from _moved_ends("source", approved.source_end_offsets, live.source_end_offsets)
    yield from _moved_ends("target", approved.target_end_offsets, live.target_end_offsets)
    now = {group.group: group for group in live.groups}
    then = {group.group: group for group in approved.groups}
    for name in sorted(now | then):
        yield from _changed_group(group_subject(name), then.get(name), now.get(name))


def _moved_ends(side: str, then: Offsets, now: Offsets) -> Iterator[str]:
    for partition in sorted(set(then) | set(now)):
        if then.get(partition) != now.get(partition):
            yield f"{side} end of {partition}: {_number(then.get(partition))} then, {_number(now.get(partition))} now"


def _changed_group(subject: str, then: GroupPlan | None, now: GroupPlan | None) -> Iterator[str]:
    if then is None or now is None:
        yield f"{subject}: {'not there any more' if now is None else 'new'}"
        return
    earlier, codes = then.refusal_codes, now.refusal_codes
    if codes != earlier:
        yield f"{subject}: {', '.join(codes) or 'may be moved'} now, {', '.join(earlier) or 'may be moved'} then"
    before, after = then.source_commits, now.source_commits
    yield from _other_offsets(subject, "committed on the source", before, after)
    if before == after:
        yield from _other_offsets(subject, "to go on at", then.proposed, now.proposed)
    if codes == earlier and set(before) != set(after):
        yield f"{subject}: partitions with commits: {len(before)} then, {len(after)} now"


def _other_offsets(subject: str, what: str, then: Commits, now: Commits) -> Iterator[str]:
    for partition in sorted(then.keys() & now.keys()):
        if then[partition] != now[partition]:
            yield f"{subject}, {partition}: {what} {then[partition].offset:,} then, {now[partition].offset:,} now"


def _number(offset: int | None) -> str:
    return "unknown" if offset is None else f"{offset:,}"


def _some(texts: tuple[str, ...], limit: int = 10) -> str:
    more = f"; and {len(texts) - limit} more" if len(texts) > limit else ""
    return "; ".join(texts[:limit]) + more


def not_final(plan: OffsetsPlan) -> tuple[Finding, ...]:
    """Refuse a plan that was made in a rehearsal: it holds for no fenced end."""
    return () if plan.is_final else (_stale("a rehearsal's plan", "one that was made after the fence"),)


def _stale(found: str, expected: str) -> Finding:
    remedy = f"{_NOTHING_WRITTEN} Trigger a new run; it asks about its own plan."
    return Finding(Code.APPROVAL_STALE, "the approval", found, expected, remedy)
