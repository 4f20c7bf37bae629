"""Every order of the steps of several processes that use one ledger, and a kill after each step.

A step is one act that other processes can see: a variable is read or written, a folder is listed, a file is created.
A process is the real `LedgerStore`. It is run again from its beginning with the results of its earlier steps, until it
asks for the next one. So a state is the evidence root, Airflow's variables and the results that each process has seen,
and all reachable states are visited. A killed process is one that takes no further step, which each state covers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.store import ledger_store
from kafka_migration.adapters.store.document_files import to_json
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.ledger.chain import Head, linked
from kafka_migration.core.ledger.cutovers import Reserved

ROOT = Path("/evidence")


@dataclass(frozen=True)
class World:
    """What all processes share: the entries by name, and what Airflow keeps; a listing lacks the `unlisted` newest."""

    files: tuple[tuple[str, str], ...] = ()
    unlisted: int = 0
    kept: Head = field(default_factory=Head)
    announced: frozenset[Head] = frozenset()

    def after(self, act: str, *given: Any) -> tuple[World, Any]:
        """Return the world after an act, and what the process sees."""
        result: tuple[World, Any] = getattr(self, f"_{act}")(*given)
        return result

    def _head(self) -> tuple[World, Any]:
        return self, self.kept

    def _keep(self, head: Head) -> tuple[World, Any]:
        return replace(self, kept=head), None

    def _announce(self, head: Head) -> tuple[World, Any]:
        return replace(self, announced=self.announced | {head}), None

    def _is_announced(self, head: Head) -> tuple[World, Any]:
        return self, head in self.announced

    def _withdraw(self, head: Head) -> tuple[World, Any]:
        return replace(self, announced=self.announced - {head}), None

    def _listed(self) -> tuple[World, Any]:
        return self, tuple(name for name, _ in self.files[: len(self.files) - self.unlisted])

    def _is_there(self, name: str) -> tuple[World, Any]:
        return self, name in dict(self.files)

    def _read(self, name: str) -> tuple[World, Any]:
        return self, dict(self.files)[name].encode()

    def _create(self, name: str, text: str) -> tuple[World, Any]:
        if name in dict(self.files):
            return self, False
        return replace(self, files=(*self.files, (name, text))), True


class NextStep(BaseException):
    """A process asks for a step whose result it does not know yet."""


class Process:
    """One process with the results of its steps so far, as the anchor and the files that the ledger uses."""

    def __init__(self, results: tuple[Any, ...]) -> None:
        self._results = iter(results)

    def _step(self, *step: Any) -> Any:
        for result in self._results:
            return result
        raise NextStep(*step)

    def head(self) -> Head:
        result: Head = self._step("head")
        return result

    def keep(self, head: Head) -> None:
        self._step("keep", head)

    def announce(self, head: Head) -> None:
        self._step("announce", head)

    def is_announced(self, head: Head) -> bool:
        return bool(self._step("is_announced", head))

    def withdraw(self, head: Head) -> None:
        self._step("withdraw", head)

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Replace the functions for files."""
        monkeypatch.setattr(ledger_store, "listed", lambda folder: list(self._step("listed")))
        monkeypatch.setattr(ledger_store, "is_there", lambda path: self._step("is_there", path.name))
        monkeypatch.setattr(ledger_store, "read_whole", lambda path: self._step("read", path.name))
        monkeypatch.setattr(ledger_store, "create_whole", lambda path, text: self._step("create", path.name, text))


@dataclass(frozen=True)
class State:
    """A reachable state: the world, and the results that each process has seen; `None` for one that has ended.

    `turn` is the process that took the last step; `turns` are the changes of turn that are left, `None` if all are.
    """

    world: World
    seen: tuple[tuple[Any, ...] | None, ...]
    turns: int | None = None
    turn: int | None = None

    @property
    def has_ended(self) -> bool:
        """Whether all processes did what they wanted."""
        return set(self.seen) == {None}


def entry(name: str) -> dict[str, Any]:
    """Return the entry that a writer appends; an empty name stands for a reader."""
    return Reserved(name, "t").to_document()


NextStepOf = Callable[[str, tuple[Any, ...]], tuple[Any, ...] | None]


@pytest.fixture
def next_step(monkeypatch: pytest.MonkeyPatch) -> NextStepOf:
    """Return the step that a process takes next, or `None` if it has ended."""

    @cache
    def found(name: str, seen: tuple[Any, ...]) -> tuple[Any, ...] | None:
        process = Process(seen)
        process.use(monkeypatch)
        store = LedgerStore(ROOT, "shop", anchor=process)
        try:
            store.append(entry(name)) if name else store.read()
        except NextStep as step:
            return step.args
        return None

    return found


def run_alone(next_step: NextStepOf, world: World, name: str = "") -> World:
    """Return the world after a process ran without interruption."""
    seen: tuple[Any, ...] = ()
    while step := next_step(name, seen):
        world, result = world.after(*step)
        seen = (*seen, result)
    return world


def successors(next_step: NextStepOf, state: State, names: tuple[str, ...]) -> Iterator[State]:
    """Return the states after one step of one process. Reading an entry is no step, because entries never change."""
    for which, (name, seen) in enumerate(zip(names, state.seen, strict=True)):
        if seen is None or (step := next_step(name, seen)) is None:
            continue
        turns, turn = state.turns, None
        if turns is not None:
            turns, turn = turns - (which != state.turn), which
            if turns < 0:
                continue
        world, result = state.world.after(*step)
        after: tuple[Any, ...] | None = (*seen, result)
        while after and (step := next_step(name, after)) and step[0] == "read":
            after = (*after, world.after(*step)[1])
        yield State(world, (*state.seen[:which], after if step else None, *state.seen[which + 1 :]), turns, turn)


def reachable(next_step: NextStepOf, names: tuple[str, ...], world: World, turns: int | None) -> Iterator[State]:
    """Return every state that the processes can reach together."""
    start = State(world, ((),) * len(names), turns)
    known, waiting = {start}, [start]
    while waiting:
        state = waiting.pop()
        yield state
        for after in successors(next_step, state, names):
            if after not in known:
                known.add(after)
                waiting.append(after)


def forged(world: World) -> World:
    """Return the world with a well linked entry that no writer announced."""
    newest = max(world.files, default=None)
    number = int(newest[0][:6]) if newest else 0
    head = Head(number - 1).after(newest[1].encode()) if newest else Head()
    text = to_json(linked(entry("mallory"), head))
    return replace(world, files=(*world.files, (f"{number + 1:06}.json", text)))


def chain_of(world: World) -> list[str]:
    """Return the runs in the ledger, by number."""
    return [json.loads(text)["run"] for _, text in sorted(world.files)]


# All orders of three writers take a minute, those with five changes of turn a few seconds.
MOST_TURNS = {"three writers": 5}
# The processes, the number of entries before them, and how many of the newest entries a listing lacks.
SCENES: Mapping[str, tuple[tuple[str, ...], int, int]] = {
    "two writers of a new ledger": (("ada", "bob"), 0, 0),
    "two writers": (("ada", "bob"), 2, 0),
    "two tries of one task": (("ada", "ada"), 1, 0),
    "two writers and a reader": (("ada", "bob", ""), 1, 0),
    "two writers and an outdated listing": (("ada", "bob"), 2, 1),
    "two writers and a very outdated listing": (("ada", "bob"), 3, 2),
    "three writers": (("ada", "bob", "eve"), 1, 0),
}


@pytest.mark.parametrize("scene", SCENES)
def test_in_every_order_the_ledger_is_whole(next_step: NextStepOf, scene: str) -> None:
    """Whatever the order of the steps, and whoever is killed, honest entries are read and appended to.

    If no process is killed, Airflow keeps the newest entry at the end.
    """
    names, entries, unlisted = SCENES[scene]
    world = World()
    for number in range(entries):
        world = run_alone(next_step, world, f"earlier {number}")
    world, judged = replace(world, unlisted=unlisted), set[World]()

    states = 0
    for state in reachable(next_step, names, world, MOST_TURNS.get(scene)):
        states += 1
        assert not state.has_ended or len(state.world.files) == state.world.kept.number
        if state.world in judged:
            continue
        judged.add(state.world)
        after = run_alone(next_step, run_alone(next_step, state.world), "later")
        assert [*chain_of(state.world), "later"] == chain_of(after)
        with pytest.raises(Refused, match="which Airflow did not announce") as refused:
            run_alone(next_step, forged(state.world), "victim")
        if not unlisted:
            with pytest.raises(Refused, match="which Airflow did not announce"):
                run_alone(next_step, forged(state.world))
        assert {finding.code for finding in refused.value.findings} == {Code.LEDGER_BROKEN}
    assert states > len(judged) > 2
