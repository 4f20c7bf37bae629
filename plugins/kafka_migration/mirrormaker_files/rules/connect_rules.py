"""Rules on the connectors of MirrorMaker 2: those that belong together, and what each of them does without a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_migration.core.text.brief import some
from kafka_migration.mirrormaker_files.effective.readers import Effective
from kafka_migration.mirrormaker_files.model.judging import LintFinding, on_file
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile
from kafka_migration.mirrormaker_files.rules.ground import Ground
from kafka_migration.mirrormaker_files.rules.views import (
    CHECKPOINT,
    SOURCE,
    connectors,
    hosts,
    line_of_flow,
    value,
)


def idle_hints(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a hint for each flow that copies with one task, or does not move its groups."""
    for flow in file.flows:
        for each in connectors(ground, flow, SOURCE):
            if "tasks.max" not in each.values:
                found = f"the flow {flow} has no `tasks.max`"
                effect = "one task copies all partitions, which limits the speed"
                fix = "Add `tasks.max`, if the copy is too slow."
                yield on_file(file, LintCode.ONE_TASK, found, effect, fix, line_of_flow(file, flow))
        yield from _groups(file, ground, flow)


def _groups(file: MirrorFile, ground: Ground, flow: Flow) -> Iterator[LintFinding]:
    found = list(connectors(ground, flow, CHECKPOINT))
    is_off = all(value(each, "sync.group.offsets.enabled").lower() != "true" for each in found)
    if found and is_off and ground.is_at_least("2.7") is not False:
        words = f"the flow {flow} has no `sync.group.offsets.enabled=true`"
        effect = "MirrorMaker writes checkpoints, and no offsets of groups on the target"
        fix = "Add it, if consumers are to continue on the target where they were."
        yield on_file(file, LintCode.GROUPS_NOT_SYNCED, words, effect, fix, line_of_flow(file, flow))


def partners(files: Sequence[MirrorFile], ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each checkpoint connector that does not fit the source connector beside it."""
    of_connect = [file for file in files if file.kind is FileKind.CONNECTORS]
    sources = {each.reader.flow: each for each in ground.readers.at(SOURCE)}
    for file in of_connect:
        for flow in file.flows:
            for each in connectors(ground, flow, CHECKPOINT):
                yield from _partner(file, flow, each, sources)


def _partner(file: MirrorFile, flow: Flow, each: Effective, sources: dict[str, Effective]) -> Iterator[LintFinding]:
    own = sources.get(str(flow))
    if not any(given.file == file.name for given in each.values.values()):
        return
    if own is None and sources:
        found = f"the checkpoint connector has the flow {flow}, the source connector {some(sorted(sources))}"
        effect = "it finds no offset syncs of its flow, so groups are not moved"
        fix = "Give both connectors the same aliases."
        yield on_file(file, LintCode.CONNECTORS_DIFFER, found, effect, fix, line_of_flow(file, flow))
    elif own is not None:
        for side in ("source", "target"):
            key = f"{side}.cluster.bootstrap.servers"
            lists = [set(hosts(value(one, key))) for one in (own, each)]
            if all(lists) and not lists[0] & lists[1]:
                found = f"source and checkpoint connector of {flow} have different addresses in `{key}`"
                effect = "if these are two clusters, groups are not moved"
                fix = "Give both connectors the same addresses."
                yield on_file(file, LintCode.CONNECTORS_DIFFER, found, effect, fix, line_of_flow(file, flow))


CONNECT_RULES = (idle_hints,)
