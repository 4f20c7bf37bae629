"""CeleryExecutor with two workers that share no disk, on real parts; the evidence is in an object store.

A message that is not acknowledged for some seconds is delivered again: that is how one try is started twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind, document_name
from kafka_migration.core.findings.verdict import Verdict
from tests.live.celery_world import ALREADY_RUNS, WORKERS, CeleryWorld, StoredMigration, celery_world
from tests.live.faults import command_line, descendants
from tests.live.groups import Offsets, approve, awaiting, commit, committed, ends, read_on, wait_for_question
from tests.live.invariants import HostSampler, require_complete_copy, require_never_two, require_true_verdict
from tests.topic_verdicts import topic_verdict
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign, pytest.mark.runs]

SPARK_SUBMIT = "org.apache.spark.deploy.SparkSubmit"
MOMENT_S = 400
RECORDS = 400


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CeleryWorld]:
    """Clusters, host, Airflow, broker, object store and two workers."""
    with celery_world(tmp_path_factory.mktemp("celery")) as made:
        yield made


@pytest.fixture
def world(running: CeleryWorld) -> CeleryWorld:
    """The same, with both workers."""
    running.start_workers()
    return running


def with_groups(world: CeleryWorld, name: str) -> tuple[StoredMigration, dict[str, Offsets]]:
    """Return a migration with records, and where its groups stand: at the end and in the middle."""
    migration = world.migration(name)
    migration.produce(RECORDS)
    at_end = ends(migration.source, name)
    groups = {f"{name}-end": at_end, f"{name}-middle": {p: end // 2 for p, end in at_end.items()}}
    for group, offsets in groups.items():
        commit(migration.source, group, name, offsets)
    return migration, groups


def cut_over(world: CeleryWorld, migration: StoredMigration) -> str:
    """Do a whole cutover, which is approved; return its run id."""
    run_id = awaiting(migration)
    approve(world.live.api, migration, run_id)
    return run_id


def require_moved(migration: StoredMigration, groups: dict[str, Offsets]) -> None:
    """Each group stands on the target where it stood on the source, and reads on to the end."""
    until = ends(migration.target, migration.name)
    for group, offsets in groups.items():
        assert offsets == committed(migration.target, group, migration.name)
        left = sum(until.values()) - sum(offsets.values())
        assert left == len(read_on(migration.target, group, migration.name, until))


def require_proved(migration: StoredMigration) -> None:
    """The copy is what the ledger says, each MirrorMaker was stopped in order, and nothing is left on the host."""
    require_true_verdict(migration, require_complete_copy(migration))
    ledger = migration.ledger
    assert Verdict.PASS is topic_verdict(ledger, migration.name)
    assert all(g.stop is not None and g.stop.graceful for g in ledger.generations)
    assert 1 == len(migration.ledger_entries("cut-over"))
    assert ([], None) == (migration.mirror_pids(), migration.reservation)


def tries(world: CeleryWorld, migration: StoredMigration, run_id: str) -> dict[str, int]:
    """Return the number of the last try of each task that was tried more than once."""
    tasks = world.live.api.run(migration.dag_id, run_id).tasks
    return {task.task_id: task.try_number for task in tasks if task.try_number > 1}


def test_whole_migration_on_two_workers(world: CeleryWorld) -> None:
    """Rehearsal, cutover and rollback pass from worker to worker with nothing between them but the object store."""
    api = world.live.api
    migration, groups = with_groups(world, "celery-whole")

    rehearsal = migration.run("rehearse")
    assert ("success", "PASS") == (rehearsal["state"], rehearsal["verdict"]), rehearsal["findings"]
    migration.produce(30, first=RECORDS)
    run_id = cut_over(world, migration)

    require_moved(migration, groups)
    require_proved(migration)
    hosts = {**api.hosts(migration.dag_id, rehearsal["run_id"]), **api.hosts(migration.dag_id, run_id)}
    assert set(WORKERS) == set(hosts.values())

    back = migration.way_back()
    approve(api, back, awaiting(back, mode="restore"))
    assert [{}, {}] == [committed(migration.target, group, migration.name) for group in groups]
    assert [] == [path for name in WORKERS for path in (world.folder / name / "tmp").rglob("*") if path.is_file()]
    assert not any((world.folder / name / "kafka_migration").exists() for name in WORKERS)


def is_starting(world: CeleryWorld, migration: StoredMigration, pid: int) -> bool:
    """MirrorMaker was asked for on the host."""
    journal = migration.host_folder / "journal"
    return journal.exists() and "starting" in journal.read_text()


def is_reading(world: CeleryWorld, migration: StoredMigration, pid: int) -> bool:
    """Spark's driver runs the program that compares."""
    drivers = [child for child in descendants(pid) if SPARK_SUBMIT in command_line(child)]
    return any(descendants(driver) for driver in drivers)


def is_writing(world: CeleryWorld, migration: StoredMigration, pid: int) -> bool:
    """What the groups had before is kept, and they are written now."""
    return any(name.endswith(document_name(Kind.OFFSETS_BEFORE, 1)) for name in world.store.files(migration.name))


MIDDLES = {"start_mirror": is_starting, "validate_topics": is_reading, "sync_offsets": is_writing}


def lose_workers(world: CeleryWorld, migration: StoredMigration, run_id: str) -> dict[str, str]:
    """Lose a worker in the middle of each of these tasks, and start another in its place; return {task: worker}."""
    return {task_id: lose_worker(world, migration, run_id, task_id) for task_id in MIDDLES}


def lose_worker(world: CeleryWorld, migration: StoredMigration, run_id: str, task_id: str) -> str:
    """Lose the worker of a task in its middle, and start another in its place; return its name."""
    pid = migration.task_pid(run_id, task_id)
    wait_until(lambda: MIDDLES[task_id](world, migration, pid), MOMENT_S, f"the middle of {task_id}", 0.01)
    lost = world.lose_worker_of(pid)
    world.start_workers()
    return lost


def test_workers_lost_in_the_middle(world: CeleryWorld) -> None:
    """A worker whose machine is lost leaves its task to another one, which ends it as if nothing had happened."""
    migration, groups = with_groups(world, "celery-lost")

    with HostSampler(migration) as sampler, ThreadPoolExecutor(1) as pool:
        run_id = migration.trigger("cutover")
        losing = pool.submit(lose_workers, world, migration, run_id)
        wait_for_question(migration, run_id)
        approve(world.live.api, migration, run_id)

    assert set(MIDDLES) == set(losing.result())
    assert dict.fromkeys(MIDDLES, 2) == tries(world, migration, run_id)
    assert 1 == require_never_two(migration, sampler)
    require_moved(migration, groups)
    require_proved(migration)


def test_each_try_started_twice_at_once(world: CeleryWorld) -> None:
    """A second copy of a try, delivered beside the first one, ends without having done anything."""
    migration, groups = with_groups(world, "celery-twice")
    before, refused = world.broker.copies, world.said(ALREADY_RUNS)

    with HostSampler(migration) as sampler, world.broker.delivering_twice():
        run_id = cut_over(world, migration)

    started = len(world.live.api.hosts(migration.dag_id, run_id))
    assert world.broker.copies - before >= started
    assert world.said(ALREADY_RUNS) > refused
    assert {} == tries(world, migration, run_id)
    assert 1 == require_never_two(migration, sampler)
    require_moved(migration, groups)
    require_proved(migration)
