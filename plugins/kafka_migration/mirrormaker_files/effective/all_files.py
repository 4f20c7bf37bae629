"""Who reads the files that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_migration.mirrormaker_files.effective.connect import connect_readers
from kafka_migration.mirrormaker_files.effective.dedicated import Dedicated
from kafka_migration.mirrormaker_files.effective.kafka_version import kafka_version
from kafka_migration.mirrormaker_files.effective.mirrormaker1_clients import mirrormaker1_readers
from kafka_migration.mirrormaker_files.effective.readers import Effective, Readers
from kafka_migration.mirrormaker_files.effective.strimzi_config import strimzi_readers
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile


def readers_of(files: Sequence[MirrorFile], version: str = "") -> Readers:
    """Return all readers of files. `version` is the Kafka version of MirrorMaker; an empty one means the latest."""
    return Readers(tuple(_readers(files, version)))


def _readers(files: Sequence[MirrorFile], version: str) -> Iterator[Effective]:
    for file in files:
        kafka = kafka_version(version or file.kafka_version)
        if file.kind is FileKind.MIRRORMAKER2:
            yield from Dedicated(file, kafka).readers()
        elif file.kind is FileKind.STRIMZI:
            yield from strimzi_readers(file, kafka)
        else:
            yield from mirrormaker1_readers(file)
    yield from connect_readers(files, kafka_version(version))
