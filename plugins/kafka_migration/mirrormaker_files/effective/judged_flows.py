"""The flows of a dedicated MirrorMaker for which the lines of its file are judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from kafka_migration.mirrormaker_files.effective.dedicated import Dedicated
from kafka_migration.mirrormaker_files.effective.kafka_version import MirrorVersion
from kafka_migration.mirrormaker_files.model.lint_finding import is_false
from kafka_migration.mirrormaker_files.model.lint_limits import FEW_CLUSTERS
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, Place


def with_flows(file: MirrorFile, kafka: MirrorVersion) -> MirrorFile:
    """Return a file with the flows that run in this version; if none does, with those that are meant.

    A user will switch them on, so the other lines are judged as they will then be read. Other kinds stay as they are.
    """
    if file.kind is not FileKind.MIRRORMAKER2 or len(file.clusters) < 2:
        return file
    made = Dedicated(file, kafka)
    running = tuple(flow for flow in file.flows if made.has_worker(flow))
    if running:
        return replace(file, flows=running)
    return replace(file, flows=tuple(_meant(file)), is_idle=True)


def flows_with_lines(file: MirrorFile) -> list[Flow]:
    """Return the pairs of known clusters for which the file has lines, in its order."""
    known = set(file.clusters)
    pairs = [each.owner.partition("->")[::2] for each in file.at(Place.FLOW)]
    return list(dict.fromkeys(Flow(*pair) for pair in pairs if set(pair) <= known and pair[0] != pair[1]))


def _meant(file: MirrorFile) -> Iterator[Flow]:
    """Yield the flows that are meant: those not switched off, else all with lines, else both ways of each pair."""
    named = flows_with_lines(file)
    left = [flow for flow in named if not is_false(file.last(Place.FLOW, "enabled", str(flow)))]
    if left or named:
        yield from left or named
    elif len(file.clusters) <= FEW_CLUSTERS:
        yield from (Flow(*pair) for pair in permutations(file.clusters, 2))
