"""When two schemas are the same."""

from __future__ import annotations

import pytest

from kafka_migration.core.kafka.schema_registry import Schema

ADDRESS = Schema("AVRO", '{"type": "record", "name": "Address", "fields": []}')
OTHER = Schema("AVRO", '{"type": "record", "name": "Address", "fields": [{"name": "a", "type": "int"}]}')


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Schema("AVRO", '{"type":"int","x":1}'), Schema("AVRO", ' { "x": 1, "type": "int" }')),
        (
            Schema("PROTOBUF", "message A {\n  int64 b = 1;\n}\n"),
            Schema("PROTOBUF", "message A {\n\tint64 b = 1;\n\n}"),
        ),
        (Schema("AVRO", "x", (("A", ADDRESS), ("B", OTHER))), Schema("AVRO", "x", (("B", OTHER), ("A", ADDRESS)))),
    ],
    ids=["members in another order", "indentation", "references in another order"],
)
def test_same_content_is_the_same_schema(one: Schema, other: Schema) -> None:
    """Indentation and the order of JSON members and of references do not count."""
    assert one.is_same_as(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Schema("AVRO", '"int"'), Schema("AVRO", '"long"')),
        (Schema("AVRO", '"int"'), Schema("JSON", '"int"')),
        (Schema("AVRO", '{"default": 1}'), Schema("AVRO", '{"default": true}')),
        (Schema("AVRO", '{"default": 1}'), Schema("AVRO", '{"default": 1.0}')),
        (Schema("AVRO", '["null", "int"]'), Schema("AVRO", '["int", "null"]')),
        (Schema("PROTOBUF", "message A {}"), Schema("PROTOBUF", "message B {}")),
        (Schema("PROTOBUF", "// old\nint32 x = 1;"), Schema("PROTOBUF", "// old int32 x = 1;")),
        (Schema("AVRO", "x", (("A", ADDRESS),)), Schema("AVRO", "x", (("A", OTHER),))),
        (Schema("AVRO", "x", (("A", ADDRESS),)), Schema("AVRO", "x", (("B", ADDRESS),))),
        (Schema("AVRO", "x", (("A", ADDRESS),)), Schema("AVRO", "x")),
    ],
    ids=["text", "kind", "true", "float", "order", "message", "comment", "referenced schema", "name", "no reference"],
)
def test_other_content_is_another_schema(one: Schema, other: Schema) -> None:
    """Every other difference counts, also in a schema to which the text refers."""
    assert not one.is_same_as(other)


def test_shared_references_are_compared_once() -> None:
    """Schemas that share schemas over many levels are compared without following each path."""
    one = other = ADDRESS
    for level in range(60):
        one = Schema("AVRO", str(level), (("a", one), ("b", one)))
        other = Schema("AVRO", str(level), (("a", other), ("b", other)))

    assert one.is_same_as(other)


def test_text_that_is_nested_too_deeply_is_compared_as_text() -> None:
    """A text that JSON's reader gives up on is no error."""
    deep = "[" * 100_000

    assert Schema("JSON", deep).is_same_as(Schema("JSON", deep))
