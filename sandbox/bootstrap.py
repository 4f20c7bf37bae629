"""Makes the checkout ready to run: `python3 -m sandbox.bootstrap`, called by every target of the Makefile.

Checks the machine, builds `.venv` from `requirements.lock`, fetches the jars and makes class archives. Completed steps
are skipped, so a second run takes a moment and prints nothing. Runs on the system's Python, standard library only.

Exit codes: 0 ready, 1 failed (for example a download; run it again to resume), 3 refused: the machine lacks something.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sandbox import jars, prerequisites, shared_classes

PROJECT = Path(__file__).resolve().parents[1]
VENV = PROJECT / ".venv"
# Written last and removed first: a virtual environment without it is incomplete.
STAMP = VENV / ".complete"
LOCKS = ("requirements-bootstrap.txt", "requirements.lock", "requirements-build.txt")
INSTALL_TIMEOUT_S = 1800


class BootstrapError(Exception):
    """A step failed; the text is the end of its output."""


def main() -> int:
    """Make everything ready and return the exit code."""
    try:
        text = missing(prerequisites.find_missing)
        if text:
            print(text, file=sys.stderr)
            return 3
        with _alone():
            _prepare_environment()
            jars.ensure(_say)
            shared_classes.ensure(_say, VENV / "bin" / "python", STAMP.read_text())
    except (BootstrapError, jars.JarsError, prerequisites.AptError, subprocess.TimeoutExpired) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def stamp(project: Path, python_version: str) -> str:
    """Return the stamp of a complete environment: a digest of the lock files, and the Python version."""
    digest = hashlib.sha256(python_version.encode())
    for name in LOCKS:
        digest.update((project / name).read_bytes())
    return f"{python_version} {digest.hexdigest()}"


def plan(found: str | None, wanted: str) -> str:
    """Decide by the stamp what to do with the environment: `keep`, `update` in place, or `rebuild`.

    A missing stamp means that an installation was interrupted. A package may be incomplete, so nothing is reused.
    """
    if found == wanted:
        return "keep"
    if found is None or found.split()[:1] != wanted.split()[:1]:
        return "rebuild"
    return "update"


def missing(find: Callable[[], Sequence[prerequisites.Missing]]) -> str:
    """Return the refusal; empty if the machine has everything or it could be installed."""
    if prerequisites.may_install():
        prerequisites.recover(_say)
    found = find()
    if found and prerequisites.can_install(found):
        prerequisites.install(found, _say)
        found = find()
    return prerequisites.refusal(found) if found else ""


def _prepare_environment() -> None:
    wanted = stamp(PROJECT, ".".join(str(part) for part in sys.version_info[:3]))
    what = plan(_read_stamp(), wanted)
    if what == "keep":
        return
    started = time.monotonic()
    STAMP.unlink(missing_ok=True)
    if what == "rebuild":
        _rebuild()
    _install()
    STAMP.write_text(wanted)
    _say(f".venv: {what} done in {time.monotonic() - started:.0f} s")


def _read_stamp() -> str | None:
    python = VENV / "bin" / "python"
    if not STAMP.is_file() or not os.access(python, os.X_OK):
        return None
    return STAMP.read_text()


def _rebuild() -> None:
    _say(f".venv: installing with Python {sys.version_info[0]}.{sys.version_info[1]} (1 GB, takes a minute or two)")
    shutil.rmtree(VENV, ignore_errors=True)
    run(sys.executable, "-m", "venv", str(VENV))


def _install() -> None:
    python = str(VENV / "bin" / "python")
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes")
    run(*pip, "-r", str(PROJECT / LOCKS[0]))
    sync = (str(VENV / "bin" / "uv"), "pip", "sync", "--quiet", "--python", python, "--require-hashes")
    # pyspark is a source distribution, so its build also runs here.
    build = ("--build-constraints", str(PROJECT / LOCKS[2]))
    # Compile once here; with PYTHONDONTWRITEBYTECODE every Airflow process would compile its imports again.
    run(*sync, *build, "--compile-bytecode", str(PROJECT / LOCKS[1]))


def run(*command: str, cwd: Path = PROJECT, environment: Mapping[str, str] | None = None) -> None:
    """Run a command with further variables; raise `BootstrapError` with its last lines if it fails."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**_environment(), **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=INSTALL_TIMEOUT_S,
    )
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise BootstrapError(f"{' '.join(command)} ended with {done.returncode}:\n{tail}")


def _environment() -> dict[str, str]:
    """Return the environment in which uv uses pip's package index and certificates."""
    environment = dict(os.environ)
    for pip_name, uv_name in (("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), ("PIP_CERT", "SSL_CERT_FILE")):
        if pip_name in environment:
            environment.setdefault(uv_name, environment[pip_name])
    return environment


@contextmanager
def _alone() -> Iterator[None]:
    """Let only one bootstrap run at a time; a second one waits and then has nothing to do."""
    cache = PROJECT / ".cache"
    cache.mkdir(exist_ok=True)
    with (cache / "bootstrap.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
