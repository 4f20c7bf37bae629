"""The settings of MirrorMaker files that belong to one flow, each with its side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.text.brief import some
from kafka_migration.mirrormaker_files.model.judging import may_be_secret, refusal
from kafka_migration.mirrormaker_files.model.mirror_settings import (
    COMMENT,
    FileKind,
    Flow,
    MirrorFile,
    MirrorSetting,
    Place,
)


class Side(StrEnum):
    """What a setting is about: a cluster, both, the connectors between them, or something else."""

    SOURCE = "source"
    TARGET = "target"
    BOTH = "both clusters"
    COPY = "the copy"
    OTHER = "another flow"


MIRRORMAKER1_FLOW = Flow("source", "target")
_SIDE_OF_CLIENT = {"consumer": Side.SOURCE, "producer": Side.TARGET, "admin": Side.BOTH}
_FOR_ALL_CLIENTS = ("bootstrap.servers", "security.", "sasl.", "ssl.")


@dataclass(frozen=True, slots=True)
class SidedSetting:
    """A setting of the flow, or one that the flow does not use (`Side.OTHER`). `value` has no comment and no quotes."""

    file: MirrorFile
    setting: MirrorSetting
    side: Side
    value: str

    @property
    def client_key(self) -> str:
        """The key with the client in front, as in `mirror.properties`."""
        client = self.setting.client or {FileKind.CONSUMER: "consumer", FileKind.PRODUCER: "producer"}[self.file.kind]
        return f"{client}.{self.setting.key}"

    @property
    def has_client(self) -> bool:
        """Whether only one kind of client reads it."""
        is_client = self.setting.client in _SIDE_OF_CLIENT
        return is_client or self.file.kind in {FileKind.CONSUMER, FileKind.PRODUCER}


def chosen_flow(files: Sequence[MirrorFile], named: str | None) -> Flow:
    """Return the flow to import. Raises `Refused` if several are enabled and none of them is named."""
    if all(file.kind.is_mirrormaker1 for file in files):
        return MIRRORMAKER1_FLOW
    flows = list(dict.fromkeys(flow for file in files for flow in file.flows))
    pairs = [Flow(file.clusters[0], file.clusters[1]) for file in files if len(file.clusters) == 2]
    flows = flows or list(dict.fromkeys(pairs))
    fitting = [flow for flow in flows if named in (None, str(flow))]
    if len(fitting) != 1:
        raise Refused([_no_flow(files, named or f"{len(flows)} flows", flows)])
    return fitting[0]


def _no_flow(files: Sequence[MirrorFile], found: str, flows: Sequence[Flow]) -> Finding:
    return refusal(
        Code.MIRROR_FILE_NOT_IMPORTED,
        some([file.name for file in files]),
        found,
        f"one flow of {some([str(flow) for flow in flows])}" if flows else "an enabled flow between two clusters",
        "Name one with --flow.",
    )


def sided(files: Sequence[MirrorFile], flow: Flow) -> Iterator[SidedSetting]:
    """Yield every setting of the files with its side."""
    for file in files:
        for setting in file.settings:
            yield SidedSetting(file, setting, _side(file, setting, flow), _plain(setting))


def _side(file: MirrorFile, setting: MirrorSetting, flow: Flow) -> Side:
    if setting.place in {Place.CLUSTER, Place.FIELD} and setting.owner in {flow.source, flow.target}:
        return Side.SOURCE if setting.owner == flow.source else Side.TARGET
    if setting.place is Place.CLUSTER or (setting.place is Place.FLOW and setting.owner != str(flow)):
        return Side.OTHER
    if setting.side:
        return Side(setting.side)
    if setting.place is Place.CLIENT:
        return Side.SOURCE if file.kind is FileKind.CONSUMER else Side.TARGET
    if setting.client:
        return _SIDE_OF_CLIENT.get(setting.client, Side.BOTH)
    is_for_all = setting.place is Place.TOP and setting.key.startswith(_FOR_ALL_CLIENTS)
    return Side.BOTH if is_for_all else Side.COPY


def _plain(setting: MirrorSetting) -> str:
    """Return the value as it was meant: without the comment and the quotes that `lint` reports."""
    if may_be_secret(setting):
        return setting.value
    value = COMMENT.split(setting.value, maxsplit=1)[0].strip()
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1].strip() if quoted else value
