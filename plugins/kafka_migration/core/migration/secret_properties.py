"""The properties of Java clients that hold a secret. A module of its own, because parsing a DAG file imports it."""

from __future__ import annotations

SECRET_PROPERTIES = frozenset(
    {"sasl.jaas.config", "ssl.keystore.key", "ssl.key.password", "ssl.keystore.certificate.chain"}
)
