"""The demo itself, as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.live, pytest.mark.campaign]

ROOT = Path(__file__).parents[2]


def test_demo_finds_its_own_damage() -> None:
    """Three syncs pass, the damaged copy fails at the damaged place, and the demo passes because that was found."""
    done = subprocess.run(
        [sys.executable, "-m", "sandbox.demo", "--damage", "alter"], cwd=ROOT, capture_output=True, text=True
    )
    last = done.stdout.rstrip().splitlines()[-1]

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert last.startswith("DEMO PASS: the damage was found: COPY_DIFFERS")
    assert "orders" in last
