"""Every part of the benchmarks runs on little data, on real clusters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.figures import PARTS, figures_of

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
# The part that needs no clusters; the others belong to the campaign.
SHORT = {"ledger"}
TIMEOUT_S = 3_600


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=() if part in SHORT else pytest.mark.campaign) for part in PARTS]
)
def test_quick_part_prints_every_figure(part: str) -> None:
    """A quick run of a part ends well and prints each of its figures, not judged."""
    command = [sys.executable, "-m", "bench", "--quick", part]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    printed = [line for line in done.stdout.splitlines() if line.startswith("quick, not judged: ")]

    assert 0 == done.returncode, done.stderr[-2000:]
    assert len(figures_of(part)) == len(printed)
    assert all(any(figure.name in line for line in printed) for figure in figures_of(part))
