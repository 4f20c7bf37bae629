"""The digests and the labels against an oracle that knows raw records only, on many small pairs of logs in one job."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from kafka_digest.keys.frames import KeyedSide, compared_rows
from kafka_digest.keys.key_tasks import DIFFERING
from kafka_digest.keys.locate_key_differences import Suspects, aligned_keys, reconciled
from kafka_digest.position.blocks import Block, compare_blocks
from kafka_digest.position.position_digest import block_rows
from tests.oracle import Logs, Raw, good_by_key, same_by_key, same_by_position, unpaired
from tests.spark.conftest import FramesMaker, KafkaRecord, Place

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

Pair = tuple[Logs, Logs]
Sides = Callable[[Sequence[Pair]], list[DataFrame]]
Labelled = Callable[[Sequence[Pair]], tuple[set[int], dict[int, Counter[str]]]]
PARTITIONS = 3
# So few that records repeat, and so alike that what is folded together is seen.
RECORDS = st.builds(
    Raw,
    st.sampled_from([None, b"", b"a", b"b"]),
    st.sampled_from([None, b"", b"a"]),
    st.sampled_from([(), (("h", None),), (("h", b""), ("h", None))]),
    st.integers(0, 1),
)
LOGS = st.lists(st.lists(RECORDS, max_size=6), min_size=PARTITIONS, max_size=PARTITIONS)
# What may be done to a copy, and where: numbers are taken modulo what there is.
EDITS = st.lists(
    st.tuples(st.sampled_from(["drop", "add", "alter", "swap", "move"]), *[st.integers(0, 20)] * 3, RECORDS), max_size=2
)


def copied(source: Logs, order: Sequence[int]) -> Logs:
    """Return the records in as many partitions as `order` has, each key in one of them."""
    logs: list[list[Raw]] = [[] for _ in order]
    for log in source:
        for number, record in enumerate(log):
            place = number if record.key is None else order[sum(record.key) % len(order)]
            logs[place % len(order)].append(record)
    return logs


def edited(logs: Logs, edits: Sequence[tuple[str, int, int, int, Raw]]) -> Logs:
    """Return logs with some of their records dropped, added, altered, exchanged or put into another partition."""
    made = [list(log) for log in logs]
    for act, partition, at, other, record in edits:
        log, second = made[partition % len(made)], made[other % len(made)]
        if act == "add" or not log:
            log.insert(at % (len(log) + 1), record)
        elif act == "drop":
            del log[at % len(log)]
        elif act == "alter":
            log[at % len(log)] = record
        elif act == "move":
            second.insert(at % (len(second) + 1), log.pop(at % len(log)))
        else:
            one, two = at % len(log), other % len(log)
            log[one], log[two] = log[two], log[one]
    return made


def padded(logs: Logs) -> Logs:
    """Return logs with empty partitions up to the number of the source's."""
    return [*logs, *[[]] * (PARTITIONS - len(logs))]


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """Return a source and what a copier, or something worse, made of it."""
    source = draw(LOGS)
    order = draw(st.one_of(st.none(), st.permutations(range(PARTITIONS)), st.just([0, 1])))
    return source, edited(source if order is None else copied(source, order), draw(EDITS))


MANY = st.lists(pairs(), min_size=30, max_size=30)
# Shrinking would start a Spark job per step; the message shows one pair, an example would show all of them.
FEW_JOBS = settings(
    max_examples=4,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
    verbosity=Verbosity.quiet,
)


@pytest.fixture(scope="module")
def sides(kafka_frames: FramesMaker) -> Sides:
    """Make a frame of either side, each pair a topic."""

    def make(many: Sequence[Pair]) -> list[DataFrame]:
        return [
            kafka_frames(
                {
                    (f"t{number}", partition): [KafkaRecord(*record) for record in log]
                    for number, pair in enumerate(many)
                    for partition, log in enumerate(pair[side])
                }
            )
            for side in (0, 1)
        ]

    return make


@given(many=MANY)
@FEW_JOBS
def test_partitions_are_equal_where_the_oracle_says_so(sides: Sides, many: Sequence[Pair]) -> None:
    """By position: the blocks differ exactly where a partition is not the same list of records."""
    found: list[defaultdict[Place, list[Block]]] = []
    for frame in sides(many):
        blocks: defaultdict[Place, list[Block]] = defaultdict(list)
        for row in block_rows(frame, "either", 2, tasks=1).collect():
            blocks[row["topic"], row["partition"]].append(Block(*row[3:]))
        found.append(blocks)

    for number, (source, target) in enumerate(many):
        places = [(f"t{number}", p) for p in range(PARTITIONS)]
        equal = not any(compare_blocks(found[0][place], found[1][place]).differing_blocks for place in places)
        assert same_by_position(source, padded(target)) == equal, f"source {source}, target {target}"


@pytest.fixture(scope="module")
def labelled(spark: SparkSession, sides: Sides) -> Labelled:
    """Compare pairs by key; return the numbers of those that differ, and their labels."""

    def compare(many: Sequence[Pair]) -> tuple[set[int], dict[int, Counter[str]]]:
        units = {f"t{number}/{p}": number for number in range(len(many)) for p in range(PARTITIONS)}
        keyed = [KeyedSide(side, frame, units) for side, frame in enumerate(sides(many))]
        rows = compared_rows(keyed, null_keys_have_order=False, tasks=1).collect()
        rows = [row for row in rows if row["kind"] == DIFFERING]
        differing = {row["unit"] for row in rows}
        labels: dict[int, Counter[str]] = {number: Counter() for number in differing}
        if rows:
            suspects = Suspects({row["bucket"] for row in rows}, {number: number for number in range(len(many))})
            aligned = aligned_keys(spark, keyed, suspects, null_keys_have_order=False, tasks=1).persist()
            for row in reconciled(aligned).collect():
                labels.setdefault(row["unit"], Counter())[row["label"]] += 1
            aligned.unpersist()
        return differing, labels

    return compare


@given(many=MANY)
@FEW_JOBS
def test_topics_are_equal_where_the_oracle_says_so(labelled: Labelled, many: Sequence[Pair]) -> None:
    """By key: the buckets differ exactly where a key's records are not the same; its labels account for every record.

    A topic is right exactly if no label but `interleaved` is given, and as many records of either side are in
    differences of one side, or altered, as have no partner.
    """
    differing, labels = labelled(many)

    for number, (source, target) in enumerate(many):
        found = labels.get(number, Counter())
        lost = found["missing"] + found["altered"]
        more = found["extra"] + found["duplicate"] + found["stale"] + found["altered"]
        told = number not in differing, set(found) <= {"interleaved"}, (lost, more)
        known = same_by_key(source, target), good_by_key(source, target), unpaired(source, target)
        assert known == told, f"source {source}, target {target}, found {dict(found)}"
