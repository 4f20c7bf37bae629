"""The wheel in a virtual environment that has nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from kafka_migration.cli.files.explanations import explanations

ROOT = Path(__file__).parents[3]
NAMES = sorted({each.name for each in explanations()})
# A path of the repository; `report.md` is a document of a run's evidence.
REPOSITORY = re.compile(r"\b(docs|include|tests|plugins|spark_jobs|sandbox|bench)/|\b(?!report\.)\w+\.md\b")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of the environment."""
    folder = tmp_path_factory.mktemp("alone")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    (built,) = folder.glob("*.whl")
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    with zipfile.ZipFile(built) as wheel:
        wheel.extractall(packages)
    return folder / "venv" / "bin" / "python"


@pytest.mark.parametrize("words", [["--help"], ["explain"], ["explain", *NAMES]], ids=["help", "list", "names"])
def test_the_wheel_explains_everything_without_other_packages(python: Path, words: list[str], tmp_path: Path) -> None:
    """Help, list and explanations are those of the repository, and name no file of it."""
    told, expected = (
        subprocess.run([each, "-m", "kafka_migration", *words], **where, capture_output=True, text=True, check=True)
        for each, where in ((python, {"cwd": tmp_path, "env": {}}), (sys.executable, {"cwd": ROOT / "plugins"}))
    )

    assert expected.stdout == told.stdout
    assert ("", "") == (expected.stderr, told.stderr)
    assert [] == [line for line in told.stdout.splitlines() if REPOSITORY.search(line)]
