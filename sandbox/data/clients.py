"""What every Kafka client of the data has in common."""

from __future__ import annotations


def client_config(bootstrap: str) -> dict[str, str | int | bool]:
    """Return where the brokers are; what goes wrong comes as exceptions, librdkafka itself prints nothing.

    It would go on printing lost connections when the sandbox is stopped, after the demo's last line.
    """
    return {"bootstrap.servers": bootstrap, "log_level": 0}
