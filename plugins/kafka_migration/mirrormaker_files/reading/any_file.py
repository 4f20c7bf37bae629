"""Which kind of file a text is, and its settings."""

from __future__ import annotations

import re

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.text.brief import brief
from kafka_migration.core.text.secret_forms import LONGEST_NAME, masked
from kafka_migration.mirrormaker_files.model.judging import refusal
from kafka_migration.mirrormaker_files.model.limits import MOST_SETTINGS, TooMany, require_few, require_small
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile
from kafka_migration.mirrormaker_files.reading.connectors import CLASS, connector_properties_file, connectors_file
from kafka_migration.mirrormaker_files.reading.documents import WrongDocument
from kafka_migration.mirrormaker_files.reading.mirrormaker1 import COMMAND, client_file, command_file
from kafka_migration.mirrormaker_files.reading.mirrormaker2 import mirrormaker2_file
from kafka_migration.mirrormaker_files.reading.properties import Entry, entries
from kafka_migration.mirrormaker_files.reading.strimzi import strimzi_file

_STRIMZI = re.compile(r"^[ \t]*kind:[ \t]*[\"']?KafkaMirrorMaker", re.MULTILINE)
_CONSUMER_KEYS = frozenset(
    {
        "group.id",
        "auto.offset.reset",
        "exclude.internal.topics",
        "partition.assignment.strategy",
        "zookeeper.connect",
        "enable.auto.commit",
    }
)
_PRODUCER_KEYS = frozenset(
    {
        "acks",
        "retries",
        "linger.ms",
        "batch.size",
        "compression.type",
        "max.in.flight.requests.per.connection",
        "max.request.size",
        "producer.type",
        "metadata.broker.list",
        "request.required.acks",
    }
)


def read_mirror_file(name: str, text: str, kind: FileKind | None = None) -> MirrorFile:
    """Return the settings of a file; without `kind` the content decides.

    Raises `Refused` with `MIRROR_FILE_UNREADABLE` for a text that is of no known kind, or not of the given kind.
    """
    kind = kind or kind_of(name, text)
    if kind is None:
        raise Refused([_unreadable(name, "a file of an unknown kind", "Name its kind with --kind.")])
    try:
        file = _read(masked(name), text, kind)
        require_small(file)
    except TooMany as error:
        raise Refused([_too_large(name, error)]) from None
    except ValueError as error:
        raise Refused([_unreadable(name, f"no {kind.words}: {brief(str(error))}", "Correct it, or --kind.")]) from None
    return file


def kind_of(name: str, text: str) -> FileKind | None:
    """Return the kind of a file from its content and, for client properties, its name; `None` if it is unknown."""
    if text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["}:
        return FileKind.CONNECTORS
    if _STRIMZI.search(text):
        return FileKind.STRIMZI
    if any(map(_is_command, text.split("\n"))):
        return FileKind.COMMAND
    return _kind_of_properties(name, entries(text))


def _is_command(line: str) -> bool:
    """Return whether MirrorMaker's program is followed by an option or the end of the line, before any `=` or `:`."""
    if not COMMAND.search(line):
        return False
    code, comment, _ = line.partition("#")
    parts = re.split("[=:]", code)
    found = [(COMMAND.search(part), part, part is parts[-1] and not comment) for part in parts]
    return any(match and (is_end or "--" in part[match.end() :]) for match, part, is_end in found)


def _kind_of_properties(name: str, found: list[Entry]) -> FileKind | None:
    names = {entry.name for entry in found}
    if "clusters" in names or any("->" in each or each.startswith("replication.policy.") for each in names):
        return FileKind.MIRRORMAKER2
    if CLASS in names:
        return FileKind.CONNECTORS
    consumer, producer = len(names & _CONSUMER_KEYS), len(names & _PRODUCER_KEYS)
    if consumer != producer:
        return FileKind.CONSUMER if consumer > producer else FileKind.PRODUCER
    if "bootstrap.servers" in names:
        return next((kind for kind in _CLIENT_FILES if kind.value.rpartition("-")[2] in name.lower()), None)
    return None


_CLIENT_FILES = (FileKind.CONSUMER, FileKind.PRODUCER)


def _read(name: str, text: str, kind: FileKind) -> MirrorFile:
    if kind is FileKind.STRIMZI:
        return strimzi_file(name, text)
    if kind is FileKind.COMMAND:
        return command_file(name, text)
    if kind is FileKind.CONNECTORS and text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["}:
        return connectors_file(name, text.removeprefix("\ufeff"))
    found = entries(text)
    require_few(found, MOST_SETTINGS, "settings")
    for entry in found:
        require_few(entry.name, LONGEST_NAME, "characters in the name of a setting")
    if kind is FileKind.CONNECTORS:
        if not any(entry.name == CLASS for entry in found):
            raise WrongDocument(f"no key {CLASS}")
        return connector_properties_file(name, found)
    return mirrormaker2_file(name, found) if kind is FileKind.MIRRORMAKER2 else client_file(name, kind, found)


def _too_large(name: str, error: TooMany) -> Finding:
    remedy = "Split the file, or remove what MirrorMaker ignores."
    return refusal(Code.MIRROR_FILE_UNREADABLE, name, str(error), error.expected, remedy)


def _unreadable(name: str, found: str, remedy: str) -> Finding:
    return refusal(
        Code.MIRROR_FILE_UNREADABLE,
        name,
        found,
        ", ".join(kind.words for kind in FileKind),
        remedy,
    )
