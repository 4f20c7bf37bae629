"""The target's brokers create no topic by themselves, and their defaults for new topics are known."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.clusters.broker_settings import AUTO_CREATE, Brokers, target_brokers
from kafka_migration.preflight.scene.check import (
    NO_DESCRIBE_CONFIGS,
    Asked,
    Check,
    Fact,
    Findings,
    UnknownFact,
    unknown_finding,
    without_mirrormaker,
)
from kafka_migration.preflight.scene.scene import Scene

_NOT_READ = UnknownFact(
    Fact(
        "which settings new topics get from the brokers, and whether brokers create each topic that a client asks for",
        "A topic that the run creates may refuse or delete copied records, or a client may create it first.",
    ),
    NO_DESCRIBE_CONFIGS,
    "Grant DescribeConfigs to the user of the connection, or look at the brokers' settings yourself.",
)


def _warn(scene: Scene) -> Findings:
    if not any(target_brokers(scene).values()):
        yield unknown_finding("the brokers' settings on the target", _NOT_READ)
    yield from auto_create_warnings(target_brokers(scene))


def auto_create_warnings(brokers: Brokers) -> Findings:
    """Warn if brokers create each topic that a client asks for."""
    creating = sum(settings.get(AUTO_CREATE) == "true" for settings in brokers.values())
    if creating:
        yield Finding(
            Code.TOPICS_AUTO_CREATED,
            "target",
            f"{AUTO_CREATE} true on {creating} of {len(brokers)} brokers",
            "false until the cutover",
            f"Set {AUTO_CREATE} to false on the target's brokers until the cutover.",
            happened=f"{creating} of {len(brokers)} brokers of the target create each topic that a client asks for "
            f"({AUTO_CREATE}).",
            matters="A client that starts too early, or names a wrong topic, creates a topic with the brokers' default "
            "partitions and settings, and a run then refuses to copy into it.",
        )


CHECK = Check("brokers", asks={Asked.TARGET}, needs=("clusters",), warn=_warn, unless=without_mirrormaker)
