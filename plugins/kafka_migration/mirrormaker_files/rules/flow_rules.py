"""Rules on clusters and flows: which exist, which run, and whether records or groups take the way that is meant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from kafka_migration.core.text.shortened import some
from kafka_migration.kafka_tables.accepted import trimmed
from kafka_migration.mirrormaker_files.effective.dedicated import Dedicated, flows_with_lines
from kafka_migration.mirrormaker_files.effective.readers import Effective, kafka_version
from kafka_migration.mirrormaker_files.ground.ground import (
    CHECKPOINT,
    SOURCE,
    Ground,
    at_given,
    is_given,
    lines,
    lines_in,
)
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import (
    LintFinding,
    at,
    is_false,
    is_true,
    key_of,
    listed,
    on_file,
)
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import CLASS, role_of_class

# The old clients had other names for it, which have a finding of their own.
_ADDRESS_KEYS = frozenset({"bootstrap.servers", "zookeeper.connect", "metadata.broker.list", "broker.list"})
_CLIENT_FILES = (FileKind.CONSUMER, FileKind.PRODUCER)


def clusters(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding if the dedicated MirrorMaker 2 has fewer than two clusters, or a key names another one."""
    if file.is_dedicated and len(file.clusters) < 2:
        found = f"`clusters` names {some(file.clusters) or 'no cluster'}"
        effect = "MirrorMaker needs two clusters and does not start"
        fix = "Write a line `clusters = SOURCE, TARGET` with the aliases of both clusters."
        yield on_file(file, LintCode.CLUSTERS_MISSING, found, effect, fix, file.line_of_clusters())
    elif file.is_dedicated:
        yield from _strange_flows(file)


def _strange_flows(file: MirrorFile) -> Iterator[LintFinding]:
    of_flow = defaultdict[str, list[MirrorSetting]](list)
    for setting in file.at(Place.FLOW):
        of_flow[setting.owner].append(setting)
    for owner, own in of_flow.items():
        if strangers := [alias for alias in owner.split("->") if alias not in file.clusters]:
            found = f"{key_of(own[0], strangers[0])} is not in `clusters`"
            effect = "no part of MirrorMaker reads the lines of this flow"
            fix = f"Write an alias of `clusters` ({some(file.clusters)}), or add it there."
            yield at(file, own[0], LintCode.ALIAS_UNKNOWN, found, effect, fix, lines(own[1:]))


def addresses(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each cluster or client without an address."""
    if file.lacks("bootstrapServers"):
        return
    if file.kind in _CLIENT_FILES:
        if not file.is_partial and not any(each.key in _ADDRESS_KEYS for each in file.settings):
            yield _no_address(file, "no line `bootstrap.servers`", "`bootstrap.servers`", 0)
    elif file.kind is FileKind.CONNECTORS:
        yield from _connector_addresses(file)
    elif len(file.clusters) > 1 or file.kind is FileKind.STRIMZI:
        for alias in file.clusters:
            if not _is_addressed(file, alias):
                key = f"`{alias}.bootstrap.servers`" if file.is_dedicated else "`bootstrapServers`"
                yield _no_address(file, f"the cluster {alias} has no address", key, _line_of_cluster(file, alias))


def _no_address(file: MirrorFile, found: str, key: str, line: int) -> LintFinding:
    effect = "the clients of this cluster cannot connect, so MirrorMaker does not start"
    return on_file(file, LintCode.BOOTSTRAP_MISSING, found, effect, f"Add {key}.", line)


def _is_addressed(file: MirrorFile, alias: str) -> bool:
    own = any(each.key == "bootstrap.servers" for each in file.at(Place.CLUSTER, alias))
    return own or file.last(Place.TOP, "bootstrap.servers") is not None


def _line_of_cluster(file: MirrorFile, alias: str) -> int:
    own = [*file.at(Place.CLUSTER, alias), *file.at(Place.FIELD, alias)]
    return own[0].line if own else file.line_of_clusters()


def _connector_addresses(file: MirrorFile) -> Iterator[LintFinding]:
    for setting in file.at(Place.CONNECTOR):
        role = role_of_class(setting.value) if setting.key == CLASS else None
        if not role:
            continue
        needed = ("target",) if role == "mirror_heartbeat" else ("source", "target")
        own = {each.side for each in file.at(Place.CONNECTOR, setting.owner) if each.key == "bootstrap.servers"}
        if missing := [f"`{side}.cluster.bootstrap.servers`" for side in needed if side not in own]:
            line = file.line_of_connector(setting.owner)
            yield _no_address(file, f"the connector has no {' and no '.join(missing)}", " and ".join(missing), line)


def enabled_flows(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding if no flow is enabled, and for each flow that has settings and is not enabled."""
    is_refused = any(each.path in {"spec", "mirrors"} for each in file.faults)
    if file.kind is FileKind.STRIMZI and not file.flows and not is_refused:
        effect = "MirrorMaker copies nothing"
        yield on_file(file, LintCode.NO_FLOW, "`spec.mirrors` has no mirror", effect, "Add a mirror.")
    if not file.is_dedicated or len(file.clusters) < 2:
        return
    idle = [flow for flow in flows_with_lines(file) if file.is_idle or flow not in file.flows]
    if file.is_idle:
        yield _no_flow(file, idle, ground)
    else:
        # The flow back is often left with a part of its settings, so that it can be switched on.
        for flow in idle:
            if file.last(Place.FLOW, "enabled", str(flow)) is None:
                found = f"the flow {flow} has settings and no `enabled`"
                effect = "`enabled` is false by default, so MirrorMaker does not copy this flow"
                fix = f"Add `{flow}.enabled=true`, or remove the lines of the flow."
                yield on_file(file, LintCode.FLOW_NOT_ENABLED, found, effect, fix, file.line_of_flow(flow))


def _no_flow(file: MirrorFile, idle: list[Flow], ground: Ground) -> LintFinding:
    """Return that nothing is copied; no direction is proposed, because the file does not say which one is meant."""
    left = [flow for flow in idle if not is_false(file.last(Place.FLOW, "enabled", str(flow)))]
    if idle and not left:
        found = f"`{idle[0]}.enabled` is false, and no other flow is enabled"
        fix = f"Write `{idle[0]}.enabled=true` when it is to copy."
        code = LintCode.FLOWS_OFF
    else:
        found = "no line `SOURCE->TARGET.enabled=true` switches a flow on"
        fix = f"Add the line for the direction that you mean, with the aliases {' and '.join(file.clusters[:2])}."
        if written := next((file.last(Place.FLOW, "enabled", str(flow)) for flow in left), None):
            found = f"MirrorMaker does not read line {written.line} as true, and no other flow is enabled"
            fix = f"Write `{written.owner}.enabled=true`, without a blank or another letter after it."
        code = LintCode.NO_FLOW
    line = file.line_of_flow((left or idle)[0]) if idle else file.line_of_clusters()
    effect = "MirrorMaker emits heartbeats, and copies nothing"
    as_written = Dedicated(replace(file, is_idle=False), kafka_version(ground.version))
    if next(as_written.pairs(), None) is None:
        effect = 'MirrorMaker does not start ("No source->target replication flows")'
    return on_file(file, code, found, effect, fix, line)


def shared_addresses(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each pair of clusters of a flow that have an address in common."""
    for flow in {frozenset(flow.ends): flow for flow in reversed(file.flows)}.values():
        for each in ground.connectors(flow, SOURCE):
            ends = [each.values.get(f"{side}.cluster.bootstrap.servers") for side in ("source", "target")]
            if ends[0] and ends[1] and set(listed(ends[0].value)) & set(listed(ends[1].value)):
                given = next((end for end in reversed(ends) if end and is_given(end, file)), None)
                if given:
                    found = f"{flow.source} and {flow.target} have an address in common"
                    effect = "records are written into the cluster from which they come"
                    fix = "Correct the address of one of them."
                    yield at_given(file, given, LintCode.LOOP, found, effect, fix)


def group_sync(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each checkpoint connector that cannot do what is asked of it."""
    for _, each in ground.of_flows(file, CHECKPOINT):
        yield from _checkpoints(file, each, ground)


def _checkpoints(file: MirrorFile, each: Effective, ground: Ground) -> Iterator[LintFinding]:
    sync = each.values.get("sync.group.offsets.enabled")
    if checkpoints := each.given_in(file, "emit.checkpoints.enabled", "false"):
        if sync is not None and sync.value.lower() == "true":
            found = "checkpoints are switched off, and groups are to be synced"
            effect = "groups are synced from checkpoints, so MirrorMaker moves no group"
            fix = "Remove emit.checkpoints.enabled, or switch sync.group.offsets.enabled off."
            code = LintCode.GROUP_SYNC_WITHOUT_CHECKPOINTS
            yield at_given(file, checkpoints, code, found, effect, fix, lines_in(file, sync))
        elif ground.is_at_least("3.9") is not False:
            found = "checkpoints are switched off"
            effect = "from Kafka 3.9 on the checkpoint connector refuses this value, and its log has an error"
            fix = "Accept the error, or remove the line: checkpoints harm nothing."
            yield at_given(file, checkpoints, LintCode.CHECKPOINTS_REFUSED, found, effect, fix)
    if syncs := each.given_in(file, "emit.offset-syncs.enabled", "false"):
        found = "offset syncs are switched off"
        effect = "the checkpoint connector cannot run without them, so no group gets checkpoints"
        fix = "Remove the line, if groups are to move."
        yield at_given(file, syncs, LintCode.GROUP_SYNC_WITHOUT_CHECKPOINTS, found, effect, fix)


def empty_lists(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each connector whose list of topics or groups is blank."""
    for _, each in ground.of_flows(file, SOURCE, CHECKPOINT):
        what, code, effect = "topics", LintCode.NOTHING_COPIED, "MirrorMaker copies no topic"
        if each.reader.role == CHECKPOINT:
            what, code, effect = "groups", LintCode.NO_GROUPS, "MirrorMaker writes no checkpoint for any group"
        given = each.given_in(file, what)
        if given and not listed(given.value):
            found, fix = f"the list of {what} is blank", f"Name the {what}, or remove the line."
            yield at_given(file, given, code, found, effect, fix)


def refresh(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each connector that never looks for new topics, partitions or groups."""
    for _, each in ground.of_flows(file, SOURCE, CHECKPOINT):
        what = "topics" if each.reader.role == SOURCE else "groups"
        if given := each.given_in(file, f"refresh.{what}.enabled", "false"):
            found = f"MirrorMaker does not look for new {what}"
            new = "topics and partitions that are added later are" if what == "topics" else "later groups are"
            effect = f"{new} not copied until MirrorMaker is restarted"
            yield at_given(file, given, LintCode.REFRESH_OFF, found, effect, "Remove the line.")


def exactly_once(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each exactly-once of the dedicated MirrorMaker that lacks a setting, or has no reader."""
    targets = {flow.target for flow in file.flows}
    for setting in file.settings if file.is_dedicated else ():
        is_meant = setting.key == "exactly.once.source.support" and not setting.client
        if not is_meant or trimmed(setting.value).lower() not in {"enabled", "preparing"}:
            continue
        if setting.place is Place.CLUSTER and targets and setting.owner not in targets:
            found = f"no flow copies to {setting.owner}, and a worker writes with the settings of its target"
            effect = f"exactly-once stays off for {some([str(flow) for flow in file.flows])}"
            fix = f"Write `{file.flows[0].target}.exactly.once.source.support`."
            yield at(file, setting, LintCode.EXACTLY_ONCE_INCOMPLETE, found, effect, fix)
        elif not is_true(file.last(Place.TOP, "dedicated.mode.enable.internal.rest")):
            found = "exactly-once is on, and the workers have no internal REST server"
            effect = "of several processes only the one that leads can start tasks, because the others cannot fence"
            fix = "Add `dedicated.mode.enable.internal.rest=true` and `listeners`; both need Kafka 3.5."
            yield at(file, setting, LintCode.EXACTLY_ONCE_INCOMPLETE, found, effect, fix)


FLOW_RULES = (
    clusters,
    addresses,
    enabled_flows,
    shared_addresses,
    group_sync,
    empty_lists,
    refresh,
    exactly_once,
)
