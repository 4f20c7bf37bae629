"""Whether the target's schema registry gives each id in the copied records the schema that the source's gives it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.schema_registry import Schema
from kafka_migration.core.ledger.generations import PartIds
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Part, SchemaRegistrySettings
from kafka_migration.core.text.shortened import some

PARTS: tuple[Part, ...] = get_args(Part)
# The Spark job collects no ids from here on.
LARGE = 1 << 20
_TopicPart = tuple[str, Part]
Schemas = Mapping[int, Schema | None]
"""The schemas of a registry by id; `None` if it has none of this id."""


@dataclass(frozen=True, slots=True)
class SchemaFindings:
    """The findings about the schemas of a topic: those that stop the run, and warnings."""

    wrong: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()


def parts_of(settings: SchemaRegistrySettings | None, topics: Iterable[str]) -> dict[str, tuple[Part, ...]]:
    """Return the parts of each topic's records that may begin with ids; no topics without the section."""
    if settings is None:
        return {}
    found = {topic: settings.parts.get(topic, PARTS) for topic in topics}
    return {topic: parts for topic, parts in found.items() if parts}


def known_ids(ledger: Ledger, wanted: Mapping[str, Collection[Part]]) -> dict[str, tuple[PartIds, ...]]:
    """Return all ids that any validation found in the wanted parts, by topic."""
    found: defaultdict[_TopicPart, list[PartIds]] = defaultdict(list)
    for each in ledger.schema_ids:
        for part in each.parts:
            found[part.topic, part.part].append(part)
    return {
        topic: tuple(_together(topic, part, found[topic, part]) for part in parts) for topic, parts in wanted.items()
    }


def _together(topic: str, part: Part, of: Collection[PartIds]) -> PartIds:
    ids = tuple(sorted({schema_id for each in of for schema_id in each.ids}))
    return PartIds(topic, part, ids, any(each.large for each in of), any(each.too_many for each in of))


def unread_generations(ledger: Ledger, wanted: Mapping[str, Collection[Part]]) -> dict[str, list[int]]:
    """Return, by topic, the judged generations whose records were not all read for the ids in the wanted parts."""
    read: defaultdict[_TopicPart, set[int]] = defaultdict(set)
    for each in ledger.schema_ids:
        for part in each.parts:
            if part.complete:
                read[part.topic, part.part].update(each.generations.get(part.topic, ()))
    judged = _judged_generations(ledger)
    return {
        topic: sorted({n for part in parts for n in judged[topic] - read[topic, part]})
        for topic, parts in wanted.items()
    }


def _judged_generations(ledger: Ledger) -> defaultdict[str, set[int]]:
    """Return the judged generations by topic; a judgement of several generations may concern only one of a topic's."""
    own: defaultdict[str, set[int]] = defaultdict(set)
    judged: defaultdict[str, set[int]] = defaultdict(set)
    for generation in ledger.generations:
        for topic in generation.topics:
            own[topic].add(generation.number)
    for judgement in ledger.judgements:
        for topic in judgement.topics:
            judged[topic] |= own[topic].intersection(judgement.generations)
    return judged


def schema_findings(
    topic: str, parts: Iterable[PartIds], source: Schemas, target: Schemas, unread: Collection[int], *, strict: bool
) -> SchemaFindings:
    """Compare the schemas of all ids in a topic.

    :param unread: the generations whose ids are unknown
    :param strict: whether unknown ids stop the run, because consumers are about to read all records
    """
    found = tuple(parts)
    wrong = tuple(f for part in found for f in _wrong(part, source, target))
    unknown = tuple(f for part in found for f in _unknown(part, source))
    unknown += (_unread(topic, unread),) if unread else ()
    return SchemaFindings((*wrong, *unknown)) if strict else SchemaFindings(wrong, unknown)


def _wrong(part: PartIds, source: Schemas, target: Schemas) -> Iterator[Finding]:
    pairs = {i: (ours, target.get(i)) for i in part.ids if (ours := source.get(i)) is not None}
    missing = [i for i, (_, theirs) in pairs.items() if theirs is None]
    other = [i for i, (ours, theirs) in pairs.items() if theirs is not None and not ours.is_same_as(theirs)]
    if missing:
        yield Finding(
            Code.SCHEMA_MISSING,
            _subject(part),
            f"records with {_ids(missing)}, which the target's registry does not have",
            "the schema that the source's registry gives the same id",
            f"Copy the schemas with their ids to the target's registry, and grant the user of the registry's Airflow "
            f"connection the right to read them. Then clear the task judge with its downstream tasks. {_if_none(part)}",
            happened=f"The copied {part.part}s of topic {part.topic} have {_ids(missing)}, which the target's registry "
            "does not have, or does not show to the user of its connection.",
            matters="Consumers that ask the target's registry for these schemas cannot read the records.",
        )
    if other:
        yield Finding(
            Code.SCHEMA_DIFFERS,
            _subject(part),
            f"records with {_ids(other)}, to which the target's registry gives other schemas",
            "the schema that the source's registry gives the same id",
            f"Give the consumers a registry that was filled with the ids of the source's registry, and name it in "
            f"schema_registry.target. Then trigger a new run. {_if_none(part)}",
            happened=f"The copied {part.part}s of topic {part.topic} have {_ids(other)}, for which the two registries "
            "have different schemas.",
            matters="Consumers that ask the target's registry for these schemas would read the records wrongly or not "
            "at all.",
        )


def _unknown(part: PartIds, source: Schemas) -> Iterator[Finding]:
    without = [i for i in part.ids if source.get(i) is None]
    found = [f"records with {_ids(without)}, which the source's registry does not have"] if without else []
    found += [f"numbers of {LARGE:,} and more"] if part.large else []
    found += ["too many different numbers to compare them"] if part.too_many else []
    if found:
        yield Finding(
            Code.SCHEMA_IDS_UNKNOWN,
            _subject(part),
            "; ".join(found),
            "only ids of the source's registry",
            f"Check that schema_registry.source names the right registry, and that its user may read all schemas. Then "
            f"clear the task judge with its downstream tasks. {_if_none(part)}",
            happened=f"The {part.part}s of topic {part.topic} begin with numbers that look like schema ids and "
            f"cannot be compared: {'; '.join(found)}.",
            matters="Consumers that ask the target's registry may not be able to read these records.",
        )


def _if_none(part: PartIds) -> str:
    other = "value" if part.part == "key" else "key"
    return (
        f"If the {part.part}s have no schema ids, exclude them from this check (the records are copied all the same): "
        f"schema_registry.parts: {{{part.topic}: [{other}]}}."
    )


def _unread(topic: str, generations: Collection[int]) -> Finding:
    return Finding(
        Code.SCHEMA_IDS_NOT_READ,
        f"topic {topic}",
        f"generations {some([str(n) for n in generations])}, of which not all schema ids are known",
        "the ids of all records",
        "Trigger a run in mode validate, which reads the whole copy again.",
        happened=f"Not all schema ids of topic {topic} are known: those of generations "
        f"{some([str(n) for n in generations])} were not all read.",
        matters="A schema that the target's registry lacks may be among them, so consumers may not be able to read all "
        "records.",
    )


def _subject(part: PartIds) -> str:
    return f"topic {part.topic}, {part.part}s"


def _ids(ids: Collection[int]) -> str:
    return f"the schema id{'s' * (len(ids) > 1)} {some([str(each) for each in ids])}"
