"""A stock Airflow in a virtual environment of its own, into which the project is put as a user would."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
UV = ROOT / ".venv" / "bin" / "uv"
LOCK = ROOT / "requirements.lock"
TIMEOUT_S = 3_600


@dataclass
class StockAirflow:
    """An environment's interpreter, and the home of an Airflow that is run with it."""

    venv: Path
    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.venv / "bin" / "python"

    def install(self, *packages: str, is_locked: bool = True) -> None:
        """Install packages, in the versions that the lock file names unless told otherwise."""
        versions = ["-c", str(LOCK)] if is_locked else []
        run([str(UV), "pip", "install", "--quiet", "--python", str(self.python), *versions, *packages])

    def with_home(self, home: Path, **environment: str) -> StockAirflow:
        """Return the same environment with another, fresh home, whose database is ready."""
        other = StockAirflow(self.venv, home, {**self.environment, **environment})
        home.mkdir(parents=True, exist_ok=True)
        other.airflow("db", "migrate")
        return other

    def airflow(self, *arguments: str) -> str:
        """Run an `airflow` command and return what it printed."""
        return self.command("airflow", *arguments)

    def airflow_json(self, *arguments: str) -> Any:
        """Run an `airflow` command and return the JSON that it printed, on a line of its own after what it logs."""
        return json.loads(self.airflow(*arguments, "-o", "json").strip().splitlines()[-1])

    def command(self, name: str, *arguments: str, expected: int = 0) -> str:
        """Run a command of the environment; return what it printed."""
        environment = self.environ()
        found = shutil.which(name, path=environment["PATH"])
        assert found, name
        return run([found, *arguments], environment, expected)

    def shell(self, line: str, *, expected: int | None = 0) -> str:
        """Run a line of shell in the home, with the environment's commands first; return what it printed.

        `expected` is the exit code, `None` for any.
        """
        return run(["sh", "-c", f"cd {self.home} && {line}"], self.environ(), expected)

    def environ(self) -> dict[str, str]:
        """Return the variables with which its commands run."""
        # Nothing of the checkout may help: no path to it, none of its settings.
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("AIRFLOW", "PYTHON", "VIRTUAL_ENV"))}
        path = f"{self.venv / 'bin'}{os.pathsep}{os.environ['PATH']}"
        stock = {"AIRFLOW_HOME": str(self.home), "AIRFLOW__CORE__LOAD_EXAMPLES": "False", "PATH": path}
        return {**kept, **stock, **self.environment}


def make_environment(folder: Path) -> StockAirflow:
    """Return an environment that has the project's dependencies, and not the project."""
    run([str(UV), "venv", "--quiet", "--seed", "--python", sys.executable, str(folder)])
    stock = StockAirflow(folder, folder.parent / "no-home")
    stock.install(*tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
    return stock


def listed_environment(folder: Path, airflow: str) -> StockAirflow:
    """Return an environment with a version of Airflow that has a list of its own, and not the project."""
    run([str(UV), "venv", "--quiet", "--seed", "--python", sys.executable, str(folder)])
    stock = StockAirflow(folder, folder.parent / "no-home")
    stock.install("-r", str(Path(__file__).parent / "airflow" / f"{airflow}.txt"), is_locked=False)
    return stock


def build_wheel(folder: Path) -> Path:
    """Build the project's wheel in a folder and return its path."""
    command = [str(UV), "build", "--quiet", "--wheel", "--no-build-isolation", "--python", sys.executable]
    run([*command, "--out-dir", str(folder), str(ROOT)])
    (wheel,) = folder.glob("*.whl")
    return wheel


def copy_folders(target: Path) -> None:
    """Copy the project's four folders beside each other, as docs/installation.md says; only what a clone would have."""
    names = run(["git", "-C", str(ROOT), "ls-files", "dags", "plugins", "spark_jobs", "include"]).splitlines()
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target / name)


def run(command: Sequence[str], environment: Mapping[str, str] | None = None, expected: int | None = 0) -> str:
    """Run a command; return what it printed, without what it said beside that; it must end with an expected code."""
    done = subprocess.run(
        command,
        env=None if environment is None else dict(environment),
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert expected in {None, done.returncode}, f"{' '.join(command)}:\n{done.stdout[-6000:]}{done.stderr[-6000:]}"
    return done.stdout
