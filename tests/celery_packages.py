"""The packages of CeleryExecutor and of an evidence root in S3, in a folder apart from the environment of the tests."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from tests.deploy.stock import UV, run

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements-celery.txt"


def celery_packages() -> Path:
    """Return the folder for `PYTHONPATH`; it is filled first if there is none of this lock file and this Python."""
    key = hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()[:16]
    place = ROOT / ".cache" / f"celery-{key}"
    if not place.is_dir():
        work = Path(tempfile.mkdtemp(prefix=".celery-", dir=place.parent))
        options = ("--no-deps", "--require-hashes", "--target", str(work))
        run([str(UV), "pip", "install", "--quiet", "--python", sys.executable, *options, "-r", str(LOCK)])
        _move(work, place)
    return place


def _move(work: Path, place: Path) -> None:
    try:
        work.rename(place)
    except OSError:  # another process was faster; its folder is equal
        shutil.rmtree(work)
        if not place.is_dir():
            raise
