"""Properties of the dedicated MirrorMaker 2 on which the package and Kafka's own classes must agree."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from kafka_migration.core.findings.errors import Refused
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from tests.unit.mirrormaker_files.planted import CLEAN, PLANTED
from tests.unit.mirrormaker_files.public_files import PUBLIC

# Aliases that are prefixes of each other, or that look like parts of keys.
ALIASES = ("a", "a.b", "a.b.c", "a-b", "old", "old.new", "producer", "source", "target", "x_1", "admin", "a->b")
# Each `{n}` becomes a number, so that it shows which of several lines counts.
_KEYS = (
    "bootstrap.servers=h{n}:9092",
    "bootstrap.servers=h{n}:9092, h4:9092 ",
    "security.protocol=SSL",
    "security.protocol=SASL_SSL ",
    "sasl.mechanism=PLAIN",
    "ssl.truststore.location=/t{n} ",
    "client.id=mine{n}",
    "acks={n}",
    "max.request.size={n}00 ",
    "auto.offset.reset=latest",
    "enable.auto.commit=true",
    "isolation.level=read_committed",
    "offset-syncs.topic.location=target",
    "offset-syncs.topic.location=source ",
    "replication.policy.separator=_{n} ",
    "replication.factor={n}",
    "topics=.*{n}",
    "groups=g{n}, g4",
    "enabled=true",
    "enabled=true ",
    "enabled=false",
    "enabled=TRUE",
    "emit.heartbeats.enabled=false",
    "emit.heartbeats.enabled=true",
    "offset.storage.topic=o{n}",
    "offset.storage.replication.factor={n}",
    "config.storage.replication.factor={n} ",
    "key.converter=org.apache.kafka.connect.storage.StringConverter",
    "header.converter=org.apache.kafka.connect.storage.SimpleHeaderConverter",
    "tasks.max={n}",
    "task.shutdown.graceful.timeout.ms={n}000",
    "worker.sync.timeout.ms={n}00",
    "group.id=mine{n}",
    "name=mine{n}",
    "cluster.alias=other{n}",
    "source.cluster.alias=other{n}",
    "target.cluster.alias= other{n} ",
    "unknown.key={n} ",
    "exactly.once.source.support=disabled",
    "exactly.once.source.support=enabled ",
    "enable.idempotence=false",
    "transactional.id=mine{n}",
    "topic.creation.enable=false",
    "offsets.storage.topic=own{n}",
)
_PREFIXES = (
    "",
    "",
    "producer.",
    "consumer.",
    "admin.",
    "source.",
    "target.",
    "source.producer.",
    "source.consumer.",
    "source.admin.",
    "target.producer.",
    "target.consumer.",
    "target.admin.",
    "source.cluster.",
    "target.cluster.",
    "producer.override.",
    "consumer.override.",
    "admin.override.",
    "consumers.",
    "administrator.",
)


def corpus(seed: int, generated: int) -> dict[str, MirrorFile]:
    """Return files by name: the public and the planted ones, and generated ones."""
    texts = [*_public(), *_everywhere(), *_generated(seed, generated)]
    found = (_read(f"{number:04}.properties", text) for number, text in enumerate(texts))
    return {file.name: file for file in found if file is not None}


def text_of(file: MirrorFile) -> str:
    """Return the file as properties that are plain for every reader."""
    return "".join(f"{_escaped(each.name)}={_escaped(each.value)}\n" for each in file.settings)


def _escaped(text: str) -> str:
    return "".join(each if each.isalnum() else f"\\u{ord(each):04x}" for each in text)


def _public() -> Iterator[str]:
    yield from (text for files in PUBLIC.values() for text in files.values())
    yield from (text for files in (*PLANTED.values(), *CLEAN.values()) for text in _texts(files))


def _texts(entry: object) -> Iterator[str]:
    """Yield the texts of an entry of the planted mistakes, however deep they are."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict):
        yield from (text for each in entry.values() for text in _texts(each))
    elif isinstance(entry, (tuple, list)):
        yield from (text for each in entry for text in _texts(each))


def _everywhere() -> Iterator[str]:
    """Yield for each key a file in which it stands at every place with another number."""
    places = [f"{owner}{prefix}" for owner in ("", "a.", "b.", "a->b.") for prefix in dict.fromkeys(_PREFIXES)]
    for key in _KEYS:
        lines = [f"{place}{key.replace('{n}', str(number))}" for number, place in enumerate(places, 10)]
        yield "\n".join(("clusters = a, b", *lines))


def _generated(seed: int, number: int) -> Iterator[str]:
    """Yield files in which few keys stand at many places, so that lines override each other."""
    chance = random.Random(seed)
    for _ in range(number):
        aliases, keys = chance.sample(ALIASES, chance.randint(2, 4)), chance.sample(_KEYS, 6)
        prefixes = ["", "", *chance.sample(_PREFIXES, 3)]
        lines = [f"clusters = {', '.join(aliases)}"]
        lines += [_line(chance, aliases, prefixes, keys) for _ in range(chance.randint(1, 40))]
        yield "\n".join(lines)


def _line(chance: random.Random, aliases: Sequence[str], prefixes: Sequence[str], keys: Sequence[str]) -> str:
    source, target = chance.choice(aliases), chance.choice(aliases)
    owner = chance.choice(("", "", f"{source}.", f"{target}.", f"{source}->{target}.", f"{source}->{target}."))
    return f"{owner}{chance.choice(prefixes)}{chance.choice(keys).replace('{n}', str(chance.randint(1, 9)))}"


def _read(name: str, text: str) -> MirrorFile | None:
    try:
        files = read_mirror_files(name, text)
    except Refused:
        return None
    return files[0] if len(files) == 1 and files[0].kind is FileKind.MIRRORMAKER2 else None
