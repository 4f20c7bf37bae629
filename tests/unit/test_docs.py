"""Rules of the documentation."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_migration.core.codes import Code

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_generated_pages_are_current():
    """The reference pages say what the code says."""
    done = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True)

    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_make_commands_exist(path: Path):
    """Every `make` command that a document names is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(
        re.findall(r"`make ([a-z-]+)", path.read_text()) + re.findall(r"^make ([a-z-]+)", path.read_text(), re.M)
    )

    assert set() == named - targets


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_relative_links_lead_somewhere(path: Path):
    """Every relative link of a document names a file of the repository."""
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", path.read_text())

    assert [] == [link for link in links if not (path.parent / link).exists()]


def test_every_code_is_used():
    """A code that nothing raises is not documented as if it could happen."""
    sources = "\n".join(
        p.read_text() for p in (ROOT / "plugins").rglob("*") if p.suffix == ".py" or p.name == "mirrorctl"
    )

    assert [] == [code for code in Code if len(re.findall(rf"\b{code}\b", sources)) < 2 + (f"{code} = " in sources)]


def test_every_operator_is_documented():
    """Each operator, sensor and trigger has its section in the operators' page."""
    page = (ROOT / "docs" / "operators.md").read_text()
    folder = ROOT / "plugins" / "kafka_migration" / "orchestration"
    classes = [
        name
        for sub in ("operators", "sensors", "triggers")
        for path in (folder / sub).glob("*.py")
        for name in re.findall(r"^class (\w+(?:Operator|Sensor|Trigger))\(", path.read_text(), re.M)
    ]

    assert [] == [name for name in classes if name != "MigrationOperator" and f"`{name}`" not in page]
