"""Rules of mode `validate` for chosen generations: what it reads, refuses and proves."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.core.validation.validation_contract import KEY_DIGEST
from tests.steps.engines import lossy
from tests.steps.tasks import BEFORE_START
from tests.steps.world import P0, RECORD, World
from tests.topic_verdicts import topic_verdict


def copy_new(world: World, records: int = 2) -> None:
    """Copy so many new records of one partition in a generation of its own."""
    world.source.produce("orders", 0, *[RECORD] * records)
    world.copy({P0: records})


def judge_again(world: World, equal: bool = True) -> None:
    world.validated(equal)
    if equal:
        world.do("judge")
        return
    world.refuses("judge", match="COPY_DIFFERS")


def three_nights(world: World, *equal: bool) -> None:
    """Copy and judge in three runs."""
    for number, is_equal in enumerate(equal, start=1):
        copy_new(world)
        judge_again(world, is_equal)
        world.next_run(number + 1)


def read_again(world: World, generations: str, equal: bool = True, **params: Any) -> None:
    world.params = {"mode": "validate", "generations": generations, **params}
    world.do(*BEFORE_START, "start_mirror", "stop_mirror")
    judge_again(world, equal)


def windows(world: World) -> list[Any]:
    """Return source and target offsets of each requested window that is not empty."""
    request = world.run.evidence.require(Kind.VALIDATION_REQUEST)
    ranges = [(w["source_start"], w["source_end"], w["target_start"], w["target_end"]) for w in request["windows"]]
    return [span for span in ranges if span != (span[0], span[0], span[2], span[2])]


@pytest.mark.parametrize(
    ("generations", "expected"), [("1", [(0, 2, 0, 2)]), ("2-3", [(2, 6, 2, 6)]), ("1-3", [(0, 6, 0, 6)])]
)
def test_only_the_windows_of_these_generations_are_read(world: World, generations: str, expected: list[Any]) -> None:
    """Only the windows of the named generations are read again, joined if they continue each other."""
    three_nights(world, True, True, True)
    world.target.produce("orders", 0, RECORD)
    read_again(world, generations)

    assert expected == windows(world)
    judgement = world.ledger.judgements[-1]
    assert (False, Verdict.PASS) == (judgement.whole, judgement.topics["orders"])
    assert [1, 2, 3] == [g.number for g in world.ledger.generations]


def test_good_reading_replaces_the_verdict_of_its_windows(world: World) -> None:
    """A newer good reading of the same windows replaces a FAIL, but not that of other windows."""
    three_nights(world, False, True, False)
    read_again(world, "1")
    assert (Verdict.FAIL, 4) == (
        topic_verdict(world.ledger, "orders"),
        coverage_of(world.ledger)["orders"].source_offsets,
    )

    world.next_run(5)
    read_again(world, "3")
    assert (Verdict.PASS, 6) == (
        topic_verdict(world.ledger, "orders"),
        coverage_of(world.ledger)["orders"].source_offsets,
    )


def test_bad_reading_replaces_a_good_one(world: World) -> None:
    """A window that passed before and differs now fails."""
    three_nights(world, True, True, True)
    read_again(world, "2", equal=False)

    assert Verdict.FAIL is topic_verdict(world.ledger, "orders")


def test_reading_again_replaces_what_the_same_run_said_before(world: World) -> None:
    """The reading of a cleared run replaces its earlier one."""
    three_nights(world, True, True, True)
    read_again(world, "2", equal=False)
    world.dag_run.clear_number = 1
    read_again(world, "2")

    assert [(1,), (2,), (3,), (2,)] == [judgement.generations for judgement in world.ledger.judgements]
    assert Verdict.PASS is topic_verdict(world.ledger, "orders")


def test_reading_again_judges_what_is_pending(world: World) -> None:
    """A pending generation is no longer pending after its windows were read again."""
    copy_new(world)
    world.next_run()
    read_again(world, "1")

    assert ((), True) == (world.ledger.pending_generations, coverage_of(world.ledger)["orders"].is_proved)


def test_reading_again_can_be_limited_to_topics(world: World) -> None:
    """A run that names topics reads only their windows again."""
    world.source.produce("audit", 0, RECORD)
    copy_new(world)
    judge_again(world)
    world.next_run()
    read_again(world, "1", topics=["audit"])

    assert [{"audit"}] == [set(j.topics) for j in world.ledger.judgements[1:]]


def test_report_says_which_generations_were_read_again(world: World) -> None:
    """The report says which generations the verdict is about."""
    three_nights(world, True, True, True)
    read_again(world, "2-3")
    world.finish(preflight="success", judge="success")
    report = world.report

    assert "mode `validate` of generation 2-3\n" in report
    assert "| `orders` | PASS | 2 | 2 | PASS |" in report


def test_copy_by_key_is_read_again_by_key(world: World) -> None:
    """A re-partitioned copy is read again as one comparison of all partitions."""
    engine = lossy(world)
    world.target.create_topics([NewTopic("orders", 3, 1, {}), NewTopic("audit", 1, 1, {})])
    for number in (1, 2):
        world.source.produce("orders", 0, RECORD)
        world.start()
        world.target.produce("orders", 2, RECORD)
        engine.positions[P0] = number
        world.do("stop_mirror")
        judge_again(world)
        world.next_run(number + 1)
    read_again(world, "2")

    assert KEY_DIGEST == world.ledger.judgements[-1].digest
    assert [(1, 2, 0, 0), (0, 0, 1, 2)] == windows(world)
    assert coverage_of(world.ledger)["orders"].is_proved


@pytest.mark.parametrize(
    ("params", "found"),
    [
        (
            {"mode": "sync", "generations": "1"},
            "1 in mode sync, instead of mode validate",
        ),
        ({"generations": "2"}, "2: there is no generation 2, instead of stopped generations, of 1 to 1"),
        ({"generations": "1-999999999"}, "1-999999999: there is no generation 2"),
        ({"generations": "1", "topics": ["audit"]}, "1, which copied none of audit"),
    ],
)
def test_generations_that_cannot_be_read_are_refused(world: World, params: dict[str, Any], found: str) -> None:
    """Generations that do not exist or have no such topics are refused by preflight."""
    world.params["topics"] = ["orders"]
    copy_new(world)
    world.next_run()
    world.params = {"mode": "validate", **params}

    world.refuses("preflight", match=f"RUN_CONF_INVALID · .* field generations is not what the run accepts: {found}")


def test_generation_that_runs_cannot_be_read(world: World) -> None:
    """A generation without a stop certificate cannot be read again."""
    world.source.produce("orders", 0, RECORD)
    world.start()
    world.next_run()
    world.params = {"mode": "validate", "generations": "1"}

    world.refuses("preflight", match="1: generation 1 has no stop certificate yet")


def test_generations_before_the_first_start_are_refused(world: World) -> None:
    """Before the first start of MirrorMaker there is nothing to read again."""
    world.params = {"mode": "validate", "generations": "1"}

    world.refuses("preflight", match="instead of stopped generations; MirrorMaker was never started")
