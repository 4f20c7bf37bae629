"""Values of a migration file that are valid alone and cannot work together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kafka_migration.core.migration.engine_table import FIELDS, abilities_of
from kafka_migration.core.migration.patterns import matches
from kafka_migration.core.migration.settings import POLL_GRACE_S
from kafka_migration.core.text.terminal_text import duration

if TYPE_CHECKING:
    from kafka_migration.migration_file.models import MigrationModel

# The fields of `mirror` that only engines with a host have, and those of them that are seconds.
NEED_HOST = tuple(name.partition(".")[2] for name, (ability, _) in FIELDS.items() if ability == "needs_host")
DURATIONS = ("lease", "stop_grace")

Mistake = tuple[str, object, str]
"""The place of a value, the value, and what is expected there."""


def relation_mistakes(file: MigrationModel) -> Iterator[Mistake]:
    """Yield the values that do not fit to other ones; a value with several bad relations once."""
    yield from _fields_of_other_engines(file)
    yield from _connections(file)
    yield from _partitions(file)
    yield from _times(file)
    yield from _groups(file)


def _fields_of_other_engines(file: MigrationModel) -> Iterator[Mistake]:
    """Yield fields of `mirror` that the file gives and the engine lacks; `null` is no value."""
    row, mirror = abilities_of(file.mirror.engine), file.mirror
    for field in sorted(mirror.model_fields_set & {*NEED_HOST}):
        value, reason = getattr(mirror, field), row.why_no_field(f"mirror.{field}")
        if value is not None and reason:
            yield (
                f"mirror.{field}",
                duration(value) if field in DURATIONS else value,
                f"no such field, because {reason}",
            )


def _partitions(file: MigrationModel) -> Iterator[Mistake]:
    for index, item in enumerate(file.topics):
        if item.partitions is not None and (reason := abilities_of(file.mirror.engine).chooses_partitions.why_not):
            yield f"topics.{index}.partitions", item.partitions, f"no such field, because {reason}"


def _connections(file: MigrationModel) -> Iterator[Mistake]:
    """Yield a connection id that would need two types, or that would be source and target."""
    if file.source.connection == file.target.connection:
        yield "target.connection", file.target.connection, "another connection than source.connection"
    kinds = {
        "source.connection": (file.source.connection, "kafka"),
        "target.connection": (file.target.connection, "kafka"),
        "mirror.connection": (file.mirror.connection, _mirror_kind(file)),
        "validation.spark_connection": (file.validation.spark_connection, "spark"),
    }
    if file.schema_registry is not None:
        kinds["schema_registry.source"] = (file.schema_registry.source, "http")
        kinds["schema_registry.target"] = (file.schema_registry.target, "http")
    first: dict[str, tuple[str, str]] = {}
    for place, (connection, kind) in kinds.items():
        other, expected = first.setdefault(connection, (place, kind))
        if kind != expected:
            yield place, connection, f"a connection of type {kind}; {other} uses this one with type {expected}"


def _mirror_kind(file: MigrationModel) -> str:
    return "ssh" if abilities_of(file.mirror.engine).needs_host else "http"


def _times(file: MigrationModel) -> Iterator[Mistake]:
    """Yield times that end before the watch can see anything: between two polls, it may be blind for this long."""
    poll_s, quiet_s = file.watch.poll_interval, file.cutover.fence_quiet
    blind_s = int(2 * poll_s + POLL_GRACE_S)
    least = {
        "mirror.lease": (file.mirror.lease if abilities_of(file.mirror.engine).needs_host else None, blind_s),
        "watch.stall_after": (file.watch.stall_after, blind_s),
        "watch.time_limit": (file.watch.time_limit, blind_s),
        "cutover.fence_wait": (file.cutover.fence_wait, quiet_s + blind_s),
        "cutover.drain_groups": (file.cutover.drain_groups, blind_s),
        "nightly.wait_limit": (file.nightly.wait_limit if file.nightly else None, blind_s),
    }
    short = {place: each for place, each in least.items() if each[0] is not None and each[0] < each[1]}
    if len(short) > 1 and all(value is not None and value < blind_s for value, _ in short.values()):
        expected = f"a time so short that twice of it and 10s fit into {' and '.join(short)}"
        yield "watch.poll_interval", duration(poll_s), expected
        return
    for place, (value, limit) in short.items():
        why = f"twice watch.poll_interval ({duration(poll_s)}) and 10s"
        why += f", after cutover.fence_quiet ({duration(quiet_s)})" if limit != blind_s else ""
        yield place, duration(value or 0), f"at least {duration(limit)}: {why}"


def _groups(file: MigrationModel) -> Iterator[Mistake]:
    """Yield permissions of groups that the cutover does not move, such as a misspelled name."""
    for field in ("may_be_active", "may_rewind"):
        for index, group in enumerate(getattr(file.cutover, field)):
            if not matches(group, file.cutover.groups):
                yield f"cutover.{field}.{index}", group, "a group that a pattern of cutover.groups matches"
