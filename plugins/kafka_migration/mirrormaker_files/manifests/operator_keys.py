"""Keys that Strimzi's operator does not take from `config`, and logins that it writes for `authentication`."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from kafka_migration.mirrormaker_files.formats.yaml_documents import fields, is_null, items, line_of, text_of
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import FieldFault
from kafka_migration.mirrormaker_files.model.strimzi_keys import (
    ALLOWED_KEYS,
    CONNECTOR_FIELDS,
    CONNECTOR_KEYS,
    PATTERN_FIELDS,
    SECURITY_PREFIXES,
    STRIMZI_MECHANISMS,
    WORKER_FIELDS,
    WORKER_PREFIXES,
)

_NAMED = {key: f"`{field}`" for field, key in WORKER_FIELDS.items()}
_CLIENT = {**SECURITY_PREFIXES, "bootstrap.servers": "`bootstrapServers`", "interceptor.classes": "`tracing`"}
_PASSWORD = (("username", "passwordSecret"),)
_OAUTH = ("tokenEndpointUri", "clientId")
# `AuthenticationUtils.validateClientAuthentication`: the sets of fields of which each type requires one.
_REQUIRED: dict[str, tuple[tuple[str, ...], ...]] = {
    "tls": (("certificateAndKey",),),
    "scram-sha-256": _PASSWORD,
    "scram-sha-512": _PASSWORD,
    "plain": _PASSWORD,
    "oauth": (
        (*_OAUTH, "clientSecret"),
        ("accessToken",),
        ("accessTokenLocation",),
        (*_OAUTH, "refreshToken"),
        (*_OAUTH, "username", "passwordSecret"),
        (*_OAUTH, "clientAssertion"),
        (*_OAUTH, "clientAssertionLocation"),
    ),
}


def is_dropped(key: str, kind: str, version: str) -> bool:
    """Return whether the operator drops a key of `config`: of a worker, a client, or a connector by the kind."""
    return _field(key, _prefixes(kind, version)) is not None


def _prefixes(kind: str, version: str) -> dict[str, str]:
    if kind in {"consumer", "producer"}:
        return {**_CLIENT, "group.id": "`groupId`"} if kind == "consumer" else _CLIENT
    if kind == "KafkaConnector":
        return CONNECTOR_KEYS
    return {**WORKER_PREFIXES, **_NAMED} if version == "v1" else WORKER_PREFIXES


def _field(key: str, prefixes: dict[str, str]) -> str | None:
    """Return the field that counts instead of a key, empty if none does; `None` if the operator takes the key."""
    if prefixes is CONNECTOR_KEYS:
        return CONNECTOR_KEYS.get(key)
    is_taken = key in ALLOWED_KEYS
    return None if is_taken else next((prefixes[each] for each in prefixes if key.lower().startswith(each)), None)


def operator_faults(kind: str, version: str, spec: yaml.Node) -> Iterator[FieldFault]:
    """Yield the keys of a resource that the operator does not take, and its logins that are not safe or not used."""
    inner = fields(spec)
    if kind == "KafkaConnector":
        yield from _of_config(inner.get("config"), "KafkaConnector", version, "config")
    elif kind == "KafkaConnect":
        yield from _of_config(inner.get("config"), kind, version, "config")
        yield from _login(spec)
        yield from _tls_keys(spec, WORKER_PREFIXES)
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
        yield from _tls_keys(each, WORKER_PREFIXES if each in workers else {})
        yield from authentication_faults(each)


def _of_mirror(mirror: dict[str, yaml.Node], version: str) -> Iterator[FieldFault]:
    for name in CONNECTOR_FIELDS:
        config = fields(mirror.get(name)).get("config")
        yield from _of_config(config, "KafkaConnector", version, f"{name}.config")
        wins = {field: mirror[field] for field in PATTERN_FIELDS if field in mirror and not is_null(mirror[field])}
        for field, node in wins.items():
            found = ((key, fields(config)[key]) for key in PATTERN_FIELDS[field] if key in fields(config))
            for key, own in found:
                if text_of(own) != text_of(node):
                    words = f"`{field}` (line {line_of(node)}) replaces this value"
                    texts = words, "this line is ignored", "Remove the line that is wrong."
                    yield FieldFault(LintCode.KEY_SET_BY_OPERATOR, line_of(own), f"{name}.config.{key}", *texts)


def _of_config(config: yaml.Node | None, kind: str, version: str, path: str) -> Iterator[FieldFault]:
    for key, node in fields(config).items():
        field = _field(key, _prefixes(kind, version))
        if field is not None:
            yield _set(node, f"{path}.{key}", field)


def _set(node: yaml.Node, path: str, field: str) -> FieldFault:
    """Return that the operator ignores a key of `config`; `field` counts instead, or is empty."""
    effect, fix = "it ignores the line", "Remove the line."
    if field:
        words = "fields {} count" if " and " in field else "field {} counts"
        effect, fix = f"{effect}: the {words.format(field)}", f"Remove the line, and set {field}."
    effect += " for the workers, which write the records" if path.startswith("config.") else ""
    if path.endswith(("connector.class", ".name")):
        effect = "it sets the key itself, and ignores the line"
    found = "Strimzi's operator does not take this key from `config`"
    return FieldFault(LintCode.KEY_SET_BY_OPERATOR, line_of(node), path, found, effect, fix)


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
    if kind in STRIMZI_MECHANISMS:
        effect = "the login crosses the network without encryption"
        fix = "Add `tls`, with the address of a listener that has TLS."
        yield FieldFault(LintCode.LOGIN_UNENCRYPTED, line, "authentication", f"`{kind}` without `tls`", effect, fix)
    elif kind == "tls":
        texts = (
            "a certificate without `tls`",
            "the clients use PLAINTEXT, and the certificate is not used",
            "Add `tls`.",
        )
        yield FieldFault(LintCode.LOGIN_NOT_USED, line, "authentication", *texts)


def _tls_keys(node: yaml.Node | None, dropped: dict[str, str]) -> Iterator[FieldFault]:
    """Yield a fault for each key of TLS that the operator takes, and that has no effect without `tls`."""
    inner = fields(node)
    tls, config = inner.get("tls"), fields(inner.get("config"))
    protocol = text_of(config.get("security.protocol")) if not dropped else ""
    if (tls is not None and not is_null(tls)) or "SSL" in protocol or "$" in protocol:
        return
    for key, value in config.items():
        if key.startswith("ssl.") and _field(key, dropped) is None:
            effect = "it has no effect: the clients of this cluster do not use TLS"
            texts = "a setting of TLS without `tls`", effect, "Add `tls` beside `config`, or remove the line."
            yield FieldFault(LintCode.LOGIN_NOT_USED, line_of(value), f"config.{key}", *texts)


def authentication_faults(node: yaml.Node | None) -> Iterator[FieldFault]:
    """Yield a fault if the login of a cluster or client lacks a field that its type requires."""
    login = fields(fields(node).get("authentication"))
    kind, given = text_of(login.get("type")), {name for name, value in login.items() if not is_null(value)}
    required = _REQUIRED.get(kind, ())
    if required and not any(given.issuperset(each) for each in required):
        # The set of which most is there, or else the usual one.
        nearest = max(required, key=lambda each: len(given & set(each)))
        missing = " and ".join(f"`{name}`" for name in nearest if name not in given)
        meant = _type_of(given)
        fix = f"Write `type: {meant}`, or the fields of the type." if meant else f"Add {missing}."
        found = f"the type {kind} requires {missing}, which the login does not have"
        effect = "Strimzi's operator refuses the resource, or fails when it makes the login"
        line = line_of(login["type"])
        yield FieldFault(LintCode.LOGIN_INCOMPLETE, line, "authentication.type", found, effect, fix)


def _type_of(given: set[str]) -> str:
    """Return the type whose fields are there; empty if several types have them."""
    if "certificateAndKey" in given and not given & {"username", "passwordSecret", *_OAUTH}:
        return "tls"
    return "oauth" if any(given.issuperset(each) for each in _REQUIRED["oauth"]) else ""
