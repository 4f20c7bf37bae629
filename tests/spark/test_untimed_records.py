"""Records without a timestamp equal their copies, which have the time of the copy; nothing else may differ."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.records import NO_TIMESTAMP
from tests.compaction.cleaner import Log, Record
from tests.compaction.histories import History, Side
from tests.spark.memory import Memory, compared, copy_of
from tests.translation.truth import ANY_TIME, common_number, is_copy

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

LEVELS = pytest.mark.parametrize("by_key", [False, True], ids=["by position", "by key"])
RANDOM_COPIES = 60
# Old clients wrote most of these records.
SOURCE = [Record(n % 3, n, NO_TIMESTAMP if n % 5 else n) for n in range(30)]
Change = Callable[[list[Record]], object]


def copied(source: Sequence[Record], time: int = 500) -> list[Record]:
    """Return the records as MirrorMaker writes them, from this time on."""
    return [r._replace(timestamp=time + n) if r.timestamp == NO_TIMESTAMP else r for n, r in enumerate(source)]


def changed(records: Sequence[Record], change: Change) -> list[Record]:
    """Return the records after a change."""
    made = list(records)
    change(made)
    return made


def alter(number: int, **fields: int) -> Change:
    """Return a change of one record."""

    def change(records: list[Record]) -> None:
        records[number] = records[number]._replace(**fields)

    return change


# Record 7 has no timestamp on the source, and record 10 has one.
DAMAGES: dict[str, tuple[Change, dict[str, int]]] = {
    "value": (alter(7, value=99), {"altered": 1}),
    "time": (alter(10, timestamp=99), {"altered": 1}),
    "lost": (lambda records: records.pop(7), {"missing": 1}),
    "again": (lambda records: records.append(copied(SOURCE, 900)[29]), {"duplicate": 1}),
    "foreign": (lambda records: records.append(Record(7, 7, 7)), {"extra": 1}),
}


@LEVELS
def test_differences_of_a_copy_with_untimed_records(spark: SparkSession, tmp_path: Path, by_key: bool) -> None:
    """A good copy is a warning with the number of these records; each damage is found and has its own name."""
    good = copied(SOURCE)
    copies = {"good": good, **{name: changed(good, change) for name, (change, _) in DAMAGES.items()}}
    histories = {name: copy_of(SOURCE, copy, (False, False), by_key) for name, copy in copies.items()}
    found = compared(Memory(spark, histories), tmp_path)
    told = found.told(copies)
    (warning,) = found.verdicts["good"].warnings

    assert {"good": (Verdict.WARN, {})} | {
        name: (Verdict.FAIL, labels) for name, (_, labels) in DAMAGES.items()
    } == told
    assert "RECORDS_WITHOUT_TIMESTAMP" == warning.code
    assert "24 source records without a timestamp, of 30" == warning.found


@LEVELS
def test_records_without_a_key(spark: SparkSession, tmp_path: Path, by_key: bool) -> None:
    """Without a key too, by key in any order: the number of copies counts, and the timestamps that the source has."""
    source = [Record(None, n % 2, NO_TIMESTAMP if n % 3 else n) for n in range(12)]
    good = copied(source)
    copies = {
        "good": good,
        "time": changed(good, alter(3, timestamp=77)),
        "lost": changed(good, lambda records: records.pop(4)),
        "more": [*good, good[4]],
    }
    histories = {name: copy_of(source, copy, (False, False), by_key) for name, copy in copies.items()}
    found = compared(Memory(spark, histories), tmp_path).verdicts

    assert {"good"} == {name for name, topic in found.items() if topic.verdict is Verdict.WARN}
    assert {Verdict.FAIL} == {topic.verdict for name, topic in found.items() if name != "good"}


def test_verdict_is_that_of_comparing_every_record(spark: SparkSession, tmp_path: Path) -> None:
    """Few values and times, several partitions, and now and then a damage: by position and by key the verdict is bad
    exactly if the records differ, one by one."""
    rng = random.Random(7)
    wrong: list[str] = []
    seen = set()
    for by_key in (False, True):
        made = {f"t{n}": random_copy(rng, by_key) for n in range(RANDOM_COPIES)}
        folder = tmp_path / str(by_key)
        folder.mkdir()
        for topic, judged in compared(Memory(spark, made), folder).verdicts.items():
            seen.add((by_key, equal := is_equal(made[topic])))
            if equal is not judged.verdict.is_good:
                wrong.append(f"{by_key} {topic} {equal} {judged.verdict} {judged.differences.counts} {made[topic]}")

    assert [] == wrong
    assert 4 == len(seen)


def random_copy(rng: random.Random, by_key: bool) -> History:
    """Return a copy with damage in half of the cases."""
    sources, targets = (2, 3) if by_key else (1, 1)
    untimed = rng.choice((0.2, 0.5, 1.0))
    source: list[list[Record]] = [[] for _ in range(sources)]
    for _ in range(rng.randrange(1, 25)):
        key = rng.choice((None, *range(4)))
        time = NO_TIMESTAMP if rng.random() < untimed else rng.randrange(3)
        source[(rng.randrange(sources) if key is None else key) % sources].append(Record(key, rng.randrange(2), time))
    target: list[list[Record]] = [[] for _ in range(targets)]
    for number, log in enumerate(source):
        for record in copied(log, rng.randrange(1000)):
            place = rng.randrange(targets) if record.key is None else record.key % targets
            target[place if by_key else number].append(record)
    log = rng.choice([each for each in target if each])
    if rng.random() < 0.5:
        damage(log, rng)
    return History(by_key, side(source), side(target))


def damage(log: list[Record], rng: random.Random) -> None:
    """Change something about one record."""
    at = rng.randrange(len(log))
    kind = rng.choice(("lose", "value", "time", "swap"))
    if kind == "lose":
        del log[at]
    elif kind == "swap":
        other = rng.randrange(len(log))
        log[at], log[other] = log[other], log[at]
    else:
        value, time = log[at][1:]
        log[at] = log[at]._replace(**{"value": {"value": (value or 0) + 2}, "time": {"timestamp": time + 1}}[kind])


def side(logs: Sequence[Sequence[Record]]) -> Side:
    """Return the logs of these records, all of which are compared."""
    made = [Log(0, compacts=False) for _ in logs]
    for log, records in zip(made, logs, strict=True):
        for record in records:
            log.append(record)
    return Side(made, [(0, log.end) for log in made])


def is_equal(made: History) -> bool:
    """Whether both sides hold the same records: in each partition, or of each key, in order."""
    sides = [[r for log in each.logs for _, r in log.read()] for each in (made.source, made.target)]
    source = [r._replace(timestamp=ANY_TIME) if r.timestamp == NO_TIMESTAMP else r for r in sides[0]]
    if not made.by_key:
        return are_copies(source, sides[1])
    keys: defaultdict[int | None, tuple[list[Record], list[Record]]] = defaultdict(lambda: ([], []))
    for number, records in enumerate((source, sides[1])):
        for record in records:
            keys[record.key][number].append(record)
    alone, without_key = keys.pop(None, ([], []))
    is_rest_equal = len(alone) == len(without_key) == common_number(alone, without_key)
    return is_rest_equal and all(are_copies(*each) for each in keys.values())


def are_copies(source: Sequence[Record], target: Sequence[Record]) -> bool:
    """Whether records are the copies of others, one by one."""
    return len(source) == len(target) and all(map(is_copy, source, target))
