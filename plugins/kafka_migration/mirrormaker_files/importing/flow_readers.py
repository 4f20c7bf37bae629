"""What the connectors of one flow, and the clients that copy its records, get from the files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.text.brief import some
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given, Reader, Readers
from kafka_migration.mirrormaker_files.importing.chosen_command import command_of
from kafka_migration.mirrormaker_files.importing.chosen_flow import (
    CHECKPOINT_CONNECTOR,
    SOURCE_CONNECTOR,
    connectors_of,
    not_imported,
)
from kafka_migration.mirrormaker_files.model.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.mirror_settings import (
    CLIENTS,
    FileKind,
    Flow,
    MirrorFile,
    MirrorSetting,
    Place,
)

# A line, and the key under which a reader gets it.
Line = tuple[MirrorFile, MirrorSetting, str]

CONNECTOR, CHECKPOINTS = "mirror_source", "mirror_checkpoint"
CONSUMER, PRODUCER, TARGET, WORKER = "consumer", "producer", "admin", "connect_worker"
_CONNECTORS = ("mirror_source", "mirror_checkpoint", "mirror_heartbeat", "topic_filter", "group_filter")
_AT_TOP = ("replication.policy", "config.providers")


def readers_of_flow(files: Sequence[MirrorFile], flow: Flow, command: int = 0) -> Readers:
    """Return who reads the lines of a flow; of several lines for one key, the one that Kafka uses.

    `command` is the line of a MirrorMaker 1 command.
    """
    kind = files[0].kind
    if kind is FileKind.CONNECTORS:
        return Readers(tuple(_of_connect(files, flow)))
    if kind is FileKind.STRIMZI:
        return Readers(tuple(_of_strimzi(files[0], flow)))
    if kind is FileKind.MIRRORMAKER2:
        return Readers(tuple(_of_dedicated(files[0], flow)))
    return Readers(tuple(_of_mirrormaker1(files, command)))


def value_in(readers: Readers, role: str, key: str) -> Given | None:
    """Return what the reader of a role gets for a key; `None` if no line gives it."""
    return next((each.values[key] for each in readers.at(role) if key in each.values), None)


def _reader(role: str, lines: Iterable[Line], flow: Flow) -> Effective:
    values = {key: Given(setting.value, file.name, setting) for file, setting, key in lines}
    return Effective(Reader(role, f"{role} of {flow}", str(flow)), values)


def full_key(setting: MirrorSetting) -> str:
    """Return the key of a flow or connector with the prefixes of its clients."""
    is_override = setting.client in CLIENTS and ".override." in setting.name
    return ".".join(filter(None, (setting.side, setting.client, "override" if is_override else "", setting.key)))


def _is_common(key: str) -> bool:
    """Return whether a cluster hands a key to all of its clients."""
    return kafka_keys().get("mirror_client", key) is not None and not key.startswith("replication.policy")


def _prefixed(lines: Iterable[Line], prefix: str) -> Iterator[Line]:
    """Yield the lines whose key begins like this, without it."""
    for file, setting, key in lines:
        rest = key.removeprefix(prefix)
        if key.startswith(prefix) and (prefix.endswith("override.") or not rest.startswith("override.")):
            yield file, setting, rest


def _common(lines: Iterable[Line]) -> Iterator[Line]:
    return (line for line in lines if _is_common(line[2]))


def _own(file: MirrorFile, place: Place, owner: str = "") -> list[Line]:
    return [(file, each, full_key(each)) for each in file.at(place, owner)]


def _of_dedicated(file: MirrorFile, flow: Flow) -> Iterator[Effective]:
    """Yield the readers of `MirrorMakerConfig`: `connectorBaseConfig` and `workerConfig`."""
    top, of_flow = _own(file, Place.TOP), _own(file, Place.FLOW, str(flow))
    source, target = (_own(file, Place.CLUSTER, alias) for alias in flow.ends)
    connector = [*(line for line in top if _is_of_connectors(line[1])), *of_flow]
    common = list(_common(top))
    yield _reader(CONNECTOR, connector, flow)
    yield _reader(CHECKPOINTS, connector, flow)
    yield _reader(
        CONSUMER,
        (
            *_common(_prefixed(of_flow, "source.cluster.")),
            *_prefixed(of_flow, "consumer."),
            *common,
            *_common(source),
            *_prefixed(source, "consumer."),
            *_prefixed(of_flow, "source.consumer."),
        ),
        flow,
    )
    of_target = [*common, *_common(target)]
    producer = [*_prefixed(target, "producer."), *_prefixed(of_flow, "producer.override.")]
    yield _reader(PRODUCER, (*of_target, *producer), flow)
    yield _reader(TARGET, (*of_target, *_common(_prefixed(of_flow, "target.cluster.")), *_common(producer)), flow)
    yield _reader(WORKER, (line for line in target if not line[1].client), flow)


def _is_of_connectors(setting: MirrorSetting) -> bool:
    known = any(kafka_keys().get(role, setting.name) for role in _CONNECTORS)
    return known or setting.name.startswith(_AT_TOP)


def _of_connect(files: Sequence[MirrorFile], flow: Flow) -> Iterator[Effective]:
    connectors = [each for each in connectors_of(files) if each.flow == flow]
    sources = [each for each in connectors if each.kind == SOURCE_CONNECTOR]
    checkpoints = [each for each in connectors if each.kind == CHECKPOINT_CONNECTOR]
    for several in (sources, checkpoints):
        if len(several) > 1:
            names = some([f"one in {each.file.name}" for each in several])
            remedy = "Import one of them at a time, in a file of its own."
            raise Refused([not_imported(str(flow), f"{len(several)} connectors: {names}", "one connector", remedy)])
    own = [_own(each.file, Place.CONNECTOR, each.name) for each in sources]
    lines = own[0] if own else []
    yield _reader(CONNECTOR, lines, flow)
    for each in checkpoints:
        yield _reader(CHECKPOINTS, _own(each.file, Place.CONNECTOR, each.name), flow)
    yield from _clients_of_connect(lines, (), (), flow)


def _clients_of_connect(
    lines: Sequence[Line], source: Iterable[Line], target: Sequence[Line], flow: Flow
) -> Iterator[Effective]:
    """Yield the clients of a source connector. `source`, `target`: what Strimzi's fields say about the clusters."""
    consumer = [
        *_common(source),
        *_common(_prefixed(lines, "source.cluster.")),
        *_prefixed(lines, "consumer."),
        *_prefixed(lines, "source.consumer."),
    ]
    producer = [*_prefixed(target, "producer."), *_prefixed(lines, "producer.override.")]
    yield _reader(CONSUMER, consumer, flow)
    yield _reader(PRODUCER, producer, flow)
    clusters = [*_common(target), *_common(_prefixed(lines, "target.cluster."))]
    yield _reader(TARGET, (*clusters, *_common(producer)), flow)


def _of_strimzi(file: MirrorFile, flow: Flow) -> Iterator[Effective]:
    """Yield the readers of the connectors that Strimzi's operator makes; its patterns win over `config`."""
    of_flow = _own(file, Place.FLOW, str(flow))
    patterns = [line for line in of_flow if "." not in line[1].name]
    parts = {
        name: [line for line in of_flow if line[1].name.startswith(f"{name}.")]
        for name in ("sourceConnector", "checkpointConnector")
    }
    source, target = (_own(file, Place.CLUSTER, alias) for alias in flow.ends)
    yield _reader(CONNECTOR, [*parts["sourceConnector"], *patterns], flow)
    if _has_connector(file, flow, "checkpointConnector"):
        yield _reader(CHECKPOINTS, [*parts["checkpointConnector"], *patterns], flow)
    yield from _clients_of_connect(parts["sourceConnector"], source, target, flow)
    yield _reader(WORKER, (line for line in target if not line[1].client), flow)


def _has_connector(file: MirrorFile, flow: Flow, name: str) -> bool:
    lines = (*file.at(Place.FLOW, str(flow)), *file.at(Place.FIELD, str(flow)))
    return any(each.name == name or each.name.startswith(f"{name}.") for each in lines)


def _of_mirrormaker1(files: Sequence[MirrorFile], command: int) -> Iterator[Effective]:
    flow = Flow("source", "target")
    for role, kind in ((CONSUMER, FileKind.CONSUMER), (PRODUCER, FileKind.PRODUCER)):
        lines = [(file, each, each.key) for file in files if file.kind is kind for each in file.at(Place.CLIENT)]
        yield _reader(role, lines, flow)
        if role == PRODUCER:
            yield _reader(TARGET, lines, flow)
    options = [(f, e, e.key) for f in files for e in f.at(Place.OPTION) if command_of(f, e) == command]
    yield _reader(CONNECTOR, options, flow)
