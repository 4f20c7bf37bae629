"""The Airflow connections of the clusters in MirrorMaker files, without any secret."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kafka_migration.core.connections.client_settings import KERBEROS, KERBEROS_SERVICE
from kafka_migration.core.connections.mechanisms import MECHANISMS, mechanism_named
from kafka_migration.core.discovery.connections_to_create import ConnectionToCreate
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.core.text.secret_forms import has_key_form, has_secret_form, may_be_shown
from kafka_migration.mirrormaker_files.effective.all_files import login_of
from kafka_migration.mirrormaker_files.model.lint_finding import listed
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_import.chosen_flow import not_imported
from kafka_migration.mirrormaker_import.flow_readers import CONNECTION_KEYS, FlowReaders
from kafka_migration.mirrormaker_import.line_values import plain

# Every option of a JAAS line, so that no part of one value is taken for another option.
_OPTION = re.compile(r"""(?<!\w)(\w{1,100})\s{0,20}=\s{0,20}(?:"((?:[^"\\]|\\.)*)"?|'(?:[^'\\]|\\.)*'?|[^\s;"']+)""")
# A host and its port, without a login; only an IPv6 address has more colons.
_ADDRESS = re.compile(r"(?:[\w.-]{1,255}|\[[0-9a-fA-F:.]{2,45}\]):\d{1,5}")
# A value that is given, and that is not known here or not shown.
UNKNOWN = "<VALUE>"
# `$ConnectionString` is the name with which every client logs in to Azure Event Hubs.
_REFERENCE = re.compile(r"\$(?!ConnectionString\b)[A-Za-z_{(]|\{\{|`|%[A-Za-z_]\w{0,99}%")
_PROTOCOLS = frozenset({"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"})
# Kafka takes any text before a host, such as the name of a listener, for no part of the address.
_LISTENER = re.compile(r"^[A-Za-z][A-Za-z0-9_]{0,100}://")
_LONGEST_JAAS = 10_000
_PEM = "<CERTIFICATES OF THE AUTHORITY IN PEM>"


def connection_values(readers: FlowReaders, role: str, *, place: Place | None = None) -> dict[str, str]:
    """Return the connection settings that the client of a role gets, only those of lines at a place if it is given."""
    found = {key: each for reader in readers.own.at(role) for key, each in reader.values.items()}
    settings = {key: each.setting for key, each in found.items() if key.startswith(CONNECTION_KEYS) and each.setting}
    return {key: _value(key, each) for key, each in settings.items() if place in {None, each.place}}


def values_of_side(readers: FlowReaders, role: str, fields: Mapping[str, str]) -> dict[str, str]:
    """Return what a connection is made of. `fields` of a resource win over its lists of settings, as Strimzi has it.

    A connector's own settings win over both. Without any line the protocol is not Kafka's default but unknown, because
    a file is missing.
    """
    own = connection_values(readers, role, place=Place.FLOW)
    return {**connection_values(readers, role), **fields, **own} or {"security.protocol": UNKNOWN}


def _value(key: str, setting: MirrorSetting) -> str:
    """Return the value; `UNKNOWN` for a reference. Of a JAAS line, only some parts are used."""
    value = plain(setting)
    if key == "sasl.jaas.config":
        return value
    is_known = not is_reference(setting) and (may_be_shown(value) or _are_addresses(key, value))
    return value if is_known else UNKNOWN


def is_reference(setting: MirrorSetting) -> bool:
    """Return whether a value, or a part of it, is known only where MirrorMaker runs."""
    return setting.is_reference or _REFERENCE.search(setting.value) is not None


def _are_addresses(key: str, value: str) -> bool:
    """Whether the value is a list of addresses, whose names may contain words such as token."""
    is_list = key == "bootstrap.servers" and not has_key_form(value)
    return is_list and all(_ADDRESS.fullmatch(_LISTENER.sub("", each)) for each in listed(value))


def is_resource(file: MirrorFile) -> bool:
    """Return whether Strimzi's operator makes the configuration, with protocol and login from fields."""
    fields = ("bootstrapServers", "groupId")
    return any(each.place is Place.FIELD or each.name in fields for each in file.settings)


def strimzi_values(file: MirrorFile, alias: str) -> dict[str, str]:
    """Return the connection settings that Strimzi's operator makes from `tls` and `authentication` of a cluster."""
    found = {each.key: plain(each) for each in file.at(Place.FIELD, alias)}
    user = found.get("authentication.username") or found.get("authentication.clientId", "")
    return {key: each.value for key, each in login_of(file, alias).items()} | {_USER: user}


# No key of Java's clients: the name with which a cluster of Strimzi logs in.
_USER = "sasl.username"


def kafka_connection(name: str, values: Mapping[str, str]) -> ConnectionToCreate:
    """Return a connection of type `kafka`; what is secret or unknown is a placeholder such as `<PASSWORD>`."""
    protocol = protocol_in(values)
    extra = {"bootstrap.servers": addresses_in(values) or "<ADDRESSES>", "security.protocol": protocol or "<PROTOCOL>"}
    has = {start: any(key.startswith(f"{start}.") for key in values) for start in ("sasl", "ssl")}
    if protocol.startswith("SASL") or (not protocol and has["sasl"]):
        extra |= _login(values)
    if protocol.endswith("SSL") or (not protocol and has["ssl"]):
        extra["ssl.ca.pem"] = _PEM
        if "ssl.keystore.location" in values or "ssl.keystore.key" in values:
            extra |= {"ssl.certificate.pem": "<CLIENT CERTIFICATE IN PEM>", "ssl.key.pem": "<CLIENT KEY IN PEM>"}
        if values.get("ssl.endpoint.identification.algorithm") == "":
            extra["ssl.endpoint.identification.algorithm"] = "none"
    return ConnectionToCreate(name, {"conn_type": "kafka", "extra": extra})


def addresses_in(values: Mapping[str, str]) -> str:
    """Return the addresses, separated by commas; empty if they are not plain `host:port`."""
    addresses = [_LISTENER.sub("", each) for each in listed(values.get("bootstrap.servers", "").lstrip("="))]
    return ",".join(addresses) if all(re.fullmatch(r"[\w.\[\]:%-]+:\d{1,5}", each) for each in addresses) else ""


def value_problem_of(key: str, value: str) -> str:
    """Return why a connection does not get a value; empty if it does."""
    if key == "bootstrap.servers" and not addresses_in({key: value}):
        return "its value is no list of host:port"
    if key == "security.protocol" and not protocol_in({key: value}):
        return "Kafka has no such protocol"
    if key == "sasl.mechanism" and value not in MECHANISMS:
        return "a connection takes no such mechanism"
    return ""


def protocol_in(values: Mapping[str, str]) -> str:
    """Return the security protocol, Kafka's default if none is given; empty if it is not known."""
    protocol = values.get("security.protocol", "PLAINTEXT").strip().upper()
    return protocol if protocol in _PROTOCOLS else ""


def require_target(readers: FlowReaders, connections: Sequence[ConnectionToCreate], flow: str) -> None:
    """Refuse a producer that writes the records to the source, although the connector has another target."""
    source, target = (set(listed(each.fields["extra"]["bootstrap.servers"])) for each in connections[:2])
    meant = readers.meant_target
    named = set(listed(addresses_in({"bootstrap.servers": plain(meant)}))) if meant else set()
    if meant and source & target and named and not source & named:
        found = f"a producer that writes to the source; line {meant.line} names another target"
        remedy = "Correct bootstrap.servers of the worker or its producer in a copy, and import the copy."
        raise Refused([not_imported(flow, found, "a producer that writes to the target", remedy)])


def insecurities_of(connection: ConnectionToCreate) -> tuple[Insecurity, ...]:
    """Return the protections that the migration file must allow to be off."""
    extra = connection.fields["extra"]
    found = [Insecurity.SASL_PLAINTEXT] if extra["security.protocol"] == "SASL_PLAINTEXT" else []
    if extra.get("ssl.endpoint.identification.algorithm") == "none":
        found.append(Insecurity.NO_HOST_NAME_CHECK)
    return tuple(found)


def _login(values: Mapping[str, str]) -> dict[str, str]:
    # The default of Kafka's clients.
    name = values.get("sasl.mechanism", KERBEROS)
    mechanism = mechanism_named(name if name in MECHANISMS else None)
    options = _OPTION.findall(values.get("sasl.jaas.config", "")[:_LONGEST_JAAS])
    found = [(mechanism.in_jaas.get(option, ""), value) for option, value in options]
    found.append((mechanism.user, values.get(_USER, "")))
    known = {setting: value for setting, value in found if _may_be_used(value)}
    if service := values.get(KERBEROS_SERVICE):
        known[KERBEROS_SERVICE] = "<SERVICE NAME>" if service == UNKNOWN else service
    return mechanism.placeholders(known)


def _may_be_used(value: str) -> bool:
    return bool(value) and not has_secret_form(value) and _REFERENCE.search(value) is None
