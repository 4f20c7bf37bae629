"""Rules of a cutover whose process is killed and whose task is tried again."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.adapters.store import evidence_store as evidence
from kafka_migration.adapters.store import ledger_store
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.steps.groups.write_groups import SOURCE_CSV, TARGET_CSV
from tests.steps.cutover import BILLING, REPORTING, answer, approved, ask, target_offsets
from tests.steps.world import World


class Killed(BaseException):
    """The process is killed."""


def kill_at_write(world: World, monkeypatch: pytest.MonkeyPatch, number: int, when: str) -> None:
    """Kill the process right before, or right after, the write to a group."""
    write, groups = world.target.alter_offsets, []

    def dies(group: str, offsets: Any) -> None:
        groups.append(group)
        if (len(groups), when) == (number, "before"):
            raise Killed
        write(group, offsets)
        if (len(groups), when) == (number, "after"):
            raise Killed

    monkeypatch.setattr(world.target, "alter_offsets", dies)


def end_state(world: World) -> dict[str, Any]:
    (cut_over,) = world.ledger.cutovers
    return {
        "target": target_offsets(world),
        "moved": sorted(cut_over.groups),
        "partly": cut_over.partly,
        "before": world.run.evidence.require(Kind.OFFSETS_BEFORE)["target"],
    }


DOCUMENTS = (Kind.OFFSETS_PLAN, Kind.APPROVE, Kind.OFFSETS_BEFORE, Kind.OFFSETS_RESULT, Kind.CUTOVER)
EXPECTED_END = {
    "target": {"billing": BILLING, "reporting": REPORTING},
    "moved": ["billing", "reporting"],
    "partly": False,
    "before": {"billing": {}, "reporting": {}},
}


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_between_writes_and_tried_again(
    scene: World, monkeypatch: pytest.MonkeyPatch, number: int, when: str
) -> None:
    """A try after one that was killed between two groups has the same result, with the same saved offsets."""
    approved(scene)
    with monkeypatch.context() as patch:
        kill_at_write(scene, patch, number, when)
        with pytest.raises(Killed):
            scene.do("sync_offsets")

    scene.do("sync_offsets", "confirm_cutover")

    assert EXPECTED_END == end_state(scene)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("document", [*DOCUMENTS, "ledger", SOURCE_CSV, TARGET_CSV])
def test_killed_around_any_document_and_tried_again(
    scene: World, monkeypatch: pytest.MonkeyPatch, document: str, when: str
) -> None:
    """A try after one that was killed before or after any document has the same result."""
    killed: list[str] = []
    writing, name = (ledger_store, "create_whole") if document == "ledger" else (evidence, "write_whole")
    original = getattr(writing, name)

    def dies(path: Any, text: str) -> Any:
        is_here = not killed and ('"kind": "cut-over"' in text if document == "ledger" else str(document) in path.name)
        if is_here:
            killed.append(path.name)
        written = original(path, text) if not is_here or when == "after" else None
        if is_here:
            raise Killed
        return written

    monkeypatch.setattr(writing, name, dies)
    for step in ("plan_offsets", "approve", "sync_offsets", "confirm_cutover"):
        try:
            do_step(scene, step)
        except Killed:
            do_step(scene, step)

    assert len(killed) == 1
    assert EXPECTED_END == end_state(scene)
    assert len(scene.ledger.cutovers) == 1


def do_step(world: World, step: str) -> None:
    if step == "approve":
        ask(world)
        answer(world)
    else:
        world.do(step)


def test_refusal_says_that_an_earlier_try_may_have_written(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the clusters change after a first write, the refusal says that groups may have moved."""
    approved(scene)
    with monkeypatch.context() as patch:
        kill_at_write(scene, patch, 1, "after")
        with pytest.raises(Killed):
            scene.do("sync_offsets")
    scene.source.produce("orders", 0, (b"late", b"v"))

    scene.refuses("sync_offsets", match=r"EVIDENCE_CHANGED .*an earlier attempt may have moved groups")
