"""The JSON Schema of the migration file, with which editors check a file and complete its fields.

The models give the fields. The rules here are those of the models' validators that JSON Schema can express.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.migration.aliases import MIRROR_WORDS
from kafka_migration.core.migration.client_tuning import TUNING_KEYS, words_of
from kafka_migration.core.migration.engine_table import DEFAULT_ENGINE, engines_with
from kafka_migration.migration_file.models import MigrationModel
from kafka_migration.migration_file.relations import NEED_HOST
from kafka_migration.migration_file.topics_section import KINDS, SETTINGS

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def migration_schema() -> Schema:
    """Return the JSON Schema of a migration file."""
    schema = MigrationModel.model_json_schema(schema_generator=_Generator)
    definitions = schema["$defs"]
    for name, rules in _RULES.items():
        definitions[name] |= rules
    schema |= _WHOLE
    for section, field, rules in _FIELDS:
        definitions[section]["properties"][field] |= rules
    schema["properties"]["topics"] |= _TOPICS
    for each in list(_objects(schema)):
        _close(each)
    return {"$schema": DIALECT, "title": "Kafka migration file", **_untitled(schema)}


class _Generator(GenerateJsonSchema):
    """Leaves out titles that only repeat the names of the fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _given(field: str) -> Schema:
    """Return the condition that a field has a value other than null."""
    return {"required": [field], "properties": {field: {"not": {"type": "null"}}}}


def _is(field: str, value: Any) -> Schema:
    """Return the condition that a field is there and has this value."""
    return {"required": [field], "properties": {field: {"const": value}}}


def _when(condition: Schema, **properties: Any) -> Schema:
    return {"if": condition, "then": {"properties": properties}}


def _property(key: str) -> Schema:
    words = words_of(key)
    return {"enum": list(words)} if words else {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,100}$"}


def _with(field: str) -> Schema:
    """Return the condition that the engine of the file has a field of `FIELDS`."""
    engines = {"properties": {"engine": {"enum": list(engines_with(field))}}}
    return engines if DEFAULT_ENGINE in engines_with(field) else {"required": ["engine"], **engines}


def _without(field: str) -> Schema:
    """Return the condition that the engine of the file lacks a field of `FIELDS`."""
    return {"not": _with(field)}


_MAY_HAVE_PARTITIONS = {"required": ["mirror"], "properties": {"mirror": _with("topics.partitions")}}
_HAS_PARTITIONS = {"type": "object", **_given("partitions")}
# Rules for a whole section.
_RULES: dict[str, Schema] = {
    "TopicModel": {
        "oneOf": [_given(kind) for kind in KINDS],
        **_when(_given("exclude"), **dict.fromkeys(SETTINGS, False)),
    },
    "HookModel": {"oneOf": [_given("dag"), _given("callable")]},
    "TopicNamesModel": {
        "if": _is("naming", "custom"),
        "then": _given("policy_class"),
        "else": {"properties": {"policy_class": {"type": "null"}, "pattern": {"const": "{topic}"}}},
    },
    "MirrorModel": {
        "allOf": [
            _when(_without("mirror.exactly_once"), exactly_once={"const": False}),
            _when(_without("mirror.topic_names"), topic_names={"properties": {"naming": {"const": "identity"}}}),
            *(_when(_without(f"mirror.{field}"), **{field: {"type": "null"}}) for field in NEED_HOST),
            {"if": _with("mirror.connect"), "then": _given("connect")},
            _when(_without("mirror.connect"), connect={"type": "null"}),
            _when(_is("isolation_level", "read_uncommitted"), exactly_once={"const": False}),
        ]
    },
    "AlertsModel": {
        "if": _given("too_long_after"),
        "then": {"required": ["notifiers"], "properties": {"notifiers": {"minItems": 1}}},
    },
}
_WHOLE: Schema = {
    "if": {"not": _MAY_HAVE_PARTITIONS},
    "then": {"properties": {"topics": {"items": {"not": _HAS_PARTITIONS}}}},
}
# At least one topic or pattern.
_TOPICS: Schema = {"contains": {"anyOf": [{"type": "string"}, _given("name"), _given("pattern")]}}
# Rules for a field of a section.
_FIELDS: tuple[tuple[str, str, Schema], ...] = (
    ("SourceModel", "alias", {"not": {"enum": sorted(MIRROR_WORDS)}}),
    ("NotifierModel", "kinds", {"items": {"enum": [str(kind) for kind in AlertKind]}}),
    (
        "MirrorModel",
        "properties",
        {"patternProperties": {}, "properties": {k: _property(k) for k in sorted(TUNING_KEYS)}},
    ),
)


def _objects(schema: Any) -> Iterator[Schema]:
    """Yield every part of the schema that describes names by patterns."""
    if isinstance(schema, dict):
        if "patternProperties" in schema:
            yield schema
        for each in schema.values():
            yield from _objects(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _objects(each)


def _close(schema: Schema) -> None:
    """Refuse names that neither a pattern nor a field describes."""
    schema["additionalProperties"] = False
    if not schema["patternProperties"]:
        del schema["patternProperties"]


def _untitled(schema: Schema) -> Schema:
    """Leave out the names of the models, and defaults of whole sections, which are not as in a file."""
    for each in (schema, *schema["$defs"].values()):
        each.pop("title", None)
        for field in each.get("properties", {}).values():
            if isinstance(field.get("default"), dict):
                del field["default"]
    return schema
