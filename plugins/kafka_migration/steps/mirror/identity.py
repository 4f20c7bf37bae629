"""Looks, while MirrorMaker runs, whether the topics of both clusters are still those that it started with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from kafka_migration.adapters.system.deadlines import at_most
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.ledger.generations import GenerationStart
from kafka_migration.core.target.topic_identity import IdentityWatch
from kafka_migration.core.watching.unreachable import Party
from kafka_migration.steps.mirror.answering_parties import RollCall
from kafka_migration.steps.run.migration_run import MigrationRun


@dataclass(eq=False)
class TopicIdentity:
    """The topics of a run since one generation's start."""

    run: MigrationRun
    start: GenerationStart
    _watches: Mapping[Side, IdentityWatch] = field(init=False)

    def __post_init__(self) -> None:
        start = self.start
        self._watches = {
            "source": IdentityWatch("source", start.generation, start.source_topic_ids, {**start.mirror_positions}),
            "target": IdentityWatch("target", start.generation, start.target_topic_ids, {**start.target_end_offsets}),
        }

    def look(self, roll: RollCall) -> tuple[Finding, ...] | None:
        """Return a finding per topic that was created again; `None` if a cluster did not answer. Both are asked."""
        with at_most(self.run.migration.watch.poll_limit_s / 2):
            on_target = roll.ask(Party.TARGET, partial(self._look, "target"))
        on_source = roll.ask(Party.SOURCE, partial(self._look, "source"))
        return None if on_target is None or on_source is None else (*on_source, *on_target)

    def _look(self, side: Side) -> tuple[Finding, ...]:
        watch, cluster = self._watches[side], self.run.source if side == "source" else self.run.target
        ids = cluster.topic_ids(self.run.migration.topics)
        unnamed = [p for p in watch.ends if ids.get(p.topic) == ""]
        return watch.take(ids, cluster.log_end_offsets(unnamed, "read_uncommitted") if unnamed else {})
