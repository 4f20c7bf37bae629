"""Airflow starts one try of a task in two processes: one acts, and a task that waits is resumed by a third."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowSkipException, TaskDeferred
from airflow.sdk.io import attach, store
from fsspec.implementations.memory import MemoryFileSystem  # type: ignore[import-untyped] # fsspec has no types

from kafka_migration.adapters.store import local_files
from kafka_migration.adapters.store.try_claims import TryClaims
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.run.try_claim import TryClaim
from kafka_migration.orchestration.task.failures import FailedForGood, FailedForNow
from tests.airflow.cutover import Waits
from tests.airflow.notifying import with_alerts
from tests.airflow.tasks import TASKS
from tests.airflow.world import World
from tests.steps.cutover import answer, ask
from tests.steps.nights import at_night, begin
from tests.steps.tasks import BEFORE_START

ANOTHER = TryClaim("judge", "2030-01-01T00:00:00+00:00", "worker-1", 7, "token")
ONCE_MORE = rf"{Code.TRY_RUNS_TWICE}: task \w+: this try is made by process 7 on worker-1"


def claimed(world: World, try_id: str = "a-try") -> None:
    """Let another process make the try that the next task makes."""
    world.try_id = try_id
    assert TryClaims(world.run.deployment.evidence_root, world.name, world.run.identity, try_id).take(ANOTHER)


def seen(world: World) -> Any:
    """Return what a second process must not change."""
    files = {str(path): path.read_bytes() for path in world.root.rglob("*") if path.is_file()}
    return files, list(world.host.calls), world.target.topics.keys(), world.ledger, world.task_instance.kept.states


@pytest.mark.parametrize("task_id", sorted(TASKS.keys() - {"finish"}))
def test_second_process_of_a_try_does_nothing(world: World, task_id: str) -> None:
    """Each task ends before it reads or writes anything, says which process acts, and may be tried again."""
    world.do("preflight", "reserve")
    claimed(world)
    before = seen(world)

    with pytest.raises(TransientError, match=ONCE_MORE):
        world.do(task_id)

    assert before == seen(world)


def test_second_process_of_finish_does_nothing(world: World) -> None:
    """It writes no report, frees no reservation and sends no alert."""
    sent = with_alerts(world)
    world.do("preflight", "reserve")
    claimed(world)
    before = seen(world)

    with pytest.raises(TransientError, match=ONCE_MORE):
        world.finish(preflight="failed")

    assert (before, []) == (seen(world), sent)


def test_second_process_puts_back_what_airflow_deleted_for_it(world: World) -> None:
    """The digests of the first process, which Airflow deletes when it starts the second one, are there for all."""
    world.do("preflight", "reserve")
    claimed(world)

    with suppress(TransientError):
        world.do("reserve")

    world.try_id = ""
    assert () == world.run.evidence.changes()
    world.do("plan")


def test_object_store_gives_a_try_to_one_process(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object store takes one claim, as long as the process that has it does not leave the try."""
    monkeypatch.setattr(store, "_STORE_CACHE", {})
    attach("memory", fs=MemoryFileSystem())
    root = settings.folder_at(f"memory://{world.root.parent.name}/kafka")

    def claims() -> TryClaims:
        return TryClaims(root, "shop", world.run.identity, "a-try")

    for number in range(3):
        first, second, mine = claims(), claims(), replace(ANOTHER, token=f"{number}")
        assert first.take(mine)
        assert not second.take(ANOTHER)
        assert mine == second.first()
        first.leave()


def approving(world: World) -> Callable[[], object]:
    """A cutover whose question is asked; return how its answer arrives."""
    world.do("plan_offsets")
    world.try_id = "approve"
    ask(world)
    return lambda: answer(world)


def watching(world: World) -> Callable[[], object]:
    """A watch; return how it ends."""
    world.params = {"mode": "sync"}
    world.next_run()
    world.source.produce("orders", 0, (b"k", b"v"))
    world.start()
    world.try_id = "watch"
    with pytest.raises(TaskDeferred):
        world.do("watch_lag")
    event = world.watch_event("behind", generation=2)
    return lambda: world.end_watch(event)


def waiting_for_producers(world: World) -> Callable[[], object]:
    """A hook that waits for the watch; return how it learns that the watch is over."""
    world.try_id = "stop_producers"
    with pytest.raises(TaskDeferred):
        world.do("stop_producers")
    return lambda: world.task("stop_producers").announced(world.context(), {"announced": False})


def reserving(world: World) -> Callable[[], object]:
    """A nightly run whose reservation another run holds; return how it learns that it is free."""
    holder = world.run.identity.holder
    clock, active = at_night(world), world.dag_run.run_id
    begin(world, clock)
    world.task_instance.run_states[active] = "running"
    world.do("preflight")
    world.try_id = "reserve"
    with pytest.raises(TaskDeferred):
        world.do("reserve")
    world.host.release(holder)
    return lambda: world.task("reserve").try_again(world.context(), {"holder": ""})


@pytest.mark.parametrize("waiting", [approving, watching, waiting_for_producers, reserving])
def test_waiting_task_is_resumed_by_one_process(scene: World, waiting: Callable[[World], Callable[[], object]]) -> None:
    """The process that resumes a waiting task acts, although another one began the try; a copy of it does not."""
    resume = waiting(scene)

    with suppress(AirflowSkipException):
        resume()
    with pytest.raises(TransientError, match=Code.TRY_RUNS_TWICE):
        resume()


def test_try_that_cannot_be_left_is_made_again(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task whose store refuses to note that it waits still waits; the process that resumes it fails for now."""
    scene.do("plan_offsets")
    scene.try_id = "approve"
    real = local_files.create

    def refusing(path: Any, text: str) -> bool:
        if path.name.endswith(".left"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, text)

    monkeypatch.setattr(local_files, "create", refusing)
    with pytest.raises(Waits):
        scene.do("approve")

    with pytest.raises(TransientError, match=Code.TRY_RUNS_TWICE):
        answer(scene)


def test_full_disk_does_not_keep_mirrormaker_alive(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks that cannot claim their try fail for now, but stop_mirror and finish do their work without a claim."""
    world.source.produce("orders", 0, (b"k", b"v"))
    world.do(*BEFORE_START, "start_mirror")

    def refuse(path: Any, text: str) -> bool:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(local_files, "create", refuse)
        with pytest.raises(FailedForNow, match=Code.EVIDENCE_NOT_WRITABLE) as failed:
            world.do("judge")
        assert not isinstance(failed.value, FailedForGood)
        with pytest.raises(FailedForNow, match=Code.EVIDENCE_NOT_WRITABLE):
            world.do("stop_mirror")
        assert not world.host.status().is_running
        world.finish(preflight="success")

    assert "" == world.host.status().holder
