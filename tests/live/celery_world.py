"""An Airflow with CeleryExecutor: two workers that share no disk, and evidence in an object store that both see."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.airflow import HOSTNAME_MODULE
from sandbox.environment import program
from sandbox.jars import spark_jars
from sandbox.parts import Part, PartSpec, free_ports, running, wait_ready
from tests.celery_packages import celery_packages
from tests.live.celery_broker import Broker
from tests.live.conftest import SILENCE, LiveWorld
from tests.live.faults import descendants, kill
from tests.live.migrations import LiveMigration
from tests.live.worlds import own_world
from tests.object_store import ObjectStore, object_store

WORKERS = ("worker-1", "worker-2")
# A message that is not acknowledged for so long is delivered again: of a task that runs longer, and of a lost worker.
VISIBILITY_S = 20
ALREADY_RUNS = "Task already running elsewhere"
# A worker imports it before it forks the processes that run tasks.
_WORKER_MODULE = '''"""The host name that Airflow records for this worker, and what its tasks import."""

import sandbox_hostname

sandbox_hostname.load()


def name() -> str:
    """Return the worker's name, because the sandbox has one host."""
    return "{name}"
'''


class StoredMigration(LiveMigration):
    """A migration whose evidence is in an object store; what tests read of it is a copy."""

    store: ObjectStore
    copy: Path

    @property
    def evidence_root(self) -> Path:
        """A copy on the disk, made now."""
        shutil.rmtree(self.copy, ignore_errors=True)
        self.store.download(self.name, self.copy)
        return self.copy


@dataclass
class CeleryWorld:
    """A live Airflow, its broker, its object store and its workers."""

    live: LiveWorld
    broker: Broker
    store: ObjectStore
    folder: Path
    workers: dict[str, Part] = field(default_factory=dict)

    def migration(self, name: str, **settings: str) -> StoredMigration:
        """Return a migration of one topic that bears its name; its file is written and its DAG known."""
        made = StoredMigration(self.live.sandbox, self.live.api, self.live.migrations / f"{name}.yaml", settings)
        made.store, made.copy = self.store, self.folder / "copies" / name
        made.prepare()
        return made

    def start_workers(self) -> None:
        """Start each worker that does not run, and return once it waits for tasks."""
        ended = [name for name in WORKERS if name not in self.workers or self.workers[name].has_ended()]
        for name in ended:
            self.workers[name] = self._worker(name)
            self.workers[name].start()
        wait_ready([self.workers[name] for name in ended])

    def lose_worker_of(self, pid: int) -> str:
        """Kill the worker that runs a task, with all processes below it, as the loss of its machine would."""
        below = {name: descendants(part.identity.pid) for name, part in self.workers.items() if part.identity}
        (name,) = (name for name, pids in below.items() if pid in pids)
        self.workers[name].kill()
        for child in below[name]:
            kill(child)
        self.workers[name].stop()
        return name

    def said(self, text: str) -> int:
        """Return how often the workers have logged a text."""
        return sum((self.folder / f"{name}.log").read_text(errors="replace").count(text) for name in WORKERS)

    def stop(self) -> None:
        """Stop the workers."""
        for part in self.workers.values():
            part.stop()

    def _worker(self, name: str) -> Part:
        home = self.folder / name
        (home / "config").mkdir(parents=True, exist_ok=True)
        (home / "tmp").mkdir(exist_ok=True)
        (home / "config" / "sandbox_hostname.py").write_text(HOSTNAME_MODULE)
        (home / "config" / "sandbox_worker.py").write_text(_WORKER_MODULE.format(name=name))
        own = {
            "AIRFLOW_HOME": str(home),
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "AIRFLOW__CORE__HOSTNAME_CALLABLE": "sandbox_worker.name",
            "AIRFLOW__CELERY__EXTRA_CELERY_CONFIG": '{"imports": ["sandbox_worker"]}',
        }
        options = ("--celery-hostname", name, "--concurrency", "2", "--skip-serve-logs", "--without-mingle")
        return Part(
            PartSpec(
                name=name,
                command=(program("airflow"), "celery", "worker", *options),
                environment={**self.live.sandbox.airflow_env(), **own},
                log=self.folder / f"{name}.log",
                is_ready=lambda log: f"{name} ready" in log,
                start_timeout_s=400,
            )
        )


@contextmanager
def celery_world(root: Path) -> Iterator[CeleryWorld]:
    """Run everything below a folder until the end of the block."""
    packages, ports = celery_packages(), free_ports(2)
    broker, store, folder = Broker(ports[0], root), ObjectStore(ports[1]), root / "celery"
    folder.mkdir()
    environment = {
        **SILENCE,
        **store.environment(folder, ",".join(str(jar) for jar in spark_jars())),
        "PYTHONPATH": str(packages),
        "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor",
        "AIRFLOW__CELERY__BROKER_URL": broker.url,
        "AIRFLOW__CELERY_BROKER_TRANSPORT_OPTIONS__VISIBILITY_TIMEOUT": str(VISIBILITY_S),
        # Workers show no logs themselves; all write to one folder, from which the api-server reads.
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(root / "task-logs"),
    }
    with own_world(root, environment, secured=False) as live, running(broker.part(live.sandbox.airflow_env())):
        server = [program("python"), "-m", "moto.server"]
        with object_store(server, root / "s3.log", store.port, live.sandbox.airflow_env()):
            world = CeleryWorld(live, broker, store, folder)
            try:
                world.start_workers()
                yield world
            finally:
                world.stop()
