"""The settings of the opponents. Each is tuned as an experienced user would tune it; the published page names them."""

from __future__ import annotations

from collections.abc import Iterable

# One confluent-kafka process. By default its fetcher waits a second whenever its queue is full, and the queue holds
# 64 MB; the process would mostly wait.
CONSUMER = {
    "fetch.queue.backoff.ms": "0",
    "queued.min.messages": "1000000",
    "queued.max.messages.kbytes": "524288",
    "fetch.max.bytes": "67108864",
    "max.partition.fetch.bytes": "16777216",
    "fetch.wait.max.ms": "10",
    "check.crcs": "false",
    "enable.auto.commit": "false",
    "enable.partition.eof": "false",
}
CONSUMER_BATCH = 50_000

# Kafka's own tool. It switches `check.crcs` off itself, and ignores `--threads` and `--num-fetch-threads`.
PERFORMANCE_PROPERTIES = {
    "fetch.min.bytes": "1",
    "fetch.max.bytes": "67108864",
    "max.poll.records": "20000",
    "enable.auto.commit": "false",
    "auto.include.jmx.reporter": "false",
    "enable.metrics.push": "false",
}
PERFORMANCE_OPTIONS = ("--fetch-size=16777216", "--socket-buffer-size=4194304")
PERFORMANCE_JAVA = ("-Xms1g", "-Xmx1g", "-XX:+UseParallelGC")

# The full joins in Spark. The first setting saves a second shuffle of the numbered records.
JOIN = {
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.shuffle.partitions": "8",
}

# Spark's own reader, as a user of a remote cluster tunes it.
SPARK_READER = {
    "kafka.max.poll.records": "20000",
    "kafka.max.partition.fetch.bytes": "16777216",
    "kafka.fetch.max.bytes": "67108864",
    "kafka.receive.buffer.bytes": "1048576",
    "kafka.check.crcs": "false",
}

# MirrorMaker 2, by cluster and client: what tuning guides recommend for throughput. The tasks are those that a user
# takes for each round trip in ms.
MIRROR_TASKS = {0: 4, 10: 8, 50: 12}
MIRROR_CONSUMER = {
    "max.poll.records": "5000",
    "fetch.min.bytes": "65536",
    "fetch.max.wait.ms": "100",
    "max.partition.fetch.bytes": "8388608",
    "fetch.max.bytes": "67108864",
    "receive.buffer.bytes": "1048576",
}
MIRROR_PRODUCER = {
    "batch.size": "524288",
    "linger.ms": "20",
    "buffer.memory": "67108864",
    "send.buffer.bytes": "1048576",
    "acks": "all",
    "enable.idempotence": "true",
    "max.in.flight.requests.per.connection": "5",
}
MIRROR_FLOW = {
    "emit.heartbeats.enabled": "false",
    "emit.checkpoints.enabled": "false",
    "sync.topic.acls.enabled": "false",
    "sync.topic.configs.enabled": "false",
}


def opponents() -> list[tuple[str, str]]:
    """Return each opponent and its settings, as the page shows them."""
    mirror = {
        **MIRROR_FLOW,
        **{f"consumer.{name}": value for name, value in MIRROR_CONSUMER.items()},
        **{f"producer.{name}": value for name, value in MIRROR_PRODUCER.items()},
    }
    return [
        (
            "one confluent-kafka process",
            f"{_shown(CONSUMER)}, `consume(num_messages={CONSUMER_BATCH})`. It fetches both sides at once and computes "
            "one SHA-256 per partition over key, value and timestamp",
        ),
        (
            "ConsumerPerformance",
            f"{_shown(PERFORMANCE_PROPERTIES)}, {_listed((*PERFORMANCE_OPTIONS, *PERFORMANCE_JAVA))}. One process per "
            "side, both at once; only the fetch time of the slower one counts",
        ),
        (
            "naive full join, full join by offset",
            f"{_shown(JOIN)}. It shuffles a 64-bit hash of value, headers and timestamp instead of the records",
        ),
        ("scan", "Spark's reader with the same options as ours, into `noop`"),
        ("Spark's own", "Spark's reader with its defaults"),
        ("reader tuned by hand", f"{_shown(SPARK_READER)}, `minPartitions` = the number of cores"),
        ("snapshot, loop", "`get_watermark_offsets` per partition, on one consumer that all runs share"),
        ("MirrorMaker 2, its defaults", "`tasks.max=4`, replication factors of 1, nothing else"),
        (
            "MirrorMaker 2, tuned by hand",
            f"replication factors of 1, {_shown(mirror)}, `--clusters` = the target, `tasks.max` = "
            f"{', '.join(f'{tasks} at {round_trip} ms' for round_trip, tasks in MIRROR_TASKS.items())}",
        ),
        ("json.loads", "`json.loads(path.read_bytes())` of each entry, from the page cache; the result is dropped"),
        ("empty tasks", "as many empty sequential tasks as Airflow starts in a sync, in the same Airflow"),
    ]


def _shown(settings: dict[str, str]) -> str:
    return _listed(f"{name}={value}" for name, value in settings.items())


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
