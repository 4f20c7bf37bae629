"""A YAML string of a generated migration file (of a wave, or for the way back) holds exactly its text."""

from __future__ import annotations

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_migration.core.text.quoting import yaml_string


@given(st.text(st.characters(codec="utf-8")))
@example("/opt/kafka-😀")
@example("\U000e0001")
@example('a\\"b\n\u2028\ufeff\x85')
@example("null")
def test_any_text_is_read_back(text: str) -> None:
    """YAML reads back any text, on one line."""
    assert text == yaml.safe_load(yaml_string(text))
    assert yaml_string(text).isprintable()
