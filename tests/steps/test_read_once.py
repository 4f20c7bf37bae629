"""Rules of how often a task of a cutover reads ledger, evidence and migration file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from kafka_migration.adapters.store import evidence_store as evidence
from kafka_migration.adapters.store import ledger_store
from kafka_migration.steps.run import migration_run as run_module
from tests.steps.cutover import answer, ask
from tests.steps.world import P0, World

BEFORE_COPY = ("preflight", "reserve", "plan", "create_topics", "start_mirror")
# A folder is listed when its documents are compared, and before a new one gets its number. In a first run
# `create_topics` appends three entries.
LISTINGS = 4


class Reads:
    """What the tasks of a run read, and how often."""

    def __init__(self) -> None:
        self.present: Counter[str] = Counter()
        self.most: Counter[str] = Counter()

    def count(self, module: Any, name: str, subject: Callable[..., str], patch: pytest.MonkeyPatch) -> None:
        """Count the calls of a function by what they read."""
        function = getattr(module, name)

        def call(*arguments: Any, **more: Any) -> Any:
            self.present[subject(*arguments)] += 1
            return function(*arguments, **more)

        patch.setattr(module, name, call)

    def end_task(self) -> None:
        """Remember the most that one task read."""
        self.most |= self.present
        self.present = Counter()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """Count what is read of ledger, evidence and migration file."""
    made = Reads()
    made.count(ledger_store, "read_whole", lambda path: f"ledger entry {path.name}", monkeypatch)
    made.count(ledger_store, "listed", lambda folder: "listing of the ledger", monkeypatch)
    made.count(evidence, "read_whole", lambda path: f"document {path.name}", monkeypatch)
    made.count(evidence, "listed", lambda folder: f"listing of {folder.name}", monkeypatch)
    made.count(run_module, "load_migration", lambda text: "migration file", monkeypatch)
    return made


def test_each_task_of_a_cutover_reads_everything_once(world: World, asked: list[Any], reads: Reads) -> None:
    """A task reads each ledger entry, each document and the migration file at most once."""
    world.params = {"mode": "cutover"}
    world.source.produce("orders", 0, (b"k", b"v"))
    world.source.commit("billing", {P0: 1})

    def step(*task_ids: str) -> None:
        for task_id in task_ids:
            world.do(task_id)
            reads.end_task()

    step(*BEFORE_COPY)
    world.mirror({P0: 1})
    step("stop_mirror")
    world.validated()
    reads.end_task()

    step("judge", "plan_offsets")
    ask(world)
    reads.end_task()
    answer(world)
    reads.end_task()
    step("sync_offsets", "confirm_cutover")

    assert {} == {what: n for what, n in reads.most.items() if n > (LISTINGS if "listing" in what else 1)}
    assert {"migration file", "listing of the ledger"} < set(reads.most)
    assert any(what.startswith("ledger entry") for what in reads.most)
    assert any(what.startswith("document") for what in reads.most)
