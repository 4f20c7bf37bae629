"""Consumer groups of live tests, as real consumers and as offsets; and a cutover up to its question."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Protocol

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient

from kafka_migration.airflow_adapters.deployed_airflow import RESUMES_TASKS_WITH_ANSWERS
from sandbox.airflow_api import AirflowApi, AirflowApiError
from sandbox.data.asking import asked
from sandbox.data.reading import partitions_of
from tests.live.migrations import RUN_TIMEOUT_S, LiveMigration
from tests.waiting import ASKING_AIRFLOW_S, wait_until

# The state of a task that asks for approval.
ASKING = "awaiting_input" if RESUMES_TASKS_WITH_ANSWERS else "deferred"

Offsets = dict[int, int]
STOP_PRODUCERS = "stop_producers"


def ends(side: Mapping[str, str], topic: str) -> Offsets:
    """Return the end of each partition."""
    reader = Consumer({**side, "group.id": "test-ends"})
    found = {p: end_of(reader, TopicPartition(topic, p)) for p in partitions_of(reader, topic)}
    reader.close()
    return found


def end_of(reader: Consumer, place: TopicPartition) -> int:
    """Return the end of a partition."""
    return int(asked(lambda: reader.get_watermark_offsets(place, timeout=60), f"the end of {place}")[1])


def committed(side: Mapping[str, str], group: str, topic: str) -> Offsets:
    """Return what a group has committed, partitions without a commit left out."""
    admin = AdminClient(dict(side))
    wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, p) for p in ends(side, topic)])
    found = asked(lambda: admin.list_consumer_group_offsets([wanted])[group].result(60), f"the commits of {group}")
    return {p.partition: p.offset for p in found.topic_partitions if p.offset >= 0}


def commit(side: Mapping[str, str], group: str, topic: str, offsets: Offsets) -> None:
    """Commit offsets for a group without members."""
    reader = Consumer({**side, "group.id": group, "enable.auto.commit": False})
    wanted = [TopicPartition(topic, p, offset) for p, offset in offsets.items()]
    asked(lambda: reader.commit(offsets=wanted, asynchronous=False), f"the commit of {group}")
    reader.close()


def read_on(side: Mapping[str, str], group: str, topic: str, until: Offsets) -> list[bytes]:
    """Read as the group does, from where it stands to the given ends; return the values."""
    settings = {"enable.auto.commit": False, "auto.offset.reset": "error", "enable.partition.eof": True}
    reader = Consumer({**side, **settings, "group.id": group})
    reader.subscribe([topic])
    values: list[bytes] = []
    left = set(until)

    def has_read_all() -> bool:
        for message in reader.consume(5_000, timeout=1):
            if message.error() is None:
                values.append(message.value())
            else:
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                # What ends a transaction is no message, but has an offset.
                left.difference_update([message.partition()] if message.offset() >= until[message.partition()] else [])
        return not left

    wait_until(has_read_all, 120, "the group to read on")
    reader.close()
    return values


@contextmanager
def member(side: Mapping[str, str], group: str, topic: str) -> Iterator[None]:
    """Keep a living member in a group."""
    reader = Consumer({**side, "group.id": group, "client.id": "someone", "enable.auto.commit": False})
    assigned: list[object] = []
    reader.subscribe([topic], on_assign=lambda _, partitions: assigned.extend(partitions))
    wait_until(lambda: reader.poll(0.2) is not None or assigned, 60, "the member to join")
    yield
    reader.close()


class Watched(Protocol):
    """A DAG whose runs have questions."""

    dag_id: str

    def task_state(self, run_id: str, task_id: str) -> str | None:
        """Return the state of a task of a run; `None` before it is scheduled."""
        ...


def awaiting(migration: LiveMigration, mode: str = "cutover", **conf: object) -> str:
    """Start a cutover or a rollback, with further fields of the form; return its run id once it asks for approval."""
    run_id = migration.trigger(mode, **conf)
    wait_for_question(migration, run_id)
    return run_id


def wait_for_question(migration: Watched, run_id: str) -> None:
    """Return once a cutover has asked for approval."""
    wait_until(_waiting(migration, run_id, "approve", ASKING), RUN_TIMEOUT_S, "the question", ASKING_AIRFLOW_S)


def decide(api: AirflowApi, migration: Watched, run_id: str, option: str) -> None:
    """Answer the question for approval, until the task has taken the answer."""
    _answer(api, migration, run_id, "approve", option, ASKING)


def approve(api: AirflowApi, migration: LiveMigration, run_id: str) -> None:
    """Approve the plan of a cutover or a rollback, and return once the run has succeeded."""
    decide(api, migration, run_id, "Approve")
    assert "success" == migration.finished(run_id).state


def answer_producers(
    api: AirflowApi, migration: Watched, run_id: str, option: str, write: Callable[[], object]
) -> None:
    """Answer a cutover's question whether the producers have stopped; a producer writes until the answer is taken.

    Without that producer the fence may be proved before the answer, and the question is closed.
    """
    has_settled = _waiting(migration, run_id, STOP_PRODUCERS, "deferred")

    def is_asked() -> bool:
        # Deferred it is also before it asks, until the watch announces that the producers are to stop.
        with suppress(AirflowApiError):
            api.question(migration.dag_id, run_id, STOP_PRODUCERS)
            return has_settled()
        return False

    with writing(write):
        wait_until(is_asked, 400, "the question about the producers", ASKING_AIRFLOW_S)
        _answer(api, migration, run_id, STOP_PRODUCERS, option, "deferred")


def _waiting(migration: Watched, run_id: str, task_id: str, state: str) -> Callable[[], bool]:
    """Return the condition that a task was found in a state several times in a row.

    Airflow 3.3 loses an answer that is given while the task parks.
    """
    seen = 0

    def has_settled() -> bool:
        nonlocal seen
        seen = seen + 1 if migration.task_state(run_id, task_id) == state else 0
        return seen > 2

    return has_settled


def _answer(api: AirflowApi, migration: Watched, run_id: str, task_id: str, option: str, waiting: str) -> None:
    """Answer a task, and again while it still waits, as a person does, until it has taken the answer."""
    api.answer(migration.dag_id, run_id, task_id, option)
    waits = 0

    def is_taken() -> bool:
        nonlocal waits
        state = migration.task_state(run_id, task_id)
        waits = waits + 1 if state == waiting else 0
        if waits > 4:
            waits = 0
            with suppress(AirflowApiError):
                api.answer(migration.dag_id, run_id, task_id, option)
        return state in {"success", "failed"}

    wait_until(is_taken, 400, f"the answer to {task_id} to be taken", ASKING_AIRFLOW_S)


@contextmanager
def writing(write: Callable[[], object]) -> Iterator[None]:
    """Write about twice a second, whatever else is waited for; an error of `write` is raised at the end."""
    is_over = threading.Event()

    def write_on() -> None:
        while not is_over.wait(0.5):
            write()

    with ThreadPoolExecutor(1) as pool:
        producer = pool.submit(write_on)
        try:
            yield
        finally:
            is_over.set()
    producer.result()
