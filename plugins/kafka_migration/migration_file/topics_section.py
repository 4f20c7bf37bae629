"""The items of `topics` in a migration file: names, patterns and exclusions, with the settings of their topics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from kafka_migration.core.kafka.reserved_topics import is_internal
from kafka_migration.core.migration.topic_rules import RuleKind, TopicRule, TopicRules, TopicSettings
from kafka_migration.core.text.shortened import repeated, some
from kafka_migration.migration_file.scalars import Pattern, Strict, TopicConfigName, TopicConfigValue, TopicName

KINDS: tuple[RuleKind, ...] = ("name", "pattern", "exclude")
# The settings of topics that an item takes.
SETTINGS = ("partitions", "replication_factor", "configs", "compacted", "timestamps")


class TopicModel(Strict):
    """One item of `topics`; a text is the exact name of a topic."""

    name: TopicName | None = Field(None, description="Exact name of a topic. A text in place of a mapping is a name.")
    pattern: Pattern | None = Field(
        None,
        description="Or a regular expression for the whole name. Each run takes the topics of the source that match. "
        "It does not take topics of Kafka and of other tools.",
    )
    exclude: Pattern | None = Field(
        None,
        description="Or a regular expression for whole names that no pattern takes, wherever the item stands.",
    )
    partitions: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description="Partitions of created topics, only with mirrormaker1. Default: as on the source.",
    )
    replication_factor: int | None = Field(
        None, ge=1, le=32, description="Replication factor of created topics. Default: target.replication_factor."
    )
    configs: dict[TopicConfigName, TopicConfigValue | None] = Field(
        {},
        description="Topic settings of created topics, in addition to those of the source. null leaves a setting of "
        "the source out.",
    )
    compacted: bool | None = Field(
        None, description="Whether compaction may delete records. Default: the clusters' cleanup.policy."
    )
    timestamps: bool | None = Field(
        None, description="Whether timestamps are compared. Default: the target's message.timestamp.type."
    )

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> Self:
        if [getattr(self, kind) for kind in KINDS].count(None) != len(KINDS) - 1:
            raise ValueError(f"exactly one of {', '.join(KINDS)}")
        return self

    @field_validator(*SETTINGS)
    @classmethod
    def _belongs_to_topics_that_are_taken(cls, value: Any, info: ValidationInfo) -> Any:
        if info.data.get("exclude") is not None:
            raise ValueError("no settings beside exclude")
        return value

    @property
    def kind(self) -> RuleKind:
        """Whether the item is a name, a pattern or an exclusion."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    def frozen(self) -> TopicRule:
        """Return the item as plain values."""
        settings = TopicSettings(**{name: getattr(self, name) for name in SETTINGS})
        return TopicRule(self.kind, getattr(self, self.kind), settings)


def _item(value: Any) -> Any:
    if isinstance(value, str):
        return {"name": value}
    if not isinstance(value, dict):
        raise ValueError("a topic name, or a mapping with name, pattern or exclude")
    return value


class _TextOrMapping:
    """The JSON Schema of an item: a mapping, or the name of a topic."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [TypeAdapter(TopicName).json_schema(), handler(core_schema)]}


TopicItem = Annotated[TopicModel, BeforeValidator(_item), _TextOrMapping]


def frozen_rules(items: Sequence[TopicModel]) -> TopicRules:
    """Return the items as plain values, in the order of the file."""
    return TopicRules(tuple(item.frozen() for item in items))


def problems_of(items: Sequence[TopicModel]) -> Iterator[str]:
    """Yield what is expected where the items do not fit together."""
    names = [item.name for item in items if item.name is not None]
    rules = frozen_rules(items)
    if twice := repeated(names):
        yield f"each topic only once: {some(twice)}"
    if internal := [name for name in names if is_internal(name)]:
        yield f"no internal topics, because MirrorMaker never copies them: {some(internal)}"
    if excluded := [name for name in names if rules.excludes(name)]:
        yield f"no names that an exclude item matches: {some(excluded)}"
    if not names and not rules.patterns:
        yield "at least one name or pattern"
    if rules.excluded and not rules.patterns:
        yield "a pattern, from which exclude leaves topics out"
