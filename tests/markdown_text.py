"""Markdown as its readers see it: in an editor, and in a viewer."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

VIEWER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_TEXT = {"text", "text_special", "code_inline"}
_OWN = {"softbreak", "strong_open", "strong_close"}


def read(markdown: str) -> str:
    """Return Markdown with a line per paragraph, item and row, and one space between words."""
    return re.sub(r"(?<=\S)(?: {2,}|\n *(?=[^\s|#-]))", " ", markdown)


def blocks(markdown: str) -> list[tuple[str, str]]:
    """Return the blocks that a viewer shows; raises for markup that no report has, such as links and HTML."""
    tokens = VIEWER.parse(markdown)
    inline = {child.type for token in tokens for child in token.children or ()}
    assert set() == inline - _TEXT - _OWN
    assert all(character == "\n" or character.isprintable() for character in markdown)
    return [(token.type, token.tag) for token in tokens]


def seen(markdown: str) -> str:
    """Return the text that a viewer shows, with one space between words."""
    children = (child for token in VIEWER.parse(markdown) for child in token.children or ())
    return " ".join("".join(each.content if each.type in _TEXT else " " for each in children).split())
