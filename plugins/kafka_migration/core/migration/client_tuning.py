"""Which settings of MirrorMaker's Kafka clients a migration file may tune, and what sets the others.

A key starts with the client's name: `consumer.…` reads the source, `producer.…` writes to the target.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

_BOTH = (
    "client.dns.lookup",
    "connections.max.idle.ms",
    "receive.buffer.bytes",
    "reconnect.backoff.max.ms",
    "reconnect.backoff.ms",
    "request.timeout.ms",
    "retry.backoff.max.ms",
    "retry.backoff.ms",
    "send.buffer.bytes",
    "socket.connection.setup.timeout.max.ms",
    "socket.connection.setup.timeout.ms",
)
_CONSUMER = (
    "check.crcs",
    "client.rack",
    "default.api.timeout.ms",
    "fetch.max.bytes",
    "fetch.max.wait.ms",
    "fetch.min.bytes",
    "max.partition.fetch.bytes",
    "max.poll.interval.ms",
    "max.poll.records",
)
_PRODUCER = (
    "batch.size",
    "buffer.memory",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.type",
    "compression.zstd.level",
    "linger.ms",
    "metadata.max.age.ms",
    "metadata.max.idle.ms",
)
# The keys that a migration file may tune. Kafka has them in every version that MirrorMaker may have.
TUNING_KEYS = frozenset(
    [f"{client}.{name}" for client in ("consumer", "producer") for name in _BOTH]
    + [f"consumer.{name}" for name in _CONSUMER]
    + [f"producer.{name}" for name in _PRODUCER]
)

# The values that Kafka accepts: one of a few words, or a number in a range. Ranges other than `_USUAL_NUMBERS` are
# listed in `_NUMBERS`.
_USUAL_NUMBERS = (0, 2**31 - 1)
_FLAGS = ("true", "false")
_WORDS = {
    "check.crcs": _FLAGS,
    "client.dns.lookup": ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
    "compression.type": ("none", "gzip", "snappy", "lz4", "zstd"),
}
_NUMBERS = {
    "buffer.memory": (0, 2**63 - 1),
    "compression.gzip.level": (1, 9),
    "compression.lz4.level": (1, 17),
    "compression.zstd.level": (-131_072, 22),
    "connections.max.idle.ms": (-1, 2**63 - 1),
    "fetch.max.bytes": (1, 2**31 - 1),
    "max.partition.fetch.bytes": (1, 2**31 - 1),
    "max.poll.interval.ms": (1, 2**31 - 1),
    "max.poll.records": (1, 2**31 - 1),
    "metadata.max.idle.ms": (5000, 2**63 - 1),
    "receive.buffer.bytes": (-1, 2**31 - 1),
    "send.buffer.bytes": (-1, 2**31 - 1),
}
_FREE = frozenset({"client.rack"})

_PROFILE = "the profile, so that nothing is lost or sent out of order"
_CONNECTION = "the Airflow connection of the cluster"
_MIRROR_MAKER = "MirrorMaker, which copies bytes unchanged"
OWNERS = {
    "consumer.auto.offset.reset": _PROFILE,
    "consumer.enable.auto.commit": _PROFILE,
    "consumer.exclude.internal.topics": _PROFILE,
    "consumer.group.id": "the migration's name",
    "consumer.heartbeat.interval.ms": _PROFILE,
    "consumer.isolation.level": "mirror.isolation_level",
    "consumer.metadata.max.age.ms": _PROFILE,
    "consumer.partition.assignment.strategy": _PROFILE,
    "consumer.session.timeout.ms": _PROFILE,
    "producer.acks": _PROFILE,
    "producer.delivery.timeout.ms": _PROFILE,
    "producer.enable.idempotence": _PROFILE,
    "producer.max.block.ms": _PROFILE,
    "producer.max.in.flight.requests.per.connection": _PROFILE,
    "producer.max.request.size": "the smallest max.message.bytes of the target's topics",
    "producer.retries": _PROFILE,
    "producer.transaction.timeout.ms": "mirror.exactly_once",
    "producer.transactional.id": "mirror.exactly_once",
}
_OWNED_PREFIXES = {
    "bootstrap.": _CONNECTION,
    "security.": _CONNECTION,
    "sasl.": _CONNECTION,
    "ssl.": _CONNECTION,
    "config.providers": _CONNECTION,
    "client.id": _MIRROR_MAKER,
    "interceptor.": _MIRROR_MAKER,
    "key.": _MIRROR_MAKER,
    "partitioner.": _MIRROR_MAKER,
    "value.": _MIRROR_MAKER,
}


def tuning_problem(key: str) -> str | None:
    """Return what is expected instead of this key; `None` for a key that may be tuned."""
    if key in TUNING_KEYS:
        return None
    owner = owner_of(key)
    if owner:
        return f"a tuning key; {key} is set by {owner}"
    near = difflib.get_close_matches(key, sorted(TUNING_KEYS), n=1, cutoff=0.8)
    return f"a supported tuning key of Kafka's clients{f'; did you mean {near[0]!r}?' if near else ''}"


def words_of(key: str) -> tuple[str, ...]:
    """Return the words that Kafka accepts as the value of a tuning key; none for a number or any text."""
    return _WORDS.get(key.partition(".")[2], ())


def value_problem(key: str, value: str) -> str | None:
    """Return what is expected instead of this value of a tuning key; `None` for a value that Kafka accepts."""
    name = key.partition(".")[2]
    if name in _FREE:
        return None
    if name in _WORDS:
        return None if value in _WORDS[name] else f"{key} as one of {', '.join(_WORDS[name])}, not {value}"
    least, most = _NUMBERS.get(name, _USUAL_NUMBERS)
    is_number = re.fullmatch(r"-?[0-9]{1,19}", value) is not None
    return (
        None if is_number and least <= int(value) <= most else f"{key} as a number from {least} to {most}, not {value}"
    )


# Pairs of settings of which the first must not be higher. The numbers apply if a file does not set them: the smallest
# batch and the largest buffer of `core.mirror.client_sizes`, and Kafka's defaults.
_NOT_HIGHER = {
    ("producer.batch.size", "producer.buffer.memory"): (16_384, 33_554_432, "the producer could buffer no batch"),
    ("consumer.fetch.max.wait.ms", "consumer.request.timeout.ms"): (
        500,
        30_000,
        "requests without new records would time out",
    ),
}


def pair_problems(properties: Mapping[str, str]) -> Iterator[str]:
    """Yield what is expected where valid values of two tuning keys cannot work together."""
    for (low, high), (low_default, high_default, why) in _NOT_HIGHER.items():
        found = int(properties.get(low, low_default)), int(properties.get(high, high_default))
        if found[0] > found[1]:
            yield f"{low} ({found[0]}) not higher than {high} ({found[1]}), because {why}"


def owner_of(key: str) -> str | None:
    """Return what sets a key that a migration file may not tune; `None` for any other key."""
    name = key.partition(".")[2]
    return OWNERS.get(key) or next((o for prefix, o in _OWNED_PREFIXES.items() if name.startswith(prefix)), None)
