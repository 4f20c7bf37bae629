"""Rules of what a report says besides verdicts: who, how long, whether ready for a cutover, what to do next."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.core.cutover.approval import Ask
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsMove, OffsetsPlan, Proof
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.stored.stored_documents import (
    MirrorStarted,
    PlanDocument,
    RolledBackDocument,
    TopicListDocument,
)
from kafka_migration.core.text.markdown import escaped
from kafka_migration.core.watching.producers_question import ProducersAsk
from kafka_migration.core.watching.watch import Outcome
from kafka_migration.report_formats.markdown_report import render_report
from tests.markdown_text import read
from tests.present import present
from tests.stored_examples import NOW, checked, judged, planned, read_run, stopped, watch_ended

WHOLE = {
    "verdict": "PASS",
    "standing": "PASS",
    "proved": True,
    "source_offsets": 200,
    "target_records": 200,
    "surplus_records": 0,
    "pending_generations": [],
    "judged_at": None,
    "judged_by": None,
    "reasons": [],
    "further_reasons": 0,
}
TOPIC = {
    "topic": "orders",
    "verdict": "PASS",
    "source_records": 60,
    "target_records": 60,
    "whole_verdict": "PASS",
    "whole": WHOLE,
    "differences": None,
    "findings": [],
}
READY = {
    "group": "billing",
    "verdict": "ready",
    "outcome": "not written",
    "partitions": 1,
    "unset_partitions": 0,
    "delivered_again": 0,
    "reasons": [],
}
P0 = TopicPartition("orders", 0)
MOVE = OffsetsMove("orders", {P0: CommittedOffset(50)}, {}, {P0: CommittedOffset(40)}, Proof.RECORD)


def plan_of(mode: Mode = Mode.REHEARSE, *warnings: Finding, **more: Any) -> OffsetsPlan:
    """Return the plan of one group, which has these warnings."""
    group = GroupPlan("billing", (MOVE,), warnings=warnings)
    return OffsetsPlan("2030-01-01T22:20:00+00:00", mode, ("orders",), (group,), {P0: 60}, **more)


def document_of(mode: str = "rehearse", **changes: Any) -> dict[str, Any]:
    """Return the `run.json` of a run that went well, without what follows from it, with changes."""
    document: dict[str, Any] = {
        "schema": 1,
        "migration": "shop",
        "migration_digest": "a" * 64,
        "dag_id": "kafka_migration__shop",
        "run_id": "manual__1",
        "attempt": 1,
        "mode": mode,
        "generations": "",
        "note": "",
        "package_version": "0.1.0",
        "started_at": "2030-01-01T22:00:00+00:00",
        "finished_at": "2030-01-01T22:40:00+00:00",
        "judged_at": "2030-01-01T22:19:00+00:00",
        "triggered_by": "ada",
        "outcome": "success",
        "reason": "",
        "interval": None,
        "verdict": "PASS",
        "records": {"orders": {"source": 60, "target": 60}},
        "topics": [TOPIC],
        "groups": [READY],
        "findings": [],
        "warnings": [],
        "hooks": [],
        "decommission": [],
        "tasks": {"preflight": "success", "judge": "success"},
    }
    steps = {
        "plan": {"at": "2030-01-01T22:01:00+00:00", "positions": {"orders": {"0": 140}}},
        "start": {"at": "2030-01-01T22:02:00+00:00"},
        "watch": {"at": "2030-01-01T22:12:00+00:00", "goals": {"orders": {"0": 200}}},
        "stop": {"at": "2030-01-01T22:13:00+00:00"},
        "offsets-plan": {},
    }
    return {**with_step({**document, "steps": {}}, **steps), **changes}


def run_of(mode: str = "rehearse", **changes: Any) -> RunDocument:
    """Return a run that went well, with changes."""
    return read_run(document_of(mode, **changes))


def with_step(document: dict[str, Any], **steps: Any) -> dict[str, Any]:
    """Return the `run.json` with further documents of steps, which are whole without the given fields."""
    whole = {**EXAMPLES, **document["steps"]}
    return {**document, "steps": {**document["steps"], **{n: {**whole[n], **each} for n, each in steps.items()}}}


def report_of(document: dict[str, Any]) -> str:
    """Return the report of the run with this `run.json`, of which every part fits."""
    run = read_run(document)
    assert () == run.steps.unfit
    return read(render_report(run))


EXAMPLES: dict[str, dict[str, Any]] = {
    "preflight": checked(Mode.REHEARSE).to_document(),
    "topic-list": TopicListDocument(topics=(), at=NOW).to_document(),
    "plan": PlanDocument(at=NOW).to_document(),
    "start": MirrorStarted(NOW, 1, None).to_document(),
    "watch": watch_ended(Outcome.DRAINED).to_document(),
    "stop": stopped().to_document(),
    "offsets-plan": planned(plan_of()).to_document(),
    "approve": Ask("d" * 64, NOW, 60).to_document(),
    "rollback-plan": planned(plan_of(Mode.RESTORE)).to_document(),
    "rolled-back": RolledBackDocument("r", NOW, "restore", (), (), (), next_steps=()).to_document(),
    "judge": judged().to_document(),
    "producers": ProducersAsk(NOW, NOW).to_document(),
}
APPROVE = {
    "asked_at": "2030-01-01T22:20:10+00:00",
    "time_limit_s": 3600,
    "approvers": [],
    "answered_at": "2030-01-01T22:30:10+00:00",
    "chosen": "Approve",
    "digest": "d" * 64,
    "responded_by": {"id": "7", "name": "grace"},
}


def test_people_are_named() -> None:
    """The report names the user who triggered the run, the answer about the producers, and the approver."""
    asked = {"announced_at": "22:05", "until": "23:05", "chosen": None, "answered_at": None, "by": None}
    report = report_of(with_step(document_of("cutover"), approve=APPROVE, producers=asked))

    assert "- Triggered by: ada" in report
    assert "- Approval: grace chose “Approve” at 2030-01-01 22:30:10 UTC" in report
    assert "asked at 22:05 to stop them; no one answered; the run continued because the source was quiet" in report


def test_phases_have_durations_and_rates() -> None:
    """Each phase has its duration; copying also has its amount and rate, comparing its amount."""
    found = {
        phase.name: (phase.seconds, phase.did) for phase in read_run(with_step(document_of(), approve=APPROVE)).phases
    }

    assert (600, "60 offsets, 0/s") == found["Copy"]
    assert (360, "60 records") == found["Validate"]
    assert (600, "") == found["Wait for approval"]
    assert "Total: 40m00s" in render_report(run_of())


def test_phase_of_an_earlier_attempt_is_left_out() -> None:
    """A document of an earlier attempt gives no duration, because its phase would end before it began."""
    run = with_step(document_of(), stop={"at": "2030-01-01T21:00:00+00:00", "certificate": None})

    assert "Stop MirrorMaker" not in {phase.name for phase in read_run(run).phases}


def test_deadlines_are_those_that_are_not_met() -> None:
    """A question without an answer has its deadline, an answered one has none; the report tells those in the future."""
    forecast = {"at": "2030-02-01T00:00:00+00:00", "partition": "orders[0]", "reason": "retention.ms 1"}
    asked = {"announced_at": "22:05", "until": "23:05", "chosen": None, "answered_at": None, "by": None}
    run = with_step(document_of(), approve={**APPROVE, "answered_at": None, "chosen": None}, producers=asked)
    open_ = {each.what: each.at for each in read_run(with_step(run, stop={"forecast": forecast})).deadlines}
    del run["steps"]["stop"]

    assert "2030-01-01T23:20:10+00:00" == open_["The question for the approval must be answered"]
    assert forecast["at"] == open_["The next run must start"]
    assert "The producers on the source must stop" in {each.what for each in read_run(run).deadlines}
    assert () == read_run(with_step(document_of(), approve=APPROVE)).deadlines
    report = report_of(with_step(document_of(), stop={"forecast": forecast}))
    assert "- The next run must start before Fri 2030-02-01 00:00 UTC: orders[0], retention.ms 1.\n" in report
    past = report_of(with_step(document_of(), stop={"forecast": {**forecast, "at": "2029-01-01T00:00:00+00:00"}}))
    assert "next run must start" not in past


def test_offsets_before_and_after() -> None:
    """The table has the source offset, the target offsets before and after, and the unread records."""
    report = read(render_report(run_of()))

    assert "| `billing` | `orders` 0 | 50 | none | 40 | 20 |" in report
    assert "Planned" in report
    moved = run_of("cutover", groups=[{**READY, "outcome": "moved"}])
    assert "Target now" in render_report(moved)


def test_good_rehearsal_is_ready() -> None:
    """Everything proved, every group movable: the report says yes, and which mode comes next."""
    report = read(render_report(run_of()))

    assert "## Ready for cutover?\n\n**Yes.**" in report
    assert "1. When the producers can be stopped, trigger `kafka_migration__shop` in mode cutover." in report


BEHIND = Finding(Code.BEHIND, "migration shop", "5 offsets left", "none", "Wait.").to_document()
NOT_PROVED = {**WHOLE, "standing": "PASS, 3 offsets not proved", "proved": False}
LEFT_OUT = {**READY, "verdict": "left out", "reasons": ["GROUP_ACTIVE: a member"]}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"outcome": "failed", "findings": [BEHIND]}, "the rehearsal ended as 'failed' (BEHIND)"),
        ({"verdict": "FAIL"}, "the verdict on the copy is FAIL"),
        ({"verdict": None}, "the verdict on the copy is not known"),
        ({"topics": [{**TOPIC, "whole": NOT_PROVED}]}, "topic orders as a whole is PASS, 3 offsets not proved"),
        ({"topics": [{**TOPIC, "whole": None}]}, "topic orders as a whole is not yet compared"),
        ({"groups": [LEFT_OUT]}, "no consumer group could be moved"),
        ({"groups": []}, "no consumer group reads these topics"),
    ],
)
def test_what_stands_against_a_cutover(changes: dict[str, Any], reason: str) -> None:
    """Each reason is named, and any one of them is a no."""
    found = present(run_of(**changes).readiness)

    assert (False, (reason,)) == (found.is_ready, found.against)


def test_groups_that_would_not_move_are_named_with_a_yes() -> None:
    """If some groups can move, the report says ready, and names those that would stay or still read."""
    groups = [
        {**READY},
        {**LEFT_OUT, "group": "late"},
        {**READY, "group": "busy", "verdict": "provisional"},
        {**LEFT_OUT, "group": "idle", "reasons": ["OFFSET_NEVER_COMMITTED: nothing"]},
    ]

    found = present(run_of(groups=groups).readiness)

    assert found.is_ready
    assert (
        "group late would not be moved: GROUP_ACTIVE: a member",
        "group busy reads on the source cluster or has read past the end of the copy: stop its consumers there before "
        "the cutover",
    ) == found.notes


OUTCOMES = ["success", "failed", "behind", "validation pending", "not in window", "partly done"]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_run_says_what_to_do_next(mode: Mode, outcome: str) -> None:
    """Every report has a next step; only a rehearsal says whether the migration is ready for a cutover."""
    run = run_of(str(mode), outcome=outcome)

    assert "## What to do next\n\n1. " in render_report(run)
    assert (run.readiness is None) is (mode is not Mode.REHEARSE)


def test_failed_run_says_what_its_codes_ask_for() -> None:
    """Each code has its act, once; a cutover that wrote nothing says that no group was moved."""
    finding = Finding(Code.COPY_DIFFERS, "topic orders", "1 altered", "none", "Look.").to_document()
    report = read(render_report(run_of("cutover", outcome="failed", verdict="FAIL", findings=[finding, finding])))

    assert report.count(f"COPY_DIFFERS: {Code.COPY_DIFFERS.act}") == 1
    assert "No group was moved: start the producers on the source again" in report


def test_task_that_failed_without_a_finding_is_named() -> None:
    """A task that failed without a finding is named, with its log."""
    report = render_report(run_of("sync", outcome="failed", tasks={"preflight": "success", "judge": "failed"}))

    assert "1. Read the log of the task judge" in report


def test_findings_have_their_sentences() -> None:
    """Each finding is its code and subject, then what happened, why it matters and what to do, one line each."""
    sentences = ("1. The `a` differs.", "Readers miss it.", "Run it.")
    finding = Finding(
        Code.TOPIC_CONFIG_DIFFERS, "topic orders", "", "", sentences[2], happened=sentences[0], matters=sentences[1]
    ).to_document()
    run = with_step(document_of(findings=[finding], warnings=[finding]), preflight={"accepted": [finding]})
    lines = "\n".join(f"  {escaped(each)}" for each in sentences)
    item = f"- **TOPIC_CONFIG_DIFFERS** · topic orders\n{lines}\n"
    report = render_report(read_run(run))

    for title in ("What is wrong", "Worth knowing", "Accepted by the migration file"):
        assert f"## {title}\n\n{item}" in report
        assert title not in report_of(document_of())


def test_rollback_has_no_verdict_in_its_title() -> None:
    """A rollback compares no copy; a group was put back, or was there already."""
    put_back = {**READY, "verdict": "to put back", "outcome": "moved"}
    groups = [{**put_back, "outcome": "already_moved"}, {**put_back, "group": "b"}]
    run = document_of("fail_back", verdict=None, topics=[], groups=groups)
    report = report_of(with_step(run, **{"rollback-plan": {"plan": plan_of(Mode.FAIL_BACK).to_document()}}))

    assert report.startswith("# shop: rollback (success)\n")
    assert "| `billing` | to put back | already there |" in report
    assert "| `b` | to put back | put back |" in report


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("manual__2030-01-01", "manual__2030-01-01"),
        ("a_b", "a_b"),
        ("__bold__", "`__bold__`"),
        ("end_", "`end_`"),
        ("a __b__ c", "a `__b__` c"),
    ],
)
def test_underscores_within_words_stay_readable(text: str, shown: str) -> None:
    """People read the report as it is: a word is code only where an underscore it would begin or end markup."""
    assert shown == escaped(text)


def test_unknown_number_of_records_read_again_is_not_zero() -> None:
    """A restored group may read any number of records again; the report says that it is not known."""
    restored = {**READY, "verdict": "to put back", "outcome": "moved", "delivered_again": None}
    run = with_step(document_of("restore", groups=[restored], steps={}), **{"rollback-plan": {}})
    text = report_of(run)

    assert "| `billing` | to put back | put back | 1 | not known |" in text
