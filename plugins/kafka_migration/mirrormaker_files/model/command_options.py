"""The options of MirrorMaker 1's command, as its parser takes them."""

from __future__ import annotations

from enum import StrEnum

from kafka_migration.kafka_tables.accepted import nearest


class StartProgram(StrEnum):
    """What a command starts; the values are the names of Kafka's scripts."""

    MIRRORMAKER1 = "kafka-mirror-maker.sh"
    MIRRORMAKER2 = "connect-mirror-maker.sh"
    STANDALONE = "connect-standalone.sh"
    DISTRIBUTED = "connect-distributed.sh"


# How a command may name them: the script, also that of Windows, or the class that the script starts.
_OF_CONNECT = r"connect\.(?:mirror\.MirrorMaker|cli\.Connect(?:Standalone|Distributed))"
PROGRAM = (
    r"(?:kafka-mirror-maker|connect-(?:mirror-maker|standalone|distributed))(?:\.sh|\.bat)?|"
    rf"kafka\.tools\.MirrorMaker|org\.apache\.kafka\.{_OF_CONNECT}"
)
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
# How similar two names must be, from 0 to 1, for one to be a misspelling of the other.
_SIMILAR = 0.85
OPTIONS = FLAGS | WITH_VALUE
# The owner of settings that are no options: variables and Java's system properties.
ENVIRONMENT = "environment"
# The owner of the setting that names the program of a command.
PROGRAM_OWNER = "program"


def option_meant(name: str) -> str:
    """Return the only option that starts with a name, else the most similar one; empty if there is none."""
    found = [option for option in OPTIONS if option.startswith(name)] if name else []
    return found[0] if len(found) == 1 else nearest(name, OPTIONS, _SIMILAR)
