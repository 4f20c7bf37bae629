"""The migration file and the connections for what MirrorMaker files do, and the use of each of their settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_migration.core.discovery.connections_to_create import (
    ConnectionToCreate,
    connect_connection,
    mirror_host_connection,
)
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.migration_text import NO_GROUP, Remarked, Value, cluster_section, migration_text
from kafka_migration.core.text.shortened import some
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile
from kafka_migration.mirrormaker_import.chosen_flow import chosen_command, chosen_flow, not_imported
from kafka_migration.mirrormaker_import.flow_readers import CHECKPOINTS, CONNECTOR, FlowReaders, readers_of_flow
from kafka_migration.mirrormaker_import.import_checks import ImportCheck, checks_of
from kafka_migration.mirrormaker_import.imported_connections import insecurities_of
from kafka_migration.mirrormaker_import.imported_flow import ImportChoices, ImportedFlow, require_no_secret
from kafka_migration.mirrormaker_import.imported_names import TopicChoice
from kafka_migration.mirrormaker_import.key_uses import KeyUse, KeyUses
from kafka_migration.mirrormaker_import.line_values import plain
from kafka_migration.mirrormaker_import.on_connect import CONNECT, connect_section, is_on_connect

_MIRROR = "org.apache.kafka.connect.mirror."
# The classes that read the lists of topics and groups, by the option that replaces such a list.
_FILTERS = {
    "topics": (CONNECTOR, "topic.filter.class", f"{_MIRROR}DefaultTopicFilter"),
    "groups": (CHECKPOINTS, "group.filter.class", f"{_MIRROR}DefaultGroupFilter"),
}


@dataclass(frozen=True, slots=True)
class Imported:
    """The text of a migration file, the connections to create, the use of every setting, and what to check."""

    text: str
    connections: tuple[ConnectionToCreate, ...]
    uses: tuple[KeyUse, ...]
    checks: tuple[ImportCheck, ...]


_WITHOUT_SETTINGS = frozenset({FileKind.START, FileKind.VARIABLES, FileKind.LOGINS})
_NO_CHOICES = ImportChoices()
_MIRROR_HOST = mirror_host_connection("mirror_host")


def import_files(
    files: Sequence[MirrorFile], name: str, flow: str | None = None, choices: ImportChoices = _NO_CHOICES
) -> Imported:
    """Return the migration of one flow.

    Raises `Refused` with `MIRROR_FILE_NOT_IMPORTED` if the flow is not clear, or what it copies cannot be expressed.
    """
    files = _with_settings(files)
    chosen = chosen_flow(files, flow)
    require_no_secret(files[0].name, chosen.flow.ends)
    command = chosen_command(files, choices.command, has_topics=choices.topics is not None)
    readers = readers_of_flow(files, chosen, command, choices.kafka_version)
    _require_lists(readers, choices, str(chosen.flow))
    on_connect = not choices.to_mirrormaker2 and is_on_connect(files)
    uses = KeyUses(files, chosen.flow, readers, frozenset(choices.lists), command, on_connect)
    found = ImportedFlow(name, files, chosen, readers, uses, choices)
    text = file_text(found)
    mirror = connect_connection(CONNECT) if on_connect else _MIRROR_HOST
    return Imported(text, (*found.clusters, mirror), tuple(uses.uses()), checks_of(found))


def _with_settings(files: Sequence[MirrorFile]) -> list[MirrorFile]:
    """Return the files without commands of MirrorMaker 2 and Connect, which have no settings."""
    found = [file for file in files if file.kind not in _WITHOUT_SETTINGS]
    if files and not found:
        remedy = "Name the file of settings that the command starts."
        is_command = files[0].kind is FileKind.START
        text = "a command without settings" if is_command else f"only {files[0].kind.words}"
        raise Refused([not_imported(files[0].name, text, "settings of MirrorMaker", remedy)])
    return found


def _require_lists(readers: FlowReaders, choices: ImportChoices, flow: str) -> None:
    """Refuse a class of others that decides about topics or groups, unless their list is given."""
    for key, (role, filter_key, usual) in _FILTERS.items():
        found = readers.line(role, filter_key)
        if found and plain(found) != usual and key not in choices.lists:
            text = f"{filter_key} on line {found.line}, a class whose {key} are not known"
            raise Refused([not_imported(flow, text, f"the {key}", f"Give the names and patterns with --{key}.")])


def file_text(found: ImportedFlow) -> str:
    """Return the text of the migration file."""
    origin = some(list(dict.fromkeys(file.name for file in found.files)))
    remark = f"The flow {found.chosen.flow} of {origin}. `kafka-migration schema` lists every field."
    return migration_text(_fields(found), [remark])


def _fields(found: ImportedFlow) -> dict[str, Value]:
    # The first part that cannot be expressed refuses the import.
    mirror, names = _mirror(found), found.names
    topics, groups = _topics(found.topics), found.groups
    source, target = ((each.name, insecurities_of(each)) for each in found.clusters)
    return {
        "name": found.name,
        "source": cluster_section(*source, alias=names.alias or None),
        "target": cluster_section(*target, replication_factor=found.values.replication_factor),
        "topics": topics,
        "mirror": mirror,
        "validation": {"spark_connection": "spark"},
        "cutover": {"groups": _groups(groups)} if groups else None,
    }


def _groups(groups: tuple[str, ...]) -> Value:
    return Remarked(groups, "matches no group") if groups == (NO_GROUP,) else groups


def _topics(topics: TopicChoice) -> list[Value]:
    names: list[Value] = [item.text for item in topics.items if item.is_name]
    patterns: list[Value] = [{"pattern": item.text} for item in topics.items if not item.is_name]
    # They matter only beside patterns.
    exclusions = topics.exclusions if topics.has_patterns else ()
    return [*names, *patterns, *({"exclude": item.regex} for item in exclusions)]


def _mirror(found: ImportedFlow) -> dict[str, Value]:
    values, engine = found.values, found.engine
    is_on_connect = engine == "connect"
    return {
        "engine": engine,
        "connection": CONNECT if is_on_connect else _MIRROR_HOST.name,
        "isolation_level": values.isolation_level,
        "tasks": values.tasks,
        "heap_mb": values.heap_mb,
        "exactly_once": values.exactly_once,
        "topic_names": {"naming": "prefixed"} if found.names.naming == "prefixed" else None,
        "properties": dict(sorted(values.properties.items())) or None,
        "connect": connect_section(values) if is_on_connect else None,
    }
