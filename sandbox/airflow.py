"""A real Airflow on loopback: api-server, scheduler, dag-processor and triggerer as processes of their own."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from sandbox.environment import program
from sandbox.errors import SandboxError
from sandbox.jars import PROJECT
from sandbox.parts import HOST, PartSpec

USER = "demo"
PASSWORD = "demo"
PARALLELISM = 8
HEALTH_COMPONENTS = ("metadatabase", "scheduler", "triggerer", "dag_processor")
_DATABASE_CACHE = PROJECT / ".cache" / "airflow-db"
_HEALTH_TIMEOUT_S = 5
_MIGRATE_TIMEOUT_S = 300
# Airflow would look its own name up in the DNS, which costs seconds on some machines.
_HOSTNAME_MODULE = '''"""The host name that Airflow records for its processes."""


def loopback() -> str:
    """Return the only address the sandbox listens on."""
    return "127.0.0.1"
'''


@dataclass(frozen=True)
class AirflowFolders:
    """Where Airflow finds DAGs, plugins and migration files."""

    dags: Path = PROJECT / "dags"
    plugins: Path = PROJECT / "plugins"
    migrations: Path = PROJECT / "include" / "migrations"


@dataclass(frozen=True)
class Airflow:
    """Airflow's home, its port and its folders; keys are fresh for each sandbox."""

    home: Path
    port: int
    folders: AirflowFolders = field(default_factory=AirflowFolders)
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
            **_section("core", self._core()),
            **_section("api", self._api()),
            **_section("api_auth", {"jwt_secret": self.jwt_secret}),
            **_section("database", {"load_default_connections": "False"}),
            **_section("scheduler", {"scheduler_idle_sleep_time": "0.5"}),
            **_section("dag_processor", _DAG_PROCESSOR),
        }

    def write_home(self) -> None:
        """Write the files that Airflow's configuration names: the password file and the host name module."""
        (self.home / "config").mkdir(parents=True)
        (self.home / "config" / "sandbox_hostname.py").write_text(_HOSTNAME_MODULE)
        self._passwords.touch(mode=0o600)
        self._passwords.write_text(json.dumps({USER: PASSWORD}))

    def prepare_database(self, environment: Mapping[str, str]) -> None:
        """Bring an empty metadata database to this version, or copy one that an earlier start brought there.

        Raises:
            SandboxError: `airflow db migrate` failed; the text is the end of its output.
        """
        cached = _DATABASE_CACHE / f"{_database_key()}.db"
        if cached.is_file():
            shutil.copyfile(cached, self._database)
            return
        self._migrate(environment)
        _store(self._database, cached)

    def parts(self, environment: Mapping[str, str], logs: Path) -> tuple[PartSpec, ...]:
        """Return the four components as parts; each one is ready when the health page says so."""
        commands = {
            "api-server": ("api-server", "--host", HOST, "--port", str(self.port), "--workers", "1"),
            # Logs are read from the shared folder; the log servers would listen on every interface.
            "scheduler": ("scheduler", "--skip-serve-logs"),
            "dag-processor": ("dag-processor",),
            "triggerer": ("triggerer", "--skip-serve-logs"),
        }
        return tuple(self._part(name, command, environment, logs) for name, command in commands.items())

    def is_healthy(self, component: str) -> bool:
        """True if the health page answers and calls the component healthy; any answer is the api-server's health."""
        try:
            with urllib.request.urlopen(f"{self.url}/api/v2/monitor/health", timeout=_HEALTH_TIMEOUT_S) as reply:
                health = json.load(reply)
        except (OSError, urllib.error.URLError, ValueError):
            return False
        return bool(health[component.replace("-", "_")]["status"] == "healthy")

    def _part(self, name: str, command: tuple[str, ...], environment: Mapping[str, str], logs: Path) -> PartSpec:
        component = "metadatabase" if name == "api-server" else name
        return PartSpec(
            name=name,
            command=(program("airflow"), *command),
            environment=environment,
            log=logs / f"{name}.log",
            is_ready=lambda _: self.is_healthy(component),
            start_timeout_s=180,
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
        }

    def _api(self) -> dict[str, str]:
        return {
            "host": HOST,
            "port": str(self.port),
            "base_url": self.url,
            "workers": "1",
            "secret_key": self.api_secret,
        }

    def _migrate(self, environment: Mapping[str, str]) -> None:
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

    @property
    def _passwords(self) -> Path:
        return self.home / "passwords.json"

    @property
    def _database(self) -> Path:
        return self.home / "airflow.db"


# A changed DAG file is seen within seconds; parsing all of them again more often would keep a core busy.
_DAG_PROCESSOR = {
    "refresh_interval": "5",
    "min_file_process_interval": "10",
    "bundle_refresh_check_interval": "2",
    "parsing_processes": "1",
}


def _section(name: str, options: Mapping[str, str]) -> dict[str, str]:
    return {f"AIRFLOW__{name.upper()}__{option.upper()}": value for option, value in options.items()}


def _database_key() -> str:
    """Name a migrated, empty database by what decides its tables."""
    packages = ("apache-airflow-core", "apache-airflow", "alembic", "sqlalchemy")
    text = " ".join(f"{package}={version(package)}" for package in packages)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _store(database: Path, cached: Path) -> None:
    cached.parent.mkdir(parents=True, exist_ok=True)
    temporary = cached.with_suffix(f".{secrets.token_hex(4)}")
    shutil.copyfile(database, temporary)
    temporary.replace(cached)
