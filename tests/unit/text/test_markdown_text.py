"""Rules of text for Markdown: a viewer shows exactly the text, and an editor shows it almost as it is."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_migration.core.text.markdown import WIDTH, aligned_table, escaped, shown, wrapped
from tests.markdown_text import blocks, seen

PARAGRAPH = [("paragraph_open", "p"), ("inline", ""), ("paragraph_close", "p")]
# Letters, spaces, and what Markdown, HTML and links are made of.
TEXTS = st.text(st.sampled_from("ab1 .:/-+=#*_`~|\\<>![](){}&;@$\"'\nü\u202e\u00a0"), max_size=30)
PIECES = st.lists(st.tuples(st.booleans(), TEXTS), max_size=5)


def visible(text: str) -> str:
    """Return a text with its invisible characters written out."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def without_code(text: str) -> str:
    """Return a text without what may become code in it."""
    return "".join(visible(text).replace("`", "").split())


@given(TEXTS)
@example("a\n---")
@example("`a`*`b`*")
def test_a_text_stays_text(text: str) -> None:
    """Any text is one paragraph with the same letters; only pairs of backticks are shown as code."""
    written = escaped(f"x {text}")

    assert blocks(written) == PARAGRAPH
    assert without_code(seen(written)) == without_code(f"x{text}")


@given(TEXTS)
def test_a_text_begins_nothing(text: str) -> None:
    """Any text at the beginning of a line is part of a paragraph."""
    written = escaped(text)

    assert blocks(written) == (PARAGRAPH if written.strip() else [])
    assert without_code(seen(written)) == without_code(text)


@given(TEXTS)
def test_a_name_is_shown_as_it_is(name: str) -> None:
    """A viewer shows every letter of a name; spaces at its edges are written out, and an empty name is named."""
    written = shown(name)

    assert blocks(written) == PARAGRAPH
    middle = visible(name).strip(" ")
    assert " ".join(middle.split()) in seen(written) or not middle
    assert name or written == "(empty)"


@given(PIECES)
@example([(False, "[]"), (True, "")])
@example([(False, "[a]"), (False, "(b)")])
@example([(False, "[a]"), (False, "[b]")])
@example([(False, "<"), (False, "b>")])
@example([(False, "http:"), (False, "//b.c")])
@example([(False, "www"), (False, ".b.c")])
@example([(False, "_"), (False, "_a__")])
@example([(False, "&"), (False, "lt;")])
def test_pieces_of_a_line_do_not_join_to_markup(pieces: list[tuple[bool, str]]) -> None:
    """Names and texts beside each other stay what they are, wherever the line is wrapped."""
    line = "x"
    for is_name, text in pieces:
        line += (shown if is_name else escaped)(text, line)

    assert blocks(line) == PARAGRAPH
    narrow = "\n".join(wrapped(line, "- ", "  ").split(" "))
    assert "bullet_list_open" in {kind for kind, _ in blocks(wrapped(line, "- ", "  "))}, narrow


@given(TEXTS)
def test_a_cell_is_one_cell(text: str) -> None:
    """Whatever a name or a text is, the table has the same cells."""
    plain = aligned_table(("A", "B"), [("a", "b")])

    assert blocks(aligned_table(("A", "B"), [(shown(text), escaped(text))])) == blocks(plain)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Run `kafka-migration plan shop` now.", "Run `kafka-migration plan shop` now."),
        ("orders[3], eu.*, a_b, manual__1", "orders[3], `eu.*,` a_b, manual__1"),
        ("<script>", "`<script>`"),
        ("# a", "\\# a"),
        ("1. a", "1\\. a"),
        ("ask ada@example.com at http://x", "ask `ada@example.com` at `http://x`"),
        ("a|b", "a\\|b"),
        ("5 < 6 & 7 > 6", "5 `<` 6 & 7 > 6"),
    ],
)
def test_texts_stay_readable(text: str, written: str) -> None:
    """No text has character references; a word with markup is code, and only `|` and lone backticks get a backslash."""
    assert written == escaped(text)


def test_lines_are_wrapped() -> None:
    """Words fill lines of 80 columns; code is not divided, a longer word has a line of its own, and a word at the
    beginning of a line begins no list."""
    text = wrapped(f"{'word ' * 40}`{'code ' * 20}` {'- 1. # ' * 30}", "- ", "  ")

    assert [line for line in text.splitlines() if len(line) > WIDTH] == [f"  `{'code ' * 20}`"]
    assert [kind for kind, _ in blocks(text) if kind.endswith("_open")] == [
        "bullet_list_open",
        "list_item_open",
        "paragraph_open",
    ]


def test_columns_of_a_table_stand_below_each_other() -> None:
    """Cells are filled up to the width of their column, wide letters included; numbers stand at the right."""
    assert aligned_table(("Name", "Records"), [("`日本`", "1,000"), ("`a`", "–")]) == (
        "| Name   | Records |\n| ------ | ------: |\n| `日本` |   1,000 |\n| `a`    |       – |"
    )
