"""Both levels on topics of other shapes: a hot key, more records, many partitions."""

from __future__ import annotations

from collections.abc import Iterator

from bench.measuring import Cost, interleaved, ratio
from bench.results import Row
from bench.sizes import Shapes as Size
from bench.validation.arms import Arms
from bench.validation.data import Hot, Topic, fill, keyed
from bench.validation.scene import spark_session, two_clusters

KEYS, NARROW = 10_000, 8


def rows(size: Size) -> Iterator[Row]:
    """Fill two clusters and time both levels on all topics."""
    records = size.records
    topics = {
        "uniform": keyed("uniform", records, KEYS),
        "hot": Topic("hot", records, 4, Hot(KEYS, 4)),
        "large": keyed("large", 4 * records, KEYS),
        "narrow": keyed("narrow", records, KEYS, NARROW),
        "wide": keyed("wide", records, KEYS, size.wide),
        "small narrow": keyed("small-narrow", size.small, KEYS, NARROW),
        "small wide": keyed("small-wide", size.small, KEYS, size.wide),
    }
    with two_clusters() as (_, sides):
        fill(sides, list(topics.values()))
        with spark_session() as session:
            costs = _costs({name: Arms(session, sides, topic) for name, topic in topics.items()}, size.runs)
    yield from _figures(costs, {name: 2 * topic.records for name, topic in topics.items()})


def _costs(arms: dict[str, Arms], runs: int) -> dict[str, Cost]:
    small = ("small narrow", "small wide")
    first = {f"level 1, {name}": each.level_1 for name, each in arms.items() if name != "hot"}
    second = {f"level 2, {name}": each.level_2 for name, each in arms.items() if name not in small}
    return interleaved({**first, **second}, runs)


def _figures(costs: dict[str, Cost], records: dict[str, int]) -> Iterator[Row]:
    for name, level, one, other in (
        ("level 2, hot key ÷ uniform", 2, "hot", "uniform"),
        ("level 1, four times the records", 1, "large", "uniform"),
        ("level 2, four times the records", 2, "large", "uniform"),
        ("level 1, 1,000 near-empty partitions ÷ 8", 1, "wide", "narrow"),
        ("level 2, 1,000 near-empty partitions ÷ 8", 2, "wide", "narrow"),
        ("level 1, 1,000 partitions of 100 records ÷ 8 of as many together", 1, "small wide", "small narrow"),
    ):
        yield ratio(name, costs, f"level {level}, {one}", f"level {level}, {other}", (records[one], records[other]))
