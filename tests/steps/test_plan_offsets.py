"""Rules of `plan_offsets`: what it reads, refuses and records, and that it writes nothing."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, FindingsError, Refused, TransientError
from kafka_migration.core.groups.offsets_plan import GroupVerdict, OffsetsPlan
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.watching.watch import Outcome
from kafka_migration.steps.groups.plan_groups import make_offsets_plan
from kafka_migration.steps.run.task_frame import NothingToDo
from tests.contract.fake_cluster import FakeGroup
from tests.markdown_text import read
from tests.steps.tasks import BEFORE_START
from tests.steps.world import AUDIT, P0, P1, World
from tests.stored_examples import watch_ended

# With holes, such as transaction markers, in the middle and at the end.
VISIBLE = (b"a", b"b", None, b"c", None)


@pytest.fixture
def world(world: World) -> World:
    """A cutover of a source with holes in orders[0], none in orders[1], and an empty topic."""
    for value in VISIBLE:
        world.source.produce("orders", 0, (b"k", value)) if value else world.source.leave_holes("orders", 0, 1)
    world.source.produce("orders", 1, *[(b"k", b"%d" % n) for n in range(6)])
    world.params["mode"] = "cutover"
    return world


def copied(world: World, *, equal: bool = True) -> None:
    """Mirror everything, stop and judge."""
    world.start()
    world.mirror(dict.fromkeys((P0, P1, AUDIT), 100))
    goals = world.run.evidence.require(Stored.PLAN).goals
    world.run.evidence.write(Stored.WATCH, watch_ended(Outcome.DRAINED, world.host.last, goals=goals))
    world.do("stop_mirror")
    world.judge(equal)


@pytest.fixture
def ready(world: World) -> World:
    """A cutover that is copied and judged."""
    copied(world)
    return world


def plan(world: World) -> dict[str, Any]:
    return world.do("plan_offsets")


def planned(world: World) -> OffsetsPlan:
    return OffsetsPlan.from_document(world.run.evidence.require(Kind.OFFSETS_PLAN)["plan"])


def offsets(world: World, group: str) -> dict[TopicPartition, int]:
    (found,) = [g for g in planned(world).groups if g.group == group]
    return {partition: commit.offset for partition, commit in found.proposed.items()}


def codes(world: World, group: str) -> list[str]:
    (found,) = [g for g in planned(world).groups if g.group == group]
    return sorted({str(f.code) for f in (*found.refusals, *found.warnings)})


def test_groups_are_translated_over_holes_and_generations(ready: World) -> None:
    """After copies in two generations each group continues with the first record that it has not read."""
    ready.source.produce("orders", 0, (b"k", b"d"))
    ready.source.produce("orders", 1, (b"k", b"6"))
    ready.dag_run.run_id, ready.task_instance.run_states["manual__1"] = "manual__2", "success"
    ready.host.release(ready.host.status().holder)
    copied(ready)
    for group, positions in {
        "begin": {P0: 0, P1: 0},
        "middle": {P0: 2, P1: 5},
        "marker": {P0: 4, P1: 6},
        "second": {P0: 5, P1: 6},
        "end": {P0: 6, P1: 7, AUDIT: 0},
    }.items():
        ready.source.commit(group, positions, metadata="note")

    summary = plan(ready)

    assert {"groups": 5, "left_out": 0, "digest": planned(ready).digest} == summary
    assert {P0: 0, P1: 0} == offsets(ready, "begin")
    assert {P0: 2, P1: 5} == offsets(ready, "middle")
    assert {P0: 3, P1: 6} == offsets(ready, "marker") == offsets(ready, "second")
    assert {P0: 4, P1: 7, AUDIT: 0} == offsets(ready, "end")
    assert {"note"} == {c.metadata for g in planned(ready).groups for c in g.proposed.values()}
    assert {0} == {g.delivered_again for g in planned(ready).groups}


@pytest.mark.parametrize("mode", ["rehearse", "cutover"])
def test_planning_changes_nothing(world: World, mode: str) -> None:
    """A plan changes no group on either side."""
    world.params["mode"] = mode
    copied(world)
    world.source.commit("billing", {P0: 3, P1: 4})
    world.target.commit("billing", {P0: 1})
    before = deepcopy((world.source.groups, world.target.groups))

    plan(world)

    assert before == (world.source.groups, world.target.groups)
    assert (mode == "cutover") == world.run.evidence.require(Kind.OFFSETS_PLAN)["final"]


def test_document_holds_plan_digest_and_text(ready: World) -> None:
    """One document has what `approve` shows and what `sync_offsets` compares."""
    ready.source.commit("billing", {P0: 3})

    plan(ready)
    document = ready.run.evidence.require(Kind.OFFSETS_PLAN)

    assert {"digest", "plan", "not_moved", "markdown", "final", "planned_at"} == set(document)
    assert document["digest"] == planned(ready).digest == document["plan"]["digest"]
    assert "| `orders` 0 | 3 | none | 2 | 1 | 0 | same record |" in read(document["markdown"])


def test_groups_that_cannot_move_are_left_out_and_the_others_planned(ready: World) -> None:
    """Every group that is left out has a reason; groups of other topics and of the console are not listed."""
    ready.source.create_topics([NewTopic("foreign", 1, 1, {})])
    ready.source.commit("billing", {P0: 3, P1: 6})
    ready.source.commit("active", {P0: 3})
    ready.target.join("active", client_id="early", host="/10.1.1.1")
    ready.source.commit("reading", {P0: 3})
    ready.source.join("reading")
    ready.source.commit("beyond", {P1: 7})
    ready.source.commit("archive", {})
    ready.source.commit("elsewhere", {TopicPartition("foreign", 0): 0})
    ready.source.commit("console-consumer-1", {P0: 1})

    summary = plan(ready)

    assert (1, 4) == (summary["groups"], summary["left_out"])
    assert ["active", "archive", "beyond", "billing", "reading"] == [g.group for g in planned(ready).groups]
    assert ["GROUP_ACTIVE"] == codes(ready, "active") == codes(ready, "reading")
    assert ["OFFSET_NEVER_COMMITTED"] == codes(ready, "archive")
    assert ["OFFSET_BEYOND_END"] == codes(ready, "beyond")
    assert 1 == planned(ready).unconcerned
    assert "early on /10.1.1.1" in ready.run.evidence.require(Kind.OFFSETS_PLAN)["markdown"]


def test_rehearsal_plans_active_groups(world: World) -> None:
    """A rehearsal plans active groups provisionally, also if they have read more than was copied."""
    world.params["mode"] = "rehearse"
    copied(world)
    world.source.produce("orders", 1, (b"k", b"6"))
    world.source.commit("live", {P0: 5, P1: 7})
    world.source.join("live")

    assert 1 == plan(world)["groups"]

    (group,) = planned(world).groups
    assert (GroupVerdict.PROVISIONAL, {P0: 3, P1: 6}) == (group.verdict, offsets(world, "live"))
    assert ["OFFSET_AHEAD_OF_COPY"] == codes(world, "live")


def test_records_after_the_fence_refuse_a_cutover(ready: World) -> None:
    """Records that a producer wrote after the fence refuse the plan, because no group would read them."""
    ready.source.commit("billing", {P0: 3})
    ready.source.produce("orders", 1, (b"k", b"late"))

    with pytest.raises(FindingsError, match=r"FENCE_MOVING · orders\[1\]: A producer wrote .*end 7, copied up to 6"):
        plan(ready)


def test_copy_that_differs_refuses_the_plan(world: World) -> None:
    """A copy that is not proved refuses the plan."""
    with pytest.raises(FindingsError, match="COPY_DIFFERS"):
        copied(world, equal=False)

    with pytest.raises(
        FindingsError, match="COPY_DIFFERS · topic orders: The copy of topic orders is not proved: its verdict is FAIL"
    ):
        plan(world)

    assert world.run.evidence.newest(Kind.OFFSETS_PLAN) is None


def test_plan_without_a_verdict_is_refused(world: World) -> None:
    """A run without a verdict cannot plan."""
    world.do(*BEFORE_START)

    with pytest.raises(FindingsError, match="EVIDENCE_MISSING"):
        plan(world)


@pytest.mark.parametrize("mode", ["sync", "validate"])
def test_other_modes_skip_the_plan(world: World, mode: str) -> None:
    """A mode that plans no groups skips the task."""
    world.params["mode"] = mode

    with pytest.raises(NothingToDo):
        plan(world)


def test_run_may_name_its_groups(ready: World) -> None:
    """Groups that the run does not name are neither planned nor listed."""
    ready.source.commit("billing", {P0: 3})
    ready.source.commit("reporting", {P0: 3})
    ready.params["groups"] = ["reporting"]

    plan(ready)

    assert ["reporting"] == [group.group for group in planned(ready).groups]


def test_same_clusters_give_the_same_digest(ready: World) -> None:
    """The plan's digest depends on the source's commits, not on the time or on the target's offsets."""
    ready.source.commit("billing", {P0: 3})
    first = plan(ready)["digest"]
    ready.target.alter_offsets("billing", planned(ready).groups[0].proposed)

    assert first == make_offsets_plan(ready.run).digest

    ready.source.commit("billing", {P0: 1})
    assert first != make_offsets_plan(ready.run).digest


def test_many_groups_on_one_partition_are_proved_one_by_one(ready: World) -> None:
    """Each of many offsets of one partition is compared, although one call reads one record per partition."""
    for offset in range(6):
        ready.source.commit(f"group-{offset}", {P0: min(offset, 5), P1: offset})

    plan(ready)

    assert [0, 1, 2, 2, 3, 3] == [offsets(ready, f"group-{n}")[P0] for n in range(6)]
    assert list(range(6)) == [offsets(ready, f"group-{n}")[P1] for n in range(6)]


def test_group_with_another_record_on_the_target_is_left_out(ready: World) -> None:
    """A group is left out if the target has another record at its planned offset."""
    ready.source.commit("billing", {P0: 3})
    ready.source.commit("reporting", {P1: 3})
    ready.target.topics["orders"].partitions[0].records[2] = (b"k", b"something else")

    plan(ready)

    assert ["OFFSET_UNPROVED"] == codes(ready, "billing")
    assert {P1: 3} == offsets(ready, "reporting")


def test_record_that_cannot_be_read_is_no_proof(ready: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that cannot be read fails the try without a plan."""
    ready.source.commit("billing", {P1: 3})
    monkeypatch.setattr(ready.target, "records_at", lambda offsets, isolation: {})

    with pytest.raises(TransientError, match=r"target offset 3 of orders\[1\]"):
        plan(ready)

    assert ready.run.evidence.newest(Kind.OFFSETS_PLAN) is None


def test_other_groups_of_the_topics_are_named(ready: World) -> None:
    """The plan names groups that read the topics and were not chosen, and groups of unsupported kinds."""
    ready.source.commit("billing", {P0: 3})
    ready.source.commit("console-consumer-1", {P0: 1})
    ready.source.commit("console-consumer-2", {TopicPartition("elsewhere", 0): 1})
    ready.source.groups["shared"] = FakeGroup(kind="share")

    plan(ready)

    others = planned(ready).others
    assert ({"console-consumer-1": ("orders",)}, ["shared"]) == (others.not_chosen, [*others.unsupported])
    assert others.unsupported["shared"].startswith("it is of kind share")
    assert ["billing", "console-consumer-1", "shared"] == [
        row["group"] for row in ready.run.evidence.require(Kind.OFFSETS_PLAN)["not_moved"]
    ]


def test_group_may_be_active_if_the_file_permits_it(world: World) -> None:
    """An active group is planned only if the file names it in `may_be_active`."""
    world.extend_file("cutover:\n  may_be_active: [standby]\n")
    copied(world)
    for group in ("standby", "billing"):
        world.source.commit(group, {P0: 3, P1: 6})
        world.source.join(group)

    assert {"groups": 1, "left_out": 1} == {k: v for k, v in plan(world).items() if k != "digest"}
    assert ["GROUP_ACTIVE"] == codes(world, "billing")


BROKEN = {
    "no right": Refused([Finding(Code.RIGHT_MISSING, "source", "not authorized", "a right", "Grant it.")]),
    "no coordinator": TransientError("not authorized"),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("side", ["source", "target"])
def test_group_that_cannot_be_read_stops_no_other(ready: World, broken: Any, side: str) -> None:
    """Regression: one group that the login may not read, or whose coordinator fails, failed the plan of all."""
    for group in ("billing", "reporting", "console-consumer-1"):
        ready.source.commit(group, {P0: 3, P1: 6})
    cluster = ready.source if side == "source" else ready.target
    cluster.broken_groups = dict.fromkeys(("reporting", "console-consumer-1"), broken)

    plan(ready)

    assert {P0: 2, P1: 6} == offsets(ready, "billing")
    assert ["GROUP_UNREADABLE"] == codes(ready, "reporting")
    assert "not authorized" in ready.run.evidence.require(Kind.OFFSETS_PLAN)["markdown"]
    if side == "source":
        assert {"console-consumer-1": "not authorized"} == planned(ready).others.unreadable


def test_cluster_that_does_not_answer_about_any_group_is_no_plan(ready: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the cluster itself is silent the task is tried again; a plan without its groups would be wrong."""
    ready.source.commit("billing", {P0: 3})
    listed = ready.source.list_groups()
    monkeypatch.setattr(ready.source, "list_groups", lambda: listed)
    described = ready.source.describe_topics

    def silent_from_now_on(topics: Any) -> Any:
        try:
            return described(topics)
        finally:
            ready.source.is_down = True

    monkeypatch.setattr(ready.source, "describe_topics", silent_from_now_on)
    with pytest.raises(TransientError, match="did not answer"):
        plan(ready)


@pytest.mark.parametrize("pattern", ["", "cutover:\n  groups: ['.*']\n"])
@pytest.mark.parametrize("mode", ["rehearse", "cutover"])
def test_group_without_an_id_cannot_be_moved_and_stops_no_other(world: World, pattern: str, mode: str) -> None:
    """Regression: the group of old clients, whose id is the empty text, ended the plan with an error of the client."""
    world.params["mode"] = mode
    world.extend_file(pattern)
    copied(world)
    world.source.commit("", {P0: 3, P1: 6})
    world.source.commit("billing", {P0: 3, P1: 6})

    plan(world)

    assert ["billing"] == [group.group for group in planned(world).planned]
    (row,) = world.run.evidence.require(Kind.OFFSETS_PLAN)["not_moved"]
    assert ("", True) == (row["group"], row["reason"].startswith("cannot be moved: its id is the empty text"))
    assert "| (empty) | – | – | cannot be moved: its id" in read(
        world.run.evidence.require(Kind.OFFSETS_PLAN)["markdown"]
    )


@pytest.mark.parametrize("rule", ["", "cutover:\n  uncommitted: refuse\n", "cutover:\n  uncommitted: earliest\n"])
@pytest.mark.parametrize("empty", ["deleted", "no record visible"])
def test_partition_without_a_record_gets_the_end_of_the_copy(world: World, rule: str, empty: str) -> None:
    """Regression: left unset, a group with `auto.offset.reset=latest` skipped what was written before it read there."""
    world.extend_file(rule)
    copied(world)
    if empty == "deleted":
        world.source.purge("orders", 1, 6)
    else:
        world.source.compact("orders", 1, *range(6))
    world.source.commit("billing", {P0: 5})

    plan(world)

    assert {P0: 3, P1: 6} == offsets(world, "billing")
    assert [] == codes(world, "billing")


@pytest.mark.parametrize(("rule", "expected"), [("earliest", {P0: 3, P1: 0}), ("latest", {P0: 3, P1: 6})])
def test_file_says_where_a_group_without_a_commit_starts(world: World, rule: str, expected: dict[Any, int]) -> None:
    """A group that never committed on a partition with records starts as the file says, also where offsets are kept."""
    world.extend_file(f"cutover:\n  uncommitted: {rule}\n")
    copied(world)
    world.source.commit("billing", {P0: 5})

    plan(world)

    assert expected == offsets(world, "billing")


def test_what_an_unset_partition_may_lose_is_in_plan_and_report(ready: World) -> None:
    """The approver and the reader of the report learn that the consumers must start first."""
    ready.source.commit("billing", {P0: 5})
    plan(ready)
    ready.finish(plan_offsets="success")

    said, start = "written to orders[1] before it reads there.", "Start the group's consumers before the producers."
    assert ["OFFSET_NEVER_COMMITTED"] == codes(ready, "billing")
    assert f"{said} {start}" in ready.run.evidence.require(Kind.OFFSETS_PLAN)["markdown"]
    assert said in ready.report
    assert start in ready.report


def test_first_record_that_cannot_be_read_is_not_taken_for_none(ready: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a partition without a commit is empty must be known."""
    ready.source.commit("billing", {P0: 5})
    monkeypatch.setattr(ready.source, "probe", lambda start, isolation: {})

    with pytest.raises(TransientError, match=r"first record of orders\[1\]"):
        plan(ready)


def test_what_the_source_deleted_before_a_group_read_it_is_told(world: World) -> None:
    """Regression: plan and report said "skipped records: 0" of a group whose next records were deleted."""
    world.source.purge("orders", 1, 4)
    copied(world)
    world.source.commit("billing", {P0: 5, P1: 1})

    plan(world)
    world.finish(plan_offsets="success")

    assert ["UNREAD_RECORDS_DELETED"] == codes(world, "billing")
    said = "The source deleted up to 3 offsets of orders[1] before group billing (committed offset 1) read them."
    page = world.run.evidence.require(Stored.OFFSETS_PLAN).markdown
    assert said in page.replace("&#91;", "[").replace("&#93;", "]")
    assert said in world.report


def test_application_with_state_elsewhere_is_named_in_plan_and_report(ready: World) -> None:
    """The plan says what moving the offsets does not do for a group that looks like Kafka Streams."""
    ready.source.create_topics([NewTopic("billing-totals-changelog", 1, 1, {})])
    ready.source.commit("billing", {P0: 5, P1: 6})

    plan(ready)
    ready.finish(plan_offsets="success")

    assert ["OFFSETS_KEPT_ELSEWHERE"] == codes(ready, "billing")
    said = "looks like Kafka Streams"
    assert said in ready.run.evidence.require(Kind.OFFSETS_PLAN)["markdown"]
    assert said in ready.report
