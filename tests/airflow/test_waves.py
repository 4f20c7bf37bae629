"""Rules of a cutover in waves: some topics and groups now, the rest later, mirrored on until then."""

from __future__ import annotations

from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowFailException

from kafka_migration.core.migration import Phase
from kafka_migration.core.offsets import TopicPartition
from kafka_migration.orchestration.operators.confirm_cutover import ConfirmCutoverOperator
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.start import StartMirrorOperator
from kafka_migration.orchestration.operators.stop import StopMirrorOperator
from kafka_migration.orchestration.operators.sync_offsets import SyncOffsetsOperator
from kafka_migration.orchestration.operators.translate_offsets import TranslateOffsetsOperator
from tests.airflow.conftest import World
from tests.airflow.cutover import approved, target_offsets
from tests.airflow.running import BEFORE_START, do, mirror, next_run, validated

pytestmark = pytest.mark.airflow

P0, AUDIT = TopicPartition("orders", 0), TopicPartition("audit", 0)
VALUES = [(b"k", b"%d" % n) for n in range(4)]


def run(world: World, mode: str, copied: dict[TopicPartition, int], topics: list[str] | None = None) -> None:
    """Do a run up to its verdict, and the cutover's steps after it."""
    world.params = {"mode": mode, "topics": topics}
    do(world, *BEFORE_START, StartMirrorOperator)
    mirror(world, copied)
    do(world, StopMirrorOperator)
    validated(world)
    do(world, JudgeOperator)
    if mode == "cutover":
        do(world, TranslateOffsetsOperator)
        approved(world)
        do(world, SyncOffsetsOperator, ConfirmCutoverOperator)


@pytest.fixture
def first(world: World, asked: list[dict[str, Any]]) -> World:
    """Topic `orders` and the group that reads nothing else are cut over; `audit` and two other groups are not."""
    world.source.produce("orders", 0, *VALUES)
    world.source.produce("audit", 0, *VALUES)
    world.source.commit("billing", {P0: 3})
    world.source.commit("reporting", {P0: 1, AUDIT: 2})
    world.source.commit("archive", {AUDIT: 1})
    run(world, "cutover", {P0: 4}, ["orders"])
    next_run(world)
    return world


def test_first_wave_moves_its_topics_only(first: World):
    """A group that reads only them moves; one that reads others as well stays whole. The ledger knows what is left."""
    ledger = first.run.ledger.read()

    assert {"billing": {P0: 3}} == target_offsets(first)
    assert (Phase.CUTTING_OVER, ("audit",)) == (ledger.phase, ledger.cutovers[0].remaining)


def test_the_rest_goes_on_being_mirrored(first: World):
    """A sync between the waves leaves the moved topics, which have producers on the target now, alone."""
    first.target.produce("orders", 0, (b"new", b"there"))
    run(first, "sync", {AUDIT: 4})
    generation = first.run.ledger.read().last_generation

    assert generation is not None
    assert {"audit"} == set(generation.topics)


def test_last_wave_moves_whoever_is_left(first: World):
    """Groups that stayed behind move now, on the topics of the first wave too; those that moved stay where they are."""
    first.target.produce("orders", 0, (b"new", b"there"))
    first.target.commit("billing", {P0: 5})
    run(first, "cutover", {AUDIT: 4})

    assert {
        "billing": {P0: 5},
        "reporting": {P0: 1, AUDIT: 2},
        "archive": {AUDIT: 1},
    } == target_offsets(first)
    assert Phase.CUT_OVER is first.run.ledger.read().phase
    next_run(first, 3)
    first.params = {"mode": "sync"}
    with pytest.raises(AirflowFailException, match="ALREADY_CUT_OVER"):
        do(first, PreflightOperator)


def test_moved_topic_that_somebody_still_writes_to_on_the_source_stops_the_next_wave(first: World):
    """Nobody would read these records: groups of it are not moved over them."""
    first.source.produce("orders", 0, (b"late", b"record"))

    with pytest.raises(AirflowFailException, match=r"FENCE_MOVING · orders\[0\]"):
        run(first, "cutover", {AUDIT: 4})
    assert {"billing": {P0: 3}} == target_offsets(first)
