"""The documents that tasks write are those of the table of steps."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.run.task_steps import STEPS, WRITTEN_BY_ANY
from tests.steps.cutover import begin_rollback, cut_over, judge_cutover
from tests.steps.cuts import Cuts
from tests.steps.test_rollback import roll_back
from tests.steps.world import World

TABLE: dict[str, set[str]] = {step.task: {*step.writes, *WRITTEN_BY_ANY} for step in STEPS}
# The small world writes these itself, as `validate_topics` and Spark do.
PLAYED = {Kind.VALIDATION_REQUEST, Kind.VALIDATION_RESULT}
# The small world has both questions, each with an id of its own.
OF_DAG = {"approve_rollback": "approve"}


def test_tasks_write_the_documents_of_the_table(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cutover and its rollback write no document that the table does not name for the task."""
    written: set[tuple[str, Kind]] = set()
    new_path = RunEvidence.new_path

    def noted(evidence: RunEvidence, kind: Kind) -> Any:
        task = world.task_instance.task_id
        written.add((OF_DAG.get(task, task), kind))
        return new_path(evidence, kind)

    monkeypatch.setattr(RunEvidence, "new_path", noted)
    judge_cutover(world)
    cut_over(world)
    world.do("restore_settings")
    begin_rollback(world)
    roll_back(world)

    assert set() == {(task, kind) for task, kind in written if kind not in TABLE[task] | PLAYED}
    assert {"plan", "stop", "judge", "offsets-plan", "cutover", "rolled-back", "settings"} <= {k for _, k in written}


def test_moments_bear_the_kinds_of_documents(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test can kill a task at a document that it names."""
    cuts = Cuts(monkeypatch)
    with cuts.at("after RunEvidence.write judge"):
        judge_cutover(world)
