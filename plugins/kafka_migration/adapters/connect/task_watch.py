"""What the tasks of a generation did, and whether each of them has ended: from the status topic and the workers."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from kafka_migration.adapters.connect.worker_address import WorkerAnswer, ask_worker
from kafka_migration.core.connect.task_history import TaskHistory, TaskLife, task_history
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.kafka.records import LogRow

# A worker that ends closes its REST interface first and its tasks then. A task that does not end when it is asked is
# abandoned by its worker after `task.shutdown.graceful.timeout.ms` (5 s by default), without a row about its end.
SETTLED_S = 30.0
# While the workers rebalance, Kafka does not know their addresses.
REBALANCE_S = 30.0
PAUSE_S = 0.5


_ANSWERS = (WorkerAnswer.FREE, WorkerAnswer.HAS_TASKS)


@dataclass
class TaskWatch:
    """Reads the status topic on the workers' Kafka, which is the target, and asks workers at their own addresses.

    A refused connection is the end of a worker only if Airflow reached it there before: else a firewall may refuse it.
    `group` is that of the workers, by which all of them are known.
    """

    target: KafkaCluster
    status_topic: str
    settings: HttpSettings
    group: str | None = None
    _rows: list[LogRow] = field(default_factory=list, init=False)
    _start: dict[TopicPartition, int] | None = field(default=None, init=False)
    _since: dict[tuple[str, WorkerAnswer], float] = field(default_factory=dict, init=False)

    def ends(self) -> Offsets:
        """Return the present ends of the status topic. Raises `TransientError` if it does not exist."""
        described = self.target.describe_topics([self.status_topic]).get(self.status_topic)
        partitions = described.topic_partitions if described else ()
        ends = self.target.log_end_offsets(partitions, "read_uncommitted")
        if not partitions or len(ends) < len(partitions):
            raise TransientError(f"the target's topic {self.status_topic} (mirror.connect.status_topic) cannot be read")
        return ends

    def history(self, connector: str, start: Offsets | None) -> TaskHistory:
        """Return what the tasks did; `start` as for `task_history`. A repeated call reads only new rows."""
        wanted = dict(start or {})
        if self._start != wanted:
            self._rows, self._start = [], wanted
        known = {row.partition: row.offset + 1 for row in self._rows}
        self._rows += self.target.log_rows(self.status_topic, {**wanted, **known})
        return task_history(self._rows, connector, start)

    def reached(self) -> list[str]:
        """Return the workers that answer Airflow at their own addresses; none if their group is not known.

        Raises `TransientError` if the workers rebalance for longer than `REBALANCE_S`.
        """
        workers = sorted({urlsplit(address).netloc for address in self._addresses()})
        return [each for each in workers if ask_worker(self.settings, each, "-") in _ANSWERS]

    def _addresses(self) -> Collection[str]:
        end = time.monotonic() + REBALANCE_S
        while self.group:
            try:
                return self.target.connect_workers(self.group)
            except TransientError:
                if time.monotonic() >= end:
                    raise
            time.sleep(PAUSE_S)
        return ()

    def lost(self, connector: str, lives: Sequence[TaskLife], reached: Collection[str]) -> Iterator[str]:
        """Yield the workers of unfinished lives that were `reached` before, and do not run any more."""
        for worker in _workers(lives):
            if worker in reached and ask_worker(self.settings, worker, connector) is WorkerAnswer.GONE:
                yield worker

    def busy(self, connector: str, lives: Sequence[TaskLife], reached: Collection[str]) -> Iterator[str]:
        """Yield the workers of unfinished lives that neither are free nor were `reached` before and are gone."""
        for worker in _workers(lives):
            if not _is_end(ask_worker(self.settings, worker, connector), was_reached=worker in reached):
                yield worker

    def still_unproved(self, connector: str, lives: Sequence[TaskLife], reached: Collection[str]) -> list[str]:
        """Return the workers of unfinished lives of which nothing proves yet that their task has ended.

        A worker's answer counts once it has been the same for `SETTLED_S`.
        """
        return [each for each in _workers(lives) if not self._is_settled(each, connector, each in reached)]

    def _is_settled(self, worker: str, connector: str, was_reached: bool) -> bool:
        answer = ask_worker(self.settings, worker, connector)
        since = self._since.get((worker, answer), time.monotonic())
        self._since = {key: at for key, at in self._since.items() if key[0] != worker}
        self._since[worker, answer] = since
        return _is_end(answer, was_reached=was_reached) and time.monotonic() - since >= SETTLED_S


def _is_end(answer: WorkerAnswer, *, was_reached: bool) -> bool:
    """Whether an answer says that the worker runs no task of the connector."""
    return answer is WorkerAnswer.FREE or (answer is WorkerAnswer.GONE and was_reached)


def _workers(lives: Sequence[TaskLife]) -> list[str]:
    return sorted({life.worker for life in lives if not life.is_over})
