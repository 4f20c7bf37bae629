"""Whether the fields of `authentication` are those that its type requires, as Strimzi's operator checks them."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from kafka_migration.mirrormaker_files.formats.yaml_documents import fields, is_null, line_of, text_of
from kafka_migration.mirrormaker_files.model.mirror_settings import Fault, FieldFault

_PASSWORD = (("username", "passwordSecret"),)
_CLIENT = ("tokenEndpointUri", "clientId")
# `AuthenticationUtils.validateClientAuthentication`: the sets of fields of which each type requires one.
_REQUIRED: dict[str, tuple[tuple[str, ...], ...]] = {
    "tls": (("certificateAndKey",),),
    "scram-sha-256": _PASSWORD,
    "scram-sha-512": _PASSWORD,
    "plain": _PASSWORD,
    "oauth": (
        (*_CLIENT, "clientSecret"),
        ("accessToken",),
        ("accessTokenLocation",),
        (*_CLIENT, "refreshToken"),
        (*_CLIENT, "username", "passwordSecret"),
        (*_CLIENT, "clientAssertion"),
        (*_CLIENT, "clientAssertionLocation"),
    ),
}


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
        yield FieldFault(Fault.LOGIN_INCOMPLETE, line_of(login["type"]), "authentication.type", found, fix)


def _type_of(given: set[str]) -> str:
    """Return the type whose fields are there; empty if several types have them."""
    if "certificateAndKey" in given and not given & {"username", "passwordSecret", *_CLIENT}:
        return "tls"
    return "oauth" if any(given.issuperset(each) for each in _REQUIRED["oauth"]) else ""
