"""Rules on the workers of Kafka Connect: keys of a standalone one, and what a worker lets connectors override."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given
from kafka_migration.mirrormaker_files.ground.ground import CONNECTORS, Ground, at_given, is_given, value
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, on_file
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place

_FILE = "offset.storage.file.filename"
_NO_START = f"the standalone worker requires `{_FILE}` and does not start"
_FIX = f"Write `{_FILE}=` with the path of a file that the worker may write."
# What only `DistributedConfig` defines; both workers have the other keys.
_DISTRIBUTED = regex(
    r"group\.id|(?:session|rebalance)\.timeout\.ms|heartbeat\.interval\.ms|worker\.(?:sync\.timeout|unsync\.backoff)\.ms|"
    r"exactly\.once\.source\.support|connect\.protocol|scheduled\.rebalance\.max\.delay\.ms|inter\.worker\.[a-z.]{1,50}|"
    r"(?:config|offset|status)\.storage\.(?:topic|partitions|replication\.factor)|metadata\.recovery\.strategy"
)
_POLICY = "connector.client.config.override.policy"
_PRINCIPAL = frozenset({"sasl.jaas.config", "sasl.mechanism", "security.protocol"})
_END = "ConnectorClientConfigOverridePolicy"


def standalone(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each key that a standalone worker ignores, and for the one that it requires."""
    if not _is_standalone(file):
        return
    own = [each for each in file.at(Place.WORKER) if not each.client]
    if all(each.key != _FILE for each in own):
        yield _required(file, own)
    for setting in own:
        if _DISTRIBUTED.fullmatch(setting.key):
            found = "only distributed workers have this key"
            fix = "Remove it, or run a distributed worker."
            yield at(file, setting, LintCode.KEY_OF_DISTRIBUTED, found, "the standalone worker ignores it", fix)


def _is_standalone(file: MirrorFile) -> bool:
    """Return whether the name or a key says so; a resource of Strimzi is always a distributed worker."""
    if file.kind is not FileKind.WORKER or file.name.lower().endswith((".yaml", ".yml")):
        return False
    keys = {each.key for each in file.at(Place.WORKER)}
    has_file = any(key.startswith("offset.storage.file") for key in keys) and "config.storage.topic" not in keys
    return has_file or "standalone" in file.name.lower()


def _required(file: MirrorFile, own: list[MirrorSetting]) -> LintFinding:
    """Return that the file of the offsets is not named, at the key that was meant if there is one."""
    names = [each.key for each in own if not _DISTRIBUTED.fullmatch(each.key)]
    near = get_close_matches(_FILE, names, 1, 0.8)
    if near:
        setting = next(each for each in own if each.key == near[0])
        return at(file, setting, LintCode.KEY_MISSPELLED, "no version of Kafka has this key", _NO_START, _FIX)
    return on_file(file, LintCode.WORKER_FILE_MISSING, f"the file has no `{_FILE}`", _NO_START, _FIX)


def overrides(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each worker that refuses a connector because of what the connector overrides.

    `AbstractHerder.validateClientOverrides` judges all keys of a client that a source connector uses.
    """
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


WORKER_RULES = (standalone, overrides)
