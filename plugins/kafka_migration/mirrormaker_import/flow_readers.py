"""Who reads the lines of the flow that is imported: its connectors, and the clients that copy its records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.text.shortened import some
from kafka_migration.mirrormaker_files.effective.all_files import readers_of
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given, Reader, Readers
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_import.chosen_flow import (
    CHECKPOINT_CONNECTOR,
    SOURCE_CONNECTOR,
    ChosenFlow,
    command_of,
    connectors_of,
    not_imported,
)

CONNECTOR, CHECKPOINTS = "mirror_source", "mirror_checkpoint"
CONSUMER, PRODUCER, TARGET, WORKER = "consumer", "producer", "admin", "connect_worker"
CONNECTION_KEYS = ("bootstrap.servers", "security.", "sasl.", "ssl.")


@dataclass(frozen=True, slots=True)
class FlowReaders:
    """`own` has one reader of each role of the flow, `all` has all readers of the files.

    `meant_target` is the line with the addresses of the target that the source connector has.
    `version` is that of Kafka, which the keys of the files show if `is_assumed`.
    """

    own: Readers
    all: Readers
    version: str = ""
    is_assumed: bool = False
    meant_target: MirrorSetting | None = None

    def value(self, role: str, key: str) -> Given | None:
        """Return what the reader of a role gets for a key from a line, or from MirrorMaker; `None` if it gets none."""
        return next((each.values[key] for each in self.own.at(role) if key in each.values), None)

    def line(self, role: str, key: str) -> MirrorSetting | None:
        """Return the line that gives a key to the reader of a role; `None` if none does."""
        found = self.value(role, key)
        return found.setting if found else None

    def has(self, role: str) -> bool:
        """Return whether the flow has a reader of a role."""
        return next(self.own.at(role), None) is not None


def readers_of_flow(
    files: Sequence[MirrorFile], chosen: ChosenFlow, command: int = 0, version: str = ""
) -> FlowReaders:
    """Return who reads the lines of a flow. `command` is the line of a MirrorMaker 1 command.

    Raises `Refused` if several connectors of one kind copy the flow.
    """
    _require_one_of_each(files, chosen.flow)
    given = version or next((file.kafka_version for file in files if file.kafka_version), "")
    version = given or _version(files)
    everyone = readers_of([_enabled(file, chosen) for file in files], version)
    kind = files[0].kind
    is_mirrormaker1 = kind.is_mirrormaker1
    own = (
        _of_mirrormaker1(files, everyone, command)
        if is_mirrormaker1
        else _of_flow(everyone, chosen.flow, has_own_worker=kind is FileKind.STRIMZI)
    )
    meant = None if kind is FileKind.STRIMZI else _meant_target(everyone, str(chosen.flow))
    return FlowReaders(Readers(tuple(own)), everyone, version, bool(version and not given), meant)


def _meant_target(everyone: Readers, flow: str) -> MirrorSetting | None:
    found = next(
        (each.values.get("target.cluster.bootstrap.servers") for each in everyone.at(CONNECTOR, flow=flow)), None
    )
    return found.setting if found else None


def _version(files: Sequence[MirrorFile]) -> str:
    """Return the last version that reads the old names of the filters' keys, if the files have one.

    A key that the newest version ignores excluded something in the version that its author had.
    """
    is_old = any(each.key.endswith(".blacklist") for file in files for each in file.settings)
    return "3.9" if is_old else ""


def _require_one_of_each(files: Sequence[MirrorFile], flow: Flow) -> None:
    connectors = [each for each in connectors_of(files) if each.flow == flow]
    for kind in (SOURCE_CONNECTOR, CHECKPOINT_CONNECTOR):
        several = [each for each in connectors if each.kind == kind]
        if len(several) > 1:
            names = some([f"one in {each.file.name}" for each in several])
            remedy = "Import one of them at a time, in a file of its own."
            raise Refused([not_imported(str(flow), f"{len(several)} connectors: {names}", "one connector", remedy)])


def _enabled(file: MirrorFile, chosen: ChosenFlow) -> MirrorFile:
    """Return a dedicated MirrorMaker's file with the chosen flow enabled: a person named it."""
    if not chosen.doubt or file.kind is not FileKind.MIRRORMAKER2:
        return file
    name = f"{chosen.flow}.enabled"
    line = MirrorSetting(0, name, "true", Place.FLOW, "enabled", str(chosen.flow))
    return replace(file, settings=(*file.settings, line))


def _of_flow(everyone: Readers, flow: Flow, *, has_own_worker: bool) -> Iterator[Effective]:
    name = str(flow)
    for role, duty in ((CONNECTOR, None), (CHECKPOINTS, None), (CONSUMER, "records"), (PRODUCER, "records")):
        yield from islice(everyone.at(role, flow=name, duty=duty), 1)
    producer = next(everyone.at(PRODUCER, flow=name, duty="records"), None)
    # The source's comes first. Their clusters cannot be compared, because both aliases may be the same, or blank.
    for admin in list(everyone.at(TARGET, flow=name, duty="topics"))[1:2]:
        target = _of_target(_connection(admin), _connection(producer) if producer else {}, has_own_worker)
        yield Effective(admin.reader, target)
    of_worker = (each for each in everyone.at(WORKER) if each.reader.flow in {name, ""})
    yield from islice(of_worker, 1)


def _of_target(admin: Mapping[str, Given], producer: Mapping[str, Given], has_own_worker: bool) -> Mapping[str, Given]:
    """Return the connection of the target: records go where the producer of the worker sends them.

    A producer whose worker is not known has only the settings that the connector overrides. Strimzi's operator refuses
    a worker on another cluster than the target.
    """
    addresses = [each["bootstrap.servers"].value for each in (admin, producer) if "bootstrap.servers" in each]
    if has_own_worker and len(set(addresses)) > 1:
        return admin
    return producer if "bootstrap.servers" in producer else {**admin, **producer}


def _connection(reader: Effective) -> Mapping[str, Given]:
    """Return what a client gets from lines about its connection."""
    return {key: each for key, each in reader.values.items() if key.startswith(CONNECTION_KEYS) and each.setting}


def _of_mirrormaker1(files: Sequence[MirrorFile], everyone: Readers, command: int) -> Iterator[Effective]:
    yield from everyone.at(CONSUMER, PRODUCER)
    for producer in everyone.at(PRODUCER):
        yield Effective(producer.reader._replace(role=TARGET), _connection(producer))
    options = {
        each.key: Given(each.value, file.name, each)
        for file in files
        for each in file.at(Place.OPTION)
        if command_of(file, each) == command
    }
    yield Effective(Reader(CONNECTOR, "MirrorMaker 1"), options)
