"""Offsets of many topics translated in one pass are those that trying all places gives."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest
from pyspark.sql import DataFrame, SparkSession, functions

from kafka_digest.reading.read_windows import SideRange
from kafka_digest.runtime.job_errors import JobError
from kafka_digest.runtime.session import small_table
from kafka_digest.translate.passes import Translation
from kafka_digest.translate.vectors import TopicCopy, Translated
from tests.copy_scenarios import Partitions, Scenario, copied, random_scenario
from tests.spark.conftest import FramesMaker, KafkaRecord

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

SCENARIOS = 200


@dataclass
class FakeClusters:
    """Both clusters as frames that hold everything: the ranges asked for are cut out of them."""

    session: SparkSession
    frames: Mapping[str, DataFrame]
    tasks: int = 1

    def read(self, side: str, ranges: Sequence[SideRange]) -> DataFrame | None:
        wanted = [(piece.topic, piece.partition, piece.start, piece.end) for piece in ranges if not piece.is_empty]
        if not wanted:
            return None
        bounds = small_table(self.session, wanted, "topic string, partition int, start bigint, stop bigint")
        placed = self.frames[side].join(functions.broadcast(bounds), ["topic", "partition"])
        return placed.where("start <= offset and offset < stop").drop("start", "stop")


def records_of(log: Sequence[tuple[int | None, int]]) -> list[KafkaRecord]:
    return [KafkaRecord(None if key is None else b"k%d" % key, b"v%d" % value) for key, value in log]


def copy_back(name: str, scenario: Scenario, *, vectors: Sequence[Mapping[int, int]], **more: bool) -> TopicCopy:
    """Return what is asked about a scenario's group, that now stands anywhere in the copy, on its way back."""
    starts = scenario.committed
    ranges = {
        "source": [SideRange(name, n, starts[n], len(log)) for n, log in scenario.source.items()],
        "target": [SideRange(f"new.{name}", n, 0, len(log)) for n, log in scenario.target.items()],
    }
    read, is_compacted = [starts] * len(vectors), more.get("is_compacted", False)
    return TopicCopy(name, f"new.{name}", scenario.by_key, is_compacted, ranges, vectors, read, is_back=True)


def copy_of(name: str, scenario: Scenario, *, vectors: Sequence[Mapping[int, int]] = (), **more: bool) -> TopicCopy:
    """Return what is asked about a scenario, for its group or for several."""
    vectors = vectors or [scenario.committed]
    starts = {number: min(vector[number] for vector in vectors) for number in scenario.source}
    ranges = {
        "source": [SideRange(name, n, starts[n], len(log)) for n, log in scenario.source.items()],
        "target": [SideRange(f"new.{name}", n, 0, len(log)) for n, log in scenario.target.items()],
    }
    return TopicCopy(name, f"new.{name}", scenario.by_key, more.get("is_compacted", False), ranges, vectors)


Translate = Callable[..., list[list[Translated]]]


@pytest.fixture(scope="module")
def translate(spark: SparkSession, kafka_frames: FramesMaker) -> Translate:
    """Translate the groups of scenarios, each a topic of its own, in one pass."""

    def run(scenarios: Sequence[Scenario], copies: Sequence[TopicCopy], **limits: int) -> list[list[Translated]]:
        logs: dict[str, dict[tuple[str, int], list[KafkaRecord]]] = {"source": {}, "target": {}}
        for copy, scenario in zip(copies, scenarios, strict=True):
            logs["source"] |= {(copy.topic, n): records_of(log) for n, log in scenario.source.items()}
            logs["target"] |= {(copy.target_topic, n): records_of(log) for n, log in scenario.target.items()}
        frames = {side: kafka_frames(places) for side, places in logs.items()}
        found = Translation(FakeClusters(spark, frames), **limits).run(copies)  # type: ignore[arg-type]
        answered = [each for each in found if not isinstance(each, JobError)]
        assert len(answered) == len(copies)
        return answered

    return run


@pytest.mark.parametrize("limits", [{}, {"max_known_records": 0}], ids=["by record", "by key"])
def test_offsets_are_the_best_of_all(translate: Translate, limits: dict[str, int]) -> None:
    """By key and by partition, with restarts and identical records: nothing is skipped, and no place further right
    skips nothing; what is delivered is what stands behind the places."""
    rng = random.Random(7)
    scenarios = [random_scenario(rng, by_key=number % 3 > 0) for number in range(SCENARIOS)]
    copies = [copy_of(f"t{number}", scenario) for number, scenario in enumerate(scenarios)]
    found = translate(scenarios, copies, **limits)

    for scenario, (one,) in zip(scenarios, found, strict=True):
        assert (scenario.best, {}) == (one.goes_on_at, one.missing)
        assert one.is_minimal
        assert sum(len(log) for log in scenario.unread.values()) == one.unread
        assert sum(len(log) - one.goes_on_at[number] for number, log in scenario.target.items()) == one.delivered


def test_way_back_is_the_best_of_all(translate: Translate) -> None:
    """Groups that read on in a copy go back to before the first record that still lies ahead of them, and no place
    further right is before it; what they read on both sides is everything."""
    rng = random.Random(17)
    scenarios = [random_scenario(rng, by_key=number % 3 > 0) for number in range(SCENARIOS)]
    stands = [
        [{n: rng.randint(scenario.best[n], len(log)) for n, log in scenario.target.items()} for _ in range(3)]
        for scenario in scenarios
    ]
    copies = [
        copy_back(f"t{number}", scenario, vectors=vectors)
        for number, (scenario, vectors) in enumerate(zip(scenarios, stands, strict=True))
    ]

    for scenario, vectors, found in zip(scenarios, stands, translate(scenarios, copies), strict=True):
        assert [scenario.best_back(vector) for vector in vectors] == [one.goes_on_at for one in found]
        for one in found:
            delivered = sum(len(log) - one.goes_on_at[number] for number, log in scenario.source.items())
            assert (True, {}, delivered) == (one.is_minimal, one.missing, one.delivered)
            assert one.unread <= one.delivered
            require_everything_read(scenario, one)


def require_everything_read(scenario: Scenario, back: Translated) -> None:
    """A group that reads to where it is moved, on in the copy, and from where it comes back, has read every record."""
    read: list[tuple[int | None, int]] = []
    for number, log in scenario.source.items():
        read += log[: scenario.committed[number]] + log[back.goes_on_at[number] :]
    for number, log in scenario.target.items():
        read += log[scenario.best[number] : back.vector[number]]
    assert not Counter(record for log in scenario.source.values() for record in log) - Counter(read)


def test_way_back_loses_nothing_without_an_order(translate: Translate) -> None:
    """Records without a key: what a group has not read on either side is behind its places on the source."""
    rng = random.Random(19)
    source: Partitions = {number: [(None, rng.randrange(5)) for _ in range(12)] for number in range(2)}
    scenario = Scenario(source, copied(source, rng, 3, restarts=2), {0: 4, 1: 7})
    ((moved,),) = translate([scenario], [copy_of("orders", scenario)])
    stands = [{n: rng.randint(moved.goes_on_at[n], len(log)) for n, log in scenario.target.items()} for _ in range(20)]
    (found,) = translate([scenario], [copy_back("orders", scenario, vectors=stands)])

    for stand, one in zip(stands, found, strict=True):
        read = [
            record for n, log in source.items() for record in log[: scenario.committed[n]] + log[one.goes_on_at[n] :]
        ]
        read += [r for n, log in scenario.target.items() for r in log[moved.goes_on_at[n] : stand[n]]]
        assert not Counter(record for log in source.values() for record in log) - Counter(read)


def test_one_pass_brings_groups_back_from_anywhere(translate: Translate) -> None:
    """Groups that had stopped at different places of the source get what each would get alone."""
    rng = random.Random(23)
    scenario = random_scenario(rng)
    starts = [{n: rng.randrange(len(log) + 1) for n, log in scenario.source.items()} for _ in range(5)]
    alone = [Scenario(scenario.source, scenario.target, start) for start in starts]
    stands = [{n: rng.randint(one.best[n], len(log)) for n, log in one.target.items()} for one in alone]
    least = {n: min(start[n] for start in starts) for n in scenario.source}
    together = copy_back("orders", Scenario(scenario.source, scenario.target, least), vectors=stands)
    (found,) = translate([scenario], [replace(together, read=starts)])

    assert [one.best_back(stand) for one, stand in zip(alone, stands, strict=True)] == [one.goes_on_at for one in found]


def test_way_back_over_a_copy_with_deleted_records(translate: Translate) -> None:
    """What the target has deleted was read by nobody, as far as anybody can tell: it is read again on the source."""
    scenario = Scenario({0: [(0, 0), (1, 1), (0, 2)]}, {0: [(0, 2)], 1: [(1, 1)]}, {0: 0})
    gone = Scenario(scenario.source, {0: [], 1: []}, {0: 1})
    ((all_read, nothing),) = translate(
        [scenario], [copy_back("orders", scenario, vectors=[{0: 1, 1: 1}, {0: 0, 1: 0}])]
    )
    ((empty,),) = translate([gone], [copy_back("gone", gone, vectors=[{0: 0, 1: 0}])])

    assert [{0: 0}, {0: 0}, {0: 1}] == [one.goes_on_at for one in (all_read, nothing, empty)]
    assert [False] * 3 == [one.is_minimal for one in (all_read, nothing, empty)]


def test_way_back_loses_nothing_that_the_target_has_deleted(translate: Translate) -> None:
    """However much of its beginning each target partition has lost: what a group has not read is behind its places."""
    rng = random.Random(29)
    scenarios = [random_scenario(rng, by_key=number % 3 > 0) for number in range(SCENARIOS // 2)]
    asked = []
    for number, scenario in enumerate(scenarios):
        stand = {n: rng.randint(scenario.best[n], len(log)) for n, log in scenario.target.items()}
        copy = copy_back(f"t{number}", scenario, vectors=[stand])
        held = [replace(piece, start=rng.randint(0, piece.end)) for piece in copy.ranges["target"]]
        asked.append(replace(copy, ranges={**copy.ranges, "target": held}))

    for scenario, (one,) in zip(scenarios, translate(scenarios, asked), strict=True):
        require_everything_read(scenario, one)


def test_one_pass_serves_groups_anywhere(translate: Translate) -> None:
    """Groups that stand at different places of a topic get what each would get alone."""
    rng = random.Random(8)
    scenario = random_scenario(rng)
    groups = [{n: rng.randrange(len(log) + 1) for n, log in scenario.source.items()} for _ in range(5)]
    (together,) = translate([scenario], [copy_of("orders", scenario, vectors=groups)])

    assert groups == [one.vector for one in together]
    assert [Scenario(scenario.source, scenario.target, group).best for group in groups] == [
        one.goes_on_at for one in together
    ]


def test_records_without_a_key_lose_nothing(translate: Translate) -> None:
    """Without a key there is no order: every unread record is behind the places, and is said to be minimal only where
    no record is there twice."""
    rng = random.Random(9)
    source: Partitions = {number: [(None, rng.randrange(5)) for _ in range(12)] for number in range(2)}
    unique: Partitions = {0: [(None, number) for number in range(12)]}
    scenarios = [
        Scenario(source, copied(source, rng, 3, restarts=2), {0: 5, 1: 9}),
        Scenario(unique, copied(unique, rng, 3, restarts=0), {0: 5}),
    ]
    (mixed,), (clean,) = translate(scenarios, [copy_of(f"t{n}", scenario) for n, scenario in enumerate(scenarios)])
    for scenario, one in zip(scenarios, (mixed, clean), strict=True):
        read = [record for number, log in scenario.target.items() for record in log[one.goes_on_at[number] :]]
        for record in {record for log in scenario.unread.values() for record in log}:
            assert sum(log.count(record) for log in scenario.unread.values()) <= read.count(record)

    assert (False, True) == (mixed.is_minimal, clean.is_minimal)


def test_an_unread_record_without_a_copy_is_named(translate: Translate) -> None:
    """A group that has not read a record that is not on the target learns which; one that has read it is moved."""
    scenario = Scenario({0: [(0, 0), (1, 1), (0, 2)]}, {0: [(0, 0), (0, 2)], 1: []}, {0: 0})
    ((behind, before),) = translate([scenario], [copy_of("orders", scenario, vectors=[{0: 2}, {0: 1}])])

    assert ({}, {0: 1, 1: 0}) == (behind.missing, behind.goes_on_at)
    assert {0: 1} == before.missing


def test_compacted_target(translate: Translate) -> None:
    """On a compacted target the newest record of a key stands for those that it replaced."""
    scenario = Scenario({0: [(0, 0), (2, 1), (0, 2)]}, {0: [(2, 1), (0, 2)], 1: []}, {0: 0})
    found = translate([scenario], [copy_of("orders", scenario, is_compacted=True)])

    assert [({}, {0: 0, 1: 0})] == [(one.missing, one.goes_on_at) for (one,) in found]


def test_compacted_target_whose_last_record_is_another(translate: Translate) -> None:
    """What stands behind the newest record of a key there may have it deleted at any time: it does not count."""
    scenario = Scenario({0: [(0, 0), (0, 1)]}, {0: [(0, 0), (0, 1), (0, 0)]}, {0: 1})
    found = translate([scenario], [copy_of("orders", scenario, is_compacted=True)])

    assert [{0: 1}] == [one.missing for (one,) in found]


def test_nothing_unread_goes_on_at_the_end(translate: Translate) -> None:
    """A group that has read everything goes on at the end of every target partition, and gets nothing again."""
    scenario = Scenario({0: [(0, 0), (1, 1)]}, {0: [(0, 0)], 1: [(1, 1)], 2: []}, {0: 2})
    ((one,),) = translate([scenario], [copy_of("orders", scenario)])

    assert ({0: 1, 1: 1, 2: 0}, 0, 0) == (one.goes_on_at, one.unread, one.delivered)
