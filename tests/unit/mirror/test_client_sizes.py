"""The sizes of MirrorMaker's clients, and the heap that they need."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_migration.core.mirror.client_sizes import (
    MIB,
    MIN_BATCH,
    MIN_FETCH,
    ClientSizes,
    Load,
    chosen_sizes,
    client_sizes,
    heap_for,
    needed_heap_mb,
    tasks_for,
)
from kafka_migration.core.mirror.engine import DEFAULT_MAX_MESSAGE_BYTES
from kafka_migration.migration_file.loading import load_migration
from tests.conftest import MIGRATION_TEXT

DEFAULT_LIMIT = DEFAULT_MAX_MESSAGE_BYTES
# Four tasks with a heap of 1 GiB, the defaults of a migration file.
MIRROR = replace(load_migration(MIGRATION_TEXT, where="shop.yaml").mirror, tasks=4, heap_mb=1024)
LOADS = st.builds(
    Load,
    partitions=st.integers(1, 20_000),
    producers=st.integers(1, 1_000),
    largest_request=st.integers(1_000, 20_000_000),
)


@given(st.integers(128, 262_144), LOADS)
def test_buffers_fit_into_the_heap_or_are_the_smallest(heap_mb: int, load: Load) -> None:
    """Full buffers need at most the heap, unless a size is at its lower limit."""
    sizes = client_sizes(heap_mb, load)
    is_smallest = sizes.fetch == MIN_FETCH or sizes.buffer == load.largest_request

    assert is_smallest or needed_heap_mb(sizes, load) <= heap_mb


@given(st.integers(128, 262_144), LOADS)
def test_producer_can_send_what_it_may(heap_mb: int, load: Load) -> None:
    """A buffer holds the largest request, and a batch is no larger than one."""
    sizes = client_sizes(heap_mb, load)

    assert sizes.batch <= load.largest_request <= sizes.buffer


@pytest.mark.parametrize(
    ("partitions", "fetch", "batch"),
    [(1, 8 * MIB, 512 * 1024), (12, 8 * MIB, 512 * 1024), (1_000, 134_217, 26_843), (20_000, MIN_FETCH, MIN_BATCH)],
)
def test_many_partitions_have_smaller_buffers(partitions: int, fetch: int, batch: int) -> None:
    """Partitions share a quarter of the heap for fetches, and a producer's buffer for batches."""
    sizes = client_sizes(1024, Load.of(MIRROR, partitions, DEFAULT_LIMIT))

    assert (fetch, batch) == (sizes.fetch, sizes.batch)


def test_each_task_with_a_partition_has_a_producer() -> None:
    """Tasks share half of the heap for unacknowledged records; MirrorMaker 1 has one producer for all streams."""
    one = replace(MIRROR, engine="mirrormaker1")
    loads = [Load.of(each, partitions, DEFAULT_LIMIT) for each in (MIRROR, one) for partitions in (1, 12, 0)]

    assert [1, 4, 1, 1, 1, 1] == [load.producers for load in loads]
    assert 13_421_772 == client_sizes(1024, loads[1]).buffer


def test_sizes_of_the_file_win() -> None:
    """A migration file may set each size; a batch that it does not set fits into the buffer that it sets."""
    tuned = replace(MIRROR, properties={"consumer.max.partition.fetch.bytes": "5", "producer.buffer.memory": "20000"})

    assert ClientSizes(fetch=5, batch=20_000, buffer=20_000) == chosen_sizes(tuned, Load.of(tuned, 12, DEFAULT_LIMIT))


@pytest.mark.parametrize(
    ("changes", "partitions", "limit", "heap_mb"),
    [
        ({}, 12, DEFAULT_LIMIT, 1_024),
        ({}, 8_000, DEFAULT_LIMIT, 1_024),
        ({}, 20_000, DEFAULT_LIMIT, 2_560),
        ({}, 12, 20_000_000, 1_280),
        ({"tasks": 100}, 200, DEFAULT_LIMIT, 2_048),
        ({"properties": {"producer.buffer.memory": "33554432"}}, 12, DEFAULT_LIMIT, 2_048),
    ],
)
def test_heap_holds_the_buffers(changes: dict[str, object], partitions: int, limit: int, heap_mb: int) -> None:
    """The heap is enough for the default file; more partitions, tasks, larger records or Kafka's buffer need more."""
    assert heap_mb == heap_for(replace(MIRROR, **changes), partitions, limit)  # type: ignore[arg-type]


@given(st.integers(128, 4_096), st.integers(0, 20_000), st.integers(1, 1_000))
def test_advised_heap_is_enough(heap_mb: int, partitions: int, tasks: int) -> None:
    """With the advised heap, which is never less than that of the file, nothing more is advised."""
    mirror = replace(MIRROR, tasks=tasks, heap_mb=heap_mb)
    advised = heap_for(mirror, partitions, DEFAULT_LIMIT)

    assert heap_mb <= advised == heap_for(replace(mirror, heap_mb=advised), partitions, DEFAULT_LIMIT)


@pytest.mark.parametrize(
    ("round_trip_us", "partitions", "brokers", "tasks"),
    [
        (500, 12, 1, 1),
        (50_000, 12, 1, 2),
        (200_000, 12, 1, 8),
        (200_000, 12, 3, 3),
        (200_000, 2, 1, 2),
        (200_000, 0, 0, 1),
    ],
)
def test_tasks_fill_the_line(round_trip_us: int, partitions: int, brokers: int, tasks: int) -> None:
    """A longer round trip needs more tasks, more brokers fewer; each has a partition."""
    assert tasks == tasks_for(round_trip_us, partitions, brokers)
