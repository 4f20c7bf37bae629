"""Rules on the fields of Strimzi's resources: what Kubernetes refuses, and what the operator does with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kafka_migration.kafka_tables.accepted import nearest_word
from kafka_migration.mirrormaker_files.ground.ground import Ground, lines
from kafka_migration.mirrormaker_files.ground.meant import right_place
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, key_of, on_file
from kafka_migration.mirrormaker_files.model.mirror_settings import (
    FileKind,
    MirrorFile,
    MirrorSetting,
    Place,
)


def field_faults(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each fault of a field."""
    for fault in file.faults:
        setting = MirrorSetting(fault.line, fault.path, "", Place.FIELD, fault.path)
        yield at(file, setting, fault.code, fault.found, fault.effect, fault.fix)


def cluster_references(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each alias that no cluster of the resource has, at the fields that name it."""
    named = defaultdict[str, list[MirrorSetting]](list)
    if any(each.path == "clusters" for each in file.faults):
        return
    for setting in file.at(Place.FIELD) if file.kind is FileKind.STRIMZI else ():
        is_named = setting.name in {"sourceCluster", "targetCluster", "connectCluster"}
        if is_named and setting.value and setting.value not in file.clusters and not setting.is_reference:
            named[setting.value].append(setting)
    for alias, settings in named.items():
        near = nearest_word(alias, file.clusters)
        found = f"{key_of(settings[0], alias)} is the alias of no cluster in `clusters`"
        fix = f"Write {key_of(settings[0], near)}." if near else "Write the alias of one of the clusters."
        effect = "Strimzi's operator refuses the resource"
        yield at(file, settings[0], LintCode.ALIAS_UNKNOWN, found, effect, fix, lines(settings[1:]))


def connect_cluster(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding if the workers, which write the records, run on a cluster that is not the target."""
    named = file.last(Place.FIELD, "connectCluster") if file.kind is FileKind.STRIMZI else None
    if named is None or named.value not in file.clusters:
        return
    strange = [flow.target for flow in file.flows if flow.target in file.clusters and flow.target != named.value]
    wrong = [alias for alias in strange if _address(file, alias) != _address(file, named.value)]
    if wrong:
        found = f"{key_of(named, wrong[0])} is a target, and Kafka Connect runs on {key_of(named, named.value)}"
        effect = (
            f"Connect writes the records into {key_of(named, named.value)}; Strimzi 0.41 and later refuse the resource"
        )
        is_several = len({flow.target for flow in file.flows}) > 1
        fix = "Write a resource for each target." if is_several else f"Write {key_of(named, wrong[0])}."
        yield at(file, named, LintCode.CONNECT_CLUSTER_DIFFERS, found, effect, fix)


def _address(file: MirrorFile, alias: str) -> str | None:
    """Return the addresses of a cluster; operators from 0.44 on compare them."""
    found = file.last(Place.CLUSTER, "bootstrap.servers", alias)
    return found.value if found else None


def source_connectors(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each mirror without a source connector, unless its name is misspelt."""
    named = {owner for owner, field, _ in file.marks if field == "sourceConnector"}
    is_misspelt = any("`sourceConnector`" in each.fix for each in file.faults)
    for flow in file.flows if file.kind is FileKind.STRIMZI and not is_misspelt else ():
        if str(flow) not in named:
            found = f"the mirror {flow} has no `sourceConnector`"
            effect = "Strimzi's operator makes no source connector, so no record is copied"
            line = next((each.line for each in file.settings if each.owner == str(flow)), file.line)
            fix = "Add `sourceConnector`, unless another resource has it."
            yield on_file(file, LintCode.SOURCE_CONNECTOR_MISSING, found, effect, fix, line)


def client_keys(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each key of a client in `config` of a cluster that reaches no client.

    The operator writes them as `source.cluster.consumer.…`, which nothing reads; workers read those of the target.
    """
    targets = {flow.target for flow in file.flows}
    for setting in file.at(Place.CLUSTER) if file.kind is FileKind.STRIMZI else ():
        is_known = setting.client and ground.keys.get(setting.client, setting.key)
        if setting.client == "producer" and setting.owner in targets:
            continue
        if is_known and next(ground.readers.uses_of(setting), None) is None:
            found = f"no {setting.client} gets this key from `config` of a cluster"
            fix = right_place(file, setting, ground)
            yield at(file, setting, LintCode.KEY_MISPLACED, found, "it is ignored", fix)


RESOURCE_RULES = (field_faults, cluster_references, connect_cluster, source_connectors, client_keys)
