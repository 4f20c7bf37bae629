"""Rules of a run whose source has an open transaction: what is not copied is said, from the first moment."""

from __future__ import annotations

import pytest

from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.text.markdown import escaped
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.core.watching.fence import held_offsets
from tests.present import present
from tests.steps.tasks import BEFORE_START
from tests.steps.watching import Scene, started, watch
from tests.steps.world import FOUR_RECORDS, P0, World

CODE = "SOURCE_TRANSACTION_OPEN"
A_MOMENT_AGO_MS = 1_893_456_000_000
DONE = dict.fromkeys(
    ("preflight", "reserve", "plan", "create_topics", "start_mirror", "watch_lag", "stop_mirror", "validate_topics"),
    "success",
) | {"judge": "success"}


@pytest.fixture
def held(world: World) -> World:
    """A source with four committed records, and five that belong to an open transaction or come after it."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.source.open_transaction("orders", 0, *FOUR_RECORDS, (b"k", b"8"), timestamp_ms=A_MOMENT_AGO_MS)
    return world


def open_ones(world: World) -> list[str]:
    """Return what the run's document says of open transactions."""
    return [warning["found"] for warning in world.run_document["warnings"] if warning["code"] == CODE]


def whole_run(world: World, copied: int) -> None:
    world.copy({P0: copied})
    world.judge()
    world.finish(**DONE)


def test_offsets_after_an_open_transaction_are_a_warning_of_the_run(held: World) -> None:
    """Regression: PASS and lag 0, without a word about the offsets after an open transaction.

    The warning is said once, with the count; the words of the whole verdict say that it does not cover them.
    """
    whole_run(held, 4)
    where = "5 offsets after an open transaction: orders[0] offsets 4–8, first record of 2030-01-01T00:00:00+00:00"

    assert [where] == open_ones(held)
    assert {P0: (4, 9)} == held.certified.held_back
    topic = next(each for each in held.run_document["topics"] if each["topic"] == "orders")
    assert ("PASS", True) == (topic["whole_verdict"], topic["whole"]["proved"])
    (reason,) = topic["whole"]["reasons"]
    assert reason.startswith("source partition 0, offsets [4, 9): after a transaction that was open")
    assert escaped(reason) in held.report


def test_plan_warns_also_where_nothing_is_copied(held: World) -> None:
    """A run that finds nothing else to copy still says what it leaves."""
    whole_run(held, 4)
    held.next_run()
    held.start()
    held.finish(**DONE)

    assert 1 == len(open_ones(held))
    assert 5 == held_offsets(present(held.run.evidence.require(Stored.PLAN).held_back))


def test_next_run_copies_what_was_held_back(held: World) -> None:
    """After the end of the transaction its records are copied, and neither run nor verdict speaks of it."""
    whole_run(held, 4)
    held.source.commit_transaction("orders", 0)
    held.next_run()
    whole_run(held, 5)

    assert ([], {}) == (open_ones(held), held.certified.held_back)
    assert [] == list(coverage_of(held.ledger)["orders"].reasons())


def test_transaction_that_ended_meanwhile_is_not_told(held: World) -> None:
    """The newest reading counts: what was open at the plan and is not at the stop is no warning."""
    held.start()
    held.mirror({P0: 4})
    held.source.commit_transaction("orders", 0)
    held.do("stop_mirror")
    held.judge()
    held.finish(**DONE)

    assert [] == open_ones(held)


def test_copy_of_uncommitted_records_holds_nothing_back(held: World) -> None:
    """MirrorMaker that reads uncommitted records does not wait for the transaction."""
    held.edit_file("mirror:\n", "mirror:\n  isolation_level: read_uncommitted\n")
    held.do(*BEFORE_START)

    assert not held.run.evidence.require(Stored.PLAN).held_back


@pytest.mark.parametrize("mode", ["follow", "sync"])
def test_progress_says_how_many_offsets_wait(world: World, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """While MirrorMaker runs, each progress line says that offsets wait for a transaction."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.source.open_transaction("orders", 0, *FOUR_RECORDS)
    params = {"mode": mode, **({"follow_until": "2030-01-01T00:05:00+00:00"} if mode == "follow" else {})}
    scene = started(world, params)

    def script(now: Scene) -> None:
        now.world.mirror({P0: 4 if now.clock.elapsed_s == 15 else 0})

    scene.script = script
    watch(scene)

    assert "4 offsets wait for open transactions" in scene.states[-1]
