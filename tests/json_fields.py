"""The fields of JSON answers, against the page of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"


def undocumented(verb: str, document: Mapping[str, object]) -> set[str]:
    """Return the fields of a verb's answer that its section of the page does not name."""
    head, *sections = PAGE.read_text().split("\n## ")
    (section,) = (each for each in sections if each.startswith(f"`{verb}`\n"))
    # The head explains `schema`, which every answer has.
    return {field for field in document if f"`{field}`" not in (head if field == "schema" else section)}
