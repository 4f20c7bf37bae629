"""Rules on clusters and flows."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.core.text.brief import some
from kafka_migration.mirrormaker_files.model.judging import (
    Ground,
    LintFinding,
    at,
    is_false,
    is_true,
    key_of,
    listed,
    on_file,
    value_of,
)
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, MirrorSetting, Place

# The old clients had other names for it, which have a finding of their own.
_ADDRESS_KEYS = frozenset({"bootstrap.servers", "zookeeper.connect", "metadata.broker.list", "broker.list"})
IDENTITY = "IdentityReplicationPolicy"


def clusters(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding if clusters are missing, or a flow names others, or one has no address."""
    if file.kind is FileKind.MIRRORMAKER2 and len(file.clusters) < 2:
        found = f"{some(file.clusters) or 'no cluster'}"
        fix = "Write a line `clusters = SOURCE, TARGET`."
        yield on_file(file, LintCode.CLUSTERS_MISSING, found, "two clusters in `clusters`", fix)
        return
    if file.kind in {FileKind.MIRRORMAKER2, FileKind.STRIMZI}:
        yield from _strange_flows(file)
        yield from _addresses(file)
    elif file.kind is FileKind.CONNECTORS:
        yield from _connector_addresses(file)
    elif file.kind is not FileKind.COMMAND and not any(each.key in _ADDRESS_KEYS for each in file.settings):
        expected = "`bootstrap.servers`"
        yield on_file(file, LintCode.BOOTSTRAP_MISSING, "no address", expected, f"Add {expected}.")


def _strange_flows(file: MirrorFile) -> Iterator[LintFinding]:
    for setting in file.at(Place.FLOW):
        strangers = [alias for alias in setting.owner.split("->") if alias not in file.clusters]
        if strangers:
            expected = f"an alias of `clusters`: {some(file.clusters)}"
            fix = "Correct the alias, or add it to `clusters`."
            yield at(file, setting, LintCode.ALIAS_UNKNOWN, f"the alias {key_of(setting, strangers[0])}", expected, fix)


def _addresses(file: MirrorFile) -> Iterator[LintFinding]:
    if file.last(Place.TOP, "bootstrap.servers"):
        return
    for alias in file.clusters:
        if not addresses(file, alias):
            expected = f"`{alias}.bootstrap.servers`"
            found = f"no address of the cluster {alias}"
            yield on_file(file, LintCode.BOOTSTRAP_MISSING, found, expected, f"Add {expected}.")


def _connector_addresses(file: MirrorFile) -> Iterator[LintFinding]:
    for setting in file.at(Place.CONNECTOR):
        if setting.key != "connector.class" or "Mirror" not in setting.value:
            continue
        own = [each for each in file.at(Place.CONNECTOR, setting.owner) if each.key == "bootstrap.servers"]
        missing = [side for side in ("source", "target") if side not in {each.side for each in own}]
        if missing:
            keys = " and ".join(f"`{side}.cluster.bootstrap.servers`" for side in missing)
            yield at(file, setting, LintCode.BOOTSTRAP_MISSING, "no address", keys, f"Add {keys}.")


def addresses(file: MirrorFile, alias: str) -> frozenset[str]:
    """Return the addresses of a cluster, those of its clients included."""
    own = [each for each in file.at(Place.CLUSTER, alias) if each.key == "bootstrap.servers"]
    if file.kind is FileKind.CONNECTORS:
        sides = {"source" if flow.source == alias else "target" for flow in file.flows if alias in flow.ends}
        own += [each for each in file.at(Place.CONNECTOR) if each.key == "bootstrap.servers" and each.side in sides]
    return frozenset(item for each in own for item in listed(each.value))


def flows(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding if no flow is enabled, or if records would come back."""
    if file.kind is FileKind.MIRRORMAKER2 and not file.flows and len(file.clusters) > 1:
        first = f"{file.clusters[0]}->{file.clusters[1]}"
        yield on_file(file, LintCode.NO_FLOW, "no enabled flow", "one", f"Add `{first}.enabled=true`.")
    if file.kind is FileKind.STRIMZI and not file.flows:
        yield on_file(file, LintCode.NO_FLOW, "no mirror", "one in `spec.mirrors`", "Add it.")
    there, of = set(file.flows), {alias: addresses(file, alias) for alias in _ends(file)}
    for flow in file.flows:
        if of[flow.source] & of[flow.target]:
            expected = "two different clusters"
            found = f"an address that {flow.source} and {flow.target} share"
            yield on_file(file, LintCode.LOOP, found, expected, "Correct `bootstrap.servers`.")
        back = Flow(flow.target, flow.source)
        if back in there and flow.source < flow.target and _returns(file, flow, back):
            found = f"the flows {flow} and {back} with {IDENTITY} and the same topics"
            fix = "Disable one flow, or let them copy different topics."
            yield on_file(file, LintCode.LOOP, found, "flows without a loop", fix)


def _ends(file: MirrorFile) -> set[str]:
    return {alias for flow in file.flows for alias in flow.ends}


def _returns(file: MirrorFile, flow: Flow, back: Flow) -> bool:
    """Return whether both flows keep topic names and have a pattern in common."""
    policies = [file.of_flow(each, "replication.policy.class") for each in (flow, back)]
    if not all(policy and policy.value.strip().endswith(IDENTITY) for policy in policies):
        return False
    one, other = (set(listed(topics.value)) if topics else {".*"} for topics in _topics(file, flow, back))
    return bool(one & other) or ".*" in one | other


def _topics(file: MirrorFile, *both: Flow) -> list[MirrorSetting | None]:
    return [file.of_flow(flow, "topics") for flow in both]


def group_sync(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each flow that syncs groups without checkpoints."""
    for flow in file.flows:
        sync, checkpoints = (
            file.of_flow(flow, key) for key in ("sync.group.offsets.enabled", "emit.checkpoints.enabled")
        )
        if sync and is_true(sync) and is_false(checkpoints):
            fix = "Remove emit.checkpoints.enabled."
            found = "emit.checkpoints.enabled=false"
            code = LintCode.GROUP_SYNC_WITHOUT_CHECKPOINTS
            yield at(file, sync, code, found, "checkpoints for the groups", fix)


def exactly_once(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding if the dedicated MirrorMaker's exactly-once lacks the internal REST server."""
    if file.kind is not FileKind.MIRRORMAKER2 or is_true(file.last(Place.TOP, "dedicated.mode.enable.internal.rest")):
        return
    for setting in file.at(Place.CLUSTER):
        if setting.key == "exactly.once.source.support" and setting.value.strip() in {"enabled", "preparing"}:
            expected = "`dedicated.mode.enable.internal.rest=true` and `listeners`"
            code = LintCode.EXACTLY_ONCE_INCOMPLETE
            yield at(file, setting, code, value_of(setting), expected, "Add both. They need Kafka 3.5.")


FLOW_RULES = (clusters, flows, group_sync, exactly_once)
