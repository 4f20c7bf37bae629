"""What the rows of the workers' status topic say of the tasks of a connector."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_migration.core.connect.task_history import LifeState, TaskHistory, TaskLife, task_history
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.kafka.records import LogRow

pytestmark = pytest.mark.unit

NAME = "kafka-migration.shop"
START = {TopicPartition("states", 0): 7}


def rows(*said: tuple[str | None, ...], first: int = 7) -> list[LogRow]:
    """Return rows from (what the key names after `status-task-`, state) and, if not `a`, the worker."""
    return [
        LogRow(TopicPartition("states", 0), first + number, f"status-task-{key}".encode(), value_of(state, *worker))
        for number, (key, state, *worker) in enumerate(said)
    ]


def value_of(state: str | None, worker: str | None = "a") -> bytes | None:
    """Return a state as a worker writes it; `None` is the row of a task that does not exist any more."""
    trace = "java.lang.Exception: too large" if state == "FAILED" else None
    document = {"state": state, "trace": trace, "worker_id": worker, "generation": 4}
    return None if state is None else json.dumps(document).encode()


def history(found: Sequence[LogRow]) -> TaskHistory:
    """Return the history of the connector `kafka-migration.shop`."""
    return task_history(found, NAME, START, {})


def test_tasks_that_ran_once_and_ended_are_orderly() -> None:
    """Each task has started once, and its worker has said that it has ended."""
    found = history(rows((f"{NAME}-0", "RUNNING"), (f"{NAME}-1", "RUNNING", "b")))
    assert (False, "", 2) == (found.is_orderly, found.trouble(), len(found.unproved))

    ended = [(f"{NAME}-1", "UNASSIGNED", "b"), (f"{NAME}-0", "UNASSIGNED"), (f"{NAME}-0", None), (f"{NAME}-1", None)]
    found = history(rows((f"{NAME}-0", "RUNNING"), (f"{NAME}-1", "RUNNING", "b"), *ended))
    assert (True, False, ()) == (found.is_orderly, found.resent, found.unproved)


@pytest.mark.parametrize(
    ("said", "trouble"),
    [
        ([("-0", "RUNNING"), ("-0", "FAILED")], "task 0 failed on worker a"),
        ([("-0", "RUNNING"), ("-0", "UNASSIGNED")], "worker a ended task 0"),
        ([("-0", "RUNNING"), ("-0", "UNASSIGNED"), ("-0", "RUNNING")], "task 0 was restarted on worker a"),
        ([("-0", "RUNNING"), ("-0", "RUNNING")], "task 0 was restarted on worker a"),
        ([("-3", "RUNNING"), ("-3", "UNASSIGNED"), ("-3", "RUNNING", "b")], "task 3 was moved from worker a to b"),
        ([("-3", "RUNNING"), ("-3", "RUNNING", "b")], "task 3 was moved from worker a to b"),
    ],
)
def test_change_of_a_task_ends_the_generation(said: list[tuple[str, ...]], trouble: str) -> None:
    """A task that failed, ended, was restarted or was moved is named; none of these histories is orderly."""
    found = history(rows(*((f"{NAME}{each[0]}", *each[1:]) for each in said)))

    assert trouble == found.trouble()
    assert len(said) == 2 or found.resent
    assert not found.is_orderly or trouble == "worker a ended task 0"


def test_lost_worker_stays_unproved_until_it_says_so() -> None:
    """A task that runs elsewhere does not prove that its first worker has ended it; that worker's own row does."""
    lost = [(f"{NAME}-0", "RUNNING"), (f"{NAME}-0", "RUNNING", "b")]
    found = history(rows(*lost))
    assert (TaskLife(0, "a", LifeState.LOST), TaskLife(0, "b", LifeState.RUNNING)) == found.lives

    found = history(rows(*lost, (f"{NAME}-0", "UNASSIGNED")))
    assert ["b"] == [life.worker for life in found.unproved]


def test_missing_row_makes_a_history_unknown() -> None:
    """After a compaction, or without a known start, restarts cannot be seen: that is never good."""
    for found in (
        task_history(rows((f"{NAME}-0", "RUNNING"), first=8), NAME, START, {}),
        task_history(rows((f"{NAME}-0", "RUNNING")), NAME, None, {}),
    ):
        assert (True, False) == (found.resent, found.is_orderly)
        assert "missing" in found.trouble()


@pytest.mark.parametrize(
    ("end", "is_whole"), [(7, True), (8, True), (9, False), (0, True)], ids=["before", "at", "after", "empty"]
)
def test_rows_that_do_not_reach_a_known_end_are_missing(end: int, is_whole: bool) -> None:
    """A topic that deletes its oldest rows, or that somebody emptied, shows no gap between the rows that are left."""
    found = task_history(rows((f"{NAME}-0", "RUNNING")), NAME, START, {TopicPartition("states", 0): end})

    assert is_whole is found.is_whole


def test_partition_that_was_added_later_begins_at_its_start() -> None:
    """The creation does not name its offset; as long as it is empty, no row is missing."""
    added = TopicPartition("states", 1)

    assert task_history([], NAME, START, {added: 0}).is_whole
    assert not task_history([], NAME, START, {added: 1}).is_whole


def test_newest_row_of_the_connector_itself_is_its_state() -> None:
    """Its rows are no lives of tasks; the row of its deletion, and a text that is none, say nothing."""
    key = f"status-connector-{NAME}".encode()
    said = [value_of("RUNNING"), value_of("STOPPED"), b'{"state": 1}', b"[]", None]
    found = history([LogRow(TopicPartition("states", 0), 7 + n, key, value) for n, value in enumerate(said)])

    assert ("STOPPED", (), True) == (found.connector, found.lives, found.is_whole)
    assert not history(rows((f"{NAME}-0", "RUNNING"))).connector


@pytest.mark.parametrize("other", ["kafka-migration.shop-1", "kafka-migration.sho", "kafka-migration-x.shop"])
def test_rows_of_other_connectors_do_not_count(other: str) -> None:
    """Task 0 of `shop-1` is not a task of `shop`; yet its row shows that none is missing."""
    found = history(rows((f"{other}-0", "RUNNING"), (f"{NAME}-0", "RUNNING"), (f"{other}-0", "FAILED")))

    assert (TaskLife(0, "a", LifeState.RUNNING),) == found.lives
    assert found.is_whole


@given(
    st.lists(
        st.tuples(
            st.sampled_from([f"status-task-{NAME}-0", f"status-task-{NAME}-", f"status-task-{NAME}-x", "status"])
            .map(str.encode)
            .flatmap(lambda key: st.sampled_from([key, key + b"\xff", None])),
            st.one_of(
                st.none(), st.binary(max_size=20), st.sampled_from([b"[]", b'{"state":[]}', b'{"state":"FAILED"}'])
            ),
        )
    )
)
def test_foreign_rows_are_ignored(said: list[tuple[bytes | None, bytes | None]]) -> None:
    """Whatever somebody writes to the topic, no error follows, and it is no life of a task."""
    found = history([LogRow(TopicPartition("states", 0), 7 + n, *row) for n, row in enumerate(said)])

    assert (True, ()) == (found.is_whole, found.lives)
