"""Rules of `plan_offsets` in a small world: what it reads, refuses and records, and that it writes nothing."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowSkipException

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.groups.plan import GroupVerdict, OffsetsPlan
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition, to_document
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.steps.groups.planning import make_offsets_plan
from tests.airflow.tasks import BEFORE_START
from tests.airflow.world import AUDIT, P0, P1, World
from tests.contract.fake_cluster import FakeGroup

# Holes as transaction markers leave them, in the middle and at the end.
VISIBLE = (b"a", b"b", None, b"c", None)


@pytest.fixture
def world(world: World) -> World:
    """A source with holes in orders[0], none in orders[1], and an empty topic; a run that moves groups."""
    for value in VISIBLE:
        world.source.produce("orders", 0, (b"k", value)) if value else world.source.leave_holes("orders", 0, 1)
    world.source.produce("orders", 1, *[(b"k", b"%d" % n) for n in range(6)])
    world.params["mode"] = "cutover"
    return world


def copied(world: World, *, equal: bool = True) -> None:
    """Mirror everything, stop and judge, as the tasks before do."""
    world.start()
    generation = world.ledger.last_generation
    assert generation is not None
    goals = world.run.plan_offsets().goals
    topics = InternalTopics.of(world.run.name, generation.number)
    world.target.create_topics([NewTopic(topics.offsets, 1, 1, {})])
    for partition, position in generation.start.mirror_positions.items():
        log = world.source.topics[partition.topic].partitions[partition.partition]
        visible = log.visible(position, goals[partition])
        world.target.produce(partition.topic, partition.partition, *[record for _, record in visible])
        if visible:
            key = ["MirrorSourceConnector", {"cluster": "shop-source", **partition._asdict()}]
            value = {"offset": visible[-1][0]}
            world.target.produce(topics.offsets, 0, (json.dumps(key).encode(), json.dumps(value).encode()))
    watch = {"outcome": "drained", "generation": generation.number, "goals": to_document(goals), "progress": ""}
    world.run.evidence.write(Kind.WATCH, watch)
    world.do("stop_mirror")
    world.validated(equal)
    world.do("judge")


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


def test_groups_are_translated_over_holes_and_generations(world: World) -> None:
    """Two runs copied in two generations: each group goes on with the next record that it has not read."""
    copied(world)
    world.source.produce("orders", 0, (b"k", b"d"))
    world.source.produce("orders", 1, (b"k", b"6"))
    world.dag_run.run_id, world.task_instance.run_states["manual__1"] = "manual__2", "success"
    world.host.release(world.host.status().holder)
    copied(world)
    for group, positions in {
        "begin": {P0: 0, P1: 0},
        "middle": {P0: 2, P1: 5},
        "marker": {P0: 4, P1: 6},
        "second": {P0: 5, P1: 6},
        "end": {P0: 6, P1: 7, AUDIT: 0},
    }.items():
        world.source.commit(group, positions, metadata="note")

    summary = plan(world)

    assert {"groups": 5, "left_out": 0, "digest": planned(world).digest} == summary
    assert {P0: 0, P1: 0} == offsets(world, "begin")
    assert {P0: 2, P1: 5} == offsets(world, "middle")
    assert {P0: 3, P1: 6} == offsets(world, "marker") == offsets(world, "second")
    assert {P0: 4, P1: 7, AUDIT: 0} == offsets(world, "end")
    assert {"note"} == {c.metadata for g in planned(world).groups for c in g.proposed.values()}
    assert {0} == {g.delivered_again for g in planned(world).groups}


@pytest.mark.parametrize("mode", ["rehearse", "cutover"])
def test_planning_changes_nothing(world: World, mode: str) -> None:
    """Groups on both sides are as before, in either mode."""
    world.params["mode"] = mode
    copied(world)
    world.source.commit("billing", {P0: 3, P1: 4})
    world.target.commit("billing", {P0: 1})
    before = deepcopy((world.source.groups, world.target.groups))

    plan(world)

    assert before == (world.source.groups, world.target.groups)
    assert (mode == "cutover") == world.run.evidence.require(Kind.OFFSETS_PLAN)["final"]


def test_document_holds_plan_digest_and_text(world: World) -> None:
    """What `approve` shows and what `sync_offsets` compares is all in one document."""
    copied(world)
    world.source.commit("billing", {P0: 3})

    plan(world)
    document = world.run.evidence.require(Kind.OFFSETS_PLAN)

    assert {"digest", "plan", "not_moved", "markdown", "final"} == set(document)
    assert document["digest"] == planned(world).digest == document["plan"]["digest"]
    assert "| `orders` 0 | 3 | none | 2 | 1 | 0 | same record |" in document["markdown"]


def test_groups_that_cannot_move_are_left_out_and_the_others_planned(world: World) -> None:
    """Every group that is left out has its reason; groups of other topics and throw-away ones are not listed."""
    copied(world)
    world.source.create_topics([NewTopic("foreign", 1, 1, {})])
    world.source.commit("billing", {P0: 3, P1: 6})
    world.source.commit("active", {P0: 3})
    world.target.join("active", client_id="early", host="/10.1.1.1")
    world.source.commit("reading", {P0: 3})
    world.source.join("reading")
    world.source.commit("beyond", {P1: 7})
    world.source.commit("archive", {})
    world.source.commit("elsewhere", {TopicPartition("foreign", 0): 0})
    world.source.commit("console-consumer-1", {P0: 1})

    summary = plan(world)

    assert (1, 4) == (summary["groups"], summary["left_out"])
    assert ["active", "archive", "beyond", "billing", "reading"] == [g.group for g in planned(world).groups]
    assert ["GROUP_ACTIVE"] == codes(world, "active") == codes(world, "reading")
    assert ["OFFSET_NEVER_COMMITTED"] == codes(world, "archive")
    assert ["OFFSET_BEYOND_END"] == codes(world, "beyond")
    assert 1 == planned(world).unconcerned
    assert "early on /10.1.1.1" in world.run.evidence.require(Kind.OFFSETS_PLAN)["markdown"]


def test_rehearsal_plans_groups_that_go_on_reading(world: World) -> None:
    """Under live traffic a group may read on, also further than the copy reaches: planned, and marked provisional."""
    world.params["mode"] = "rehearse"
    copied(world)
    world.source.produce("orders", 1, (b"k", b"6"))
    world.source.commit("live", {P0: 5, P1: 7})
    world.source.join("live")

    assert 1 == plan(world)["groups"]

    (group,) = planned(world).groups
    assert (GroupVerdict.PROVISIONAL, {P0: 3, P1: 6}) == (group.verdict, offsets(world, "live"))
    assert ["OFFSET_AHEAD_OF_COPY"] == codes(world, "live")


def test_records_behind_the_fence_refuse_a_cutover(world: World) -> None:
    """A producer that wrote after the fence: nothing would read its records, so the run is refused."""
    copied(world)
    world.source.commit("billing", {P0: 3})
    world.source.produce("orders", 1, (b"k", b"late"))

    with pytest.raises(FailedForGood, match=r"FENCE_MOVING · orders\[1\]: found source end 7"):
        plan(world)


def test_copy_that_differs_refuses_the_plan(world: World) -> None:
    """Offsets are never translated over a copy that is not proved, whichever run made it."""
    with pytest.raises(FailedForGood, match="COPY_DIFFERS"):
        copied(world, equal=False)

    with pytest.raises(FailedForGood, match=r"COPY_DIFFERS · topic orders: found verdict FAIL"):
        plan(world)

    assert world.run.evidence.newest(Kind.OFFSETS_PLAN) is None


def test_plan_without_a_verdict_is_refused(world: World) -> None:
    """A run that judged nothing plans nothing."""
    world.do(*BEFORE_START)

    with pytest.raises(FailedForGood, match="EVIDENCE_MISSING"):
        plan(world)


@pytest.mark.parametrize("mode", ["sync", "validate"])
def test_other_modes_skip_the_plan(world: World, mode: str) -> None:
    """A mode that plans no groups skips the task."""
    world.params["mode"] = mode

    with pytest.raises(AirflowSkipException):
        plan(world)


def test_run_may_name_its_groups(world: World) -> None:
    """Groups that were not chosen are neither planned nor listed."""
    copied(world)
    world.source.commit("billing", {P0: 3})
    world.source.commit("reporting", {P0: 3})
    world.params["groups"] = ["reporting"]

    plan(world)

    assert ["reporting"] == [group.group for group in planned(world).groups]


def test_same_clusters_give_the_same_digest(world: World) -> None:
    """The digest holds through a look later, also after the target's offsets were written; a commit changes it."""
    copied(world)
    world.source.commit("billing", {P0: 3})
    first = plan(world)["digest"]
    world.target.alter_offsets("billing", planned(world).groups[0].proposed)

    assert first == make_offsets_plan(world.run).digest

    world.source.commit("billing", {P0: 1})
    assert first != make_offsets_plan(world.run).digest


def test_many_groups_on_one_partition_are_proved_one_by_one(world: World) -> None:
    """Every position is counted and compared, though a reader stands at one offset of a partition at a time."""
    copied(world)
    for offset in range(6):
        world.source.commit(f"group-{offset}", {P0: min(offset, 5), P1: offset})

    plan(world)

    assert [0, 1, 2, 2, 3, 3] == [offsets(world, f"group-{n}")[P0] for n in range(6)]
    assert list(range(6)) == [offsets(world, f"group-{n}")[P1] for n in range(6)]


def test_target_that_holds_other_records_leaves_the_group_out(world: World) -> None:
    """The record at the planned offset is not the one that the group reads next: refused, the others are planned."""
    copied(world)
    world.source.commit("billing", {P0: 3})
    world.source.commit("reporting", {P1: 3})
    world.target.topics["orders"].partitions[0].records[2] = (b"k", b"something else")

    plan(world)

    assert ["OFFSET_UNPROVED"] == codes(world, "billing")
    assert {P1: 3} == offsets(world, "reporting")


def test_record_that_cannot_be_read_is_no_proof(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an answer nothing is planned; the task is tried again."""
    copied(world)
    world.source.commit("billing", {P1: 3})
    monkeypatch.setattr(world.target, "records_at", lambda offsets, isolation: {})

    with pytest.raises(TransientError, match=r"target offset 3 of orders\[1\]"):
        plan(world)

    assert world.run.evidence.newest(Kind.OFFSETS_PLAN) is None


def test_other_groups_of_the_topics_are_named(world: World) -> None:
    """The plan tells of groups that nobody named and that read the topics, and of those without committed offsets."""
    copied(world)
    world.source.commit("billing", {P0: 3})
    world.source.commit("console-consumer-1", {P0: 1})
    world.source.commit("console-consumer-2", {TopicPartition("elsewhere", 0): 1})
    world.source.groups["shared"] = FakeGroup(kind="share")

    plan(world)

    others = planned(world).others
    assert ({"console-consumer-1": ("orders",)}, {"shared": "share"}) == (others.not_chosen, others.unsupported)
    assert ["billing", "console-consumer-1", "shared"] == [
        row["group"] for row in world.run.evidence.require(Kind.OFFSETS_PLAN)["not_moved"]
    ]


def test_group_may_be_active_where_the_file_says_so(world: World) -> None:
    """A group that the file names is planned with its members on the source; another is left out."""
    world.extend_file("cutover:\n  may_be_active: [standby]\n")
    copied(world)
    for group in ("standby", "billing"):
        world.source.commit(group, {P0: 3, P1: 6})
        world.source.join(group)

    assert {"groups": 1, "left_out": 1} == {k: v for k, v in plan(world).items() if k != "digest"}
    assert ["GROUP_ACTIVE"] == codes(world, "billing")


def test_group_that_cannot_be_read_fails_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a group that is none of the run's business, and that the login may not read, is only told."""
    copied(world)
    world.source.commit("billing", {P0: 3})
    world.source.commit("console-consumer-1", {P0: 1})
    committed = world.source.committed_offsets

    def refusing(group: str, *more: Any) -> Any:
        if group == "console-consumer-1":
            raise TransientError("not authorized")
        return committed(group, *more)

    monkeypatch.setattr(world.source, "committed_offsets", refusing)
    plan(world)

    assert {"console-consumer-1": "not authorized"} == planned(world).others.unreadable
