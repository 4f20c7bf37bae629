"""The dedicated MirrorMaker 2: what `MirrorMakerConfig` hands to its workers and connectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import permutations

from kafka_migration.mirrormaker_files.effective.layers import (
    JAVA_BLANKS,
    Layer,
    Layers,
    fixed,
    is_true,
    layer_of,
    only,
    read_as,
    starting,
)
from kafka_migration.mirrormaker_files.effective.mirror_readers import ConnectorReaders, worker_readers
from kafka_migration.mirrormaker_files.effective.readers import CONNECTORS, Effective, Given, MirrorVersion, Reader
from kafka_migration.mirrormaker_files.model.lint_finding import is_false
from kafka_migration.mirrormaker_files.model.lint_limits import FEW_CLUSTERS
from kafka_migration.mirrormaker_files.model.mirror_settings import CLIENTS, FileKind, Flow, MirrorFile, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import BYTES_CONVERTERS, CLASSES, TOP_OF_WORKER

_PROVIDERS, _POLICY, _HEARTBEATS = "config.providers", "replication.policy", "emit.heartbeats.enabled"
# `MirrorMakerConfig` looks there for the classes of configuration providers (`Plugins`).
_PLUGINS = frozenset({"plugin.path", "plugin.discovery"})
_OFF = fixed({"enabled": "false"})


class Dedicated:
    """The configuration of a dedicated MirrorMaker, in the version that reads it."""

    def __init__(self, file: MirrorFile, kafka: MirrorVersion) -> None:
        self.file, self.kafka = file, kafka
        self._all = layer_of(file, file.settings)
        self._top = (self._all,)
        self._clusters: dict[str, Layers] = {}
        self._sides: dict[tuple[str, str], Layers] = {}
        self._meant = frozenset(file.flows if file.is_idle else ())
        self._named = {role: fixed({"name": name, "connector.class": _full(name)}) for role, name in CLASSES.items()}

    def readers(self) -> Iterator[Effective]:
        """Yield all readers: the process, and those of each pair of clusters with a worker.

        The source and checkpoint connector of a pair that is not enabled get their configuration, see that, and stop.
        The flows of an idle file are taken as if they were enabled.
        """
        yield self._process()
        for pair in self._workers():
            worker = self.worker(pair)
            yield from worker_readers(worker, str(pair), pair.target, self.kafka)
            for role in CONNECTORS:
                own = self.connector(pair, role)
                if role == "mirror_heartbeat" or pair in self._meant or is_true(own, "enabled", False):
                    name = own_name(own, CLASSES[role])
                    connector = ConnectorReaders(role, name, pair.source, pair.target, own, worker, self.kafka)
                    yield from connector.readers()

    def pairs(self) -> Iterator[Flow]:
        """Yield the pairs that have a worker (`clusterPairs`): those that are enabled, or that emit heartbeats.

        `Boolean.parseBoolean` removes no blanks. Until 2.7 every pair has a worker.
        """
        for source in self.file.clusters:
            for target in self.file.clusters:
                if source != target and self.has_worker(Flow(source, target)):
                    yield Flow(source, target)

    def _workers(self) -> Iterator[Flow]:
        """Yield the pairs whose readers are shown: all, unless there are many.

        Pairs that have no settings and only emit heartbeats differ in names alone, and there may be 9,900 of them. So
        of many clusters the first such pair of each target stands for the others.
        """
        if len(self.file.clusters) <= FEW_CLUSTERS or "enabled" in self._all.values:
            yield from self.pairs()
            return
        own = [pair for pair in self._own_pairs if self.has_worker(pair)]
        for target in self.file.clusters if self._emits_by_default else ():
            quiet = (Flow(source, target) for source in self.file.clusters if source != target)
            own += [pair for pair in quiet if pair not in self._own_pairs][:1]
        yield from own

    @cached_property
    def _own_pairs(self) -> dict[Flow, None]:
        """The pairs that have settings, in the order of the file."""
        names = (prefix.removesuffix(".") for prefix in self._of_prefix if "->" in prefix)
        pairs = (_pair(name, self._aliases) for name in names)
        return {Flow(*pair): None for pair in pairs if pair and pair[0] != pair[1]}

    @cached_property
    def _aliases(self) -> frozenset[str]:
        return frozenset(self.file.clusters)

    @cached_property
    def _emits_by_default(self) -> bool:
        given = self._all.values.get(_HEARTBEATS)
        return given is None or _is_exactly_true(given) or not self.kafka.is_at_least("2.8")

    def has_worker(self, pair: Flow) -> bool:
        """Return whether MirrorMaker makes a worker for a pair of clusters."""
        own, is_global = self._of_prefix.get(f"{pair}."), self._emits_by_default
        if not self.kafka.is_at_least("2.8") or pair in self._meant:
            return True
        if own is None:
            return is_global
        emits = _is_exactly_true(own.values[_HEARTBEATS]) if _HEARTBEATS in own.values else is_global
        return emits or ("enabled" in own.values and _is_exactly_true(own.values["enabled"]))

    def cluster(self, alias: str) -> Layers:
        """Return `clusterProps`: keys with the alias, and security and addresses also of the top level.

        Those are also put before each client's own keys.
        """
        if alias not in self._clusters:
            own, top = self._with_prefix(f"{alias}."), only(self._top, self.kafka.client_names)
            spread = (*_spread(only(own, self.kafka.client_names)), *_spread(top), *top)
            self._clusters[alias] = (*own, *spread)
        return self._clusters[alias]

    def worker(self, pair: Flow) -> Layers:
        """Return `workerConfig`. Keys of the top level win over those of the cluster."""
        values = {
            "group.id": f"{pair.source}-mm2",
            "offset.storage.topic": f"mm2-offsets.{pair.source}.internal",
            "status.storage.topic": f"mm2-status.{pair.source}.internal",
            "config.storage.topic": f"mm2-configs.{pair.source}.internal",
            **BYTES_CONVERTERS,
        }
        if self.kafka.is_at_least("3.5"):
            values["client.id"] = str(pair)
        return (*self._top_of_worker, *self.cluster(pair.target), fixed(values))

    @cached_property
    def _top_of_worker(self) -> Layers:
        names = (_PROVIDERS, *TOP_OF_WORKER, *((_POLICY,) if self.kafka.is_at_least("3.0") else ()))
        return tuple(layer for name in names for layer in self._starting(name))

    def connector(self, pair: Flow, role: str) -> Layers:
        """Return `connectorBaseConfig`: the flow's keys over those of both clusters, over the top level's."""
        return (
            *self._with_prefix(f"{pair}."),
            *self._side("target", pair.target),
            *self._side("source", pair.source),
            *self._top_of_connector,
            self._named[role],
            *self._alias("source", pair.source),
            *self._alias("target", pair.target),
            _OFF,
        )

    @cached_property
    def _top_of_connector(self) -> Layers:
        policy = self._starting(_POLICY) if self.kafka.is_at_least("3.0") else ()
        return (*policy, *self._starting(_PROVIDERS), *only(self._top, self.kafka.connector_names))

    def _side(self, side: str, alias: str) -> Layers:
        """Return a cluster's keys as `clusterConfigsWithPrefix` and `clientConfigsWithPrefix` write them.

        Until 2.7 those of clients get `source.cluster.` as well, where nothing reads them.
        """
        if (side, alias) not in self._sides:
            clients = CLIENTS if self.kafka.is_at_least("2.8") else ()
            self._sides[side, alias] = tuple(
                Layer({_sided(key, side, clients): given for key, given in layer.values.items()})
                for layer in self.cluster(alias)
            )
        return self._sides[side, alias]

    def _alias(self, side: str, alias: str) -> Layers:
        key = (f"alias of {side}", alias)
        if key not in self._sides:
            self._sides[key] = (fixed({f"{side}.cluster.alias": alias}),)
        return self._sides[key]

    def _starting(self, prefix: str) -> Layers:
        """Return the keys of the top level that start like this. 3.5 and 3.6 leave out the one that is equal."""
        is_strict = self.kafka.is_at_least("3.5") and not self.kafka.is_at_least("3.7")
        return starting(self._top, prefix, not is_strict)

    def _with_prefix(self, prefix: str) -> Layers:
        found = self._of_prefix.get(prefix)
        return (found,) if found else ()

    @cached_property
    def _of_prefix(self) -> Mapping[str, Layer]:
        """The keys after `A.` and `A->B.`, for all aliases. A key may have several of them as prefixes."""
        found = defaultdict[str, dict[str, Given]](dict)
        for key, given in self._all.values.items():
            for prefix in _prefixes(key, self._aliases):
                if len(key) > len(prefix) or not self.kafka.is_at_least("3.5"):
                    found[prefix][key[len(prefix) :]] = given
        return {prefix: Layer(values) for prefix, values in found.items()}

    def _process(self) -> Effective:
        """Return what MirrorMaker's process reads itself: its own keys, and which pairs need a worker."""
        own = (*only(self._top, self.kafka.process_names | _PLUGINS), *self._starting(f"{_PROVIDERS}."))
        names = {_HEARTBEATS, *(f"{prefix}{key}" for prefix in self._of_prefix for key in ("enabled", _HEARTBEATS))}
        pairs = {key: given for key, given in self._all.values.items() if key in names and _is_of_pair(key)}
        values = dict(read_as("mirror_maker", own)) | (pairs if self.kafka.is_at_least("2.8") else {})
        return Effective(Reader("mirror_maker", "MirrorMaker's process"), values)


def own_name(own: Layers, default: str) -> str:
    """Return the name of a connector."""
    found = next((layer.values["name"] for layer in own if "name" in layer.values), None)
    return found.value.strip(JAVA_BLANKS) if found else default


def _full(name: str) -> str:
    return f"org.apache.kafka.connect.mirror.{name}"


def _is_exactly_true(given: Given) -> bool:
    return given.value.lower() == "true"


def _is_of_pair(key: str) -> bool:
    return key == _HEARTBEATS or "->" in key


def _spread(layers: Layers) -> Layers:
    """Return keys once more for each kind of client."""
    return tuple(
        layer.made("spread", lambda values: {f"{client}.{key}": values[key] for client in CLIENTS for key in values})
        for layer in layers
    )


def _sided(key: str, side: str, clients: tuple[str, ...]) -> str:
    return f"{side}.{key}" if clients and key.startswith(clients) else f"{side}.cluster.{key}"


def _prefixes(key: str, aliases: frozenset[str]) -> Iterator[str]:
    """Yield each beginning of a key that is `A.` or `A->B.` with known aliases."""
    place = key.find(".")
    while place >= 0:
        if key[:place] in aliases or _pair(key[:place], aliases):
            yield key[: place + 1]
        place = key.find(".", place + 1)


def _pair(text: str, aliases: frozenset[str]) -> tuple[str, str] | None:
    """Return the two aliases of `A->B`; an alias may contain an arrow."""
    parts = text.split("->")
    ends = (("->".join(parts[:at]), "->".join(parts[at:])) for at in range(1, len(parts)))
    return next(((source, target) for source, target in ends if source in aliases and target in aliases), None)


def with_flows(file: MirrorFile, kafka: MirrorVersion) -> MirrorFile:
    """Return a file with the flows that run in this version; if none does, with those that are meant.

    A user will switch them on, so the other lines are judged as they will then be read. Other kinds stay as they are.
    """
    if file.kind is not FileKind.MIRRORMAKER2 or len(file.clusters) < 2:
        return file
    made = Dedicated(file, kafka)
    running = tuple(flow for flow in file.flows if made.has_worker(flow))
    if running:
        return replace(file, flows=running)
    return replace(file, flows=tuple(_meant(file)), is_idle=True)


def flows_with_lines(file: MirrorFile) -> list[Flow]:
    """Return the pairs of known clusters for which the file has lines, in its order."""
    known = set(file.clusters)
    pairs = [each.owner.partition("->")[::2] for each in file.at(Place.FLOW)]
    return list(dict.fromkeys(Flow(*pair) for pair in pairs if set(pair) <= known and pair[0] != pair[1]))


def _meant(file: MirrorFile) -> Iterator[Flow]:
    """Yield the flows that are meant: those not switched off, else all with lines, else both ways of each pair."""
    named = flows_with_lines(file)
    left = [flow for flow in named if not is_false(file.last(Place.FLOW, "enabled", str(flow)))]
    if left or named:
        yield from left or named
    elif len(file.clusters) <= FEW_CLUSTERS:
        yield from (Flow(*pair) for pair in permutations(file.clusters, 2))
