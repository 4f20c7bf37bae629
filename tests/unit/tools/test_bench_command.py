"""`make bench` begins in a fresh checkout, where nothing of the project is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import PARTS

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[3]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the checkout without any path of the caller's."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_command_starts() -> None:
    """Regression: it ended with `ModuleNotFoundError` before it read its arguments."""
    done = run("-m", "bench", "--help")

    assert (0, "") == (done.returncode, done.stderr)
    assert all(part in done.stdout for part in PARTS)


def test_every_part_can_be_loaded() -> None:
    """Each part finds what it imports: the product, the Spark jobs, the sandbox."""
    lines = "\n".join(f"import bench.{part}" for part in PARTS)
    done = run("-W", "ignore", "-c", lines)

    assert 0 == done.returncode, done.stderr[-2000:]
