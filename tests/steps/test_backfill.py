"""Rules of backfill runs: what they mirror and validate, and what they answer for an interval."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kafka_migration.adapters.system.this_machine import SystemClock
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import FindingsError
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.validation.validation_contract import ValidationRequest, empty_result
from kafka_migration.orchestration.operators.spark_submission import SparkSubmission
from tests.steps.tasks import BEFORE_START
from tests.steps.world import AUDIT, P0, P1, World

DAYS = [datetime(2026, 5, 1, 1, tzinfo=UTC) + timedelta(days=n) for n in range(7)]
NIGHTLY = 'nightly: {cron: "0 1 * * *", timezone: UTC, until: "05:00"}\n'
# Inside and outside the window of a later night.
AT_NIGHT, BY_DAY = datetime(2026, 6, 1, 2, tzinfo=UTC), datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def nightly(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The world with a nightly schedule, at night."""
    world.extend_file(NIGHTLY)
    world.params = {}
    now_is(monkeypatch, AT_NIGHT)
    return world


def now_is(monkeypatch: pytest.MonkeyPatch, now: datetime) -> None:
    monkeypatch.setattr(SystemClock, "now", lambda self: now)


def begin(world: World, day: int, run_type: str = "backfill", clear: int = 0, run: str = "") -> None:
    """End the run, and begin the run of the interval that begins on a day."""
    world.task_instance.run_states[world.dag_run.run_id] = "success"
    world.dag_run.run_type, world.dag_run.clear_number = run_type, clear
    world.dag_run.run_id = run or f"{run_type}__{day}"
    world.dag_run.data_interval_start, world.dag_run.data_interval_end = DAYS[day], DAYS[day + 1]


def produce(world: World, partition: TopicPartition, *days: float) -> None:
    """Produce a record per number of days after the first day."""
    for day in days:
        at_ms = int((DAYS[0] + timedelta(days=day)).timestamp() * 1000)
        world.source.produce(*partition, (b"k", b"%f" % day), timestamp_ms=at_ms)


def backfill(world: World, day: int, clear: int = 0, run: str = "") -> dict[str, Any]:
    """Run a backfill that has nothing to copy and nothing to compare; return the document of its verdict."""
    begin(world, day, clear=clear, run=run)
    world.do(*BEFORE_START, "start_mirror", "stop_mirror")
    with no_spark():
        world.do("validate_topics")
    world.do("judge")
    return world.run.evidence.require(Kind.JUDGE)


@contextmanager
def no_spark() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SparkSubmission, "submit", lambda *a: pytest.fail("Spark was started"))
        yield


def entries(world: World, kind: str = "") -> list[str]:
    """Return the kinds of the ledger's entries, without reservations, or those of one kind."""
    kinds = [json.loads(path.read_text())["kind"] for path in sorted(world.run.ledger.folder.iterdir())]
    return [each for each in kinds if each != "reserved" and kind in each]


def source_offsets(world: World, day: int) -> dict[str, Any]:
    """Return the source offsets of the ledger's answer for an interval, per partition."""
    (answer,) = [a for a in world.ledger.answers.values() if a.interval.start == DAYS[day]]
    return {
        f"{topic}[{number}]": found.source
        for topic, answered in answer.topics.items()
        for number, found in answered.partitions.items()
    }


def copied_once(world: World) -> None:
    """Copy records of six days, some of them late or out of order, in one nightly run."""
    # Record 3 is late, 5 is early.
    produce(world, P0, 0.1, 0.9, 1.5, 0.5, 2.1, 4.5, 3.5, 4.6)
    produce(world, P1, 3.1, 3.2)
    produce(world, AUDIT, 5.5)
    begin(world, 5, "scheduled")
    now = DAYS[6] + timedelta(hours=1)
    with pytest.MonkeyPatch.context() as patch:
        now_is(patch, now)
        world.copy_and_judge({P0: 8, P1: 2, AUDIT: 1})


def test_five_intervals_hold_every_record_once(nightly: World) -> None:
    """After one sync each record belongs to one interval; a late one to that of the records around it."""
    copied_once(nightly)
    documents = [backfill(nightly, day) for day in range(5)]

    assert ["PASS"] * 5 == [document["verdict"] for document in documents]
    assert [
        {"orders[0]": (0, 2)},
        {"orders[0]": (2, 4)},
        {"orders[0]": (4, 5)},
        {"orders[1]": (0, 2)},
        {"orders[0]": (5, 8)},
    ] == [source_offsets(nightly, day) for day in range(5)]
    assert [2, 2, 1, 2, 3] == [document["records"]["orders"]["source"] for document in documents]
    assert {"source": 0, "target": 0} == documents[0]["records"]["audit"]
    assert ["PASS", "nothing"] == [row["verdict"] for row in documents[0]["topics"]]
    assert [1] == [g.number for g in nightly.ledger.generations]


def test_same_intervals_again_change_nothing_in_the_ledger(nightly: World) -> None:
    """A backfill that is reprocessed compares nothing again and adds no ledger entry."""
    copied_once(nightly)
    first = [backfill(nightly, day) for day in range(5)]
    before = entries(nightly)
    second = [backfill(nightly, day, clear=1) for day in range(5)]

    assert before == entries(nightly)
    assert [d["topics"] for d in first] == [d["topics"] for d in second]
    assert 5 == len(entries(nightly, "interval-answered"))


def test_scheduled_run_that_a_backfill_reprocesses_answers_for_its_interval(nightly: World) -> None:
    """A scheduled run that Airflow clears as a backfill run answers for its interval without judging again."""
    copied_once(nightly)
    judgement = nightly.ledger.judgements
    document = backfill(nightly, 5, clear=1, run="scheduled__5")

    assert ("PASS", {"audit[0]": (0, 1)}) == (document["verdict"], source_offsets(nightly, 5))
    assert judgement == nightly.ledger.judgements


def test_bounds_are_shared_by_neighbours_and_nights(nightly: World) -> None:
    """A run records the bounds of its interval, and a later run asks only for bounds that are missing."""
    copied_once(nightly)
    assert {DAYS[5], DAYS[6]} == set(nightly.ledger.bounds)
    backfill(nightly, 4)
    backfill(nightly, 3)

    assert set(DAYS[3:]) == set(nightly.ledger.bounds)
    assert 3 == len(entries(nightly, "bounds-resolved"))


def test_record_that_comes_after_its_interval_was_bounded_belongs_to_the_next(nightly: World) -> None:
    """A bound at the end of the log stays there, so a late record belongs to the next interval."""
    produce(nightly, P0, 0.5)
    begin(nightly, 0)
    nightly.copy_and_judge({P0: 1})
    produce(nightly, P0, 0.6, 1.5)
    begin(nightly, 1)
    nightly.copy_and_judge({P0: 2})

    assert [{"orders[0]": (0, 1)}, {"orders[0]": (1, 3)}] == [source_offsets(nightly, day) for day in (0, 1)]


def test_backfill_mirrors_only_what_its_interval_lacks(nightly: World) -> None:
    """The goals of a backfill are the interval's end, and a copied or empty interval starts nothing."""
    produce(nightly, P0, 0.1, 0.2, 2.1)
    produce(nightly, P1, 2.2)
    begin(nightly, 0)
    assert 2 == nightly.do(*BEFORE_START)["created"]
    assert 2 == nightly.do("plan")["offsets_to_copy"]
    assert {P0: 2, P1: 0, AUDIT: 0} == nightly.run.evidence.require(Stored.PLAN).goals
    nightly.copy_and_judge({P0: 2})
    assert "PASS" == backfill(nightly, 1)["verdict"]
    begin(nightly, 2)
    nightly.do(*BEFORE_START)

    assert {P0: 3, P1: 1, AUDIT: 0} == nightly.run.evidence.require(Stored.PLAN).goals


def test_backfill_outside_the_window_answers_what_is_copied(nightly: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside the window nothing is started, and an interval that is not copied fails with the reason."""
    produce(nightly, P0, 0.1, 1.1)
    begin(nightly, 0)
    nightly.copy_and_judge({P0: 1})
    now_is(monkeypatch, BY_DAY)
    assert "PASS" == backfill(nightly, 0, clear=1)["verdict"]

    with pytest.raises(FindingsError, match=r"INTERVAL_NOT_COPIED · topic orders.*not in window"):
        backfill(nightly, 1)
    assert ["INTERVAL_NOT_COPIED"] == nightly.refusal_codes
    assert 0 == nightly.run.evidence.require(Kind.PLAN)["offsets_to_copy"]


def test_backfill_outside_the_window_mirrors_if_its_conf_says_so(
    nightly: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backfill run with `mirror_outside_window` copies outside the window."""
    produce(nightly, P0, 0.1)
    now_is(monkeypatch, BY_DAY)
    nightly.params = {"mirror_outside_window": True}
    begin(nightly, 0)
    nightly.do(*BEFORE_START)

    assert 1 == nightly.run.evidence.require(Kind.PLAN)["offsets_to_copy"]


def test_answer_that_was_not_good_is_replaced(nightly: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run after the records were copied replaces a bad answer in the ledger."""
    produce(nightly, P0, 0.1)
    now_is(monkeypatch, BY_DAY)
    with pytest.raises(FindingsError, match="INTERVAL_NOT_COPIED"):
        backfill(nightly, 0)
    now_is(monkeypatch, AT_NIGHT)
    begin(nightly, 0, clear=1)
    nightly.copy_and_judge({P0: 1})

    (answer,) = nightly.ledger.answers.values()
    assert ("PASS", 1) == (answer.verdict, answer.topics["orders"].records)
    assert 2 == len(entries(nightly, "interval-answered"))


def test_pending_windows_are_validated_by_the_backfill(nightly: World) -> None:
    """A backfill validates pending windows of an earlier run, and then answers."""
    produce(nightly, P0, 0.1, 1.1)
    begin(nightly, 5, "scheduled")
    with pytest.MonkeyPatch.context() as patch:
        now_is(patch, DAYS[6] + timedelta(hours=1))
        nightly.copy({P0: 2})
    begin(nightly, 0)
    nightly.do(*BEFORE_START, "start_mirror", "stop_mirror")
    nightly.judge()

    assert () == nightly.ledger.pending_generations
    assert {"orders[0]": (0, 1)} == source_offsets(nightly, 0)
    assert "PASS" == backfill(nightly, 1)["verdict"]
    assert 1 == len(entries(nightly, "judged"))


def test_bad_windows_outside_the_interval_fail_the_run_that_measured_them(nightly: World) -> None:
    """A run that finds a bad window fails, also if its own interval has no records."""
    produce(nightly, P0, 3.5)
    begin(nightly, 3)
    nightly.copy({P0: 1})
    begin(nightly, 0)
    nightly.do(*BEFORE_START, "start_mirror", "stop_mirror")
    nightly.validated(equal=False)

    nightly.refuses("judge", match="COPY_DIFFERS")
    assert {} == source_offsets(nightly, 0)


def test_bad_windows_fail_the_backfills_over_them(nightly: World) -> None:
    """A bad window fails each run whose interval it belongs to, and is a warning for others."""
    produce(nightly, P0, 3.5)
    begin(nightly, 3)
    with pytest.raises(FindingsError, match="COPY_DIFFERS"):
        nightly.copy_and_judge({P0: 1}, equal=False)

    with pytest.raises(FindingsError, match=r"COPY_DIFFERS.*judged at .* by kafka_nightly_sync__shop/backfill__3#1"):
        backfill(nightly, 3, run="again")
    assert "WARN" == backfill(nightly, 0)["verdict"]


def test_interval_that_the_source_deleted_is_answered_from_the_ledger(nightly: World) -> None:
    """An interval whose bounds are known stays good after its records are deleted; another one is not verifiable."""
    copied_once(nightly)
    backfill(nightly, 2)
    nightly.source.purge("orders", 0, 5)

    assert "PASS" == backfill(nightly, 2, clear=1)["verdict"]
    assert "PASS" == backfill(nightly, 3)["verdict"]
    with pytest.raises(FindingsError, match=r"INTERVAL_NOT_RETAINED · topic orders.*before offset 4"):
        backfill(nightly, 0)


def test_gap_elsewhere_refuses_only_a_run_that_must_mirror(nightly: World) -> None:
    """A gap is a warning for a run whose interval is copied, and refuses a run that must copy."""
    produce(nightly, P0, 0.1)
    produce(nightly, P1, 0.1)
    begin(nightly, 0)
    nightly.copy_and_judge({P0: 1, P1: 1})
    produce(nightly, P0, 2.1, 2.2, 2.3)
    nightly.source.purge("orders", 0, 3)

    assert "PASS" == backfill(nightly, 0, clear=1)["verdict"]
    assert ["GAP"] == [warning["code"] for warning in nightly.run.evidence.require(Kind.PLAN)["warnings"]]
    begin(nightly, 2)
    nightly.refuses(*BEFORE_START, match=r"GAP · orders\[0\]")


def test_backfill_without_an_interval_is_refused(nightly: World) -> None:
    """A backfill of a file without a schedule is refused."""
    begin(nightly, 0)
    nightly.edit_file(NIGHTLY, "")

    nightly.refuses(*BEFORE_START, match="NOT_SCHEDULED · migration shop")


def test_run_without_anything_new_adds_no_judgement(nightly: World) -> None:
    """A nightly run without new records adds no judgement."""
    begin(nightly, 5, "scheduled")
    with pytest.MonkeyPatch.context() as patch:
        now_is(patch, DAYS[6] + timedelta(hours=1))
        nightly.do(*BEFORE_START, "start_mirror", "stop_mirror")
        assert "PASS" == nightly.judge()["verdict"]
    assert [] == entries(nightly, "judged")


def test_windows_that_were_not_measured_stay_pending(nightly: World) -> None:
    """A run whose result lacks the windows fails, and they stay pending for the next run."""
    produce(nightly, P0, 0.1)
    begin(nightly, 0)
    nightly.copy({P0: 1})
    request = ValidationRequest("shop", nightly.run.identity.holder, 1024, "read_committed", ())
    nightly.run.evidence.write(Kind.VALIDATION_REQUEST, request.to_document())
    nightly.run.evidence.write(Kind.VALIDATION_RESULT, empty_result(request, "t").to_document())

    nightly.refuses("judge", match="INTERVAL_NOT_VALIDATED · topic orders")
    assert [1] == [g.number for g in nightly.ledger.pending_generations]


def test_report_names_the_interval(nightly: World) -> None:
    """The report's first line names the interval of the verdict."""
    copied_once(nightly)
    backfill(nightly, 1)
    path = nightly.finish(preflight="success", judge="success")["evidence"]
    report = nightly.report

    assert report.startswith("# shop, records of 2026-05-02 01:00 UTC to 2026-05-03 01:00 UTC: PASS (success)\n")
    assert "| Interval |" in report
    assert "| `orders` | PASS | 2 | 2 | PASS |" in report
    assert path.endswith("run.json")
