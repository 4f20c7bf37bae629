"""Checks while everything is up: runs succeed, the verdict is PASS, and no MirrorMaker is left running."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.airflow_api import AirflowApi, DagRun
from sandbox.compose.failure import ComposeTestFailed
from sandbox.compose.project import Project
from sandbox.data.topics import TOPICS
from sandbox.jars import PROJECT

MIGRATION = "demo"
DAG_ID = f"kafka_migration__{MIGRATION}"
MIRROR_CLASS = "org.apache.kafka.connect.mirror.MirrorMaker"
MIRRORCTL = PROJECT / "plugins" / "kafka_migration" / "host" / "mirrorctl"
RUN_S = 1200
LOG_LINES = 40


def run_migration(api: AirflowApi, mode: str, on_poll: Callable[[DagRun], None]) -> None:
    """Trigger a run as the web form does and wait for its success; `on_poll` gets the run about every second.

    Raises:
        ComposeTestFailed: it failed; the failed tasks' logs were printed.
    """
    api.wait_for_dag(DAG_ID)
    tasks = _Tasks()

    def tell(run: DagRun) -> None:
        tasks.tell(run)
        on_poll(run)

    run = api.wait(DAG_ID, api.trigger(DAG_ID, {"mode": mode}), RUN_S, tell)
    if run.state != "success":
        _tell_failed(api, run)
        raise ComposeTestFailed(f"the run in mode {mode} ended {run.state}")


def require_pages(url: str) -> None:
    """Require that the UI and the health page answer."""
    for path in ("/", "/api/v2/monitor/health"):
        with urllib.request.urlopen(url + path, timeout=30) as answer:
            if answer.status != 200:
                raise ComposeTestFailed(f"{url}{path} answers {answer.status}")


def require_pass(project: Project) -> str:
    """Return the proved records per topic as text.

    Raises:
        ComposeTestFailed: the command line's verdict is not PASS for every topic, each with records.
    """
    verdict = json.loads(project.execute("scheduler", "kafka-migration", "verdict", MIGRATION, "-o", "json"))
    flaws = verdict_flaws(verdict)
    if flaws:
        raise ComposeTestFailed("the verdict is not as expected: " + "; ".join(flaws))
    return ", ".join(f"{name} {topic['target_records']:,}" for name, topic in verdict["topics"].items())


def verdict_flaws(verdict: Mapping[str, Any]) -> list[str]:
    """Return why the verdict is not PASS, with records, for all of the demo's topics."""
    flaws = [] if verdict["standing"] == "PASS" else [f"the migration is {verdict['standing']}"]
    for name in (topic.name for topic in TOPICS):
        topic = verdict["topics"].get(name, {})
        if topic.get("standing") != "PASS":
            flaws.append(f"{name} is {topic.get('standing', 'missing')}")
        elif not topic["target_records"]:
            flaws.append(f"{name} has {topic['target_records']} records")
    return flaws


def require_no_mirror(project: Project) -> None:
    """Require that no MirrorMaker runs on its host, and that the host knows the one that ran."""
    processes = project.execute("mirror-host", "sh", "-c", r"cat /proc/[0-9]*/cmdline | tr '\0' ' '")
    if MIRROR_CLASS in processes:
        raise ComposeTestFailed("a MirrorMaker still runs on the mirror host")
    state = mirror_state(project)
    if state != "stopped":
        raise ComposeTestFailed(f"after a run mirrorctl calls its MirrorMaker {state}, not stopped")


def mirror_state(project: Project) -> str:
    """Return what mirrorctl says of the migration, asked as `docs/operate/compose.md` does."""
    script = "MIRRORCTL_HOLDER=''\nMIRRORCTL_ENCODED='1'\n" + "".join(
        part.read_text() for part in sorted(MIRRORCTL.glob("*.sh"))
    )
    answer = project.execute("mirror-host", "sh", "-s", "--", "status", MIGRATION, stdin=script)
    reply = json.loads(answer.split("@@mirrorctl ")[1].split("@@")[0])
    return str(reply["state"])


def require_no_root(project: Project) -> None:
    """Require that no service runs as root."""
    for service in (name for name, one_shot in project.services().items() if not one_shot):
        if project.execute(service, "id", "-u").strip() == "0":
            raise ComposeTestFailed(f"{service} runs as root")


class _Tasks:
    """Prints each task as it ends."""

    def __init__(self) -> None:
        self._ended: set[str] = set()

    def tell(self, run: DagRun) -> None:
        for task in run.tasks:
            if task.state in {"success", "failed", "upstream_failed"} and task.task_id not in self._ended:
                self._ended.add(task.task_id)
                print(f"  {task.task_id} {task.state} after {task.duration_s or 0:.0f} s", flush=True)


def _tell_failed(api: AirflowApi, run: DagRun) -> None:
    for task in run.tasks:
        if task.state == "failed":
            print(f"--- {task.task_id} failed; the end of its log:", flush=True)
            log = api.log(run.dag_id, run.run_id, task.task_id, task.try_number)
            print("\n".join(log.splitlines()[-LOG_LINES:]), flush=True)
