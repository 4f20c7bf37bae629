"""Checks of the workers of a Kafka Connect cluster: their release, their Kafka and their plugins."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from urllib.parse import urlsplit

from kafka_migration.core.connect.connect_tools import SOURCE_CONNECTOR, ConnectRoot
from kafka_migration.core.connections.http import is_open
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.shortened import given, some
from kafka_migration.engines.required_versions import NEWEST_TESTED, KafkaVersion, worker_release
from kafka_migration.preflight.clusters.connect_cluster_checks import WorkerAddresses, worker_addresses
from kafka_migration.preflight.connect.asking_connect import (
    MOST_WORKERS,
    ConnectWorker,
    connect_tools,
    root_of,
    workers_of,
)
from kafka_migration.preflight.scene.check import BOTH_AND_CONNECT, Asked, Findings, check, without_connect
from kafka_migration.preflight.scene.scene import Scene, facts

# The first release in which a connector can be created stopped (KIP-980).
OLDEST_CONNECT = KafkaVersion(3, 7)
_PLUGIN = SOURCE_CONNECTOR.rpartition(".")[2]


def _without_connect(scene: Scene) -> str:
    """Return why the workers need not answer: a run that rolls back asks them too, because none may copy then."""
    return "" if scene.mode.rolls_back and scene.migration.mirror.abilities.needs_connect else without_connect(scene)


def _connect_warnings(scene: Scene) -> Findings:
    return plain_warnings(scene.migration.mirror.connection, connect_tools(scene).address)


@check("connect", asks={Asked.CONNECT}, needs=("connections",), warn=_connect_warnings, unless=_without_connect)
def connect(scene: Scene) -> Findings:
    """The Kafka Connect cluster answers, is new enough to create a connector that does not start, and uses TLS."""
    return version_findings(f"connection {scene.migration.mirror.connection}", root_of(scene).version)


def plain_warnings(connection: str, address: str) -> Findings:
    """Warn of a REST interface that is reached without TLS over a network."""
    if is_open(address):
        yield Finding(
            Code.CONNECT_REST_PLAIN,
            f"connection {connection}",
            f"the address {address}, without TLS and so without a login",
            "https",
            "Give the workers a listener with TLS (listeners=https://…), or put a proxy with TLS and a login before "
            "them, and use its address in the connection.",
            happened=f"Airflow reaches the REST interface of Kafka Connect at {address}, without TLS.",
            matters="Everyone on the network path can read the configuration of the connector, and can change, stop "
            "and delete connectors.",
        )


def version_findings(subject: str, version: str) -> Findings:
    """Refuse a worker that is too old to create a connector without starting it, and one of an unknown release."""
    release = worker_release(version)
    if release is not None and release >= OLDEST_CONNECT:
        if release.major > NEWEST_TESTED.major:
            yield _untested(subject, version)
        return
    oldest = f"{OLDEST_CONNECT.major}.{OLDEST_CONNECT.minor}"
    is_what = "no known release of Kafka" if release is None else f"Kafka {release.major}.{release.minor}"
    yield Finding(
        Code.CONNECT_TOO_OLD,
        subject,
        f"version {given(version)}, which is {is_what}",
        f"Kafka Connect {oldest} or newer",
        f"Update the workers to Kafka {oldest} or newer, or use an engine that runs on a host (mirror.engine).",
        happened=f"A worker says that its version is {given(version)}. That is {is_what}, and {oldest} is the oldest "
        "one that works.",
        matters="An older worker cannot create a connector that does not start at once (KIP-980). Connectors reserve a "
        "migration, so each reservation would begin to copy.",
    )


def newer_version_warnings(subject: str, version: str) -> Findings:
    """Warn of a later minor release than the newest tested one; `version_findings` refuses a later major one."""
    release = worker_release(version)
    if release is not None and release.major == NEWEST_TESTED.major and release.minor > NEWEST_TESTED.minor:
        yield _untested(subject, version)


def _untested(subject: str, version: str) -> Finding:
    newest = f"{NEWEST_TESTED.major}.{NEWEST_TESTED.minor}"
    return Finding(
        Code.MIRROR_VERSION_UNTESTED,
        subject,
        f"a worker of version {given(version)}",
        f"Kafka {newest} or older; {newest} is the newest tested version",
        f"Use workers of Kafka {newest} or older, or a version of this package that was tested with the newer one.",
        happened=f"A worker says that its version is {given(version)}; the newest tested version is Kafka {newest}.",
        matters="A newer version may read settings or store its positions differently, which could change the copy.",
    )


@check("connect kafka", asks=BOTH_AND_CONNECT, needs=("clusters", "connect"), unless=without_connect)
def connect_kafka(scene: Scene) -> Findings:
    """The Kafka cluster of the workers is the target, because the connector writes with their producer."""
    ids = facts(scene, "source").cluster_id, facts(scene, "target").cluster_id
    return other_kafka_findings(scene.migration.mirror.connection, root_of(scene), *ids, scene.migration.renames)


def other_kafka_findings(connection: str, root: ConnectRoot, source: str, target: str, renames: bool) -> Findings:
    """Refuse workers whose Kafka cluster is not the target, and say where the records would go."""
    if root.cluster_id == target:
        return
    found = f"the cluster {root.cluster_id}" if root.cluster_id else "no cluster id"
    yield Finding(
        Code.CONNECT_OTHER_KAFKA,
        f"connection {connection}",
        f"{found} as the Kafka of the workers",
        f"the target, {target}",
        "Use a Kafka Connect cluster whose bootstrap.servers are those of the target, or an engine that runs on a host "
        "(mirror.engine).",
        happened=f"The workers name {found} as their Kafka, but the target is the cluster {target}.",
        matters="MirrorMaker's source connector writes with the workers' own producer, whatever its configuration "
        "says. " + _where(root.cluster_id, source, renames),
    )


def _where(cluster_id: str, source: str, renames: bool) -> str:
    if cluster_id == source:
        topics = "new topics there" if renames else "the topics from which they are read, again and again"
        return f"Here it would write the records back into the source, into {topics}."
    other = "that" if cluster_id else "an unknown"
    return f"It would write the records to {other} cluster, and the target would get none."


def _workers_warnings(scene: Scene) -> Findings:
    group, workers = worker_addresses(scene), workers_of(scene)
    yield from unknown_workers_warnings(group, workers)
    for worker in workers:
        yield from newer_version_warnings(f"worker {worker.address}", worker.root.version)
    addresses = {connect_tools(scene).address, *group.addresses}
    yield from operator_warnings(sorted(addresses))


@check(
    "connect workers",
    asks={Asked.TARGET, Asked.CONNECT},
    needs=("clusters", "connect"),
    warn=_workers_warnings,
    unless=without_connect,
)
def connect_workers(scene: Scene) -> Findings:
    """Every worker is new enough and has MirrorMaker's source connector, all in the same version."""
    workers = [worker for worker in workers_of(scene) if not worker.silent]
    for worker in workers:
        yield from version_findings(f"worker {worker.address}", worker.root.version)
    yield from plugin_findings(workers)


def plugin_findings(workers: Sequence[ConnectWorker]) -> Findings:
    """Name the workers without MirrorMaker's source connector, or say that they have it in several versions."""
    without = [worker.address for worker in workers if SOURCE_CONNECTOR not in worker.plugins]
    if without:
        yield _plugin_finding(
            f"no {_PLUGIN} on {some(without)}",
            f"{len(without)} of the {len(workers)} workers that answered have no {_PLUGIN}: {some(without)}.",
            "A task that Kafka Connect gives to such a worker fails, so nothing is copied.",
        )
    by_version = {worker.plugins[SOURCE_CONNECTOR]: worker for worker in workers if SOURCE_CONNECTOR in worker.plugins}
    if len(by_version) > 1:
        versions = ", ".join(f"{given(version)} ({by_version[version].address})" for version in sorted(by_version))
        yield _plugin_finding(
            f"several versions of {_PLUGIN}: {versions}",
            f"The workers have {_PLUGIN} in several versions: {versions}.",
            "The versions may read settings or store positions differently, so the copy would depend on the worker.",
        )


def _plugin_finding(found: str, happened: str, matters: str) -> Finding:
    return Finding(
        Code.CONNECT_PLUGIN_MISSING,
        "the workers of Kafka Connect",
        found,
        f"{_PLUGIN} on each worker, in one version",
        "Put connect-mirror and connect-mirror-client of the workers' Kafka into plugin.path or the class path of each "
        "worker, and restart the workers.",
        happened=happened,
        matters=matters,
    )


def unknown_workers_warnings(group: WorkerAddresses, workers: Sequence[ConnectWorker]) -> Findings:
    """Warn of workers that were not asked or did not answer: nothing is known of them."""
    if group.why_unknown:
        yield _unknown(
            "only the worker that answers at the address of the connection",
            f"Only one worker was asked, because {group.why_unknown}.",
            group.remedy,
            "Of the other workers it is unknown which versions and plugins they have, and how many there are.",
        )
    if len(group.addresses) > MOST_WORKERS:
        yield _unknown(
            f"{MOST_WORKERS} of {len(group.addresses):,} workers",
            f"Only the first {MOST_WORKERS} of {len(group.addresses):,} workers were asked.",
            "Look at the others yourself.",
            "Of the other workers it is unknown which versions and plugins they have.",
        )
    for worker in workers:
        if worker.silent:
            yield _silent(worker)


def _silent(worker: ConnectWorker) -> Finding:
    return _unknown(
        f"no answer at {worker.address}: {worker.silent}",
        f"The worker at {worker.address} did not answer Airflow: {worker.silent.rstrip('.')}.",
        "Let Airflow reach this address (rest.advertised.host.name, rest.advertised.port and "
        "rest.advertised.listener of the worker), with a certificate that the connection trusts.",
        "Its version and plugins are unknown. If it is cut off during a run, a stop cannot be proved, because only the "
        "worker itself can say that it copies nothing more.",
    )


def _unknown(found: str, happened: str, remedy: str, matters: str) -> Finding:
    return Finding(
        Code.CONNECT_UNKNOWN,
        "the workers of Kafka Connect",
        found,
        "an answer of each worker",
        remedy,
        happened=happened,
        matters=matters,
    )


# As Strimzi names the workers of a KafkaConnect resource, and the service before them, after the resource.
_WORKERS, _SERVICE = "-connect", "-connect-api"


def operator_warnings(addresses: Collection[str]) -> Findings:
    """Warn of workers that look like those of Strimzi's operator, by the first address that does."""
    for address in addresses:
        pod, service, space, domain, *_ = [*_host_of(address).split("."), *[""] * 4]
        name, _, number = pod.rpartition("-")
        is_worker = name == service and name.endswith(_WORKERS) and number.isdecimal() and domain == "svc"
        if is_worker:
            yield _operator(address, name.removesuffix(_WORKERS), space)
            return
        if pod.endswith(_SERVICE) and space in {"", "svc"}:
            yield _operator(address, pod.removesuffix(_SERVICE), service or "<namespace>")
            return


def _host_of(address: str) -> str:
    """Return the host in an address, empty if it has none; a member of the group may name anything."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _operator(address: str, cluster: str, space: str) -> Finding:
    annotation = "strimzi.io/use-connector-resources"
    return Finding(
        Code.CONNECT_OPERATOR,
        f"KafkaConnect {cluster}",
        f"the address {address}, which looks like one of Strimzi's operator",
        "workers whose connectors no operator deletes",
        f"Remove the annotation {annotation} from the KafkaConnect resource (kubectl annotate kafkaconnect {cluster} "
        f"-n {space} {annotation}-), if its connectors are no KafkaConnector resources. Otherwise use a KafkaConnect "
        "resource of its own without this annotation. Accept CONNECT_OPERATOR if that is done.",
        happened=f"The worker at {address} looks like one that Strimzi's operator manages.",
        matters=f'With {annotation}: "true" the operator deletes connectors that have no KafkaConnector resource, so '
        "it would delete the connectors of this migration during a run.",
    )
