"""Sees a migration without the package: the clusters, MirrorMaker's positions, Airflow, and the ledger's files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from sandbox.airflow_api import FINISHED, AirflowApi
from sandbox.data.reading import Placed, read_records
from tests.live.groups import committed, ends
from tests.live.migrations import LiveMigration
from tests.live.plain_copy import stored_positions
from tests.page_questions import Offsets, Seen

_UNDER_WAY = {"running", "deferred", "awaiting_input"}
_QUESTIONS = {"stop_producers", "approve"}
Copies = Mapping[str, tuple[Mapping[int, Sequence[Placed]], Mapping[int, Sequence[Placed]]]]


@dataclass(frozen=True, slots=True)
class Witness:
    """Sees one migration of MirrorMaker 2 whose topics had no records before it."""

    migration: LiveMigration
    api: AirflowApi
    topics: tuple[str, ...]
    groups: tuple[str, ...]

    def seen(self, *, reads: bool = False, findings: Iterable[str] = ()) -> Seen:
        """Return what is to be seen now; with `reads`, all records of both clusters are compared."""
        runs, at = self.api.run_states(self.migration.dag_id), datetime.now(UTC)
        run_id = next((run for run, state in runs.items() if state not in FINISHED), "")
        ended = [state for state in runs.values() if state in FINISHED]
        copies: Copies = {topic: self._copies(topic) for topic in self.topics} if reads else {}
        under_way = self._under_way(run_id)
        kinds = [entry["kind"] for entry in self.migration.ledger_entries()]
        return Seen(
            at=at,
            active=under_way,
            asked=dict(self._asked(run_id, under_way)),
            last_failed=ended[-1:] == ["failed"],
            is_judged=_last(kinds, "judged") > _last(kinds, "generation-started"),
            is_rehearsed=any(
                "rehearse" == conf.get("mode") and "success" == runs.get(run)
                for run, conf in self.api.confs(self.migration.dag_id).items()
            ),
            is_cut_over="cut-over" in kinds,
            ends={(t, p): end for t in self.topics for p, end in ends(self.migration.source, t).items()},
            positions=self._positions(),
            records={topic: (_count(source), _count(target)) for topic, (source, target) in copies.items()},
            differs=tuple(_differences(copies)),
            groups={
                (group, topic, partition): offset
                for group in self.groups
                for topic in self.topics
                for partition, offset in committed(self.migration.source, group, topic).items()
            },
            stopped_at=self._stopped_at(runs),
            retention=self._retention(),
            findings=tuple(findings),
        )

    def _under_way(self, run_id: str) -> dict[str, datetime]:
        begun = self.api.begun(self.migration.dag_id, run_id) if run_id else {}
        return {task: start for task, (state, start) in begun.items() if state in _UNDER_WAY}

    def _asked(self, run_id: str, under_way: Iterable[str]) -> Iterator[tuple[str, datetime]]:
        # A question that was closed without an answer still waits for one in Airflow.
        for task in _QUESTIONS & set(under_way):
            if at := self.api.asked_at(self.migration.dag_id, run_id, task):
                yield task, at

    def _copies(self, topic: str) -> tuple[Mapping[int, Sequence[Placed]], Mapping[int, Sequence[Placed]]]:
        source, target = (side["bootstrap.servers"] for side in (self.migration.source, self.migration.target))
        return read_records(source, topic), read_records(target, topic)

    def _positions(self) -> Offsets:
        """Return the next offset that MirrorMaker copies, as it has stored it."""
        stored = stored_positions(self.migration.target, f"mm2-offsets.{self.migration.name}-source.internal")
        return {(at.topic, at.partition): offset for at, offset in stored.items() if at.topic in self.topics}

    def _stopped_at(self, runs: Mapping[str, str]) -> datetime | None:
        """Return when the newest ended run that started MirrorMaker stopped it; a run that only reads starts none."""
        modes = {run: conf.get("mode") for run, conf in self.api.confs(self.migration.dag_id).items()}
        for run in reversed([run for run, state in runs.items() if state in FINISHED and modes[run] != "validate"]):
            if self.migration.task_state(run, "start_mirror") == "success":
                return self.api.timeline(self.migration.dag_id, run).tasks["stop_mirror"].end
        return None

    def _retention(self) -> timedelta:
        admin = AdminClient(self.migration.source)
        (future,) = admin.describe_configs([ConfigResource(ResourceType.TOPIC, self.topics[0])]).values()
        return timedelta(milliseconds=int(future.result(60)["retention.ms"].value))


def _last(kinds: Sequence[str], kind: str) -> int:
    return max((place for place, each in enumerate(kinds) if each == kind), default=-1)


def _count(log: Mapping[int, Sequence[Placed]]) -> int:
    return sum(map(len, log.values()))


def _differences(copies: Copies) -> Iterator[tuple[str, int, int]]:
    """Yield topic, partition and offset of the first record of a partition that is not the same on both sides."""
    for topic, (source, target) in copies.items():
        for partition, there in target.items():
            pairs = zip(source[partition], there, strict=False)
            wrong = [found.offset for sent, found in pairs if sent.record != found.record]
            yield from ((topic, partition, offset) for offset in wrong[:1])
