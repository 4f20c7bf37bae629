"""Rules on the policy with which a worker allows connectors to override the settings of their clients.

As `AbstractHerder.validateClientOverrides` decides: it judges all keys of a client that a source connector uses.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.mirrormaker_files.effective.readers import Effective, Given
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.ground.views import CONNECTORS, at_given, is_given, value
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile

_POLICY = "connector.client.config.override.policy"
_PRINCIPAL = frozenset({"sasl.jaas.config", "sasl.mechanism", "security.protocol"})
_END = "ConnectorClientConfigOverridePolicy"


def overrides(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each worker that refuses a connector because of what the connector overrides."""
    # The dedicated MirrorMaker does not read the policy.
    is_connect = file.kind in {FileKind.CONNECTORS, FileKind.WORKER}
    for worker in ground.readers.at("connect_worker") if is_connect else ():
        given = worker.values.get(_POLICY)
        policy = value(worker, _POLICY, "None" if ground.is_at_least("3.0") is False else "All")
        refused = _refused(worker, policy.rpartition(".")[2].removesuffix(_END), ground)
        if refused and given and is_given(given, file):
            yield _by_line(file, given, refused)
        elif refused and given is None:
            yield from _by_default(file, refused)


def _refused(worker: Effective, policy: str, ground: Ground) -> list[Given]:
    """Return the lines of connectors on a worker that its policy refuses."""
    allowed = {"None": frozenset[str](), "Principal": _PRINCIPAL}.get(policy)
    there = [each for each in ground.readers.at(*CONNECTORS) if worker.reader.flow in {"", each.reader.flow}]
    return [] if allowed is None else [given for each in there for given in _overridden(each, allowed)]


def _overridden(connector: Effective, allowed: frozenset[str]) -> Iterator[Given]:
    prefixes = ["producer.override."]
    if "topic.creation.default.replication.factor" in connector.values:
        prefixes.append("admin.override.")
    for name, given in connector.values.items():
        for prefix in prefixes:
            if name.startswith(prefix) and name.removeprefix(prefix) not in allowed and given.setting:
                yield given


def _by_line(file: MirrorFile, given: Given, refused: list[Given]) -> LintFinding:
    first = refused[0].setting
    place = f"line {first.line} of {refused[0].file}" if first else refused[0].file
    found = f"the worker does not allow what {place} overrides"
    effect = "Connect refuses the connector"
    fix = f"Write `{_POLICY}=All`, or remove the overrides of the connector."
    others = tuple(each.setting.line for each in refused if each.setting and is_given(each, file))
    return at_given(file, given, LintCode.OVERRIDE_REFUSED, found, effect, fix, others)


def _by_default(file: MirrorFile, refused: list[Given]) -> Iterator[LintFinding]:
    own = [each for each in refused if is_given(each, file)]
    if own:
        found = f"the worker has no `{_POLICY}`, whose default is None before Kafka 3.0"
        fix = f"Write `{_POLICY}=All` into the properties of the workers."
        others = tuple(each.setting.line for each in own[1:] if each.setting)
        effect = "Connect refuses the connector"
        yield at_given(file, own[0], LintCode.OVERRIDE_REFUSED, found, effect, fix, others)


OVERRIDE_RULES = (overrides,)
