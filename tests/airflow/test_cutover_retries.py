"""Rules of a cutover whose process dies anywhere and is tried again."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.adapters import evidence, ledger_store
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.steps.groups.writing import SOURCE_CSV, TARGET_CSV
from tests.airflow.cutover import BILLING, REPORTING, answer, approved, ask, target_offsets
from tests.airflow.world import World


class Killed(BaseException):
    """The process ends here."""


def _kill_at_write(world: World, monkeypatch: pytest.MonkeyPatch, number: int, when: str) -> None:
    """Let the process end right before, or right after, a write to a group."""
    write, groups = world.target.alter_offsets, []

    def dies(group: str, offsets: Any) -> None:
        groups.append(group)
        if (len(groups), when) == (number, "before"):
            raise Killed
        write(group, offsets)
        if (len(groups), when) == (number, "after"):
            raise Killed

    monkeypatch.setattr(world.target, "alter_offsets", dies)


def _end_state(world: World) -> dict[str, Any]:
    (cut_over,) = world.ledger.cutovers
    return {
        "target": target_offsets(world),
        "moved": sorted(cut_over.groups),
        "partly": cut_over.partly,
        "before": world.run.evidence.require(Kind.OFFSETS_BEFORE)["target"],
    }


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
    """Wherever the process dies between two groups, another try comes to the same end, from the same saved offsets."""
    approved(scene)
    with monkeypatch.context() as patch:
        _kill_at_write(scene, patch, number, when)
        with pytest.raises(Killed):
            scene.do("sync_offsets")

    scene.do("sync_offsets", "confirm_cutover")

    assert EXPECTED_END == _end_state(scene)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    "document",
    [
        Kind.OFFSETS_PLAN,
        Kind.APPROVE,
        Kind.OFFSETS_BEFORE,
        Kind.OFFSETS_RESULT,
        Kind.CUTOVER,
        "ledger",
        SOURCE_CSV,
        TARGET_CSV,
    ],
)
def test_killed_around_any_document_and_tried_again(
    scene: World, monkeypatch: pytest.MonkeyPatch, document: str, when: str
) -> None:
    """Wherever the process dies from plan to confirm, the task tried again comes to the same end."""
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
            _do_step(scene, step)
        except Killed:
            _do_step(scene, step)

    assert len(killed) == 1
    assert EXPECTED_END == _end_state(scene)
    assert len(scene.ledger.cutovers) == 1


def _do_step(world: World, step: Any) -> None:
    if step == "approve":
        ask(world)
        answer(world)
    else:
        world.do(step)


def test_earlier_try_that_wrote_is_not_denied(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the clusters change after a first write, the refusal does not say that nothing was written."""
    approved(scene)
    with monkeypatch.context() as patch:
        _kill_at_write(scene, patch, 1, "after")
        with pytest.raises(Killed):
            scene.do("sync_offsets")
    scene.source.produce("orders", 0, (b"late", b"v"))

    scene.refuses("sync_offsets", match=r"EVIDENCE_CHANGED .*an earlier attempt may have moved groups")
