"""Brokers that require a login, and a search for that login in Spark's containers by an unauthorized client.

The clusters of `docker-compose.yaml` have no logins. The test adds one to its copy, so that there is something to find.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from sandbox.airflow_api import DagRun
from sandbox.compose.failure import ComposeTestFailed
from sandbox.compose.project import Project
from sandbox.jars import PROJECT

USER = "migration"
PORT = 9094
# The environment variable of a Kafka Connect worker; `docker/connect.properties` lets connectors refer to such names.
SECRET = "CONNECT_SECRET_LOGIN"
VALIDATE = "validate_topics"
EXECUTOR = "CoarseGrainedExecutorBackend"
# Slow enough for a search while the validation reads.
BYTES_PER_S = 400_000
STRANGER = PROJECT / "sandbox" / "spark_stranger.py"
DRIVER_SERVICE = "scheduler"
SERVICES = ("spark-master", "spark-worker", DRIVER_SERVICE)
NOBODY = "65534:65534"
FOLDERS = "/tmp /var /run /home /opt/airflow"
# Folders that must not contain a login, not even one readable only by the user of Airflow and Spark.
STORED = "/var/lib/kafka-migration /opt/airflow/logs /opt/airflow/spark-work"
_LISTENING = "0A"

Edit = Callable[[str], str]


def give_logins(folder: Path, password: str) -> None:
    """Make the brokers of a checkout require a login, and add it to Airflow's connections."""
    for name, edit in _edits(password).items():
        file = folder / name
        before = file.read_text()
        after = edit(before)
        if after == before:
            raise ComposeTestFailed(f"{name} is not as the test expects, so no login can be added to the brokers")
        file.write_text(after)


def _edits(password: str) -> dict[str, Edit]:
    login = (
        f'"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", '
        f'"sasl.username": "{USER}", "sasl.password": "{password}"'
    )
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    jaas = f'{module} required username="{USER}" password="{password}";'
    asks = (
        "sasl.enabled.mechanisms=PLAIN\n"
        f'listener.name.login.plain.sasl.jaas.config={module} required user_{USER}="{password}";\n'
    )

    def brokers(text: str) -> str:
        text = text.replace("listeners=PLAINTEXT://:9092,", f"listeners=PLAINTEXT://:9092,LOGIN://:{PORT},", 1)
        text = text.replace("@KAFKA_HOST@:9092", f"@KAFKA_HOST@:9092,LOGIN://@KAFKA_HOST@:{PORT}")
        return text.replace("PLAINTEXT:PLAINTEXT,", "PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT,", 1) + asks

    def connections(text: str) -> str:
        for side in ("source", "target"):
            text = text.replace(f'"kafka-{side}:9092"}}', f'"kafka-{side}:{PORT}", {login}}}')
        return re.sub(r"(CONNECT_HOST: connect-\d) }", rf"\1, {SECRET}: '{jaas}' }}", text)

    def migration(text: str) -> str:
        for side in ("source", "target"):
            connection = f"  connection: demo_{side}\n"
            text = text.replace(connection, f"{connection}  insecure: [sasl_plaintext]\n")
        spark = "  spark_connection: demo_spark\n"
        return text.replace(spark, f"{spark}  max_bytes_per_s: {BYTES_PER_S}\n")

    def references(text: str) -> str:
        """Let the workers read the login themselves, because a connector's configuration can be read by everyone."""
        group = "    group: connect\n"
        sides = "".join(f'      {side}: {{sasl.jaas.config: "${{env:{SECRET}}}"}}\n' for side in ("source", "target"))
        return migration(text).replace(group, f"{group}    secrets:\n{sides}")

    return {
        "docker/kafka.properties": brokers,
        "docker-compose.yaml": connections,
        "include/migrations/demo.yaml": migration,
        "include/connect/demo.yaml": references,
    }


class Search:
    """Searches for the login once while a validation reads, and once after the run."""

    def __init__(self, project: Project, password: str) -> None:
        self._project, self._password = project, password
        self.is_done = False

    def on_poll(self, run: DagRun) -> None:
        """Search once, if the executors of the run's validation are running."""
        if self.is_done or not self._is_reading(run):
            return
        self._require_a_search_that_finds()
        self._require_nothing("while the validation reads")
        self._require_nothing_asked()
        if not self._executors():
            raise ComposeTestFailed("the validation ended before the search for the login did")
        self.is_done = True

    def after_run(self) -> None:
        """Search the files that the run left.

        Raises:
            ComposeTestFailed: the login was found, or no search was made while the validation read.
        """
        if not self.is_done:
            raise ComposeTestFailed("no executor was seen, so there was no search for the login during the validation")
        self._require_nothing("after the run")

    def _is_reading(self, run: DagRun) -> bool:
        states = {task.task_id: task.state for task in run.tasks}
        return states.get(VALIDATE) == "running" and self._executors()

    def _executors(self) -> bool:
        return EXECUTOR in self._command_lines("spark-worker")

    def _require_a_search_that_finds(self) -> None:
        """Require that a file that anyone may read is found."""
        laid_out = "/tmp/laid-out"
        write = f"umask 022; cat >{laid_out}"
        self._project.execute("spark-worker", "sh", "-c", write, stdin=self._password)
        found = self._files("spark-worker", FOLDERS, NOBODY)
        self._project.execute("spark-worker", "rm", laid_out)
        if laid_out not in found:
            raise ComposeTestFailed(f"the search does not find {laid_out}, so it would find nothing")

    def _require_nothing(self, when: str) -> None:
        places = [
            *(f"{service}:{file}" for service in SERVICES for file in self._files(service, FOLDERS, NOBODY)),
            *(f"{service}:{file}" for service in SERVICES for file in self._files(service, STORED, "")),
            *(f"{service}: a command line" for service in SERVICES if self._password in self._command_lines(service)),
        ]
        if places:
            raise ComposeTestFailed(f"Kafka's login was found {when}: {', '.join(places)}")

    def _require_nothing_asked(self) -> None:
        for service in (DRIVER_SERVICE, "spark-worker"):
            ports = listening(self._project.execute(service, "cat", "/proc/net/tcp", "/proc/net/tcp6"))
            if not ports:
                raise ComposeTestFailed(f"{service} listens on no port, so the test could not connect to it")
            # Run in the master's container, which has no Spark session that could grant access.
            command = ("env", f"CANARY={self._password}", "python", "-", service, *map(str, sorted(ports)))
            answer = self._project.execute("spark-master", *command, stdin=STRANGER.read_text())
            if names := json.loads(answer.splitlines()[-1]):
                raise ComposeTestFailed(f"{service} gave Kafka's login to an unauthorized client: {names}")

    def _files(self, service: str, folders: str, user: str) -> list[str]:
        search = f"grep -rlaF -f - {folders} 2>/dev/null; true"
        as_user = ("--user", user) if user else ()
        return self._project.compose(
            "exec", "-T", *as_user, service, "sh", "-c", search, stdin=self._password
        ).splitlines()

    def _command_lines(self, service: str) -> str:
        return self._project.execute(service, "sh", "-c", r"cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' '")


def listening(table: str) -> set[int]:
    """Return the ports of `/proc/net/tcp` and `/proc/net/tcp6` on which other hosts can connect."""
    rows: Iterable[list[str]] = (line.split() for line in table.splitlines())
    sockets = [row for row in rows if len(row) > 3 and row[3] == _LISTENING]
    return {int(row[1].rpartition(":")[2], 16) for row in sockets}
