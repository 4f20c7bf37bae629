"""`make bench` begins in a fresh checkout, where nothing of the project is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.figures import PARTS

ROOT = Path(__file__).parents[3]


def run(home: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the checkout without any variable of the caller except its search path for commands."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_command_starts(tmp_path: Path) -> None:
    """Regression: it ended with `ModuleNotFoundError` before it read its arguments."""
    done = run(tmp_path, "-m", "bench", "--help")

    assert (0, "") == (done.returncode, done.stderr)
    assert all(part in done.stdout for part in PARTS)


def test_every_part_can_be_loaded(tmp_path: Path) -> None:
    """Each part finds what it imports: the product, the Spark jobs, the sandbox."""
    lines = "\n".join(f"import {module}; assert {module}.rows" for module in PARTS.values())
    done = run(tmp_path, "-W", "ignore", "-c", lines)

    assert 0 == done.returncode, done.stderr[-2000:]


def test_unknown_part_is_refused(tmp_path: Path) -> None:
    """The message names the parts that there are."""
    done = run(tmp_path, "-m", "bench", "shape")

    assert 2 == done.returncode
    assert "unknown part shape" in done.stderr
    assert "shapes" in done.stderr


def test_quick_run_only_prints(tmp_path: Path) -> None:
    """A quick run of one part prints its figures, leaves the kept ones alone and judges nothing."""
    kept = {name: (ROOT / "bench" / name).read_bytes() for name in ("results.json", "machine.json")}
    done = run(tmp_path, "-m", "bench", "--quick", "ledger")

    assert 0 == done.returncode, done.stderr[-2000:]
    assert done.stdout.startswith("quick, not judged: ledger of")
    assert kept == {name: (ROOT / "bench" / name).read_bytes() for name in kept}
