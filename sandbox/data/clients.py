"""The common configuration of the data's Kafka clients."""

from __future__ import annotations


def client_config(bootstrap: str) -> dict[str, str | int | bool]:
    """Return the brokers' addresses, with librdkafka's own output disabled; errors are raised as exceptions.

    Otherwise it would print lost connections while the sandbox stops, after the demo's last line.
    """
    return {"bootstrap.servers": bootstrap, "log_level": 0}
