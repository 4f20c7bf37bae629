"""Rules of an evidence store that refuses writes: a finding, nothing left over, and MirrorMaker is stopped."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.store import local_files
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import StoreFailed
from kafka_migration.core.mirror.mirror_process import ProcessState
from tests.small_disk import Full, small_disk
from tests.steps.tasks import BEFORE_START
from tests.steps.world import FOUR_RECORDS, P0, World

REFUSALS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO)
TASKS_OF_A_RUN = (*BEFORE_START, "start_mirror", "stop_mirror", "judge")
Refusing = Callable[[int], Any]


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Refusing:
    """A context in which the store refuses each write with this error, after it has made the file."""

    @contextmanager
    def refusing(code: int) -> Iterator[None]:
        def refuse(file: Any, text: str) -> None:
            raise OSError(code, os.strerror(code))

        with monkeypatch.context() as patched:
            patched.setattr(local_files, "_write_flushed", refuse)
            yield

    return refusing


@pytest.fixture
def disk(world: World) -> Iterator[Full]:
    """The evidence on a small disk of its own, and a context in which that disk is full."""
    with small_disk(world.root) as full:
        yield full


def leftovers(root: Path) -> list[Path]:
    """The temporary files below the evidence root."""
    return [path for path in root.rglob(".*") if path.is_file()]


def refused(world: World, task: str) -> str:
    """Run a task, which must fail for now; return what it says."""
    with pytest.raises(StoreFailed) as error:
        world.do(task)
    return str(error.value)


def prepare(world: World, task: str) -> None:
    """Run all tasks before this one."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    for earlier in TASKS_OF_A_RUN[: TASKS_OF_A_RUN.index(task)]:
        world.do(earlier)
        if earlier == "start_mirror":
            world.mirror({P0: 4})
    if task == "judge":
        world.validated(True)


@pytest.mark.parametrize("task", TASKS_OF_A_RUN)
def test_task_on_a_full_disk_says_so_and_can_be_repeated(world: World, refusing: Refusing, task: str) -> None:
    """Each task names the folder, the cause and the act, leaves no temporary file, and succeeds on the next try."""
    prepare(world, task)
    with refusing(errno.ENOSPC):
        said = refused(world, task)
    files = leftovers(world.root)
    again = world.do(task)

    assert said.startswith(f"{Code.EVIDENCE_NOT_WRITABLE} · {world.root}/shop")
    assert "No space left on device" in said
    assert "bytes are free" in said
    assert "Free space" in said
    assert ([], True) == (files, isinstance(again, dict))


@pytest.mark.parametrize("code", REFUSALS)
def test_each_refusal_of_the_store_has_its_remedy(world: World, refusing: Refusing, code: int) -> None:
    """Also a quota, a read-only disk, a missing right and a broken disk are findings with the system's own words."""
    prepare(world, "create_topics")
    with refusing(code):
        said = refused(world, "create_topics")

    assert said.startswith(Code.EVIDENCE_NOT_WRITABLE)
    assert os.strerror(code) in said


@pytest.mark.parametrize("code", REFUSALS)
@pytest.mark.parametrize("clear_number", [0, 1], ids=["first attempt", "cleared"])
def test_stop_ends_mirrormaker_on_a_full_disk(world: World, refusing: Refusing, code: int, clear_number: int) -> None:
    """MirrorMaker is stopped before anything is recorded, also where the reservation must be recorded; a later try
    certifies the stop.
    """
    prepare(world, "stop_mirror")
    world.dag_run.clear_number = clear_number
    with refusing(code):
        said = refused(world, "stop_mirror")
        state = world.host.status().state
    world.do("stop_mirror")

    assert said.startswith(Code.EVIDENCE_NOT_WRITABLE)
    assert ProcessState.STOPPED == state
    assert (None, 4) == (world.ledger.open_generation, world.certified.mirror_positions[P0])


def test_stop_ends_mirrormaker_if_the_store_cannot_be_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger that cannot be read does not keep MirrorMaker alive, and is a finding."""
    prepare(world, "stop_mirror")

    def broken(folder: object) -> Any:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", broken)
        said = refused(world, "stop_mirror")

    assert said.startswith(Code.EVIDENCE_ROOT_UNREACHABLE)
    assert ProcessState.STOPPED == world.host.status().state


def test_finish_says_what_it_knows_on_a_full_disk(world: World, refusing: Refusing) -> None:
    """What finish says names what failed and the full disk; the reservation is freed."""
    prepare(world, "create_topics")
    with refusing(errno.ENOSPC):
        refused(world, "create_topics")
        said = world.finish_fails(preflight="success", reserve="success", create_topics="failed")

    # One full disk is one finding, with both folders.
    assert 1 == said.count(Code.EVIDENCE_NOT_WRITABLE)
    assert all(f"/{name}" in said for name in ("ledger", "attempt-1"))
    assert "" == world.host.status().holder
    assert [] == leftovers(world.root)


def test_report_has_the_refusal_that_the_store_did_not_take(world: World, refusing: Refusing) -> None:
    """A refusal that could not be recorded is in the report, if the disk has space again by then."""
    prepare(world, "create_topics")
    with refusing(errno.ENOSPC):
        refused(world, "create_topics")
    world.finish_fails("EVIDENCE_NOT_WRITABLE", preflight="success", create_topics="failed")

    assert "EVIDENCE_NOT_WRITABLE" in world.report


def test_refusal_of_an_earlier_try_is_not_reported(world: World, refusing: Refusing) -> None:
    """A task that was repeated with success does not fail the run."""
    prepare(world, "create_topics")
    with refusing(errno.ENOSPC):
        refused(world, "create_topics")
    world.do("create_topics")

    assert "success" == world.finish(preflight="success", create_topics="success")["outcome"]
    assert "EVIDENCE_NOT_WRITABLE" not in world.report


def test_run_on_a_real_disk_that_fills_up(world: World, disk: Full) -> None:
    """On a real full disk each task ends with a finding, MirrorMaker is stopped, and the run continues with space."""
    prepare(world, "create_topics")
    with disk():
        said = refused(world, "create_topics")
    world.do("create_topics", "start_mirror")
    world.mirror({P0: 4})
    with disk():
        stopped = refused(world, "stop_mirror")
        state = world.host.status().state
        finished = world.finish_fails(preflight="success", stop_mirror="failed")
        files = leftovers(world.root)

    assert all("No space left on device; 0 bytes are free" in text for text in (said, stopped, finished))
    assert (ProcessState.STOPPED, []) == (state, files)
