"""Kafka's own admin client in Spark's JVM.

Spark's driver may have no Python Kafka client, but it always has the Java client, as a jar of the Kafka source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_PREFIX = "kafka."
_CLOSE_TIMEOUT_S = 10


@contextmanager
def admin_client(jvm: Any, client: Mapping[str, str]) -> Iterator[Any]:
    """Yield a Java `AdminClient` with the Kafka options of a client; closed at the end. Raises `Py4JJavaError`."""
    admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(_properties(jvm, client))
    try:
        yield admin
    finally:
        admin.close(jvm.java.time.Duration.ofSeconds(_CLOSE_TIMEOUT_S))


def _properties(jvm: Any, client: Mapping[str, str]) -> Any:
    properties = jvm.java.util.Properties()
    for name, value in client.items():
        if name.startswith(_PREFIX):
            properties.put(name.removeprefix(_PREFIX), value)
    return properties
