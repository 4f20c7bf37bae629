"""Which kind of file a text is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kafka_migration.core.text.regex import regex
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.formats.properties_reader import Entry, entries
from kafka_migration.mirrormaker_files.model.command_options import PROGRAM
from kafka_migration.mirrormaker_files.model.jaas import is_login_file
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind
from kafka_migration.mirrormaker_files.model.readers_of_keys import CLASS, OLD_KEYS, STORAGE_TOPICS

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
# Keys that only workers of Connect have; a client file has none of them.
_WORKER_KEYS = frozenset(
    {
        *STORAGE_TOPICS,
        "offset.storage.file.filename",
        "offset.flush.interval.ms",
        "plugin.path",
    }
)
_START = "\ufeff \t\r\n"
_JSON = regex(r"\{|\[\s*(?:[{\[\]\"]|\Z)")
# A resource of Kubernetes, or a Compose file with or without `services`.
_MANIFEST = regex(
    r"^[ \t-]{0,8}[\"']?kind[\"']?:[ \t]{0,20}[\"']?[A-Z]|^services:[ \t]{0,20}\r?$|"
    r"^[ \t]{1,8}(?:image|build|entrypoint):[ \t]",
    re.MULTILINE,
)
# The program of MirrorMaker or Connect, and what shows that it is called: an option, a file, a continued line, or
# nothing before it.
_CALLED = regex(rf"(?:^|[\s/\\\"'=\[])(?:{PROGRAM})[\"']?(?=[\s,\]]|$)")
_OPTION = regex(r"[\s\"',](?:--?[a-z]|\$|[\w./\\:~-]{0,300}\.(?:properties|config|conf|cfg|json)\b)|[\\^]\s{0,20}$")
_ALONE = regex(
    rf"\s*(?:(?:exec|nohup|CMD|ENTRYPOINT)\s{{1,9}}\[?|(?:ExecStart|command)\s{{0,9}}=)?[\"$\w{{}}./\\-]{{0,300}}(?:{PROGRAM})\"?\]?\s*&?\s*"
)
_CLIENT_FILES = (FileKind.CONSUMER, FileKind.PRODUCER)


def kind_of(name: str, text: str) -> FileKind | None:
    """Return the kind of a file from its content and, for client properties, its name; `None` if it is unknown."""
    if is_json(text):
        return FileKind.CONNECTORS
    is_script = text.lstrip(_START).startswith("#!")
    if _MANIFEST.search(text) and not is_script:
        return FileKind.STRIMZI
    if is_script or any(map(_is_command, text.split("\n"))):
        return FileKind.COMMAND
    return FileKind.LOGINS if is_login_file(text) else kind_of_properties(name, entries(text))


def is_json(text: str) -> bool:
    """Return whether a text starts like JSON; a section such as `[Unit]` is none."""
    return _JSON.match(text.lstrip(_START)) is not None


def _is_command(line: str) -> bool:
    code = line.partition(" #")[0]
    match = None if code.lstrip().startswith(("#", "//")) else _CALLED.search(code)
    return match is not None and (bool(_OPTION.search(code, match.end())) or _ALONE.fullmatch(code) is not None)


def kind_of_properties(name: str, found: Sequence[Entry]) -> FileKind | None:
    """Return the kind of properties; `None` if it is unknown."""
    names = {entry.name for entry in found}
    if "clusters" in names:
        return FileKind.MIRRORMAKER2
    if CLASS in names:
        return FileKind.CONNECTORS
    if any("->" in each or each.startswith("replication.policy.") for each in names):
        return FileKind.MIRRORMAKER2
    if names & _WORKER_KEYS:
        return FileKind.WORKER
    return _client_kind(name.lower(), names)


def _client_kind(name: str, names: set[str]) -> FileKind | None:
    """Return which client a file is for: what its name says if it has keys of clients, or most of its keys."""
    named = [kind for kind in _CLIENT_FILES if kind.value.rpartition("-")[2] in name]
    if len(named) == 1 and any(_is_of_client(each) for each in names):
        return named[0]
    consumer, producer = len(names & _CONSUMER_KEYS), len(names & _PRODUCER_KEYS)
    if consumer != producer:
        return FileKind.CONSUMER if consumer > producer else FileKind.PRODUCER
    return None


def _is_of_client(key: str) -> bool:
    return key in OLD_KEYS or bool({"consumer", "producer"} & set(kafka_keys().roles_of(key)))
