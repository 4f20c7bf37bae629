"""The check of the connector's configuration, which each worker validates without creating anything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kafka_migration.core.connect.connect_tools import ALL_KEYS
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.secret_properties import SECRET_PROPERTIES
from kafka_migration.core.mirror.engine import LaunchFacts
from kafka_migration.core.text.shortened import sentence, some
from kafka_migration.engines.engines import engine_of
from kafka_migration.engines.required_versions import worker_release
from kafka_migration.preflight.clusters.heap_check import partition_count
from kafka_migration.preflight.clusters.limits_check import largest_request
from kafka_migration.preflight.connect.asking_connect import root_of, tools_at, workers_of
from kafka_migration.preflight.scene.check import BOTH_AND_CONNECT, Findings, check, without_connect
from kafka_migration.preflight.scene.scene import Scene

# Stands for a secret in a validation: Connect reads none, and its answer may quote a value.
PLACEHOLDER = "hidden"
_REFERENCE = "${"
_OVERRIDES = tuple(f"{client}.override." for client in ("producer", "consumer", "admin"))
# The configurations of all generations differ only in what this package keeps in them.
FIRST = 1


@check(
    "connect configuration",
    asks=BOTH_AND_CONNECT,
    needs=("security", "limits", "connect kafka", "connect workers"),
    unless=without_connect,
)
def connect_configuration(scene: Scene) -> Findings:
    """Every worker takes the configuration of the connector: its keys, its overrides and its support of transactions.

    A validation call opens no connection, so whether a worker reaches both clusters shows itself at the start.
    """
    engine = engine_of(scene.migration, scene.source, scene.target)
    yield from engine.setting_findings(str(worker_release(root_of(scene).version) or ""))
    config = without_secrets(engine.launch(FIRST, launch_facts(scene)).config)
    answers = {
        worker.address: tools_at(scene, worker).problems(config) for worker in workers_of(scene) if not worker.silent
    }
    yield from refused_findings(answers)


def launch_facts(scene: Scene) -> LaunchFacts:
    """Return the facts about both clusters that a launch needs."""
    return LaunchFacts(
        _properties(scene, "source"), _properties(scene, "target"), largest_request(scene), partition_count(scene)
    )


def _properties(scene: Scene, side: Side) -> Mapping[str, str]:
    named = scene.named(side)
    return java_properties(named.connection, scene.run.deployment.client_settings(named))


def without_secrets(config: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration with a placeholder instead of each secret that is no reference."""
    return {key: PLACEHOLDER if is_plain_secret(key, value) else value for key, value in config.items()}


def is_plain_secret(key: str, value: str) -> bool:
    """Return whether a key of a connector holds a secret as plain text."""
    return _REFERENCE not in value and any(key == name or key.endswith(f".{name}") for name in SECRET_PROPERTIES)


def refused_findings(answers: Mapping[str, Mapping[str, tuple[str, ...]]]) -> Findings:
    """Name the keys that workers refuse, with Connect's words; `answers` are the problems by worker and key.

    Keys with the same words are one finding, such as all overrides that a policy forbids.
    """
    refusing = defaultdict[str, dict[str, list[str]]](lambda: defaultdict(list))
    for address, problems in answers.items():
        for key, said in problems.items():
            refusing[_words(key, said)][key].append(address)
    for words, keys in refusing.items():
        refused_by = sorted({address for addresses in keys.values() for address in addresses})
        yield _refused(sorted(keys), words, "" if len(refused_by) == len(answers) else f" (by {some(refused_by)})")


def _words(key: str, said: Iterable[str]) -> str:
    """Return what Connect says of a key; a setting of a client is left out, so that a policy says the same of all."""
    setting = next((key.removeprefix(prefix) for prefix in _OVERRIDES if key.startswith(prefix)), key)
    return "; ".join(said).replace(f"'{setting}'", "a setting") if setting != key else "; ".join(said)


def _refused(keys: Sequence[str], words: str, which: str) -> Finding:
    is_whole = list(keys) == [ALL_KEYS]
    where = "the configuration of the connector" if is_whole else f"{some(keys)} of the connector"
    return Finding(
        Code.CONNECT_CONFIG_REFUSED,
        where,
        f"{words}{which}",
        "a configuration that every worker takes",
        "Change what Connect names: a setting of the migration file, connector.client.config.override.policy of the "
        "workers (All, or an allow list with these settings), exactly.once.source.support of the workers, or the "
        "file of a config provider.",
        happened=sentence(f"Kafka Connect would refuse {where}{which}: {words}"),
        matters="Connect would not create the connector, so nothing would be copied.",
    )
