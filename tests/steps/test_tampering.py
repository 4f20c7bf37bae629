"""Rules of damaged evidence: each step of a cutover refuses every changed document and writes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind, document_name, parse_document_name
from kafka_migration.core.findings.errors import FindingsError
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.host import OpenedMirror
from kafka_migration.steps.run.task_frame import NothingToDo
from tests.present import present
from tests.steps.clock import FakeClock
from tests.steps.cutover import BILLING, answer, approved, begin_rollback
from tests.steps.tasks import BEFORE_START, WaitingForAnswer, WaitingForWatch
from tests.steps.watching import Scene, a_watch, watch
from tests.steps.world import P0, P1, RunFailed, World

CONTENT = "cutover:\n  hooks:\n    after_cutover:\n      callable: builtins.dict\n"


def _changed(path: Path) -> None:
    """Change one value, and leave a document that can be read."""
    if path.suffix == ".yaml":
        path.write_text(path.read_text().replace("mirror_host", "other_host"))
    else:
        path.write_text(json.dumps({**json.loads(path.read_text()), "at": "another time"}))


def _older(path: Path) -> None:
    """Put what an earlier version of the document may have said in its place."""
    path.write_text('{"at": "earlier"}' if path.suffix == ".json" else "version: 1\n")


def _halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


DAMAGES: tuple[Callable[[Path], object], ...] = (_changed, Path.unlink, _halved, _emptied, _older)


# The steps of a cutover, in order: tasks, what MirrorMaker does, and what ends a wait.
MIRRORING = (*BEFORE_START, "start_mirror", "stop_producers", "watch_lag", "copy", "watch_lag ends", "stop_mirror")
JUDGING = ("validate_topics", "judge", "drain_groups", "translate_offsets", "plan_offsets")
MOVING = ("approve", "approve is answered", "sync_offsets", "confirm_cutover", "after_cutover", "restore_settings")
STEPS = (*MIRRORING, *JUDGING, *MOVING)
# MirrorMaker itself reads no evidence, and stopping it is never refused: see below.
REFUSING = tuple(step for step in STEPS if step not in {"preflight", "copy", "stop_mirror"})
NOT_TASKS: dict[str, Callable[[World], object]] = {
    "copy": lambda world: world.mirror({P0: 4, P1: 1}),
    "watch_lag ends": lambda world: world.end_watch(world.watch_event("drained")),
    "approve is answered": answer,
}


@pytest.fixture
def cutover(world: World) -> World:
    """A cutover before its first step."""
    world.extend_file(CONTENT)
    world.params = {"mode": "cutover"}
    for number in range(4):
        world.source.produce("orders", 0, (b"k%d" % number, b"v"))
    world.source.produce("orders", 1, (b"k", b"v"))
    world.source.commit("billing", BILLING)
    world.spark_work = lambda job: world.validated(result=job.result)
    return world


def act(world: World, step: str) -> None:
    """Begin a step."""
    NOT_TASKS[step](world) if step in NOT_TASKS else world.do(step)


def perform(world: World, step: str) -> None:
    """Do a step; one that waits has done what it does until then."""
    with suppress(WaitingForWatch, WaitingForAnswer, NothingToDo):
        act(world, step)


def until(world: World, step: str) -> None:
    """Do the steps before a step; all without one."""
    for before in STEPS[: STEPS.index(step) if step else None]:
        perform(world, before)


def documents(world: World) -> Iterator[Path]:
    """Yield the run's documents."""
    for path in sorted(world.run.evidence.folder.glob("*")):
        if parse_document_name(path.name) or path.name == "migration.yaml":
            yield path


def outside(world: World) -> dict[str, Any]:
    """Return everything that a step may change in addition to the run's evidence."""
    ledger = world.run.ledger.folder
    return deepcopy(
        {
            "clusters": [(side.topics, side.groups) for side in (world.source, world.target)],
            "host": (world.host.processes, world.host.holder),
            "ledger": {path.name: path.read_bytes() for path in ledger.iterdir()} if ledger.exists() else {},
        }
    )


def assert_refused(world: World, step: str, name: str) -> None:
    """The step refuses with the document's name and has changed nothing; its record of that is removed."""
    before, kept, there = outside(world), deepcopy(world.task_instance.kept), set(documents(world))
    with pytest.raises(FindingsError, match=rf"EVIDENCE_CHANGED · document attempt-1/{name}: The evidence has "):
        act(world, step)
    assert before == outside(world)
    (refusal,) = set(documents(world)) - there
    assert f"-{Kind.REFUSAL}-" in refusal.name
    refusal.unlink()
    vars(world.task_instance.kept).update(vars(kept))


@pytest.mark.parametrize("step", REFUSING)
def test_step_refuses_damage_to_any_document(cutover: World, step: str) -> None:
    """Each step names each damaged document, and succeeds after the document is restored.

    Each of five steps in a row damages a document in another way; a test below damages it in all ways at one step.
    """
    until(cutover, step)
    for number, path in enumerate(list(documents(cutover)), REFUSING.index(step)):
        content = path.read_bytes()
        DAMAGES[number % len(DAMAGES)](path)
        assert_refused(cutover, step, path.name)
        path.write_bytes(content)
    perform(cutover, step)


@pytest.mark.parametrize("step", REFUSING)
def test_step_refuses_a_document_that_no_task_wrote(cutover: World, step: str) -> None:
    """A step names a document that the run did not write, such as a forged answer or a newer copy of a document."""
    until(cutover, step)
    folder = cutover.run.evidence.folder
    there = {parsed[0] for path in documents(cutover) if (parsed := parse_document_name(path.name))}
    for kind in {Kind.APPROVE, Kind.OFFSETS_BEFORE, *there}:
        path = folder / document_name(kind, 99)
        path.write_bytes(max(folder.glob(f"??-{kind}-*.json"), default=folder / "migration.yaml").read_bytes())
        assert_refused(cutover, step, path.name)
        path.unlink()
    perform(cutover, step)


@pytest.mark.parametrize("kind", Kind)
def test_document_of_every_kind_is_checked(scene: World, kind: Kind) -> None:
    """A document of any kind that the run did not write as it is now refuses the write."""
    approved(scene)
    path = Path(scene.run.evidence.write(kind, {"at": "now"}))
    content = path.read_bytes()
    for damage in DAMAGES:
        damage(path)
        assert_refused(scene, "sync_offsets", path.name)
        path.write_bytes(content)
    doubled = path.with_name(document_name(kind, 99))
    doubled.write_bytes(content)
    assert_refused(scene, "sync_offsets", doubled.name)


def test_run_that_is_cleared_refuses_what_was_done_to_its_earlier_attempt(scene: World) -> None:
    """The documents of earlier attempts are checked as well."""
    path = next(path for path in documents(scene) if path.name.startswith(document_name(Kind.JUDGE, 1)[:2]))
    scene.dag_run.clear_number = 1
    _changed(path)

    assert_refused(scene, "plan_offsets", path.name)


@pytest.fixture
def hosts(world: World) -> set[str]:
    """The connections with which a MirrorMaker host was opened."""
    seen: set[str] = set()

    def opened(migration: Migration) -> OpenedMirror:
        seen.add(migration.mirror.connection)
        return OpenedMirror(world.host, world.host)

    world.deployed["open_mirror"] = opened
    return seen


@pytest.mark.parametrize("step", ["stop_producers", "watch_lag", "watch_lag ends", "stop_mirror"])
def test_mirrormaker_is_stopped_whatever_was_done(cutover: World, hosts: set[str], step: str) -> None:
    """If every document is damaged, the run still stops and certifies its MirrorMaker, frees the host and fails."""
    until(cutover, step)
    for number, path in enumerate(list(documents(cutover))):
        DAMAGES[number % len(DAMAGES)](path)
    (cutover.run.evidence.folder / "migration.yaml").write_text("mirror: {connection: mallory}")

    assert cutover.do("stop_mirror")["stopped"]
    changed = r"EVIDENCE_CHANGED · document attempt-1/migration\.yaml"
    cutover.finish_fails(changed, stop_mirror="success", validate_topics="failed")

    run = cutover.run_document
    assert {"mirror_host"} == hosts
    assert ("failed", "") == (run["outcome"], cutover.host.holder)
    assert "EVIDENCE_CHANGED" in {finding["code"] for finding in run["findings"]}
    assert cutover.ledger.open_generation is None


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def _file_for_a_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.write_text("no folder")


def _link_for_a_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.symlink_to("elsewhere")


@pytest.mark.parametrize("step", ["watch_lag", "judge", "sync_offsets"])
def test_step_refuses_a_link_even_to_its_own_documents(cutover: World, step: str) -> None:
    """A folder that became a link is refused, although every document in it is the run's, and nothing is written."""
    until(cutover, step)
    folder = cutover.run.evidence.folder
    _link_for_a_folder(folder / "document")
    there = sorted(folder.iterdir())

    with pytest.raises(FindingsError, match=r"EVIDENCE_CHANGED · .*: The evidence has a link or a file instead"):
        act(cutover, step)

    assert there == sorted(folder.iterdir())
    kept = [each for each in present(cutover.run.keeper).kept().refusals if each["task"] == step]
    assert "EVIDENCE_CHANGED" in {finding["code"] for each in kept for finding in each["findings"]}


def test_first_task_writes_nothing_behind_a_link(cutover: World, tmp_path: Path) -> None:
    """The folder of a scheduled run is known before it starts; a link in its place ends the run's first task."""
    folder, other = cutover.run.evidence.folder, tmp_path / "other"
    other.mkdir()
    folder.parent.mkdir(parents=True)
    folder.symlink_to(other)

    with pytest.raises(FindingsError, match=r"a (symbolic )?link .*instead of the folder"):
        act(cutover, "preflight")

    assert [] == list(other.iterdir())


@pytest.mark.parametrize("damage", [_loop, _file_for_a_folder, _link_for_a_folder])
@pytest.mark.parametrize("teardown", ["stop_mirror", "finish"])
def test_no_damage_to_the_evidence_keeps_mirrormaker_alive(
    cutover: World, damage: Callable[[Path], None], teardown: str
) -> None:
    """If documents cannot be opened, each of the two teardowns alone stops MirrorMaker before it fails."""
    until(cutover, "stop_mirror")
    damage(cutover.run.evidence.folder / document_name(Kind.PLAN, 1))

    with suppress(FindingsError, RunFailed):
        cutover.finish() if teardown == "finish" else cutover.do(teardown)

    assert not cutover.host.status().is_running


def test_run_whose_evidence_was_changed_at_its_very_end_fails(cutover: World) -> None:
    """The last task finds a document that was changed after all other tasks, and fails."""
    until(cutover, "")
    path = cutover.run.evidence.folder / document_name(Kind.OFFSETS_RESULT, 1)
    _changed(path)

    changed = f"EVIDENCE_CHANGED · document attempt-1/{path.name}"
    cutover.finish_fails(changed, preflight="success", sync_offsets="success")
    assert ["EVIDENCE_CHANGED"] == cutover.refusal_codes


def test_watch_says_what_was_changed(cutover: World) -> None:
    """The watch ends if the plan was changed, and starts no MirrorMaker again."""
    until(cutover, "watch_lag")
    begun = a_watch(cutover)
    _changed(cutover.run.evidence.folder / document_name(Kind.PLAN, 1))
    event = watch(Scene(cutover, FakeClock()), begun)

    assert "failed" == event["outcome"]
    assert ["EVIDENCE_CHANGED"] == [finding["code"] for finding in event["findings"]]


def test_rollback_reads_a_cutovers_evidence_as_the_ledger_knows_it(cutover: World) -> None:
    """A rollback does not restore offsets whose saved document was changed after the cutover."""
    until(cutover, "")
    cutover.finish(sync_offsets="success")
    saved = cutover.run.evidence.folder / document_name(Kind.OFFSETS_BEFORE, 1)
    _changed(saved)
    begin_rollback(cutover, mode="restore")
    cutover.do("preflight", "reserve")

    assert_refused(cutover, "plan_rollback", saved.name)
