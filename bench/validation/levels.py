"""Both levels on clean and damaged copies, compared with a plain scan and with alternatives without this package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from bench.measuring import Cost, interleaved, ratio, worker_peak_bytes
from bench.results import Arm, Row, compared
from bench.sizes import Validation as Size
from bench.validation.arms import Arms
from bench.validation.data import Topic, fill, keyed
from bench.validation.scene import spark_session, two_clusters
from bench.validation.shuffling import shuffled_bytes

FEW = 10_000
# One record in this many is damaged: 0.02 %.
DAMAGED = 5_000


def rows(size: Size) -> Iterator[Row]:
    """Fill two clusters and time all arms; yield each figure as soon as it is known."""
    topics = {
        "few": keyed("few", size.records, FEW),
        "many": keyed("many", size.records, size.keys),
        "unique": keyed("unique", size.records, size.records),
        "damaged": Topic("damaged", size.records, 4, keyed("", 0, FEW).place, DAMAGED),
    }
    with two_clusters() as (_, sides):
        fill(sides, list(topics.values()))
        with spark_session() as session:
            arms = {name: Arms(session, sides, topic) for name, topic in topics.items()}
            yield from _resources(arms["many"], size)
            yield from _figures(*_costs(arms, size.runs), 2 * size.records)


def _resources(many: Arms, size: Size) -> Iterator[Row]:
    """Measure the shuffle, and the workers: first in the session, before other work makes them grow."""
    shuffled, records = Arm("shuffled", shuffled_bytes(many), "bytes"), Arm("read", 2 * size.records, "records")
    yield compared("level 2, 1 M keys, bytes shuffled per record", shuffled, records)
    peak = Arm("peak", worker_peak_bytes() / 1e6, "MB")
    yield compared("level 2, 1 M keys, peak memory of a Python worker ÷ 350 MB", peak, Arm("upper bound", 350, "MB"))


def _costs(arms: Mapping[str, Arms], runs: int) -> tuple[dict[str, Cost], Cost]:
    """Return the cost of each arm, and that of ConsumerPerformance with its fetch time only."""
    few, many, unique, damaged = (arms[name] for name in ("few", "many", "unique", "damaged"))
    fetching: list[float] = []
    costs = interleaved(
        {
            "scan": few.scan,
            "level 1": few.level_1,
            "level 2": few.level_2,
            "naive join": few.naive_join,
            "join by offset": few.join_by_offset,
            "one process": few.one_process,
            "ConsumerPerformance": lambda: fetching.append(few.consumer_performance()),
            "scan, many keys": many.scan,
            "level 2, many keys": many.level_2,
            "scan, unique keys": unique.scan,
            "level 2, unique keys": unique.level_2,
            "scan, damaged": damaged.scan,
            "level 2 and drill-down": damaged.level_2_and_drill,
        },
        runs,
    )
    return costs, replace(costs["ConsumerPerformance"], wall_s=sorted(fetching)[len(fetching) // 2])


def _figures(costs: dict[str, Cost], performance: Cost, records: int) -> Iterator[Row]:
    costs = {**costs, "ConsumerPerformance": performance}
    for name, one, other in (
        ("level 1, clean copy ÷ scan", "level 1", "scan"),
        ("level 2, 10 k keys ÷ scan", "level 2", "scan"),
        ("level 2, 1 M keys ÷ scan", "level 2, many keys", "scan, many keys"),
        ("level 2, all keys unique ÷ scan", "level 2, unique keys", "scan, unique keys"),
        ("level 2 ÷ naive full join", "level 2", "naive join"),
        ("level 1 ÷ naive full join", "level 1", "naive join"),
        ("level 1 ÷ full join by offset", "level 1", "join by offset"),
        ("level 1 ÷ one confluent-kafka process", "level 1", "one process"),
        ("level 1 ÷ ConsumerPerformance", "level 1", "ConsumerPerformance"),
        ("0.02 % damaged, level 2 and drill-down ÷ scan", "level 2 and drill-down", "scan, damaged"),
    ):
        yield ratio(name, costs, one, other, (records, records))
