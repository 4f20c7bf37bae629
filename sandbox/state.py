"""`.sandbox/state.json`: what runs, where it answers, and how to reach it.

The file is written (mode 0600, it holds passwords and key paths) when every part has answered, and removed before
the first part is stopped. It is replaced as a whole when a part is restarted, like the file `env` next to it.

Fields, in JSON and in `SandboxState` alike (paths are absolute):

    sandbox_id          value of the marker KAFKA_MIGRATION_SANDBOX that every process of the sandbox carries
    supervisor_pid      process that owns the parts; SIGTERM stops everything
    root                the sandbox's folder
    airflow_url         without a trailing slash, e.g. http://127.0.0.1:25811; null without Airflow
    airflow_user, airflow_password
    airflow_home        AIRFLOW_HOME
    evidence_root       folder of the evidence store
    source_bootstrap, target_bootstrap     host:port of each cluster
    connect_urls        {part: REST address of this Connect worker}; empty without workers
    ssh_host, ssh_port, ssh_user           the MirrorMaker host
    ssh_key_file        private key of the client
    ssh_host_key        `ssh-ed25519 AAAA…`, the only host key to accept
    mirror_home         KAFKA_MIGRATION_HOME on the MirrorMaker host
    kafka_home          KAFKA_HOME on the MirrorMaker host; libs/*.jar is Kafka with its tools
    spark_jars          the Kafka connector's jars for Spark
    logs                folder with one log per part
    pids                {part: pid}
    environment         complete environment for `airflow …` commands against this sandbox. It carries the
                        marker: what is started with it ends with the sandbox
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

FILE_NAME = "state.json"


@dataclass(frozen=True, slots=True)
class SandboxState:
    """The content of `state.json`; the module's docstring explains each field."""

    sandbox_id: str
    supervisor_pid: int
    root: Path
    airflow_url: str | None
    airflow_user: str
    airflow_password: str
    airflow_home: Path
    evidence_root: Path
    source_bootstrap: str
    target_bootstrap: str
    connect_urls: Mapping[str, str]
    ssh_host: str
    ssh_port: int
    ssh_user: str
    ssh_key_file: Path
    ssh_host_key: str
    mirror_home: Path
    kafka_home: Path
    spark_jars: tuple[Path, ...]
    logs: Path
    pids: Mapping[str, int]
    environment: Mapping[str, str]

    @classmethod
    def load(cls, path: Path) -> SandboxState:
        """Read a state file.

        Raises:
            FileNotFoundError: no sandbox is ready there.
        """
        document = json.loads(path.read_text())
        return cls(**{field.name: _decode(field.type, document[field.name]) for field in fields(cls)})

    def save(self, path: Path) -> None:
        """Write the file whole, then rename it into place, readable by its owner only."""
        save_json(path, asdict(self))


def save_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON file of mode 0600 atomically."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    with os.fdopen(handle, "w") as file:
        json.dump(document, file, indent=2, default=str)
        file.write("\n")
    Path(temporary).replace(path)


def _decode(kind: Any, value: Any) -> Any:
    if kind == "Path":
        return Path(value)
    if kind == "tuple[Path, ...]":
        return tuple(Path(item) for item in value)
    return value
