"""Rules on the fields of a KafkaMirrorMaker2 resource, which Kubernetes drops if its definition does not have them."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.mirrormaker_files.model.judging import LintFinding, at
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.rules.ground import Ground

# The fields of all versions of the resource, v1alpha1 to v1.
_SPEC = frozenset(
    {
        "version",
        "replicas",
        "image",
        "connectCluster",
        "resources",
        "livenessProbe",
        "readinessProbe",
        "jvmOptions",
        "jmxOptions",
        "logging",
        "clientRackInitImage",
        "rack",
        "tracing",
        "template",
        "externalConfiguration",
        "metricsConfig",
        "metrics",
        "affinity",
        "tolerations",
        "license",
        "topologySpreadConstraints",
        "plugins",
        "build",
    }
)
_CLUSTER = frozenset(
    {
        "alias",
        "bootstrapServers",
        "tls",
        "authentication",
        "config",
        "groupId",
        "configStorageTopic",
        "offsetStorageTopic",
        "statusStorageTopic",
    }
)
_MIRROR = frozenset(
    {
        "sourceCluster",
        "targetCluster",
        "source",
        "sourceConnector",
        "heartbeatConnector",
        "checkpointConnector",
        "topicsPattern",
        "topicsBlacklistPattern",
        "topicsExcludePattern",
        "groupsPattern",
        "groupsBlacklistPattern",
        "groupsExcludePattern",
    }
)
_CONNECTOR = frozenset(
    {
        "tasksMax",
        "config",
        "pause",
        "state",
        "autoRestart",
        "listOffsets",
        "alterOffsets",
        "version",
    }
)
_CONNECTORS = frozenset({"sourceConnector", "heartbeatConnector", "checkpointConnector"})


def unknown_fields(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each field that the resource does not have where it stands; the first line of each."""
    seen = set[tuple[str, str]]()
    for setting in file.at(Place.FIELD) if file.kind is FileKind.STRIMZI else ():
        if (field := _unknown(setting)) and (setting.owner, field) not in seen:
            seen.add((setting.owner, field))
            found = "the resource KafkaMirrorMaker2 has no such field here"
            effect = "Kubernetes drops it, so Strimzi does not see its value"
            yield at(file, setting, LintCode.FIELD_UNKNOWN, found, effect, _fix(setting, field))


def _unknown(setting: MirrorSetting) -> str:
    """Return the path of the first field that does not exist; empty if all exist."""
    first, _, rest = setting.name.partition(".")
    first = first.partition("[")[0]
    if not setting.owner:
        return "" if first in _SPEC else first
    if "->" not in setting.owner:
        return "" if first in _CLUSTER else first
    if first in _CONNECTORS:
        inner = rest.partition(".")[0].partition("[")[0]
        return "" if inner in _CONNECTOR or not inner else f"{first}.{inner}"
    return "" if first in _MIRROR else first


def _fix(setting: MirrorSetting, field: str) -> str:
    if field == "config":
        return "Move `config` into `sourceConnector`, `checkpointConnector` or `heartbeatConnector`."
    if field.endswith(("tasks.max", "maxTasks", "tasks")):
        return "Write `tasksMax`."
    if "." in field or "->" not in setting.owner:
        return "Move it into `config` if it is a key of Kafka; else correct or remove it."
    return "Correct or remove it."


RESOURCE_RULES = (unknown_fields,)
