"""Rules of a copy whose clusters or settings changed since earlier runs: that is named first and can be undone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_migration.cli.main import main
from kafka_migration.cli.runs import plan_verb as plan_module
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import FindingsError
from kafka_migration.steps.mirror.start_stop import start_generation
from tests.shown_codes import shown_codes
from tests.steps.world import P0, World

Change = Callable[[World], None]


def exchange(world: World) -> None:
    """Let each connection lead to the other one's cluster."""
    world.source, world.target = world.target, world.source


def edit(old: str, new: str) -> tuple[Change, Change]:
    """Return a change of the migration file, and the change back."""
    return lambda world: world.edit_file(old, new), lambda world: world.edit_file(new, old)


ALIAS = edit("connection: old_kafka", "connection: old_kafka\n  alias: lake")
NAMING = edit("mirror:\n", "mirror:\n  topic_names: {naming: prefixed}\n")
CHANGES = [
    (exchange, exchange, ["CLUSTER_CHANGED"]),
    (*ALIAS, ["COPY_BASIS_CHANGED"]),
    (*NAMING, ["COPY_BASIS_CHANGED"]),
]


def findings(world: World, *tasks: str) -> list[str]:
    """Return the codes with which tasks of the present run refuse; none if they pass."""
    try:
        world.do(*tasks)
    except FindingsError:
        return world.refusal_codes
    return []


@pytest.mark.parametrize(("change", "undo", "codes"), CHANGES)
def test_changed_basis_is_the_only_finding(copied: World, change: Change, undo: Change, codes: list[str]) -> None:
    """What changed is one finding of preflight and none follows from it; after the way back the copy continues."""
    change(copied)
    assert codes == findings(copied, "preflight")

    copied.next_run(3)
    undo(copied)
    copied.copy({P0: 1})
    assert 5 == copied.target.log_end_offsets([P0], "read_uncommitted")[P0]


@pytest.mark.parametrize(("change", "undo", "codes"), CHANGES)
def test_plan_names_only_the_change(
    copied: World,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: Change,
    undo: Change,
    codes: list[str],
) -> None:
    """The command `plan` names what changed, and compares nothing else."""
    monkeypatch.setattr(plan_module, "shown_deployment", lambda migrations: copied.deployment)
    change(copied)

    assert 3 == main(["plan", "shop"])
    assert codes == shown_codes(capsys.readouterr().err)


def test_change_after_preflight_is_found_before_the_target_is_changed(copied: World) -> None:
    """Plan and start compare again: a connection may be edited while a run waits, or between tasks that are cleared."""
    copied.do("preflight", "reserve")
    exchange(copied)
    assert ["CLUSTER_CHANGED"] == findings(copied, "plan")

    exchange(copied)
    copied.dag_run.clear_number += 1
    copied.do("preflight", "reserve", "plan", "create_topics")
    exchange(copied)
    assert ["CLUSTER_CHANGED"] == findings(copied, "start_mirror")
    with pytest.raises(Exception, match="CLUSTER_CHANGED"):
        start_generation(copied.run)


def test_refused_run_records_nothing(world: World) -> None:
    """What a copy depends on is recorded with the first change of the target, so a corrected mistake has no effect."""
    NAMING[0](world)
    world.do("preflight", "reserve", "plan")
    assert world.ledger.basis is None

    NAMING[1](world)
    world.next_run()
    world.start()
    assert world.ledger.basis is not None
    assert ("{topic}", "shop-source") == (world.ledger.basis.topic_names, world.ledger.basis.source_alias)


def test_removed_topic_is_a_warning_until_it_is_back(copied: World) -> None:
    """A run names a topic that its file no longer takes, and continues the copy of one that is back."""
    shorter = edit("[orders, audit]", "[audit]")
    shorter[0](copied)
    copied.do("preflight")
    assert ["TOPICS_REMOVED"] == [w["code"] for w in copied.run.evidence.require(Kind.PREFLIGHT)["warnings"]]

    copied.next_run(3)
    shorter[1](copied)
    copied.copy({P0: 1})
    assert [] == copied.run.evidence.require(Kind.PREFLIGHT)["warnings"]
    assert 5 == copied.target.log_end_offsets([P0], "read_uncommitted")[P0]
