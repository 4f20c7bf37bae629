"""Rules of the README and of the pictures of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_migration.migration_file.loading import load_migration
from tests.documents import blocks

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", *DOCS.rglob("*.md")]
TAKEN = set(re.findall(r'Picture\(\s*"(\w+)"', (DOCS / "screenshots.py").read_text()))


def test_readme_is_one_screen() -> None:
    """The README has at most sixty lines."""
    assert len(README.splitlines()) <= 60


def test_the_migration_file_of_the_readme_is_valid() -> None:
    """The smallest migration file has ten lines at most, and can be read."""
    (text,) = blocks(README, "yaml")

    assert len(text.splitlines()) <= 10
    assert "shop" == load_migration(text, where="README.md").name


def test_pictures_come_from_the_script_or_are_drawings() -> None:
    """Each picture that a page shows exists, and the script takes each one that is no drawing; it takes no other."""
    shown = {
        (path.parent / name).resolve()
        for path in PAGES
        for name in re.findall(r'!\[[^]]*\]\(([^)]+)\)|<img [^>]*src="([^"]+)"', path.read_text())
        for name in name
        if name
    }

    assert {DOCS / "images" / f"{name}.png" for name in TAKEN} == {path for path in shown if path.suffix != ".svg"}
    assert [] == [path for path in shown if not path.exists()]


def test_readme_offers_each_picture_in_dark() -> None:
    """The picture for the dark theme is the one that the script takes with the light one."""
    pairs = re.findall(r'srcset="([^"]+)"><img alt="[^"]+" src="([^"]+)"', README)

    assert len(pairs) == README.count("<picture>") > 0
    assert [dark for dark, _ in pairs] == [light.replace(".png", "-dark.png") for _, light in pairs]
