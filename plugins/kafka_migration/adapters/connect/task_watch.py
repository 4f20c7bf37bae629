"""What the tasks of a generation did, and whether each of them has ended: from the status topic and the workers."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from kafka_migration.adapters.connect.worker_address import WorkerAnswer, ask_worker
from kafka_migration.core.connect.connect_config import Config, status_from, status_topic_text
from kafka_migration.core.connect.task_history import TaskHistory, TaskLife, task_history
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import KafkaCluster, TopicDescription
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.kafka.records import LogRow

# A worker that ends closes its REST interface first and its tasks then. A task that does not end when it is asked is
# abandoned by its worker after `task.shutdown.graceful.timeout.ms` (5 s by default), without a row about its end.
SETTLED_S = 30.0
# While the workers rebalance, Kafka does not know their addresses.
REBALANCE_S = 30.0
PAUSE_S = 0.5


@dataclass
class TaskWatch:
    """Reads the status topic on the workers' Kafka, which is the target, and asks workers at their own addresses.

    A refused connection is the end of a worker only if Airflow reached it there before, else a firewall may refuse it;
    and only once it has left the group of the workers, which it does after its tasks. `group` names that group.
    """

    target: KafkaCluster
    status_topic: str
    settings: HttpSettings
    group: str | None = None
    _rows: list[LogRow] = field(default_factory=list, init=False)
    _start: dict[TopicPartition, int] | None = field(default=None, init=False)
    _since: dict[tuple[str, WorkerAnswer], float] = field(default_factory=dict, init=False)

    def place(self) -> tuple[str, Offsets]:
        """Return the status topic as text, and its present ends. Raises `TransientError` if it does not exist."""
        described = self._described()
        if described is None:
            raise TransientError(f"the target's topic {self.status_topic} (mirror.connect.status_topic) does not exist")
        return status_topic_text(self.status_topic, described.topic_id), self._ends(described)

    def history(self, connector: str, config: Config) -> TaskHistory:
        """Return what the tasks did since the creation of a connector with this configuration.

        It is not whole if the configuration does not say where its rows begin; then all rows are read.
        """
        described = self._described()
        topic_id = described.topic_id if described else ""
        return self._history(connector, described, status_from(config, self.status_topic, topic_id))

    def whole_history(self, connector: str) -> TaskHistory:
        """Return what the tasks of all generations did, as far as the status topic shows it."""
        described = self._described()
        return self._history(connector, described, dict.fromkeys(described.topic_partitions if described else (), 0))

    def _history(
        self, connector: str, described: TopicDescription | None, start: dict[TopicPartition, int] | None
    ) -> TaskHistory:
        """Return the history from a start on. A repeated call reads only new rows."""
        if described is None:
            return TaskHistory(is_whole=False)
        ends, wanted = self._ends(described), dict(start or {})
        if self._start != wanted:
            self._rows, self._start = [], wanted
        known = {row.partition: row.offset + 1 for row in self._rows}
        self._rows += self.target.log_rows(self.status_topic, {**wanted, **known})
        return task_history(self._rows, connector, start, ends)

    def _described(self) -> TopicDescription | None:
        return self.target.describe_topics([self.status_topic]).get(self.status_topic)

    def _ends(self, described: TopicDescription) -> Offsets:
        ends = self.target.log_end_offsets(described.topic_partitions, "read_uncommitted")
        if len(ends) < len(described.topic_partitions):
            raise TransientError(f"the target's topic {self.status_topic} (mirror.connect.status_topic) cannot be read")
        return ends

    def reached(self) -> list[str]:
        """Return the URLs of the workers at which something answers Airflow; none if their group is not known.

        Raises `TransientError` if the workers rebalance for longer than `REBALANCE_S`.
        """
        workers = sorted(set(self._addresses()))
        return [each for each in workers if ask_worker(self.settings, each, "-").is_answer]

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
        known = _by_name(reached)
        for worker in _workers(lives):
            if worker in known and ask_worker(self.settings, known[worker], connector) is WorkerAnswer.GONE:
                yield worker

    def busy(self, connector: str, lives: Sequence[TaskLife], reached: Collection[str]) -> list[str]:
        """Return the workers of unfinished lives that neither are free nor were `reached` before and are gone."""
        workers = _workers(lives)
        answers = self._answers(connector, workers, reached, self._members() if workers else None)
        return [worker for worker, answer in answers.items() if not answer.is_end]

    def still_unproved(self, connector: str, history: TaskHistory, reached: Collection[str]) -> list[str]:
        """Return the workers of unfinished lives of which nothing proves yet that their task has ended.

        A worker's answer counts once it has been the same for `SETTLED_S`. If rows are missing, each worker may have
        had a life, except those whose row of an end is there. A person can write such a row for a worker that is gone.
        """
        workers = _workers(history.lives)
        if history.is_whole and not workers:
            return []
        members = self._members()
        others = {} if history.is_whole else _by_name((*reached, *(members or ())))
        ended = {life.worker for life in history.lives if life.is_over}
        answers = self._answers(connector, {*workers, *(others.keys() - ended)}, reached, members)
        return [worker for worker, answer in answers.items() if not self._is_settled(worker, answer)]

    def _is_settled(self, worker: str, answer: WorkerAnswer) -> bool:
        since = self._since.get((worker, answer), time.monotonic())
        self._since = {key: at for key, at in self._since.items() if key[0] != worker}
        self._since[worker, answer] = since
        return answer.is_end and time.monotonic() - since >= SETTLED_S

    def _answers(
        self, connector: str, workers: Collection[str], reached: Collection[str], members: Sequence[str] | None
    ) -> Mapping[str, WorkerAnswer]:
        """Return the answer of each worker; one that proves nothing is `silent`."""
        known, found = {**_by_name(reached), **_by_name(members or ())}, {}
        scheme = urlsplit(self.settings.url).scheme
        for worker in sorted(workers):
            answer = ask_worker(self.settings, known.get(worker, f"{scheme}://{worker}"), connector)
            found[worker] = answer if _counts(worker, answer, reached, members) else WorkerAnswer.SILENT
        return found

    def _members(self) -> Sequence[str] | None:
        """Return the URL of each worker in the group, `None` if that is unknown."""
        try:
            return self.target.connect_workers(self.group) if self.group else None
        except TransientError:
            return None


def _counts(worker: str, answer: WorkerAnswer, reached: Collection[str], members: Sequence[str] | None) -> bool:
    """Whether the answer at a worker's address is that of this worker alone."""
    names = [_name_of(address) for address in members or ()]
    if answer is WorkerAnswer.GONE:
        return worker in _by_name(reached) and members is not None and worker not in names
    # Two workers that advertise one address cannot be told apart.
    return names.count(worker) <= 1


def _by_name(addresses: Collection[str]) -> dict[str, str]:
    """Return URLs of workers by the names that the workers have in the status of tasks."""
    return {_name_of(address): address for address in addresses}


def _name_of(address: str) -> str:
    try:
        return urlsplit(address).netloc
    except ValueError:
        # Anyone who may join the group, or change the connector, may have written it.
        return ""


def _workers(lives: Sequence[TaskLife]) -> list[str]:
    return sorted({life.worker for life in lives if not life.is_over})
