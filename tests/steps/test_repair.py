"""How a wrong copy is repaired: the topic is copied again by a migration file with another name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_migration.core.mirror.host import OpenedMirror
from tests.contract.fake_mirror_host import FakeMirrorHost
from tests.steps.cutover import cut_over, target_offsets
from tests.steps.tasks import BEFORE_START
from tests.steps.world import AUDIT, P0, P1, World


@pytest.fixture
def spoilt(world: World) -> World:
    """A copy of two topics that one group reads; another client has written to one of them."""
    for topic in ("orders", "audit"):
        for number in range(4):
            world.source.produce(topic, 0, (b"k%d" % number, b"v"))
    world.source.commit("billing", {P0: 3, AUDIT: 2})
    world.params = {"mode": "sync"}
    assert world.copy_and_judge({P0: 4, AUDIT: 4})["verdict"] == "PASS"
    world.target.produce("orders", 0, (b"foreign", b"v"))
    world.next_run()
    return world


def test_a_spoilt_copy_goes_no_further(spoilt: World) -> None:
    """Foreign records in a target topic refuse every later run of the migration before it starts anything."""
    spoilt.refuses(*BEFORE_START, match="TARGET_WRITTEN_BY_OTHERS")


def test_deleting_the_topic_alone_repairs_nothing(spoilt: World) -> None:
    """An empty topic of the same name is not the copy that the ledger records, so the run starts nothing."""
    del spoilt.target.topics["orders"]

    spoilt.refuses(*BEFORE_START, "start_mirror")

    assert spoilt.refusal_codes


def test_topic_is_copied_again_under_another_name(spoilt: World, asked: list[Any]) -> None:
    """The topic is removed from the old file and from the target, copied with a new file, and both are cut over.

    The rest of the old migration is not copied again. A group that reads topics of both moves with both.
    """
    del spoilt.target.topics["orders"]
    again = replace(spoilt, name="shop-2", host=FakeMirrorHost("shop-2"))
    again.file.write_text(spoilt.file.read_text().replace("name: shop", "name: shop-2"))
    again.edit_file("[orders, audit]", "[orders]")
    spoilt.edit_file("[orders, audit]", "[audit]")
    hosts = {"shop": spoilt.host, "shop-2": again.host}
    spoilt.deployed["open_mirror"] = lambda migration: OpenedMirror(hosts[migration.name])

    for world, copied in ((again, {P0: 4}), (spoilt, {})):
        world.params = {"mode": "cutover"}
        world.dag_run.other_dag_id = f"kafka_migration__{world.name}"
        assert world.copy_and_judge(copied)["verdict"] == "PASS"
        cut_over(world)
        world.next_run(3)

    assert 2 == len(asked)
    assert {"billing": {P0: 3, P1: 0, AUDIT: 2}} == target_offsets(spoilt)
    assert 4 == len(spoilt.target.topics["orders"].partitions[0].records)
