"""What a poll of MirrorMaker finds out about the parties: which answered, and whether the topics are the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from kafka_migration.adapters.system.deadlines import at_most
from kafka_migration.core.findings.errors import Finding, OutcomeUnknown, TransientError
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.ledger.generations import GenerationStart
from kafka_migration.core.target.topic_identity import IdentityWatch
from kafka_migration.core.watching.unreachable import Party, party_of
from kafka_migration.steps.run.migration_run import MigrationRun

T = TypeVar("T")
# Errors that mean that a party did not answer; an `OSError` comes from the evidence store.
NO_ANSWER = (TransientError, OutcomeUnknown, OSError)


class RollCall:
    """The parties that answered in one poll, and the errors of those that did not."""

    def __init__(self) -> None:
        self.heard: set[Party] = set()
        self.silent: dict[Party, str] = {}

    def ask(self, party: Party, call: Callable[[], T]) -> T | None:
        """Return the answer; `None` if the party did not answer."""
        try:
            answer = call()
        except NO_ANSWER as error:
            self.missed(error, party)
            return None
        self.heard.add(party)
        return answer

    def missed(self, error: Exception, asked: Party | None = None) -> None:
        """Record the party that did not answer, if the error identifies it."""
        if (party := party_of(error, asked)) is not None:
            self.silent.setdefault(party, str(error))


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
