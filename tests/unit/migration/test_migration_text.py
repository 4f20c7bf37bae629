"""The one writer of migration files: whatever a value holds, the file gives it back, and no text becomes a field."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.migration_text import SCHEMA_LINE, Remarked, Value, migration_text
from kafka_migration.migration_file.loading import load_migration

# What YAML reads as another type, ends a value or a comment, or is invisible.
HOSTILE = ["", " ", "- x", "? x", "a: b", "a #b", "a\nversion: 2", "a\r\nb", "!!int 1", "2030-01-01"]
HOSTILE += ["~", "null", "no", "off", "yes", "on", "true", "false", "y", "=", "<<", "1e3", "0777", "1:30", "1_000"]
HOSTILE += [".inf", "#", "&a", "*a", "|", ">", "%TAG", "{}", "[]", "@", "`", '"', "'", "\\"]
HOSTILE += ["\x00", "\x1b[31m", "\x85", "\u2028", "\u202e", "\ufeff", "\U0001f600", "\x7f"]
TEXTS = st.sampled_from(HOSTILE) | st.text(st.characters(codec="utf-8"), max_size=20)
SCALARS = TEXTS | st.booleans() | st.integers()
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(st.dictionaries(TEXTS, inner, min_size=1, max_size=3) | SCALARS, max_size=3)
        | st.dictionaries(TEXTS, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(TEXTS.filter(lambda key: key != "version"), VALUES, max_size=4), st.lists(TEXTS, max_size=3))
def test_yaml_reads_what_was_written(fields: dict[str, Any], comments: list[str]) -> None:
    """Every key and value is read back with its type, and each comment stays one line."""
    text = migration_text(fields, comments)

    assert {"version": 1, **fields} == yaml.safe_load(text)
    assert [SCHEMA_LINE, *["#"] * len(comments)] == [
        line if line == SCHEMA_LINE else line[0] for line in text.split("\n")[: 1 + len(comments)]
    ]
    assert all(line.isprintable() for line in text.split("\n"))


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_a_remark_is_no_part_of_its_value(remark: str, values: list[str]) -> None:
    """A remark stands after the key of a list or mapping, which is read as if it had none."""
    noted = {"groups": Remarked(values, remark), "parts": Remarked({each: each for each in values}, remark)}

    read = yaml.safe_load(migration_text(noted))
    assert {"version": 1, "groups": values, "parts": {each: each for each in values}} == read


def test_a_value_that_is_none_leaves_its_field_out() -> None:
    """An optional field without a value is not in the file, so that its default counts."""
    text = migration_text({"name": "shop", "mirror": {"kafka_home": None, "tasks": 2}})

    assert {"version": 1, "name": "shop", "mirror": {"tasks": 2}} == yaml.safe_load(text)


PATTERNS = st.text(st.sampled_from("aZ09._-#:'\"\\{}[]!&|~ "), min_size=1, max_size=12).map(re.escape)
NAMES = st.from_regex(r"[A-Za-z0-9_-]([A-Za-z0-9._-]{0,20}[A-Za-z0-9_-])?", fullmatch=True)
WORDS = st.sampled_from(["1e3", "no", "null", "0777", "1_000", "0x10", "2030-01-01", "1.5", "on", "y", ".5"])


@given(
    topics=st.lists(NAMES | WORDS.filter(lambda word: word != ".5"), min_size=1, max_size=4, unique=True),
    patterns=st.lists(PATTERNS, max_size=3, unique=True),
    groups=st.lists(PATTERNS, min_size=1, max_size=3, unique=True),
    connections=st.lists(NAMES | WORDS, min_size=4, max_size=4, unique=True),
    rack=NAMES | WORDS,
)
def test_a_migration_is_read_with_the_same_values(
    topics: list[str], patterns: list[str], groups: list[str], connections: list[str], rack: str
) -> None:
    """Names that YAML could take for numbers, dates or keywords are the same names in the loaded migration."""
    source, target, mirror, spark = connections
    fields: dict[str, Value] = {
        "name": "shop",
        "source": {"connection": source},
        "target": {"connection": target},
        "topics": [*topics, *({"pattern": each} for each in patterns)],
        "mirror": {"connection": mirror, "properties": {"consumer.client.rack": rack}},
        "validation": {"spark_connection": spark},
        "cutover": {"groups": groups},
    }
    try:
        read = load_migration(migration_text(fields), where="shop.yaml")
    except Refused as refused:
        # The rules of names are others' business: whatever is refused is refused with the value as it was.
        pytest.fail(str(refused)) if "YAML reads" in str(refused) else None
        return

    assert connections == [
        read.source.connection,
        read.target.connection,
        read.mirror.connection,
        read.validation.spark_connection,
    ]
    assert (tuple(topics), tuple(groups)) == (read.topics, read.cutover.groups)
    assert patterns == [rule.text for rule in read.rules.rules if rule.kind == "pattern"]
    assert {"consumer.client.rack": rack} == read.mirror.properties
