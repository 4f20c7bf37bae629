"""The cost of validation: both levels compared with a plain scan of the same records, and with other methods.

Two real local clusters hold the same records, on the same cores as Spark. All arms of a table read with the same
reader options and run in turn; the first run of each is dropped.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

from bench.measuring import Cost, interleaved, ratio, worker_peak_bytes
from bench.results import Row
from bench.validation.arms import Arms
from bench.validation.data import Hot, Topic, fill, keyed
from bench.validation.reading import far_reader_rows
from bench.validation.shuffling import shuffled_bytes
from bench.validation.submitting import submit_rows
from bench.validation.translating import Translating
from kafka_digest.shell.session import START_OPTIONS, set_up
from sandbox import jars
from sandbox.sandbox import Sandbox
from sandbox.spark import local_session

FEW, MANY = 10_000, 1_000_000
# One record in this many is damaged: 0.02 %.
DAMAGED = 5_000
WIDE, NARROW = 1_000, 8
# The number of records of a small topic.
SMALL = 100_000


def rows(records: int) -> Iterator[Row]:
    """Fill two clusters and time all arms; yield each figure as soon as it is known."""
    with (
        tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder,
        Sandbox(Path(folder) / "sandbox", airflow=False, java_options=()) as sandbox,
    ):
        sides = {"source": sandbox.state.source_bootstrap, "target": sandbox.state.target_bootstrap}
        yield from _in_session(sides, records)
        yield from submit_rows(Path(folder), sides)
    yield from far_reader_rows()


def _in_session(sides: dict[str, str], records: int) -> Iterator[Row]:
    topics = {
        "few": keyed("few", records, FEW),
        "many": keyed("many", records, MANY),
        "unique": keyed("unique", records, records),
        "hot": Topic("hot", records, 4, Hot(FEW, 4)),
        "damaged": Topic("damaged", records, 4, keyed("", 0, FEW).place, DAMAGED),
        "large": keyed("large", 4 * records, FEW),
        "narrow": keyed("narrow", records, FEW, NARROW),
        "wide": keyed("wide", records, FEW, WIDE),
        "small narrow": keyed("small-narrow", SMALL, FEW, NARROW),
        "small wide": keyed("small-wide", SMALL, FEW, WIDE),
    }
    fill(sides, list(topics.values()))
    session = _session()
    arms = {name: Arms(session, sides, topic) for name, topic in topics.items()}
    yield Row("level 2, 1 M keys, bytes shuffled per record", shuffled_bytes(arms["many"]) / (2 * records), 4, 1.5)
    # First in the session, before other work makes the Python workers grow.
    yield Row("level 2, 1 M keys, peak memory of a Python worker ÷ 350 MB", worker_peak_bytes() / 350e6, 1, None)
    yield from _levels(arms)
    yield from _shapes(arms)
    yield _translation(Translating.filled(session, sides, records, FEW))
    session.stop()


def _session() -> SparkSession:
    options = {
        "spark.jars": ",".join(str(jar) for jar in jars.spark_jars()),
        "spark.driver.memory": "6g",
        "spark.sql.shuffle.partitions": "8",
        # The stage counters of the shuffle.
        "spark.ui.enabled": "true",
        **START_OPTIONS,
    }
    return set_up(local_session(2, options))


def _levels(arms: dict[str, Arms]) -> Iterator[Row]:
    few, many, unique, damaged = (arms[name] for name in ("few", "many", "unique", "damaged"))
    fetching: list[float] = []
    costs = interleaved(
        {
            "scan": few.scan,
            "level 1": few.level_1,
            "level 2": few.level_2,
            "naive": few.naive_join,
            "one process": few.one_process,
            "performance": lambda: fetching.append(few.consumer_performance()),
            "scan, many": many.scan,
            "level 2, many": many.level_2,
            "scan, unique": unique.scan,
            "level 2, unique": unique.level_2,
            "scan, damaged": damaged.scan,
            "drill": damaged.level_2_and_drill,
        }
    )
    yield ratio("level 1, clean copy ÷ scan", costs["level 1"], costs["scan"], 1.3, 1.0)
    yield ratio("level 2, 10 k keys ÷ scan", costs["level 2"], costs["scan"], 1.7, 1.3)
    yield ratio("level 2, 1 M keys ÷ scan", costs["level 2, many"], costs["scan, many"], 2.0, 1.5)
    yield ratio("level 2, all keys unique ÷ scan", costs["level 2, unique"], costs["scan, unique"], 2.4, 1.8)
    yield ratio("level 2 ÷ naive full join", costs["level 2"], costs["naive"], 1 / 1.5, 1 / 2.2)
    yield ratio("level 1 ÷ naive full join", costs["level 1"], costs["naive"], 1 / 1.9, 1 / 2.8)
    yield ratio("level 1 ÷ one confluent-kafka process", costs["level 1"], costs["one process"], 1 / 1.7, 1 / 2.5)
    floor = Cost(sorted(fetching)[len(fetching) // 2], costs["performance"].cpu_s)
    yield ratio("level 1 ÷ ConsumerPerformance", costs["level 1"], floor, 3.2, 2.0)
    name = "0.02 % damaged, level 2 and drill-down ÷ scan"
    yield ratio(name, costs["drill"], costs["scan, damaged"], 3.2, 2.3)


def _shapes(arms: dict[str, Arms]) -> Iterator[Row]:
    few, hot, large, narrow, wide = (arms[name] for name in ("few", "hot", "large", "narrow", "wide"))
    small_narrow, small_wide = arms["small narrow"], arms["small wide"]
    costs = interleaved(
        {
            "few": few.level_2,
            "hot": hot.level_2,
            "few, 1": few.level_1,
            "large": large.level_2,
            "large, 1": large.level_1,
            "narrow": narrow.level_2,
            "wide": wide.level_2,
            "narrow, 1": narrow.level_1,
            "wide, 1": wide.level_1,
            "small narrow": small_narrow.level_1,
            "small wide": small_wide.level_1,
        }
    )
    yield ratio("level 2, hot key ÷ uniform", costs["hot"], costs["few"], 1.3, 1.1)
    yield ratio("level 1, four times the records", costs["large, 1"], costs["few, 1"], 4.4, 4.1)
    yield ratio("level 2, four times the records", costs["large"], costs["few"], 4.4, 4.1)
    yield ratio("level 1, 1,000 near-empty partitions ÷ 8", costs["wide, 1"], costs["narrow, 1"], 4, 2)
    yield ratio("level 2, 1,000 near-empty partitions ÷ 8", costs["wide"], costs["narrow"], 4, 2)
    name = "level 1, 1,000 partitions of 100 records ÷ 8 of as many together"
    yield ratio(name, costs["small wide"], costs["small narrow"], None, None)


def _translation(arms: Translating) -> Row:
    costs = interleaved({"scan": arms.scan, "translate": arms.translate})
    return ratio("offsets of 3 groups, other partitions ÷ scan", costs["translate"], costs["scan"], 1.8, 1.4)
