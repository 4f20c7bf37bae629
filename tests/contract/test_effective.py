"""The effective configuration is the one that Kafka's own classes make, for every version in the jars."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kafka_migration.mirrormaker_files.effective.dedicated import Dedicated, own_name
from kafka_migration.mirrormaker_files.effective.layers import Layers, merged
from kafka_migration.mirrormaker_files.effective.mirror_readers import SOURCE, TARGET, MirrorClients, task_producer
from kafka_migration.mirrormaker_files.effective.readers import Given, kafka_version
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile
from kafka_migration.mirrormaker_files.model.readers_of_keys import CLASSES
from sandbox.jars import fetched_kafka
from tests.contract.effective_corpus import corpus, text_of
from tests.programs import run_java

pytestmark = pytest.mark.live

PROGRAM = Path(__file__).with_name("EffectiveMaps.java")
VERSIONS = ("3.9.1", "4.1.1", "4.2.0")
SEED, GENERATED = 46, 150

Maps = dict[str, dict[str, str]]


def of_kafka(version: str, folder: Path) -> dict[str, tuple[Maps, list[str]]]:
    """Return the maps of each file in a folder as Kafka makes them, and what it refuses to make."""
    printed = run_java("-XX:TieredStopAtLevel=1", "-cp", f"{fetched_kafka(version)}/libs/*", PROGRAM, folder)
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return {line["file"]: (line["maps"], line["refused"]) for line in lines}


def of_package(version: str, file: MirrorFile) -> Maps:
    """Return the maps of a file as the package makes them, with the names of the Java program."""
    made = Dedicated(file, kafka_version(version))
    return {name: as_strings(merged(layers)) for name, layers in _all(made)}


def as_strings(values: Mapping[str, Given]) -> dict[str, str]:
    """Return the values as they are in the file; Kafka makes the maps before it reads values."""
    return {key: _raw(key, given) for key, given in values.items()}


def _raw(key: str, given: Given) -> str:
    is_made = key == "client.id" and given.setting is not None and given.value.startswith(f"{given.setting.value}|")
    return given.setting.value if given.setting and not is_made else given.value


def _all(made: Dedicated) -> Iterator[tuple[str, Layers]]:
    for pair in made.pairs():
        worker = made.worker(pair)
        yield f"{pair} worker", worker
        for role, name in CLASSES.items():
            kind = name.removeprefix("Mirror").removesuffix("Connector")
            own = made.connector(pair, role)
            yield f"{pair} {kind}", own
            yield f"{pair} {kind} producer", task_producer(worker, own, made.kafka, "text")
            clients = MirrorClients(own, made.kafka, own_name(own, name))
            yield from ((f"{pair} {kind} {method}", layers) for method, layers in _clients(kind, clients))


def _clients(kind: str, clients: MirrorClients) -> Iterator[tuple[str, Layers]]:
    side = clients.syncs_side
    if kind == "Source":
        yield "sourceConsumerConfig", clients.consumer(SOURCE, "replication-consumer")
        yield "sourceAdminConfig", clients.admin(SOURCE, "replication-source-admin")
        yield "targetAdminConfig", clients.admin(TARGET, "replication-target-admin")
        yield "offsetSyncsTopicProducerConfig", clients.producer(side, f"offset-syncs-{side}-producer")
        yield "offsetSyncsTopicAdminConfig", clients.admin(side, f"offset-syncs-{side}-admin")
    elif kind == "Checkpoint":
        yield "sourceAdminConfig", clients.admin(SOURCE, "checkpoint-source-admin")
        yield "targetAdminConfig", clients.admin(TARGET, "checkpoint-target-admin")
        yield "offsetSyncsTopicConsumerConfig", clients.consumer(side, f"offset-syncs-{side}-consumer")
        yield "targetConsumerConfig", clients.consumer(TARGET, "checkpoints-target-consumer")
    else:
        yield "targetAdminConfig", clients.admin(TARGET, "heartbeats-target-admin")


def differences(theirs: Maps, ours: Maps) -> Iterator[str]:
    """Yield each key with another value. A map that Kafka refuses to make is left out."""
    for name, map_ in theirs.items():
        mine = _without_client_id(name, ours.get(name, {}))
        map_ = _without_client_id(name, map_)
        for key in sorted(map_.keys() | mine.keys()):
            if map_.get(key) != mine.get(key):
                yield f"{name}: {key}: Kafka {map_.get(key)!r}, we {mine.get(key)!r}"


def _without_client_id(name: str, values: dict[str, str]) -> dict[str, str]:
    """The Java program gives the worker's producer another name than a task does."""
    made = {"connector-producer-text-0", "text"}
    return {key: value for key, value in values.items() if not (name.endswith("producer") and value in made)}


@pytest.mark.parametrize("version", VERSIONS)
def test_maps_are_those_of_kafka(version: str, tmp_path: Path) -> None:
    """Workers, connectors and clients get exactly the keys and values that Kafka's classes give them."""
    files = corpus(SEED, GENERATED)
    for name, file in files.items():
        (tmp_path / name).write_text(text_of(file))
    theirs = of_kafka(version, tmp_path)
    found = [
        f"{name}: {each}"
        for name, (maps, _) in theirs.items()
        for each in differences(maps, of_package(version, files[name]))
    ]
    workers = {name: {key for key in maps if key.endswith(" worker")} for name, (maps, _) in theirs.items()}

    assert [] == found[:20]
    assert files.keys() == theirs.keys()
    assert sum(len(maps) for maps, _ in theirs.values()) > 10 * len(files)
    for name, (_, refused) in theirs.items():
        if not any(each.startswith("file:") for each in refused):
            mine = of_package(version, files[name])
            assert workers[name] == {key for key in mine if key.endswith(" worker")}, name
