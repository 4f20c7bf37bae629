"""Rules of the value of a run: how it is built from the evidence, and what its report says about that."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from markdown_it import MarkdownIt

from kafka_migration.core.cutover.approval import Ask
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.group_writes import GroupWriteDocument, OffsetsResultDocument, Write
from kafka_migration.core.groups.offsets_plan import GroupPlan, Proof
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.next_steps import ConfirmedCutover, after_cutover
from kafka_migration.core.report.run_assembly import assembled
from kafka_migration.core.report.run_document import GroupResult, Refusal, RunDocument
from kafka_migration.core.run.run_window import Interval, RunWindow
from kafka_migration.core.stored.stored_documents import CutoverDocument
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.report_formats.markdown_report import render_report
from tests.markdown_text import read
from tests.stored_examples import read_run
from tests.unit.groups.copied_partition import moved
from tests.unit.report.test_report_of_a_run import EXAMPLES, WHOLE, plan_of

BEGUN = RunDocument(
    migration="shop",
    migration_digest="d",
    dag_id="dag",
    run_id="manual__1",
    attempt=1,
    mode="sync",
    package_version="0",
    finished_at="now",
    outcome="success",
    tasks={"plan": "success", "judge": None},
)


def run_with(
    documents: Mapping[Kind, Mapping[str, Any]] | None = None, refusals: Sequence[Refusal] = (), **facts: Any
) -> RunDocument:
    """Return the run with these documents, which are whole without the given fields."""
    whole: dict[Kind, Any] = {kind: {**EXAMPLES.get(kind, {}), **each} for kind, each in (documents or {}).items()}
    return assembled(replace(BEGUN, **facts), whole, refusals)


def topic_row(topic: str, verdict: str, records: int | None, whole: Any, **more: Any) -> dict[str, Any]:
    """Return what a judgement says of one topic with as many records on either side."""
    counts = {"source_records": records, "target_records": records}
    rest = {"whole_verdict": None, "whole": whole, "differences": None, "findings": []}
    return {"topic": topic, "verdict": verdict, **counts, **rest, **more}


def report_on(verdict: str, *topics: dict[str, Any], **facts: Any) -> str:
    """Return the report on a run that judged these topics."""
    return read(render_report(run_with({Kind.JUDGE: {"verdict": verdict, "topics": list(topics)}}, **facts)))


def test_report_begins_with_the_verdict() -> None:
    """The first line of the report is the answer."""
    report = report_on("PASS", topic_row("orders", "PASS", 5, WHOLE))

    assert report.startswith("# shop: PASS (success)\n")
    assert "| `orders` | PASS | 5 | 5 | PASS | 200 |" in report
    assert "| judge | not run |" in report


def test_report_tells_what_all_runs_together_prove() -> None:
    """The report has the verdict on each whole topic, the records proved so far, and the first reasons."""
    proved = {**WHOLE, "target_records": 1_340}
    reasons = ["generation 3: not judged yet", "a", "b", "c"]
    open_ = {**WHOLE, "standing": "FAIL", "target_records": None, "reasons": reasons}
    wholes = {"orders": proved, "audit": open_}
    report = report_on("PASS", *(topic_row(name, "PASS", 40, whole) for name, whole in wholes.items()))

    assert "| `orders` | PASS | 40 | 40 | PASS | 1,340 |" in report
    assert "| `audit` | PASS | 40 | 40 | FAIL | not known |" in report
    assert "- `audit` as a whole, FAIL: generation 3: not judged yet; a; b\n" in report
    assert "orders as a whole" not in report


def test_report_shows_differences_with_their_commands() -> None:
    """Counts by kind, then the first ones, each with a command per side; no table where nothing differs."""
    place = {"source_partition": 2, "source_offset": 7, "target_partition": None, "target_offset": None}
    found = {
        "target_topic": "new.orders",
        "counts": {"missing": 1_200, "altered": 1},
        "first": [
            {"kind": "missing", "fields": [], **place},
            {"kind": "altered", "fields": ["value", "headers"], **place, "target_partition": 0, "target_offset": 9},
        ],
    }
    topics = (topic_row("orders", "FAIL", 5, None, differences=found), topic_row("audit", "FAIL", 5, None))
    report = report_on("FAIL", *topics)

    assert "### `orders`: 1,200 missing, 1 altered" in report
    command = "`kcat -C -b $SOURCE -t orders -p 2 -o 7 -c 1`"
    assert f"- missing Source: {command}\n" in report
    assert f"- altered Fields: value, headers · Source: {command} · Target: `kcat -C -b $TARGET -t new.orders" in report
    assert "### audit" not in report


START, END = "2030-01-01T00:00:00+00:00", "2030-01-02T00:00:00+00:00"
WINDOW = RunWindow(interval=Interval.from_document({"start": START, "end": END})).to_document()


def test_report_of_an_interval_names_it() -> None:
    """The first line names the interval; an unknown count is not zero."""
    topics = [topic_row("orders", "NOT_VERIFIABLE", None, None)]
    documents: dict[Kind, dict[str, Any]] = {
        Kind.PREFLIGHT: {"run_window": WINDOW},
        Kind.JUDGE: {"verdict": "NOT_VERIFIABLE", "topics": topics},
    }
    report = read(render_report(run_with(mode="interval", documents=documents)))

    assert report.startswith(
        "# shop, records of 2030-01-01 00:00 UTC to 2030-01-02 00:00 UTC: NOT_VERIFIABLE (success)\n"
    )
    assert "- `orders` Interval: NOT_VERIFIABLE · Source: not known · Target: not known" in report
    assert run_with(documents=documents).interval is None


def test_report_without_a_verdict_says_so() -> None:
    """A run that never judged has no verdict, and its refusals come first."""
    finding = Finding(
        Code.GAP, "orders[0]", "x", "y", "Read on.", happened="Offsets are gone.", matters="They are lost."
    )
    run = run_with(outcome="failed", refusals=[Refusal("plan", (finding,), "Refused")])

    report = render_report(run)

    assert run.verdict is None
    assert report.startswith("# shop: no verdict (failed)")
    assert "- **GAP** · orders[0]\n  Offsets are gone.\n  They are lost.\n  Read on.\n" in report


def test_report_shows_names_as_they_are() -> None:
    """A group may have any name; in a report it is neither markup nor a line break."""
    hostile = "<script>alert(1)</script> [x](javascript:y)\n# new `x`\u202e"
    finding = Finding(Code.GROUP_ACTIVE, group_subject(hostile), f"{hostile} on orders[3]", hostile, f"`cmd {hostile}`")
    row = GroupResult(hostile, "ready", "moved", 1, 0, 0, (hostile,))
    where = {
        "migration": "shop",
        "source": "old",
        "target": "new",
        "folder": "/f",
        "topics": ["orders"],
        "remaining": (),
    }
    groups = {"moved": [hostile], "left_behind": {hostile: (finding,)}, "not_chosen": [hostile]}
    steps = after_cutover(ConfirmedCutover(**where, **groups))  # type: ignore[arg-type]
    refusals = [Refusal("sync_offsets", (finding,), "OffsetsNotMoved")]
    cut_over = CutoverDocument("r", "t", (hostile,), ("orders",), True, next_steps=steps)
    run = run_with({Kind.CUTOVER: cut_over.to_document()}, refusals, outcome="partly done")
    assert () == run.steps.unfit
    report = render_report(replace(run, groups=(row,)))

    assert "orders[3]" in report
    for danger in ("\n# new", "\u202e"):
        assert danger not in report
    rendered = MarkdownIt("commonmark", {"html": True}).render(report)
    assert "<script" not in rendered
    assert "href" not in rendered


def test_run_is_read_back_from_its_json() -> None:
    """The value of a run is `run.json`: what is read from it is equal, with the tasks in the order of the DAG."""
    documents = {Kind.JUDGE: {"verdict": "PASS", "topics": [topic_row("orders", "PASS", 5, WHOLE)]}}
    run = run_with({**documents, Kind.WATCH: {"at": "now", "goals": {}, "progress": "half", "more": [1]}})
    document = json.loads(json.dumps(run.to_document()))

    assert run == read_run(document)
    assert ["plan", "judge"] == list(document["tasks"])
    assert [1] == document["steps"]["watch"]["more"]


@pytest.mark.parametrize("kind", [Kind.JUDGE, Kind.OFFSETS_PLAN, Kind.OFFSETS_RESULT, Kind.WATCH])
@pytest.mark.parametrize("document", [None, 5, [], "text", {"verdict": 1, "plan": {}, "at": 1}])
def test_document_of_another_form_is_named(kind: Kind, document: object) -> None:
    """A document that this version cannot read hides no other part of the run, and is named."""
    documents: dict[Kind, object] = {Kind.APPROVE: Ask("d" * 64, "then", 60).to_document(), kind: document}
    run = assembled(BEGUN, documents, (), hooks=[document])

    assert {str(kind), "hook"} <= {each.partition(": ")[0] for each in run.steps.unfit}
    assert "Approval: asked at then" in render_report(run)


def test_part_that_is_read_late_is_named_too() -> None:
    """Positions are read when they are used: those of another form are named before the report uses them."""
    run = run_with({Kind.PLAN: {"positions": {"orders": {"0": "five"}}}})

    assert run.steps.plan is None
    assert run.steps.unfit[0].startswith("plan: positions")


def test_earlier_run_is_told_what_follows_from_it() -> None:
    """A `run.json` of an earlier version, without phases, readiness and next steps, is read with them."""
    run = run_with({}, mode="rehearse")
    document = {key: value for key, value in run.to_document().items() if key not in RunDocument.ADDED}

    assert run == read_run(document)
    assert run.next_steps


ACTIVE = Finding(Code.GROUP_ACTIVE, "group audit", "a member", "none", "Stop it.")
PLANNED = GroupPlan("billing", (moved(3, 3, Proof.RECORD, again=2),))
LEFT_OUT = GroupPlan("audit", (moved(3, 3, Proof.RECORD),), refusals=(ACTIVE,))


def groups_of(
    documents: Mapping[Kind, Mapping[str, Any]], *groups: GroupPlan, mode: Mode = Mode.CUTOVER
) -> list[GroupResult]:
    """Return the rows of a run with a plan of these groups."""
    plan = {"plan": replace(plan_of(mode), groups=groups).to_document()}
    kind = Kind.ROLLBACK_PLAN if mode.rolls_back else Kind.OFFSETS_PLAN
    return list(run_with({kind: plan, **documents}).groups)


def test_rows_without_a_result_say_what_was_written() -> None:
    """A rehearsal has written no group; if writing began without a result, the outcome of planned groups is unknown."""
    rows = groups_of({}, PLANNED, LEFT_OUT)

    assert [("billing", "ready", "not written"), ("audit", "left out", "not written")] == [
        (row.group, row.verdict, row.outcome) for row in rows
    ]
    assert [(1, 0), (0, 0)] == [(row.partitions, row.unset_partitions) for row in rows]
    assert ("GROUP_ACTIVE: a member",) == rows[1].reasons
    assert () == run_with().groups
    interrupted = groups_of({Kind.OFFSETS_BEFORE: {}}, PLANNED, LEFT_OUT)
    assert ["unknown", "not written"] == [row.outcome for row in interrupted]


def test_rows_of_restored_groups_do_not_say_how_much_is_read_again() -> None:
    """Saved offsets go back however far a group has read since: how much it reads again is not known, never zero."""
    (row,) = groups_of({}, GroupPlan("billing", (moved(3, 3, Proof.SAVED),)), mode=Mode.RESTORE)

    assert ("to put back", None) == (row.verdict, row.delivered_again)


def test_rows_of_a_cutover_say_what_became_of_each_group() -> None:
    """The result of the writing is joined to the plan's row, with its reasons."""
    result = OffsetsResultDocument.of(
        "now", "d", (GroupWriteDocument("billing", Write.REFUSED, {}, (replace(ACTIVE, found="late"),)),), ()
    )
    (row,) = groups_of({Kind.OFFSETS_RESULT: result.to_document()}, PLANNED)

    assert ("refused", ("GROUP_ACTIVE: late",)) == (row.outcome, row.reasons)


def test_open_transactions_are_those_of_the_newest_reading() -> None:
    """What the stop read replaces what the plan read; the warnings of other steps remain."""
    opened = Finding(Code.SOURCE_TRANSACTION_OPEN, "orders[0]", "f", "e", "r").to_document()
    other = Finding(Code.OTHER_MIRRORMAKER, "topic a", "f", "e", "r").to_document()
    read = {Kind.PREFLIGHT: {"warnings": [opened, other]}, Kind.PLAN: {"open_transactions": [opened]}}

    assert {Code.OTHER_MIRRORMAKER, Code.SOURCE_TRANSACTION_OPEN} == {each.code for each in run_with(read).warnings}
    stopped = run_with({**read, Kind.STOP: {"open_transactions": []}})
    assert [Code.OTHER_MIRRORMAKER] == [each.code for each in stopped.warnings]
