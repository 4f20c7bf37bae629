"""Rules of the documentation site that `make docs` builds."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
CONFIG = (ROOT / "mkdocs.yml").read_text()
MERMAID = DOCS / "assets" / "mermaid" / "mermaid.min.js"


def test_every_page_is_in_the_navigation() -> None:
    """The navigation names each page of docs/ once, and no page that does not exist."""
    named = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", CONFIG.partition("\nnav:\n")[2], re.MULTILINE)
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}

    assert pages == {name for name in named if not name.startswith("project/")}
    assert len(named) == len(set(named))


def test_mermaid_is_the_file_that_was_taken() -> None:
    """The script for diagrams has the recorded checksum, and its licence next to it."""
    digest, name = Path(f"{MERMAID}.sha256").read_text().split()

    assert name == MERMAID.name
    assert digest == hashlib.sha256(MERMAID.read_bytes()).hexdigest()
    assert "MIT License" in (MERMAID.parent / "LICENSE").read_text()


def test_nothing_comes_from_other_servers() -> None:
    """The site's configuration uses no fonts, scripts or styles of other servers."""
    assert "font: false" in CONFIG
    assert "assets/mermaid/mermaid.min.js" in CONFIG
    assert [] == re.findall(r"https?://", CONFIG)
    assert [] == [path for path in DOCS.rglob("*.md") if re.search(r"<(?:script|link|img|iframe)\b", path.read_text())]
