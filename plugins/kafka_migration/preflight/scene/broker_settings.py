"""What the settings of the target's brokers mean for a copy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding

Brokers = Mapping[int, Mapping[str, str]]
"""The settings of each broker, by its id."""

AUTO_CREATE = "auto.create.topics.enable"


def _strictest(values: Iterable[str], choose: Callable[[list[int]], int]) -> str | None:
    numbers = [int(value) for value in values if value.lstrip("-").isdecimal()]
    return str(choose(numbers)) if numbers else None


def _with_compaction(values: Iterable[str]) -> str | None:
    """Return a policy that compacts if any broker has one."""
    return next(iter(sorted(values, key=lambda value: "compact" not in value)), None)


# The settings that a topic without its own value takes from its broker: their name there, and the value that limits
# most, because brokers may differ.
_DEFAULTS: Mapping[str, tuple[str, Callable[[Iterable[str]], str | None]]] = {
    "max.message.bytes": ("message.max.bytes", lambda values: _strictest(values, min)),
    "min.insync.replicas": ("min.insync.replicas", lambda values: _strictest(values, max)),
    "cleanup.policy": ("log.cleanup.policy", _with_compaction),
    **{
        f"message.timestamp.{limit}.max.ms": (
            f"log.message.timestamp.{limit}.max.ms",
            lambda values: _strictest(values, min),
        )
        for limit in ("before", "after", "difference")
    },
}
BROKER_SETTINGS = (AUTO_CREATE, *(name for name, _ in _DEFAULTS.values()))


def topic_defaults(brokers: Brokers) -> dict[str, str]:
    """Return the settings of a topic that has none itself; what no broker shows is missing."""
    found = {
        topic_setting: choose([settings[name] for settings in brokers.values() if name in settings])
        for topic_setting, (name, choose) in _DEFAULTS.items()
    }
    return {name: value for name, value in found.items() if value is not None}


def auto_create_warnings(brokers: Brokers) -> Iterator[Finding]:
    """Warn if brokers create each topic that a client asks for."""
    creating = sorted(broker for broker, settings in brokers.items() if settings.get(AUTO_CREATE) == "true")
    if creating:
        yield Finding(
            Code.TOPICS_AUTO_CREATED,
            "target",
            f"{AUTO_CREATE} true on {len(creating)} of {len(brokers)} brokers",
            "false until the cutover",
            "Set it to false. Otherwise a consumer or producer that starts too early, or names a wrong topic, creates "
            "a topic with the brokers' default partitions and settings, and a later copy of it is refused.",
        )


def not_checked(what: str, why: str, unknown: str, remedy: str) -> Finding:
    """Return the warning that preflight could not look at something, so that this is unknown."""
    return Finding(Code.FACT_UNKNOWN, what, why, unknown, remedy)


def unknown_settings(side: str) -> Finding:
    """Return the warning that a login may not read the settings of brokers."""
    return not_checked(
        f"the brokers' settings on the {side}",
        "no right DescribeConfigs on the cluster",
        "their defaults for new topics, and whether they create topics that a client asks for",
        "Grant it to the user of the connection, or look at the settings yourself.",
    )
