"""Rules of the page on which a person approves a plan."""

from __future__ import annotations

from dataclasses import replace

from kafka_migration.core.cutover.approval import Ask
from kafka_migration.core.cutover.plan_page import Asking, approval_page, render_plan
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.offsets_plan import GroupPlan
from kafka_migration.core.kafka.offsets import TopicPartition
from tests.markdown_text import read
from tests.stored_examples import judged, judged_topic
from tests.unit.cutover.test_plan_page import OFFSET, PLAN

ASKING = Asking(
    ask=Ask("d" * 64, "2030-01-01T22:00:00+00:00", 4 * 3600, ("ada", "grace")),
    judged=judged(Verdict.PASS, judged_topic("orders", "PASS", 1200, in_all=260_000)),
    approve="writes them.",
    folder="/evidence/shop/manual__1/attempt-1",
    run="kafka_migration__shop/manual__2030-01-01T21:30:00+00:00#1",
    link="http://airflow/dags/d/runs/r",
)


def test_page_says_what_one_must_know_to_answer() -> None:
    """Above the plan, the page shows verdict, deadline, approvers, the effect of each answer, run and evidence."""
    page = read(approval_page(ASKING, "THE PLAN"))

    for text in (
        "**Approve**: writes them.",
        "**Reject**: ends the run as failed (`APPROVAL_REFUSED`). Nothing is written and no group is moved.",
        "**Deadline**: Wed 2030-01-02 02:00 UTC, 4h",
        "**Who may answer**: `ada`, `grace`",
        "**Run**: [manual 1 Jan 21:30](http://airflow/dags/d/runs/r)",
        "/evidence/shop/manual__1/attempt-1",
        "## Verdict on the copy: PASS",
        "| `orders` | PASS | PASS | 260,000 | 1,200 |",
    ):
        assert text in page
    assert page.endswith("THE PLAN")


def test_page_says_how_long_clients_stand_still() -> None:
    """Since when they stand still, and the forecast, are one point; a rollback has none."""
    page = approval_page(replace(ASKING, still=("Producers stand still since 22:03.", "a|b.")), "P")

    assert "- **Standing still**: Producers stand still since 22:03. a" in page
    assert "Standing still" not in approval_page(ASKING, "P")


def test_page_without_approvers_or_verdict() -> None:
    """Without `cutover.approvers`, every user with the right in Airflow may answer; a rollback has no verdict."""
    page = approval_page(replace(ASKING, judged=None, ask=replace(ASKING.ask, approvers=()), four_eyes_of="ada"), "P")

    assert (
        "**Who may answer**: every user with the right to answer in Airflow; not `ada`, who triggered the run" in page
    )
    assert "Verdict on the copy" not in page


def test_unread_records_of_each_group() -> None:
    """The table shows how many records a group has not read on the target: log end offset minus its new offset."""
    assert "| `billing` | ready | 1 | 1 | 0 | 5 | – |" in read(render_plan(PLAN, "shop"))
    assert "| 0 | not known | – |" in read(render_plan(replace(PLAN, target_end_offsets={}), "shop"))


def test_partition_without_a_commit_is_named_once() -> None:
    """A partition without a committed offset is named on one line only."""
    never = Finding(
        Code.OFFSET_NEVER_COMMITTED, "group billing, orders[1]", "no offset", "an offset", "It stays unset."
    )
    idle = GroupPlan("archive", refusals=(replace(never, subject="group archive"),))
    billing = GroupPlan("billing", (OFFSET,), unset=(TopicPartition("orders", 1),), warnings=(never,))

    text = read(render_plan(replace(PLAN, groups=(billing, idle)), "shop"))

    assert text.count("OFFSET_NEVER_COMMITTED") == 2
    assert "| `billing` | `orders` | 1 | OFFSET_NEVER_COMMITTED: With `auto.offset.reset=latest` group billing" in text
    assert "| `archive` | – | – | OFFSET_NEVER_COMMITTED |" in text
    assert "### Left out" not in text
