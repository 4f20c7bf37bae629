"""The base image: an existing one, a pulled one, or one made by debootstrap if no registry is reachable."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from sandbox.compose.commands import found, run
from sandbox.compose.engine import Engine
from sandbox.compose.failure import ComposeTestFailed, NotPossibleHere

NAME = "debian:bookworm-slim"
PULL_S = 180
DEBOOTSTRAP_S = 900
# What the slim image leaves out, too.
_LEFT_OUT = ("usr/share/doc", "usr/share/info", "usr/share/locale", "usr/share/man")
_LISTS = ("var/cache/apt", "var/lib/apt/lists", "var/log")
_DPKG_RULE = "".join(f"path-exclude /{folder}/*\n" for folder in _LEFT_OUT)


def ensure_base_image(engine: Engine) -> str:
    """Get the base image; return where it came from.

    Raises:
        NotPossibleHere: there is none, no registry provides one, and it cannot be made.
    """
    if engine.has_image(NAME):
        return f"{NAME} exists already"
    try:
        engine.run("pull", "--quiet", NAME, timeout_s=PULL_S)
    except ComposeTestFailed as error:
        _make(engine, str(error).splitlines()[-1])
        return f"{NAME} made by debootstrap"
    return f"{NAME} pulled"


def _make(engine: Engine, why: str) -> None:
    debootstrap = found("debootstrap")
    if debootstrap is None or os.geteuid() != 0:
        raise NotPossibleHere(
            f"{NAME} cannot be pulled ({why}), and making it needs debootstrap and root. "
            "On Debian: apt-get install debootstrap"
        )
    folder = Path(tempfile.mkdtemp(prefix="kmc-base-"))
    try:
        run((debootstrap, "--variant=minbase", "bookworm", str(folder)), DEBOOTSTRAP_S)
        make_slim(folder)
        _import(engine, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_slim(root: Path) -> None:
    """Remove files that a container does not need, and exclude them from later packages."""
    (root / "etc" / "dpkg" / "dpkg.cfg.d" / "slim").write_text(_DPKG_RULE)
    for folder in (*_LEFT_OUT, *_LISTS):
        for entry in (root / folder).iterdir() if (root / folder).is_dir() else ():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()


def _import(engine: Engine, root: Path) -> None:
    with subprocess.Popen(("tar", "-C", str(root), "-c", "."), stdout=subprocess.PIPE) as archive:
        command = (engine.docker, "import", "--change", 'CMD ["bash"]', "-", NAME)
        done = subprocess.run(
            command, stdin=archive.stdout, env=dict(engine.environment), capture_output=True, check=False
        )
    if done.returncode != 0 or archive.returncode != 0:
        raise ComposeTestFailed(f"the base image cannot be imported: {done.stderr.decode(errors='replace')}")
