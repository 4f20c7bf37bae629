"""The settings of the target's brokers, and what a topic without its own settings takes from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kafka_migration.core.findings.errors import Refused
from kafka_migration.preflight.scene.scene import Scene, asked_once

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


@asked_once
def target_brokers(scene: Scene) -> Brokers:
    """Return the settings of the target's brokers; empty if the login may not read them."""
    try:
        return scene.target.broker_settings(*BROKER_SETTINGS)
    except Refused:
        return {}


def topic_defaults(brokers: Brokers) -> dict[str, str]:
    """Return the settings of a topic that has none itself; what no broker shows is missing."""
    found = {
        topic_setting: choose([settings[name] for settings in brokers.values() if name in settings])
        for topic_setting, (name, choose) in _DEFAULTS.items()
    }
    return {name: value for name, value in found.items() if value is not None}
