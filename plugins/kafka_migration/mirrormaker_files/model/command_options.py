"""The options of MirrorMaker 1's command, as its parser takes them."""

from __future__ import annotations

FLAGS = frozenset({"new.consumer", "help", "version"})
PATTERNS = frozenset({"whitelist", "include", "blacklist"})
WITH_VALUE = PATTERNS | {
    "consumer.config",
    "producer.config",
    "num.streams",
    "offset.commit.interval.ms",
    "consumer.rebalance.listener",
    "rebalance.listener.args",
    "message.handler",
    "message.handler.args",
    "abort.on.send.failure",
}
OPTIONS = FLAGS | WITH_VALUE
# The owner of settings that are no options: variables and Java's system properties.
ENVIRONMENT = "environment"


def option_meant(name: str) -> str:
    """Return the only option that starts with a name; empty if there is none. Kafka takes whole names only."""
    found = [option for option in OPTIONS if option.startswith(name)] if name else []
    return found[0] if len(found) == 1 else ""
