"""The page of the command line has the options of each verb as its help has them."""

from __future__ import annotations

import pytest

from docs.option_tables import BEGIN, END, with_options


def test_table_is_made_from_the_parser() -> None:
    """Each option has its value, its choices, whether it is required, and its default; a renamed option has no row."""
    made = with_options(f"# Command line\n\n## `waves`\n\nBefore.\n\n{BEGIN}\nold\n{END}\n\nAfter.\n")

    assert "\n| `--source CONNECTION` | Airflow connection of type kafka (required) |\n" in made
    assert "(default: all) |\n" in made
    assert ": `sasl_plaintext`, `no_host_name_check` (default: none) |\n" in made
    assert ("old" not in made, "`--topic " not in made, "`--output" not in made) == (True, True, True)
    assert made == with_options(made)
    assert made.startswith(f"# Command line\n\n## `waves`\n\nBefore.\n\n{BEGIN}")
    assert made.endswith(f"{END}\n\nAfter.\n")


def test_section_without_marks_is_an_error() -> None:
    """A verb with options cannot stand on the page without them."""
    with pytest.raises(ValueError, match="the section of waves lacks the marks"):
        with_options("# Command line\n\n## `waves`\n\nText.\n")
    assert "Text." in with_options("# Command line\n\n## `schema`\n\nText.\n")
