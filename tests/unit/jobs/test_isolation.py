"""Rules of reading many topics at once although some of them cannot be read."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_digest.reading.isolation import MOST_FAILURES, MOST_SEARCHES, Isolation, Search, as_far_as_possible
from kafka_digest.reading.read_windows import BEYOND_TIME, LogBounds, SideRange, WindowPlan, in_rounds, plan_window
from kafka_digest.runtime.job_errors import (
    CLUSTER_UNREACHABLE,
    RECORD_UNREADABLE,
    RECORDS_DELETED,
    SPARK_FAILED,
    JobError,
)
from kafka_digest.translate.translate_job import _copies, _topic
from kafka_digest.translate.vectors import TopicCopy

OVERFLOW = JobError("reading: ArithmeticException: long overflow", RECORD_UNREADABLE)
UNKNOWN = JobError("reading: IllegalStateException: strange")


@dataclass
class Reader:
    """Reads numbers; some of them fail."""

    bad: set[int]
    error: JobError = UNKNOWN
    done: list[int] = field(default_factory=list)
    lost: dict[int, JobError] = field(default_factory=dict)
    asked: int = 0

    def read(self, some: Sequence[int]) -> None:
        """Read all of these numbers or none."""
        self.asked += len(some)
        if self.bad & set(some):
            raise self.error
        self.done += some

    def lose(self, number: int, error: JobError) -> None:
        """Note a number that cannot be read."""
        self.lost[number] = error


@pytest.mark.parametrize("bad", [set(), {0}, {99}, {41, 42}, {3, 50, 97}], ids=str)
def test_only_the_bad_parts_are_lost(bad: set[int]) -> None:
    """Every other part is read once in the end, and one bad part costs at most two more readings of everything."""
    reader, isolation = Reader(bad), Isolation()
    isolation.run(range(100), reader.read, reader.lose)
    isolation.require_some()

    assert (sorted(set(range(100)) - bad), bad) == (sorted(reader.done), set(reader.lost))
    assert len(bad) > 1 or reader.asked <= 3 * 100 + 1


@pytest.mark.parametrize(
    "error",
    [
        JobError("asking: TimeoutException: no answer", CLUSTER_UNREACHABLE),
        JobError("reading: SparkException: Job 4 cancelled as part of cancellation of all jobs"),
        JobError("reading: InterruptException: null"),
    ],
    ids=str,
)
def test_error_of_all_topics_ends_the_reading(error: JobError) -> None:
    """Nothing is read again if a cluster does not answer or the job was ended."""
    reader = Reader({1}, error)
    with pytest.raises(JobError) as raised:
        Isolation().run(range(8), reader.read, reader.lose)

    assert (error, 8, {}) == (raised.value, reader.asked, reader.lost)


def test_name_of_a_topic_is_no_sign_of_an_end() -> None:
    """Regression: an error about the topic `orders.cancelled` counted as one of a cancelled job."""
    assert not JobError("reading: KafkaException: … fetching the next record from orders.cancelled-0").is_of_all


def test_job_that_can_read_nothing_has_failed() -> None:
    """Without a record as the cause the error is Spark's, and no topic is to blame; its first text is reported."""
    reader, isolation = Reader({0, 1}), Isolation()
    isolation.run(range(2), reader.read, reader.lose)
    with pytest.raises(JobError, match="strange"):
        isolation.require_some()

    many = Reader(set(range(1000)))
    with pytest.raises(JobError, match="strange"):
        Isolation().run(range(1000), many.read, many.lose)
    assert MOST_FAILURES == len(many.lost)


def test_topic_with_a_bad_record_has_a_result_also_alone() -> None:
    """A run of this topic only must not fail night after night."""
    reader, isolation = Reader({0}, OVERFLOW), Isolation()
    isolation.run([0], reader.read, reader.lose)
    isolation.require_some()

    assert {0: OVERFLOW} == reader.lost

    unknown = Isolation()
    unknown.run([0], Reader({0}).read, reader.lose)
    unknown.require_some(has_bad_record=True)


def test_optional_reading_never_fails_the_job() -> None:
    """An error of all topics loses what is not read yet, each part once."""
    reader = Reader({2}, JobError("asking: TimeoutException", CLUSTER_UNREACHABLE))
    as_far_as_possible(range(4), reader.read, reader.lose)

    assert ([], {0, 1, 2, 3}) == (reader.done, set(reader.lost))


@dataclass
class Logs:
    """A reader of ranges that fails at bad records, by side, partition and offset."""

    bad: set[tuple[str, int, int]]
    error: JobError = OVERFLOW
    asked: int = 0

    def read(self, side: str, pieces: Sequence[SideRange]) -> Any:
        """Return a frame that fails when it is read, as Spark's do."""
        self.asked += 1
        meets = any(s == side and p.partition == n and p.start <= at < p.end for s, n, at in self.bad for p in pieces)

        def collect() -> None:
            if meets:
                raise self.error

        return SimpleNamespace(selectExpr=lambda _: SimpleNamespace(collect=collect))


def test_first_bad_record_is_found() -> None:
    """On either side, in any partition: the search names side, partition and the first bad offset."""
    rng = random.Random(44)
    for _ in range(200):
        ranges = {
            side: [SideRange("t", n, at := rng.randrange(50), at + rng.randrange(200)) for n in range(3)]
            for side in ("source", "target")
        }
        held = [
            (side, p.partition, at) for side, pieces in ranges.items() for p in pieces for at in range(p.start, p.end)
        ]
        bad = set(rng.sample(held, min(len(held), rng.randint(1, 3))))
        found = Search(Logs(bad).read).find(ranges, OVERFLOW)
        offset = min(at for side, n, at in bad if (side, n) == (found.side, found.piece.partition))

        assert (f"the record at offset {offset} cannot be read: {BEYOND_TIME}", True) == (
            found.text,
            found.has_bad_record,
        )


def test_search_ends() -> None:
    """A bad record among 2⁶² offsets takes some tens of reads, and a job searches only some of many bad topics."""
    logs = Logs({("source", 0, 1 << 61)})
    search = Search(logs.read)
    search.find({"source": [SideRange("t", 0, 0, 1 << 62)], "target": []}, OVERFLOW)
    assert logs.asked < 70

    for _ in range(MOST_SEARCHES):
        found = search.find({"source": [SideRange("t", 0, 0, 4)], "target": []}, OVERFLOW)
    assert (True, "offsets [0, 4) cannot be read: " + BEYOND_TIME) == (found.has_bad_record, found.text)


@pytest.mark.parametrize("code", [SPARK_FAILED, RECORDS_DELETED])
def test_window_without_a_bad_record_does_not_blame_one(code: str) -> None:
    """If each range can be read alone, or its records were deleted, the text is the error's."""
    ranges = {"source": [SideRange("t", 0, 2, 2)], "target": [SideRange("t", 0, 0, 5)]}
    found = Search(Logs(set()).read).find(ranges, JobError("reading: strange", code))

    assert ("target", False) == (found.side, found.has_bad_record)
    assert "offsets [0, 5) cannot be read: reading: strange" == found.text


def plan(start: int, end: int, bad: int | None, side: str = "source", log_start: int = 0) -> WindowPlan:
    """Return the plan of a window of equal offsets on both sides, one of which has a bad record."""
    offsets = {f"{name}_{bound}": at for name in ("source", "target") for bound, at in (("start", start), ("end", end))}
    window = {"generation": 1, "topic": "t", "target_topic": "t", "partition": 0, **offsets}
    bounds = {
        name: {("t", 0): LogBounds(log_start, 100, 100, bad if name == side else None)} for name in ("source", "target")
    }
    return plan_window(window, bounds["source"], bounds["target"])


@pytest.mark.parametrize("side", ["source", "target"])
def test_window_with_a_timestamp_beyond_spark_is_not_read(side: str) -> None:
    """What the broker names is not read on either side; the window's entry has its offset."""
    found = plan(10, 20, bad=15, side=side)
    entry = found.entry({}, {}, equal=False)

    assert (True, False, True) == (found.is_empty, found.is_suspect, entry["has_bad_record"])
    assert f"the record at offset 15 cannot be read: {BEYOND_TIME}" == entry[f"{side}_unreadable"]


@pytest.mark.parametrize(("bad", "is_suspect"), [(9, True), (20, False), (None, False)])
def test_bad_record_outside_the_window_does_not_hide_it(bad: int | None, is_suspect: bool) -> None:
    """The broker names only the first such record: after it there may be others, so the window is read by itself."""
    found = plan(10, 20, bad)

    assert (True, False, is_suspect) == (found.is_whole, found.is_empty, found.is_suspect)


def test_suspects_are_read_after_the_others() -> None:
    """A reading of suspects may fail; that of the others is not repeated for them."""
    plain, suspect = plan(10, 20, None), plan(10, 20, 3)

    assert [[plain], [suspect]] == in_rounds([suspect, plain])


def asked(name: str, **more: Any) -> dict[str, Any]:
    """Return a topic of a translation request, with a commit at 5 of [0, 10)."""
    ranges = {"source": {"0": [5, 10]}, "target": {"0": [0, 10]}}
    flags = {"by_key": True, "is_compacted": False, "has_timestamps": True}
    return {"topic": name, "target_topic": name, **flags, **ranges, "vectors": [{"0": 5}], "read": [], **more}


@pytest.mark.parametrize("side", ["source", "target"])
def test_topic_that_cannot_be_translated_does_not_refuse_the_others(side: str) -> None:
    """A timestamp beyond Spark's range on either side, and a deleted record, refuse their topic alone."""
    bad = {"bad": LogBounds(0, 10, 10, 7)}

    def bounds(of: str, ranges: Sequence[SideRange]) -> dict[tuple[str, int], LogBounds]:
        found = {"good": LogBounds(0, 10, 10), "short": LogBounds(6, 10, 10), "bad": LogBounds(0, 10, 10)}
        return {(name, 0): each for name, each in (found | (bad if of == side else {})).items()}

    clusters: Any = SimpleNamespace(log_bounds=bounds)
    good, short, lost = _copies(clusters, [asked("good"), asked("short"), asked("bad")], is_back=False)

    assert isinstance(good, TopicCopy)
    assert isinstance(short, JobError)
    assert isinstance(lost, JobError)
    assert (RECORD_UNREADABLE, SPARK_FAILED) == (lost.code, short.code)
    answer = _topic("bad", lost)
    assert (True, []) == (answer["has_bad_record"], answer["translations"])
    assert f"{side} partition 0: the record at offset 7 cannot be read: {BEYOND_TIME}" == answer["unreadable"]
