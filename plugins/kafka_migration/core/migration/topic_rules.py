"""The topics of a migration: exact names, and patterns that are resolved against the topics of the source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.kafka.reserved_topics import is_topic_name, reserved_reason
from kafka_migration.core.migration.patterns import matcher, matches
from kafka_migration.core.text.quoting import quoted

RuleKind = Literal["name", "pattern", "exclude"]


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """How the topics of a rule are created and compared; `None` means as the source, the file or the clusters say.

    `configs` are topic settings on the target; `None` as a value leaves a setting of the source out, so that the
    default of the target applies.
    """

    partitions: int | None = None
    replication_factor: int | None = None
    configs: Mapping[str, str | None] = field(default_factory=dict)
    compacted: bool | None = None
    timestamps: bool | None = None


AS_USUAL = TopicSettings()
IMPOSSIBLE = "no topic can have this name"
# How many of these names are shown; a source that lies may list any number.
MOST_IMPOSSIBLE = 20


@dataclass(frozen=True, slots=True)
class TopicRule:
    """One item of `topics`: a name, or a regular expression for whole names that are taken or excluded."""

    kind: RuleKind
    text: str
    settings: TopicSettings = AS_USUAL

    def applies_to(self, topic: str) -> bool:
        """Return whether the item names the topic or its pattern matches it."""
        return topic == self.text if self.kind == "name" else matches(topic, (self.text,))


@dataclass(frozen=True)
class TopicRules:
    """The items of `topics`, in the order of the file."""

    rules: tuple[TopicRule, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The exact names."""
        return tuple(rule.text for rule in self.rules if rule.kind == "name")

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """The regular expressions of topics that are taken."""
        return tuple(rule.text for rule in self.rules if rule.kind == "pattern")

    @property
    def taken(self) -> tuple[str, ...]:
        """The names and patterns, in the order of the file."""
        return tuple(rule.text for rule in self.rules if rule.kind != "exclude")

    @cached_property
    def excluded(self) -> tuple[str, ...]:
        """The regular expressions of topics that are not taken."""
        return tuple(rule.text for rule in self.rules if rule.kind == "exclude")

    def settings_of(self, topic: str) -> TopicSettings:
        """Return the settings of the first item that applies to the topic."""
        found = (rule.settings for rule in self._with_settings if rule.applies_to(topic))
        return next(found, AS_USUAL) if self._with_settings else AS_USUAL

    @cached_property
    def _with_settings(self) -> tuple[TopicRule, ...]:
        """The items that take topics; none if no item has settings."""
        taking = tuple(rule for rule in self.rules if rule.kind != "exclude")
        return taking if any(rule.settings != AS_USUAL for rule in taking) else ()

    def takes(self, topic: str) -> bool:
        """Return whether the topic belongs to the migration, by its name or by a pattern."""
        return topic in self.name_set or self.finds(topic)

    def finds(self, topic: str) -> bool:
        """Return whether a pattern takes the topic."""
        return self.matches(topic) and not reserved_reason(topic)

    def matches(self, topic: str) -> bool:
        """Return whether a pattern matches the topic and none excludes it."""
        return bool(self.patterns) and matches(topic, self.patterns) and not self.excludes(topic)

    def excludes(self, topic: str) -> bool:
        """Return whether an exclusion matches the topic."""
        return matches(topic, self.excluded)

    @cached_property
    def name_set(self) -> frozenset[str]:
        """The exact names as a set."""
        return frozenset(self.names)


@dataclass(frozen=True, slots=True)
class TopicList(Document):
    """The topics of a run, after the patterns were compared with the topics of the source.

    `topics` are the exact names of the file in its order, then the matches by name. `new` are matches that no run has
    copied so far, if any run has copied. `vanished` are topics that a run copied, that still match, and that the
    source no longer has. `left_out` are matches that belong to Kafka or another tool, and (quoted) names that Kafka
    forbids, with the reason. `unmatched` are patterns that match no topic.
    """

    topics: tuple[str, ...]
    new: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    unmatched: tuple[str, ...] = ()


def resolve(
    rules: TopicRules, listed: Collection[str], copied: Collection[str], *, takes_new: bool = True
) -> TopicList:
    """Return the topics of a run.

    :param listed: all topics of the source that the login may describe
    :param copied: the topics that earlier runs copied
    :param takes_new: whether matches that no run has copied are taken; not after the last cutover
    """
    is_taken, is_excluded = matcher(rules.patterns), matcher(rules.excluded)
    named = rules.name_set
    matching = sorted(name for name in listed if is_taken(name) and name not in named and not is_excluded(name))
    there = [name for name in matching if is_topic_name(name)]
    left_out = {name: reason for name in there if (reason := reserved_reason(name))}
    found = [name for name in there if name not in left_out and (takes_new or name in copied)]
    vanished = tuple(sorted(name for name in copied if name not in listed and rules.finds(name)))
    return TopicList(
        topics=(*rules.names, *found),
        new=tuple(name for name in found if copied and name not in copied),
        vanished=vanished,
        left_out={**left_out, **_impossible([name for name in matching if not is_topic_name(name)])},
        unmatched=_unmatched(rules.patterns, (*rules.names, *found, *vanished)) if takes_new else (),
    )


def _impossible(names: list[str]) -> dict[str, str]:
    """Return the first names that Kafka forbids, quoted, and the number of the others, with the reason."""
    more = [f"{len(names) - MOST_IMPOSSIBLE:,} more names"] if len(names) > MOST_IMPOSSIBLE else []
    return dict.fromkeys([*map(quoted, names[:MOST_IMPOSSIBLE]), *more], IMPOSSIBLE)


def _unmatched(patterns: Iterable[str], topics: Collection[str]) -> tuple[str, ...]:
    return tuple(pattern for pattern in patterns if not any(matches(topic, (pattern,)) for topic in topics))
