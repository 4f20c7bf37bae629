"""How large the buffers of MirrorMaker's clients are, so that all of them fit into its heap together.

Kafka's own defaults know neither the heap nor the number of partitions and tasks: a consumer buffers 1 MiB of each
partition, and a producer 32 MiB, of which Connect also keeps every record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kafka_migration.core.migration.settings import MirrorSettings

MIB = 1 << 20
KIB = 1 << 10
# The shares of the heap in per cent. The rest is for MirrorMaker's own objects.
FETCH_SHARE, PRODUCER_SHARE = 25, 50
# A consumer keeps a fetch until its last partition was read, and meanwhile fetches those that were.
FETCHES_PER_PARTITION = 2
# What the heap holds per byte in a producer's buffer. Connect keeps each record until it is acknowledged, with about
# 900 bytes of objects, and a record of 100 bytes takes 107 in the buffer.
HEAP_PER_BUFFERED_BYTE = 10
# A larger fetch hides no more of a round trip, and a larger batch saves no more requests.
MAX_FETCH, MAX_BATCH, MAX_BUFFER = 8 * MIB, 512 * KIB, 32 * MIB
# Below these, each request would carry next to nothing.
MIN_FETCH, MIN_BATCH = 16 * KIB, 16 * KIB
# Of each partition, one batch is sent while the next one is filled.
BATCHES_PER_PARTITION = 2


@dataclass(frozen=True, slots=True)
class Load:
    """What shares a heap: the source's partitions, and the tasks that have producers.

    `largest_request` is the size of the largest request, which a producer's buffer must hold.
    """

    partitions: int
    producers: int
    largest_request: int

    @classmethod
    def of(cls, mirror: MirrorSettings, partitions: int, largest_request: int) -> Load:
        """Return the load of a MirrorMaker that copies this many partitions; a task without one does not exist."""
        producers = mirror.tasks if mirror.abilities.producer_per_task else 1
        return cls(max(1, partitions), max(1, min(producers, partitions)), largest_request)


@dataclass(frozen=True, slots=True)
class ClientSizes:
    """`max.partition.fetch.bytes` of each consumer; `batch.size` and `buffer.memory` of each producer."""

    fetch: int
    batch: int
    buffer: int


def client_sizes(heap_mb: int, load: Load) -> ClientSizes:
    """Return the largest useful sizes for which `needed_heap_mb` is at most the heap.

    With a heap that is too small for the load, the sizes are the smallest ones, and they need more.
    """
    heap = heap_mb * MIB
    fetches = load.partitions * FETCHES_PER_PARTITION
    fetch = heap * FETCH_SHARE // 100 // fetches
    buffer = heap * PRODUCER_SHARE // 100 // (load.producers * HEAP_PER_BUFFERED_BYTE)
    buffer = max(load.largest_request, min(buffer, MAX_BUFFER))
    batches = -(-load.partitions // load.producers) * BATCHES_PER_PARTITION
    return ClientSizes(
        fetch=max(MIN_FETCH, min(fetch, MAX_FETCH)),
        batch=min(max(MIN_BATCH, min(buffer // batches, MAX_BATCH)), load.largest_request),
        buffer=buffer,
    )


# The tuning keys of a migration file that replace a size.
FETCH_KEY, BATCH_KEY, BUFFER_KEY = (
    "consumer.max.partition.fetch.bytes",
    "producer.batch.size",
    "producer.buffer.memory",
)


def chosen_sizes(mirror: MirrorSettings, load: Load) -> ClientSizes:
    """Return the sizes that a MirrorMaker gets, where those of the migration file win."""
    sizes, given = client_sizes(mirror.heap_mb, load), mirror.properties
    buffer = int(given.get(BUFFER_KEY, sizes.buffer))
    return ClientSizes(
        fetch=int(given.get(FETCH_KEY, sizes.fetch)),
        batch=int(given.get(BATCH_KEY, min(sizes.batch, buffer))),
        buffer=buffer,
    )


# What a connection carries per round trip at most: the largest window of Linux by default (half of `tcp_rmem`).
WINDOW_BYTES = 3 * MIB
# What the tasks together should carry: a line of one gigabit per second.
LINE_BYTES_PER_S = 125_000_000
HEAP_STEP_MB = 256


def tasks_for(round_trip_us: int, partitions: int, brokers: int) -> int:
    """Return how many tasks fill the line at this round trip; each has one connection to each broker."""
    in_flight = LINE_BYTES_PER_S * round_trip_us // 1_000_000
    return max(1, min(partitions, -(-in_flight // (WINDOW_BYTES * max(1, brokers)))))


def heap_for(mirror: MirrorSettings, partitions: int, largest_request: int) -> int:
    """Return the heap in MiB that a MirrorMaker needs: its own one, or more in whole steps.

    With more heap the sizes grow up to their share of it, so the next heap is looked at until one is enough.
    """
    load, heap_mb = Load.of(mirror, partitions, largest_request), mirror.heap_mb
    while (needed := needed_heap_mb(chosen_sizes(replace(mirror, heap_mb=heap_mb), load), load)) > heap_mb:
        heap_mb = -(-needed // HEAP_STEP_MB) * HEAP_STEP_MB
    return heap_mb


def needed_heap_mb(sizes: ClientSizes, load: Load) -> int:
    """Return the heap that holds all buffers when they are full of records of 100 bytes.

    Not counted is what one batch of the source exceeds `fetch` by: a consumer takes it whole, one per request.
    """
    fetched = sizes.fetch * load.partitions * FETCHES_PER_PARTITION
    buffered = sizes.buffer * load.producers * HEAP_PER_BUFFERED_BYTE
    return -(-(fetched + buffered) * 100 // (FETCH_SHARE + PRODUCER_SHARE) // MIB)
