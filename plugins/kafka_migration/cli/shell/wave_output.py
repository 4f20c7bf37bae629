"""Waves as lines of text and as one JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from kafka_migration.cli.shell.output import JsonObject, aligned
from kafka_migration.core.waves.wave_file import Names, readers, reasons, remarks, size_of
from kafka_migration.core.waves.wave_plan import GroupReads, Wave, WavePlan, some

WAVES_SCHEMA = 1
HEADS = ("WAVE", "TOPICS", "PARTITIONS", "RECORDS", "GROUPS", "ACTIVE", "FIRST TOPIC")


def waves_document(
    plan: WavePlan,
    called: Sequence[str],
    names: Names,
    not_known: Sequence[str],
    at: datetime,
    written: Iterable[Path],
) -> JsonObject:
    """Return the waves as plain JSON values."""
    return {
        "schema": WAVES_SCHEMA,
        "at": at.isoformat(timespec="seconds"),
        "source": names.source,
        "target": names.target,
        "waves": [_wave_document(name, wave) for name, wave in zip(called, plan.waves, strict=True)],
        "elsewhere": dict(plan.elsewhere),
        "left_out": dict(plan.left_out),
        "ignored_groups": {each.group: sorted(each.topics) for each in plan.ignored},
        "immovable_groups": {each.group: each.kind for each in plan.immovable},
        "not_known": list(not_known),
        "written": [str(path) for path in written],
    }


def _wave_document(name: str, wave: Wave) -> JsonObject:
    return {
        "name": name,
        "topics": list(wave.topics),
        "parts": wave.parts,
        "is_read": wave.is_read,
        "partitions": wave.partitions,
        "records_at_most": wave.records,
        "groups": [_group_document(each) for each in wave.groups],
        "ignored_groups": list(wave.ignored),
        "transactional_ids": list(wave.transactional_ids),
        "transactional_ids_that_commit_offsets": list(wave.committing),
        "joined_by": [{"kind": join.kind, "name": join.name, "topics": list(join.topics)} for join in wave.joins],
        "elsewhere": dict(wave.elsewhere),
        "streams_topics": list(wave.streams),
        "split": wave.split
        and {"without": list(wave.split.groups), "parts": wave.split.parts, "largest": wave.split.largest},
    }


def _group_document(group: GroupReads) -> JsonObject:
    return {
        "group": group.group,
        "kind": group.kind,
        "is_movable": group.is_movable,
        "is_active": group.is_active,
        "topics": sorted(group.topics),
        "not_known": group.not_known or None,
    }


def waves_lines(
    plan: WavePlan, called: Sequence[str], names: Names, not_known: Sequence[str], written: Iterable[Path]
) -> list[str]:
    """Return a table of the waves, details of the waves that need them, and everything that is in no wave."""
    topics = sum(len(wave.topics) for wave in plan.waves)
    head = [("Source", names.source), ("Target", names.target)]
    lines = aligned([*head, ("Waves", f"{len(called):,}, of {topics:,} topics")])
    if called:
        lines += ["", *aligned([HEADS, *(_row(name, wave) for name, wave in zip(called, plan.waves, strict=True))])]
    for name, wave in zip(called, plan.waves, strict=True):
        if len(wave.topics) > 1 or not wave.is_read or any(remarks(wave)):
            lines += ["", *_wave_lines(name, wave)]
    lines += _rest(plan, not_known)
    return [*lines, *_written_lines(written)]


def _row(name: str, wave: Wave) -> tuple[str, ...]:
    active = [each.is_active for each in wave.groups]
    return (
        name,
        f"{len(wave.topics):,}",
        f"{wave.partitions:,}",
        "unknown" if wave.records is None else f"{wave.records:,}",
        f"{len(wave.groups):,}",
        "unknown" if None in active else f"{sum(map(bool, active)):,}",
        some(wave.topics, 1),
    )


def _wave_lines(name: str, wave: Wave) -> Iterator[str]:
    yield f"{name}: {size_of(wave)}"
    rows = [("Topics", some(wave.topics)), ("Groups", readers(wave.groups))]
    if wave.transactional_ids:
        rows.append(("Transactions", some(wave.transactional_ids)))
    for label, texts in (("Why", reasons(wave)), ("Note", remarks(wave))):
        rows += [("" if number else label, text) for number, text in enumerate(texts)]
    yield from (f"  {line}" for line in aligned(rows))


def _rest(plan: WavePlan, not_known: Sequence[str]) -> Iterator[str]:
    immovable = [each.words for each in plan.immovable]
    yield from _section("Ignored groups", [some([each.group for each in plan.ignored])] if plan.ignored else [])
    yield from _section("Groups that no cutover can move", [some(immovable)] if immovable else [])
    yield from _section("Topics not proposed", _by_reason(plan.elsewhere))
    yield from _section("Topics that belong to no application", _by_reason(plan.left_out))
    yield from _section("Unknown; waves may lack topics or groups", not_known)


def _by_reason(topics: Mapping[str, str]) -> Iterator[str]:
    for reason in sorted(set(topics.values())):
        yield f"{some([topic for topic, why in topics.items() if why == reason])}: {reason}"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    indented = [f"  {line}" for line in lines]
    yield from ["", title, *indented] if indented else []


def _written_lines(written: Iterable[Path]) -> Iterator[str]:
    yield from _section("Written; read each before you use it", map(str, written))
