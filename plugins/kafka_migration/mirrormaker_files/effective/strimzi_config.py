"""The KafkaMirrorMaker2 resource: what Strimzi's operator writes for the workers and connectors."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.mirrormaker_files.effective.kafka_version import MirrorVersion
from kafka_migration.mirrormaker_files.effective.layers import Layer, Layers, fixed, prefixed
from kafka_migration.mirrormaker_files.effective.mirror_readers import ConnectorReaders, worker_readers
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given
from kafka_migration.mirrormaker_files.model.mirror_settings import CLIENTS, Flow, MirrorFile, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import BYTES_CONVERTERS, CLASSES
from kafka_migration.mirrormaker_files.model.strimzi_keys import (
    ALLOWED_KEYS,
    CONNECTOR_FIELDS,
    CONNECTOR_KEYS,
    STRIMZI_MECHANISMS,
    WORKER_FIELDS,
    WORKER_PREFIXES,
)

# `KafkaMirrorMaker2Configuration.DEFAULTS`, with the names that v1beta2 has if the resource gives none.
_WORKER = {
    "group.id": "mirrormaker2-cluster",
    "config.storage.topic": "mirrormaker2-cluster-configs",
    "offset.storage.topic": "mirrormaker2-cluster-offsets",
    "status.storage.topic": "mirrormaker2-cluster-status",
    **BYTES_CONVERTERS,
}
_PACKAGE = "org.apache.kafka.connect.mirror"
# What the operator writes for a secret names a secret of the cluster; no part of it is in the file.
_REFERENCE = "${strimzisecrets:…}"
_CUSTOM = "authentication.config."


def strimzi_readers(file: MirrorFile, kafka: MirrorVersion) -> Iterator[Effective]:
    """Yield the workers, which all are in one group, and the connectors of a resource."""
    target = _cluster_of_workers(file)
    worker = _worker(file, target) if target else ()
    yield from worker_readers(worker, "", target, kafka) if target else ()
    for flow in file.flows:
        for field, role in CONNECTOR_FIELDS.items():
            own = _connector(file, flow, field, role)
            if own is not None:
                name = f"{flow}.{CLASSES[role]}"
                yield from ConnectorReaders(role, name, flow.source, flow.target, own, worker, kafka).readers()


def _cluster_of_workers(file: MirrorFile) -> str:
    """Return the alias of the cluster on which the workers run: `connectCluster`, from v1 on the target."""
    named = file.last(Place.FIELD, "connectCluster")
    return named.value if named else next((flow.target for flow in file.flows), "")


def _worker(file: MirrorFile, alias: str) -> Layers:
    """Return the workers' configuration (`KafkaConnectConfigurationBuilder`)."""
    own = Layer({key: given for key, given in _config(file, alias).items() if not _is_forbidden(key)})
    fields = {each.name: Given(each.value, file.name, each) for each in file.at(Place.FIELD, alias)}
    named = Layer({key: fields[name] for name, key in WORKER_FIELDS.items() if name in fields})
    login = _login(file, alias)
    spread = {f"{client}.{key}": given for client in CLIENTS for key, given in login.items()}
    return (named, Layer(login | spread), own, _addresses(file, alias), fixed(_WORKER))


def _is_forbidden(key: str) -> bool:
    # Connectors get them all.
    return key.lower().startswith(tuple(WORKER_PREFIXES)) and key not in ALLOWED_KEYS


def _connector(file: MirrorFile, flow: Flow, field: str, role: str) -> Layers | None:
    """Return a connector's configuration (`prepareMirrorMaker2ConnectorConfig`); `None` if the mirror has none.

    Fields of the mirror win over `config` of the connector, and that over those of the clusters.
    """
    lines = [each for each in file.at(Place.FLOW, str(flow)) if each.name.startswith(f"{field}.")]
    fields = [each for each in file.at(Place.FIELD, str(flow)) if each.name.startswith(field)]
    is_marked = any((owner, name) == (str(flow), field) for owner, name, _ in file.marks)
    if not lines and not fields and not is_marked:
        return None
    of_mirror = {
        each.name if "." in each.name else each.key: Given(each.value, file.name, each)
        for each in file.at(Place.FLOW, str(flow))
        if each.name.partition(".")[0] not in CONNECTOR_FIELDS
    }
    given = {each.name.removeprefix(f"{field}.config."): Given(each.value, file.name, each) for each in lines}
    own = {key: value for key, value in given.items() if key not in CONNECTOR_KEYS}
    if f"{field}.tasksMax" in own:
        own["tasks.max"] = own.pop(f"{field}.tasksMax")
    named = {"name": f"{flow}.{CLASSES[role]}", "connector.class": f"{_PACKAGE}.{CLASSES[role]}"}
    sides = (*_side(file, "source", flow.source), *_side(file, "target", flow.target))
    return (fixed(named), Layer(of_mirror), Layer(own), *sides)


def _side(file: MirrorFile, side: str, alias: str) -> Layers:
    """Return the keys of a cluster with the prefix of its side (`addClusterToMirrorMaker2ConnectorConfig`).

    `config` wins over the fields, and keys such as `producer.acks` get the prefix too, with which nothing reads them.
    """
    given = (Layer(_config(file, alias)), Layer(_login(file, alias)), _addresses(file, alias), fixed({"alias": alias}))
    return prefixed(given, f"{side}.cluster.")


def _config(file: MirrorFile, alias: str) -> dict[str, Given]:
    """Return `config` of a cluster."""
    lines = (each for each in file.at(Place.CLUSTER, alias) if each.name != "bootstrapServers")
    return {each.name: Given(each.value, file.name, each) for each in lines}


def _addresses(file: MirrorFile, alias: str) -> Layer:
    lines = [each for each in file.at(Place.CLUSTER, alias) if each.name == "bootstrapServers"]
    return Layer({"bootstrap.servers": Given(lines[-1].value, file.name, lines[-1])} if lines else {})


def _login(file: MirrorFile, alias: str) -> dict[str, Given]:
    """Return what the operator writes for `tls` and `authentication` of a cluster; secrets as references."""
    fields = {each.name: each for each in file.at(Place.FIELD, alias)}
    kind = fields["authentication.type"].value if "authentication.type" in fields else ""
    is_sasl = kind in STRIMZI_MECHANISMS or (
        "authentication.sasl" in fields and fields["authentication.sasl"].value == "true"
    )
    has_tls = any(name.partition(".")[0].partition("[")[0] == "tls" for name in fields)
    login = {"security.protocol": ("SASL_" if is_sasl else "") + ("SSL" if has_tls else "PLAINTEXT")}
    if any(name.startswith("tls.trustedCertificates") for name in fields):
        login |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": _REFERENCE}
    if kind == "tls":
        keys = ("ssl.keystore.certificate.chain", "ssl.keystore.key")
        login |= {"ssl.keystore.type": "PEM", **dict.fromkeys(keys, _REFERENCE)}
    if kind in STRIMZI_MECHANISMS:
        login |= {"sasl.mechanism": STRIMZI_MECHANISMS[kind], "sasl.jaas.config": _REFERENCE}
    custom = {
        name.removeprefix(_CUSTOM): Given(each.value, file.name, each)
        for name, each in fields.items()
        if name.startswith(_CUSTOM)
    }
    return {key: Given(value) for key, value in login.items()} | custom
