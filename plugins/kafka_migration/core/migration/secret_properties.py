"""The properties of Java clients that hold a secret. A module of its own, because parsing a DAG file imports it."""

from __future__ import annotations

from collections.abc import Mapping

# Each with the settings of an Airflow connection of which it is made.
SECRET_PROPERTIES: Mapping[str, str] = {
    "sasl.jaas.config": "a login (sasl.mechanism and what it needs)",
    "ssl.key.password": "ssl.key.password",
    "ssl.keystore.certificate.chain": "ssl.key.pem with ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
