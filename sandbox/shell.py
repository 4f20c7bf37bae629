"""`.sandbox/env`, which a person's shell reads to have `airflow` and `kafka-migration` work on the running sandbox.

Preflight also calls `spark-submit`.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from sandbox.environment import program

FILE_NAME, PROGRAMS = "env", "bin"


def airflow_login(url: str | None, user: str, password: str) -> dict[str, str]:
    """Return the variables with which `kafka-migration trigger` finds Airflow and logs in; none without Airflow."""
    login = {"SERVER": url, "USER": user, "PASSWORD": password}
    return {f"KAFKA_MIGRATION_AIRFLOW_{name}": value for name, value in login.items() if url and value}


def write_shell(root: Path, variables: Mapping[str, str], plugins: Path) -> None:
    """Write the environment file (mode 0600, it holds passwords) and the folder of programs that it puts on the PATH.

    Args:
        root: the sandbox's folder.
        variables: the variables to export, without the marker: processes with the marker end with the sandbox.
        plugins: the folder in which the package is.
    """
    programs = root / PROGRAMS
    programs.mkdir(exist_ok=True)
    words = (f"PYTHONPATH={shlex.quote(str(plugins))}", "exec", shlex.quote(sys.executable), "-m kafka_migration")
    _write(programs / "kafka-migration", f'#!/bin/sh\n{" ".join(words)} "$@"\n', 0o700)
    for name in ("airflow", "spark-submit"):
        _write(programs / name, f'#!/bin/sh\nexec {shlex.quote(program(name))} "$@"\n', 0o700)
    exports = [f"export {name}={shlex.quote(value)}" for name, value in sorted(variables.items())]
    path = f'export PATH={shlex.quote(str(programs))}:"$PATH"'
    _write(root / FILE_NAME, "\n".join(["# For a shell, while the sandbox runs.", *exports, path, ""]), 0o600)


def _write(path: Path, text: str, mode: int) -> None:
    """Write a file atomically, readable by its owner only."""
    fresh = path.with_name(f".{path.name}-new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as file:
        file.write(text)
    fresh.replace(path)
