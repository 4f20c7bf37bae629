"""Keys that Strimzi's operator does not take from `config`, and logins that it writes for `authentication`."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from kafka_migration.mirrormaker_files.formats.yaml_documents import fields, is_null, items, line_of, text_of
from kafka_migration.mirrormaker_files.manifests.authentication import authentication_faults
from kafka_migration.mirrormaker_files.model.mirror_settings import Fault, FieldFault

# `FORBIDDEN_PREFIXES` of the operator's classes, with what counts instead.
_SECURITY = {"ssl.": "`tls`", "sasl.": "`authentication`", "security.": "`tls` and `authentication`"}
_CONNECT = {
    **_SECURITY,
    "listeners": "",
    "plugin.path": "",
    "rest.": "",
    "bootstrap.servers": "`bootstrapServers`",
    "consumer.interceptor.classes": "`tracing`",
    "producer.interceptor.classes": "`tracing`",
}
_NAMED = {
    "group.id": "`groupId`",
    "config.storage.topic": "`configStorageTopic`",
    "offset.storage.topic": "`offsetStorageTopic`",
    "status.storage.topic": "`statusStorageTopic`",
}
_CLIENT = {**_SECURITY, "bootstrap.servers": "`bootstrapServers`", "interceptor.classes": "`tracing`"}
_ALLOWED = frozenset(
    {"ssl.endpoint.identification.algorithm", "ssl.cipher.suites", "ssl.protocol", "ssl.enabled.protocols"}
)
# `AbstractConnectorSpec.FORBIDDEN_PARAMETERS`.
_CONNECTOR = {"name": "", "connector.class": "", "tasks.max": "`tasksMax`", "connector.plugin.version": "`version`"}
_CONNECTORS = ("sourceConnector", "checkpointConnector", "heartbeatConnector")
# Fields of a mirror, and the key that the operator writes from each over `config` of the connectors.
_PATTERNS = {
    "topicsPattern": ("topics",),
    "topicsExcludePattern": ("topics.exclude",),
    "topicsBlacklistPattern": ("topics.blacklist", "topics.exclude"),
    "groupsPattern": ("groups",),
    "groupsExcludePattern": ("groups.exclude",),
    "groupsBlacklistPattern": ("groups.blacklist", "groups.exclude"),
}
_OPEN_LOGINS = frozenset({"plain", "scram-sha-256", "scram-sha-512", "oauth"})


def is_dropped(key: str, kind: str, version: str) -> bool:
    """Return whether the operator drops a key of `config`: of a worker, a client, or a connector by the kind."""
    return _field(key, _prefixes(kind, version)) is not None


def _prefixes(kind: str, version: str) -> dict[str, str]:
    if kind in {"consumer", "producer"}:
        return {**_CLIENT, "group.id": "`groupId`"} if kind == "consumer" else _CLIENT
    if kind == "KafkaConnector":
        return _CONNECTOR
    return {**_CONNECT, **_NAMED} if version == "v1" else _CONNECT


def _field(key: str, prefixes: dict[str, str]) -> str | None:
    """Return the field that counts instead of a key, empty if none does; `None` if the operator takes the key."""
    if prefixes is _CONNECTOR:
        return _CONNECTOR.get(key)
    is_taken = key in _ALLOWED
    return None if is_taken else next((prefixes[each] for each in prefixes if key.lower().startswith(each)), None)


def operator_faults(kind: str, version: str, spec: yaml.Node) -> Iterator[FieldFault]:
    """Yield the keys of a resource that the operator does not take, and its logins that are not safe or not used."""
    inner = fields(spec)
    if kind == "KafkaConnector":
        yield from _of_config(inner.get("config"), "KafkaConnector", version, "config")
    elif kind == "KafkaConnect":
        yield from _of_config(inner.get("config"), kind, version, "config")
        yield from _login(spec)
        yield from _tls_keys(spec, _CONNECT)
        yield from authentication_faults(spec)
    elif kind == "KafkaMirrorMaker":
        for part in ("consumer", "producer"):
            yield from _of_config(fields(inner.get(part)).get("config"), part, version, f"{part}.config")
            yield from _login(inner.get(part))
            yield from _tls_keys(inner.get(part), _CLIENT)
            yield from authentication_faults(inner.get(part))
    else:
        yield from _of_mirrormaker2(inner, version)


def _of_mirrormaker2(spec: dict[str, yaml.Node], version: str) -> Iterator[FieldFault]:
    named = text_of(spec.get("connectCluster"))
    clusters = items(spec.get("clusters"))
    workers = [each for each in clusters if text_of(fields(each).get("alias")) == named]
    target = spec.get("target")
    workers = [target] if target else workers[:1]
    for each in workers:
        yield from _of_config(fields(each).get("config"), "KafkaMirrorMaker2", version, "config")
    for mirror in items(spec.get("mirrors")):
        source = fields(mirror).get("source")
        clusters += [source] if source else []
        yield from _of_mirror(fields(mirror), version)
    for each in [*clusters, *([target] if target else [])]:
        yield from _login(each)
        yield from _tls_keys(each, _CONNECT if each in workers else {})
        yield from authentication_faults(each)


def _of_mirror(mirror: dict[str, yaml.Node], version: str) -> Iterator[FieldFault]:
    for name in _CONNECTORS:
        config = fields(mirror.get(name)).get("config")
        yield from _of_config(config, "KafkaConnector", version, f"{name}.config")
        wins = {field: mirror[field] for field in _PATTERNS if field in mirror and not is_null(mirror[field])}
        for field, node in wins.items():
            found = ((key, fields(config)[key]) for key in _PATTERNS[field] if key in fields(config))
            for key, own in found:
                if text_of(own) != text_of(node):
                    yield _set(own, f"{name}.config.{key}", f"`{field}` (line {line_of(node)})")


def _of_config(config: yaml.Node | None, kind: str, version: str, path: str) -> Iterator[FieldFault]:
    for key, node in fields(config).items():
        field = _field(key, _prefixes(kind, version))
        if field is not None:
            yield _set(node, f"{path}.{key}", field)


def _set(node: yaml.Node, path: str, field: str) -> FieldFault:
    return FieldFault(Fault.SET_BY_OPERATOR, line_of(node), path, field)


def _login(node: yaml.Node | None) -> Iterator[FieldFault]:
    """Yield a fault for a login that goes over the network as text, or a certificate that is not used."""
    inner = fields(node)
    login, tls = inner.get("authentication"), inner.get("tls")
    kind = text_of(fields(login).get("type"))
    is_set = "security.protocol" in fields(inner.get("config"))
    if login is None or is_set or (tls is not None and not is_null(tls)):
        return
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    line = next((line_of(key) for key, value in pairs if value is login), line_of(login))
    if kind in _OPEN_LOGINS:
        yield FieldFault(Fault.LOGIN_OPEN, line, "authentication", kind)
    elif kind == "tls":
        yield FieldFault(Fault.LOGIN_UNUSED, line, "authentication", kind)


def _tls_keys(node: yaml.Node | None, dropped: dict[str, str]) -> Iterator[FieldFault]:
    """Yield a fault for each key of TLS that the operator takes, and that has no effect without `tls`."""
    inner = fields(node)
    tls, config = inner.get("tls"), fields(inner.get("config"))
    protocol = text_of(config.get("security.protocol")) if not dropped else ""
    if (tls is not None and not is_null(tls)) or "SSL" in protocol or "$" in protocol:
        return
    for key, value in config.items():
        if key.startswith("ssl.") and _field(key, dropped) is None:
            yield FieldFault(Fault.TLS_OFF, line_of(value), f"config.{key}")
