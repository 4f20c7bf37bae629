"""The KafkaMirrorMaker2 resource: what Strimzi's operator writes for the workers and connectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_migration.mirrormaker_files.effective.kafka_version import KafkaVersion
from kafka_migration.mirrormaker_files.effective.layers import Layer, Layers, fixed
from kafka_migration.mirrormaker_files.effective.mirror_readers import MirrorConnector, worker_readers
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given
from kafka_migration.mirrormaker_files.model.mirror_settings import Flow, MirrorFile, MirrorSetting, Place

_FIELDS = {
    "sourceConnector": "mirror_source",
    "checkpointConnector": "mirror_checkpoint",
    "heartbeatConnector": "mirror_heartbeat",
}
_CLASSES = {
    "mirror_source": "MirrorSourceConnector",
    "mirror_checkpoint": "MirrorCheckpointConnector",
    "mirror_heartbeat": "MirrorHeartbeatConnector",
}
# What the operator drops from `config` of a cluster (`KafkaMirrorMaker2ClusterSpec`), and what it lets through.
_FORBIDDEN = ("ssl.", "sasl.", "security.", "listeners", "plugin.path", "rest.", "bootstrap.servers")
_ALLOWED = frozenset(
    {"ssl.endpoint.identification.algorithm", "ssl.cipher.suites", "ssl.protocol", "ssl.enabled.protocols"}
)
_SASL = {"plain": "PLAIN", "scram-sha-512": "SCRAM-SHA-512", "scram-sha-256": "SCRAM-SHA-256", "oauth": "OAUTHBEARER"}


def strimzi_readers(file: MirrorFile, kafka: KafkaVersion) -> Iterator[Effective]:
    """Yield the workers and the connectors of a resource."""
    seen = set[str]()
    for flow in file.flows:
        worker = _worker(file, flow)
        if flow.target not in seen:
            seen.add(flow.target)
            yield from worker_readers(worker, str(flow), flow.target, kafka)
        for field, role in _FIELDS.items():
            own = _connector(file, flow, field, role)
            if own is not None:
                name = f"{flow}.{_CLASSES[role]}"
                yield from MirrorConnector(role, name, flow.source, flow.target, own, worker, kafka).readers()


def _worker(file: MirrorFile, flow: Flow) -> Layers:
    """Return the configuration of the workers: that of the target cluster."""
    own = _layer(file, _config(file, flow.target))
    return (own, fixed(_login(file, flow.target)), fixed({"group.id": "", "client.id": ""}))


def _connector(file: MirrorFile, flow: Flow, field: str, role: str) -> Layers | None:
    """Return a connector's configuration (`prepareMirrorMaker2ConnectorConfig`); `None` if the mirror has none.

    Fields of the mirror win over `config` of the connector, and that over those of the clusters.
    """
    lines = [each for each in file.at(Place.FLOW, str(flow)) if each.name.startswith(f"{field}.")]
    fields = [each for each in file.at(Place.FIELD, str(flow)) if each.name.startswith(field)]
    if not lines and not fields:
        return None
    of_mirror = {
        each.key: Given(each.value, file.name, each) for each in file.at(Place.FLOW, str(flow)) if "." not in each.name
    }
    own = {each.name.removeprefix(f"{field}.config."): Given(each.value, file.name, each) for each in lines}
    if f"{field}.tasksMax" in own:
        own["tasks.max"] = own.pop(f"{field}.tasksMax")
    named = {"name": f"{flow}.{_CLASSES[role]}", "connector.class": f"org.apache.kafka.connect.mirror.{_CLASSES[role]}"}
    sides = [
        layer
        for side, alias in (("source", flow.source), ("target", flow.target))
        for layer in _side(file, side, alias)
    ]
    return (Layer(of_mirror), Layer(own), fixed(named), *sides)


def _side(file: MirrorFile, side: str, alias: str) -> Layers:
    """Return the keys of a cluster with the prefix that its connectors read (`addClusterToMirrorMaker2…`)."""
    prefix = f"{side}.cluster."
    own = {f"{prefix}{key}": given for key, given in _layer(file, _config(file, alias)).values.items()}
    login = {f"{prefix}{key}": value for key, value in {**_login(file, alias), "alias": alias}.items()}
    return (Layer(own), fixed(login))


def _config(file: MirrorFile, alias: str) -> Iterator[MirrorSetting]:
    for each in file.at(Place.CLUSTER, alias):
        is_address = each.name == "bootstrapServers"
        is_dropped = each.name.startswith(_FORBIDDEN) and each.name not in _ALLOWED
        if is_address or not is_dropped:
            yield each


def _layer(file: MirrorFile, settings: Iterable[MirrorSetting]) -> Layer:
    names = {"bootstrapServers": "bootstrap.servers"}
    return Layer({names.get(each.name, each.name): Given(each.value, file.name, each) for each in settings})


def _login(file: MirrorFile, alias: str) -> dict[str, str]:
    """Return what the operator writes for `tls` and `authentication` of a cluster."""
    fields = {each.name: each.value for each in file.at(Place.FIELD, alias)}
    has_tls = any(name == "tls" or name.startswith("tls.") for name in fields)
    kind = fields.get("authentication.type", "")
    protocol = "SSL" if has_tls else "PLAINTEXT"
    if kind in _SASL or fields.get("authentication.sasl") == "true":
        protocol = f"SASL_{protocol}"
    login = {"security.protocol": protocol}
    if kind in _SASL:
        login |= {"sasl.mechanism": _SASL[kind], "sasl.jaas.config": "${secrets:…}"}
    return login
