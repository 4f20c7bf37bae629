"""One try of a task that two processes make at once, anywhere in a cutover, compared with the same try made once."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import FindingsError, TransientError
from kafka_migration.steps.answers.report_check import ReportState
from kafka_migration.steps.run.task_frame import NothingToDo
from tests.steps import test_report_check
from tests.steps.cuts import Killed
from tests.steps.test_tampering import STEPS, perform
from tests.steps.turns import Moment, Order, Turns
from tests.steps.world import RunFailed, World

TASKS = ("create_topics", "reserve", "start_mirror", "stop_mirror", "judge", "sync_offsets", "finish")
WHOLE = (*STEPS, "finish", "finish is checked", "next run")
SUCCEEDED = {"sync_offsets": "success", "judge": "success"}
OUTSIDE_CALLS = ("before FakeCluster.", "before FakeMirrorHost.")
# What a test keeps of a world.
KEPT = ("source", "target", "host", "task_instance", "dag_run", "anchor", "asked", "params")
TOPICS = ("orders", "audit")
# What of the state names generations.
GENERATIONS = {"generations", "recorded"}
# The ends of a task that harm nothing: Airflow tries it again, or it had nothing to do.
HARMLESS = (TransientError, NothingToDo)


@dataclass
class Found:
    """What went wrong in interleavings of one task."""

    interleavings: set[tuple[Moment, ...]] = field(default_factory=set)
    double_actions: list[str] = field(default_factory=list)
    false_alarms: list[str] = field(default_factory=list)
    lost_writes: list[str] = field(default_factory=list)

    @property
    def row(self) -> tuple[int, int, int, int]:
        """The counts: interleavings, and those with double actions, false alarms and lost writes."""
        wrong = (self.double_actions, self.false_alarms, self.lost_writes)
        double, alarms, lost = (len({text.partition("\n")[0] for text in each}) for each in wrong)
        return len(self.interleavings), double, alarms, lost


@dataclass(frozen=True)
class Snapshot:
    """A world and its evidence before a task."""

    kept: Mapping[str, Any]
    folder: Path

    @classmethod
    def of(cls, world: World, folder: Path) -> Snapshot:
        """Return what a world is now."""
        shutil.copytree(world.root, folder)
        return cls(deepcopy({name: getattr(world, name) for name in KEPT}), folder)

    def restore(self, world: World) -> None:
        """Make a world again what it was."""
        for name, value in deepcopy(dict(self.kept)).items():
            setattr(world, name, value)
        shutil.rmtree(world.root)
        shutil.copytree(self.folder, world.root)


@dataclass
class Trial:
    """Tries of one task that two copies make, and what the same try does that is made once."""

    world: World
    turns: Turns
    task: str
    before: Snapshot
    writes: Counter[str] = field(default_factory=Counter)
    files: Mapping[str, bytes] = field(default_factory=dict)
    end: Mapping[str, Any] = field(default_factory=dict)
    stops: int = 0

    @classmethod
    def of(cls, world: World, turns: Turns, task: str, folder: Path) -> Trial:
        """Return the trial of a task, whose steps before were done."""
        for step in STEPS[: STEPS.index(task)] if task in STEPS else STEPS:
            perform(world, step)
        made = cls(world, turns, task, Snapshot.of(world, folder))
        made.alone()
        return made

    def alone(self) -> None:
        """Make the try once, and what comes after it."""
        self.turns.both((self.act, lambda: None), ())[0].result()
        self.stops, self.writes = self.turns.stops, outside(self.turns.moments)
        self.files = files_of(self.world)
        assert [] == list(self.go_on())
        self.end = state_of(self.world)

    def act(self) -> None:
        """Make the try, as one process."""
        self.world.begin(self.task)
        self.work()

    def work(self) -> None:
        """Do the work of the task, which has begun."""
        self.world.finish_begun(**SUCCEEDED) if self.task == "finish" else self.world.perform(self.task)

    def meet(self, order: Order, found: Found, *, killed_at: int = 0, believed: int = 0, whole: bool = True) -> None:
        """Let two copies make the try in this order; add what went wrong.

        `killed_at` is the stop at which the first copy is killed. `believed` is the copy whose end Airflow believes: if
        that one failed, Airflow makes another try. `whole`: whether to go on to the end of the run and beyond, instead
        of to the next task only.
        """
        self.before.restore(self.world)
        self.world.try_id = "one-try"
        copies = self.turns.both((self.act, self.act), order, {0: killed_at} if killed_at else None)
        moments = tuple(self.turns.moments)
        name = " ".join(f"{copy} {where}," for copy, where in moments)
        found.interleavings.add(moments)
        errors = [copy.exception() for copy in copies]
        found.double_actions += [f"{name}\n{act}" for act in outside(moments) - self.writes]
        found.false_alarms += [f"{name}\n{error!r}" for error in errors if not is_harmless(error)]
        if not killed_at:
            found.lost_writes += [f"{name}\n{lost}" for lost in self.lost()]
        self.world.try_id = ""
        if errors[believed] is not None or killed_at:
            found.false_alarms += [f"{name}\nagain: {error!r}" for error in self.again()]
        found.false_alarms += [f"{name}\nlater: {wrong}" for wrong in self.go_on(whole=whole)]
        end = state_of(self.world) if whole else {}
        # After a kill the next try may need a generation of its own.
        same = end.keys() - (GENERATIONS if killed_at else set())
        found.double_actions += [f"{name}\n{key}: {end[key]}" for key in sorted(same) if end[key] != self.end[key]]

    def lost(self) -> Iterator[str]:
        """Yield the files that are not what the try wrote that was made once, and the digests that Airflow lacks."""
        now = files_of(self.world)
        yield from (name for name, content in self.files.items() if now.get(name) != content)
        yield from (f"more than once: {name}" for name in now.keys() - self.files.keys())
        yield from (str(change) for change in self.world.run.evidence.changes())

    def again(self) -> Iterator[BaseException]:
        """Make the next try, as Airflow does; yield how it failed."""
        try:
            self.act()
        except (Exception, RunFailed) as error:
            yield error

    def go_on(self, *, whole: bool = True) -> Iterator[str]:
        """Do all steps after the task and the next run, or only the next step; yield what went wrong."""
        after = WHOLE.index(self.task) + 1
        for step in WHOLE[after : None if whole else after + 1]:
            try:
                self.step(step)
            except (Exception, RunFailed) as error:
                yield f"{step}: {error!r}"
                return

    def step(self, step: str) -> None:
        """Do a step of the run, of its end or of the run after it."""
        world = self.world
        if step == "finish":
            world.finish(**SUCCEEDED)
        elif step == "finish is checked":
            checked = test_report_check.by_airflow(world)
            assert ReportState.UNCHANGED is checked.answer, test_report_check.wrong(checked)
        elif step == "next run":
            world.next_run(2)
            world.params = {"mode": "validate"}
            world.do("preflight", "reserve", "plan", "create_topics", "start_mirror", "stop_mirror")
        else:
            perform(world, step)


def is_harmless(error: BaseException | None) -> bool:
    """Return whether a copy ended in a way that causes no alarm."""
    return error is None or isinstance(error, Killed) or (isinstance(error, HARMLESS) and not is_alarm(error))


def is_alarm(error: BaseException) -> bool:
    """Return whether an error says that evidence or ledger are damaged."""
    codes = {finding.code for finding in error.findings} if isinstance(error, FindingsError) else set()
    return bool(codes & {Code.EVIDENCE_CHANGED, Code.LEDGER_BROKEN, Code.EVIDENCE_UNREADABLE})


def outside(moments: Sequence[Moment]) -> Counter[str]:
    """Return how often clusters and host were written to, by call."""
    return Counter(where for _, where in moments if where.startswith(OUTSIDE_CALLS))


def files_of(world: World) -> dict[str, bytes]:
    """Return the documents, the ledger and the reports below the evidence root."""
    files = (path for path in world.root.rglob("*") if path.is_file() and "claims" not in path.parts)
    return {str(path.relative_to(world.root)): path.read_bytes() for path in files}


def state_of(world: World) -> dict[str, Any]:
    """Return what a whole migration leaves: topics, groups, generations, and what the ledger says of them."""
    ledger = world.ledger
    # MirrorMaker's own topics have the number of a generation in their names.
    topics = {name: (each.topic_id, dict(each.configs)) for name, each in world.target.topics.items() if name in TOPICS}
    return {
        "topics": topics,
        "groups": {name: dict(group.commits) for name, group in world.target.groups.items()},
        "generations": sorted(world.host.processes),
        "runs": (world.host.status().is_running, ledger.open_generation),
        "recorded": [(each.number, each.start.mirror_positions, each.stop) for each in ledger.generations],
        "known": (ledger.topics, ledger.announced, ledger.phase, ledger.reserved_by),
        "verdicts": [each.topics for each in ledger.judgements][-1:],
    }
