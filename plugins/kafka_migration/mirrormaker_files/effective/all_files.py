"""Who reads the files that belong together: of MirrorMaker 1 and 2, on Kafka Connect, and by Strimzi's operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_migration.mirrormaker_files.effective.dedicated import Dedicated, own_name
from kafka_migration.mirrormaker_files.effective.layers import (
    Layer,
    Layers,
    fixed,
    get,
    layer_of,
    prefixed,
    read_as,
    stripped,
)
from kafka_migration.mirrormaker_files.effective.mirror_readers import ConnectorReaders, worker_readers
from kafka_migration.mirrormaker_files.effective.readers import (
    Effective,
    Given,
    MirrorVersion,
    Reader,
    Readers,
    kafka_version,
)
from kafka_migration.mirrormaker_files.model.mirror_settings import CLIENTS, EMPTY, FileKind, Flow, MirrorFile, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import BYTES_CONVERTERS, CLASSES, role_of_class
from kafka_migration.mirrormaker_files.model.strimzi_keys import (
    ALLOWED_KEYS,
    CONNECTOR_FIELDS,
    CONNECTOR_KEYS,
    STRIMZI_MECHANISMS,
    WORKER_FIELDS,
    WORKER_PREFIXES,
)

_LARGEST, _LONGEST = str(2**31 - 1), str(2**63 - 1)
_BYTES = "org.apache.kafka.common.serialization.ByteArray"
# What `kafka.tools.MirrorMaker` sets unless the file does (`maybeSetDefaultProperty`), and what it always sets.
_CONSUMER = {"enable.auto.commit": "false"}
_CONSUMER_ALWAYS = {"key.deserializer": f"{_BYTES}Deserializer", "value.deserializer": f"{_BYTES}Deserializer"}
_PRODUCER = {
    "delivery.timeout.ms": _LARGEST,
    "max.block.ms": _LONGEST,
    "acks": "all",
    "max.in.flight.requests.per.connection": "1",
}
_PRODUCER_ALWAYS = {"key.serializer": f"{_BYTES}Serializer", "value.serializer": f"{_BYTES}Serializer"}
_CLIENTS = {
    FileKind.CONSUMER: ("consumer", "reads", "source", _CONSUMER, _CONSUMER_ALWAYS),
    FileKind.PRODUCER: ("producer", "writes", "target", _PRODUCER, _PRODUCER_ALWAYS),
}
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


def mirrormaker1_readers(file: MirrorFile) -> Iterator[Effective]:
    """Yield the client that gets a consumer or producer file."""
    if file.kind in _CLIENTS:
        role, verb, cluster, defaults, always = _CLIENTS[file.kind]
        # In a resource of Strimzi a field's name is not the key.
        own = Layer({each.key: Given(each.value, file.name, each) for each in file.at(Place.CLIENT)})
        layers = (fixed(always | _client_id(file)), own, fixed(defaults))
        reader = Reader(role, f"the {role} of MirrorMaker 1, which {verb} the records", "", cluster, "records")
        yield Effective(reader, read_as(role, layers))


def _client_id(file: MirrorFile) -> dict[str, str]:
    """Return the `client.id` of the first consumer: MirrorMaker names each after the group, whatever the file says."""
    group = file.last(Place.CLIENT, "group.id") if file.kind is FileKind.CONSUMER else None
    return {"client.id": f"{group.value}-0"} if group else {}


def connect_readers(files: Sequence[MirrorFile], kafka: MirrorVersion) -> Iterator[Effective]:
    """Yield the readers of the workers' files and of the connectors, which all run on these workers."""
    workers = [file for file in files if file.kind is FileKind.WORKER]
    layers: Layers = ()
    for file in workers:
        own = (layer_of(file, file.settings),)
        layers = (*own, *layers)
        yield from worker_readers(own, "", "", kafka)
        yield from _of_all_connectors(own)
    for file in files:
        if file.kind is FileKind.CONNECTORS:
            yield from _connectors(file, layers, kafka)


def _of_all_connectors(worker: Layers) -> Iterator[Effective]:
    """Yield the clients that a worker makes for the tasks of any connector."""
    for client in CLIENTS:
        name = f"each {client} that the worker makes for a connector"
        yield Effective(Reader(client, name, duty="connectors"), read_as(client, stripped(worker, f"{client}.")))


def _connectors(file: MirrorFile, worker: Layers, kafka: MirrorVersion) -> Iterator[Effective]:
    for owner in dict.fromkeys(each.owner for each in file.at(Place.CONNECTOR)):
        own: Layers = (layer_of(file, file.at(Place.CONNECTOR, owner)),)
        kind = get(own, "connector.class")
        role = role_of_class(kind.value) if kind else None
        if role:
            source, target = (_alias(own, side) for side in ("source", "target"))
            yield from ConnectorReaders(role, own_name(own, owner), source, target, own, worker, kafka).readers()


def _alias(own: Layers, side: str) -> str:
    """Return the alias of a cluster. Kafka's default for the target's is `target`; the source's is required."""
    given = get(own, f"{side}.cluster.alias")
    return given.value.strip() if given else side


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
    login = login_of(file, alias)
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
    given = (
        Layer(_config(file, alias)),
        Layer(login_of(file, alias)),
        _addresses(file, alias),
        fixed({"alias": alias}),
    )
    return prefixed(given, f"{side}.cluster.")


def _config(file: MirrorFile, alias: str) -> dict[str, Given]:
    """Return `config` of a cluster."""
    lines = (each for each in file.at(Place.CLUSTER, alias) if each.name != "bootstrapServers")
    return {each.name: Given(each.value, file.name, each) for each in lines}


def _addresses(file: MirrorFile, alias: str) -> Layer:
    lines = [each for each in file.at(Place.CLUSTER, alias) if each.name == "bootstrapServers"]
    return Layer({"bootstrap.servers": Given(lines[-1].value, file.name, lines[-1])} if lines else {})


def login_of(file: MirrorFile, alias: str) -> dict[str, Given]:
    """Return what the operator writes for `tls` and `authentication` of a cluster; secrets as references."""
    fields = {each.name: each for each in file.at(Place.FIELD, alias)}
    kind = fields["authentication.type"].value if "authentication.type" in fields else ""
    is_sasl = kind in STRIMZI_MECHANISMS or (
        "authentication.sasl" in fields and fields["authentication.sasl"].value == "true"
    )
    has_tls = any(
        name.startswith(("tls.", "tls[")) or (name, each.value) == ("tls", EMPTY) for name, each in fields.items()
    )
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
