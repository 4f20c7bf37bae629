"""Rules on workers, of the dedicated MirrorMaker 2 and of Kafka Connect: which exist, their topics, logins and keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from kafka_migration.core.text.regex import regex
from kafka_migration.kafka_tables.accepted import nearest, trimmed
from kafka_migration.mirrormaker_files.effective.dedicated import Dedicated
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given, kafka_version
from kafka_migration.mirrormaker_files.ground.ground import CONNECTORS, Ground, at_given, is_given, lines_in
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, on_file, the_value
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import STORAGE_TOPICS

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
_HEARTBEATS = "emit.heartbeats.enabled"
_SECURED = frozenset({"SSL", "SASL_SSL", "SASL_PLAINTEXT"})


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
    if near := nearest(_FILE, names, 0.8):
        setting = next(each for each in own if each.key == near)
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
        policy = worker.value(_POLICY, "None" if ground.is_at_least("3.0") is False else "All")
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
    return at_given(file, given, LintCode.OVERRIDE_REFUSED, found, effect, fix, lines_in(file, *refused))


def _by_default(file: MirrorFile, refused: list[Given]) -> Iterator[LintFinding]:
    own = [each for each in refused if is_given(each, file)]
    if own:
        found = f"the worker has no `{_POLICY}`, whose default is None before Kafka 3.0"
        fix = f"Write `{_POLICY}=All` into the properties of the workers."
        effect = "Connect refuses the connector"
        yield at_given(file, own[0], LintCode.OVERRIDE_REFUSED, found, effect, fix, lines_in(file, *own[1:]))


WORKER_RULES = (standalone, overrides)


def blank_words(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each `true` with blanks because of which a pair of clusters has no worker.

    `MirrorMakerConfig.clusterPairs` compares the words with their blanks, since Kafka 2.8; the connectors without.
    """
    blank = [each for each in file.settings if _is_blank_true(each)] if file.is_dedicated else []
    if not blank or ground.is_at_least("2.8") is False:
        return
    made = Dedicated(replace(file, is_idle=False), kafka_version(ground.version))
    for setting in blank:
        if setting.place is Place.FLOW and setting is file.last(Place.FLOW, setting.key, setting.owner):
            pair = Flow(*setting.owner.partition("->")[::2])
            if set(pair.ends) <= set(file.clusters) and not made.has_worker(pair):
                yield _blank(file, setting, f"MirrorMaker makes no worker for {pair}")
        elif setting is file.last(Place.TOP, _HEARTBEATS) and _is_pair_lost(file, made):
            yield _blank(
                file, setting, "flows that are not enabled have no worker, so their heartbeats are not written"
            )


def _blank(file: MirrorFile, setting: MirrorSetting, effect: str) -> LintFinding:
    found = f"{the_value(setting)} has blanks at its end"
    if setting.key == "enabled":
        effect = f"heartbeats are off and MirrorMaker reads it as false (since Kafka 2.8), so {effect}"
    else:
        effect = f"MirrorMaker reads it as false (since Kafka 2.8): {effect}"
    return at(file, setting, LintCode.VALUE_BLANK_KEPT, found, effect, "Remove the blanks at the end.")


def _is_blank_true(setting: MirrorSetting) -> bool:
    is_read = setting.place is Place.FLOW or (setting.place is Place.TOP and setting.key == _HEARTBEATS)
    is_true = setting.value.lower() != "true" and trimmed(setting.value).lower() == "true"
    return is_read and is_true and setting.key in {"enabled", _HEARTBEATS} and not setting.client


def _is_pair_lost(file: MirrorFile, made: Dedicated) -> bool:
    """Return whether a pair that follows the top level has no worker."""
    pairs = (Flow(*pair) for pair in permutations(file.clusters, 2))
    follows = (pair for pair in pairs if file.last(Place.FLOW, _HEARTBEATS, str(pair)) is None)
    return not all(map(made.has_worker, follows))


def storage_topics(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each worker that keeps two of its stores in one topic."""
    seen = set[tuple[int, ...]]()
    for each in ground.readers.at("connect_worker"):
        names = defaultdict[str, list[Given]](list)
        for key in STORAGE_TOPICS:
            if each.value(key):
                names[each.value(key)].append(each.values[key])
        for same in names.values():
            own = [given for given in same if is_given(given, file)]
            lines = tuple(sorted(lines_in(file, *own)))
            if len(same) > 1 and own and lines not in seen:
                seen.add(lines)
                yield _one_topic(file, own)


def _one_topic(file: MirrorFile, own: list[Given]) -> LintFinding:
    found = "two of a worker's topics for configurations, offsets and status have one name"
    effect = "the worker does not start, or takes the records of one for those of the other"
    fix = "Give each of the three topics a name of its own."
    return at_given(file, own[0], LintCode.STORAGE_TOPICS_EQUAL, found, effect, fix, lines_in(file, *own[1:]))


def unlike_logins(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each cluster to which a flow's client logs in, and a worker connects without a login."""
    workers = {each.reader.cluster: each for each in ground.readers.at("connect_worker")} if file.is_dedicated else {}
    for cluster, worker in workers.items():
        address = worker.values.get("bootstrap.servers")
        if address is None or not is_given(address, file) or _protocol(worker) != "PLAINTEXT":
            continue
        for each in ground.readers.at("consumer", "producer", "admin"):
            own = each.values.get("security.protocol")
            is_same = each.reader.cluster == cluster and each.value("bootstrap.servers") == trimmed(address.value)
            if own and own.setting and is_given(own, file) and is_same and _protocol(each) in _SECURED:
                yield _no_login(file, worker, address, own.setting)
                break


def _no_login(file: MirrorFile, worker: Effective, address: Given, own: MirrorSetting) -> LintFinding:
    cluster, flow = worker.reader.cluster, worker.reader.flow
    found = (
        f"line {own.line} is for clients of {own.owner}, and the worker {flow} connects to {cluster} without a login"
    )
    effect = "the worker does not reach the same addresses, so MirrorMaker does not start"
    fix = f"Write the login once for the cluster, with `{cluster}.` in front."
    return at_given(file, address, LintCode.LOGIN_OF_WORKER_MISSING, found, effect, fix, (own.line,))


def _protocol(each: Effective) -> str:
    return each.value("security.protocol", "PLAINTEXT").upper()


DEDICATED_RULES = (blank_words, storage_topics, unlike_logins)
