"""Rules of nightly runs: when they do nothing, when their window ends, and how the next run continues."""

from __future__ import annotations

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import FindingsError
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.cutovers import CutOver
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.watching.watch import Outcome
from tests.steps.clock import FakeClock
from tests.steps.kept import NIGHTLY_DAG_ID
from tests.steps.nights import ALL_SKIPPED, at_night, begin, finish_night, night_fails, watch
from tests.steps.tasks import BEFORE_START
from tests.steps.world import P0, World
from tests.stored_examples import watch_ended
from tests.topic_verdicts import topic_verdict


@pytest.fixture
def clock(world: World) -> FakeClock:
    """The clock of a migration with a nightly sync from 01:00 to 05:30, validated until 07:00."""
    return at_night(world)


def test_run_outside_its_window_does_nothing_and_ends_well(world: World, clock: FakeClock) -> None:
    """A run that is unpaused outside the window skips all tasks, succeeds, and records the reason."""
    begin(world, clock, hour=12)
    world.source.is_down = world.target.is_down = True

    world.do("preflight")
    world.skips("reserve", match="not in window")
    summary = finish_night(world, **ALL_SKIPPED)

    checks = world.run.evidence.require(Kind.PREFLIGHT)["checks"]
    assert {"not applicable"} == {check["state"] for check in checks}
    assert all(check["reason"].startswith("not in window") for check in checks)
    assert [] == world.host.calls
    assert ("not in window", "not in window") == (summary["outcome"], world.run_document["outcome"])
    assert world.run_document["reason"].startswith("not in window: [2030-01-01T01:00:00+00:00")
    assert "Nothing was done: not in window" in world.report


def test_skips_of_a_run_in_its_window_fail_it(world: World, clock: FakeClock) -> None:
    """Skipped tasks fail a run inside its window, for example after a user has marked it as failed."""
    begin(world, clock)
    world.do("preflight")

    night_fails(world, "TASK_NOT_SUCCESSFUL · task reserve", **ALL_SKIPPED)


def test_night_after_the_cutover_is_refused(world: World, clock: FakeClock) -> None:
    """A nightly run of a migration that was cut over is refused."""
    world.run.ledger.append(CutOver("dag/run#1", "then", ("billing",), ("orders", "audit"), partly=False).to_document())
    begin(world, clock)

    world.refuses("preflight", match="ALREADY_CUT_OVER")


def test_nightly_run_by_hand_is_refused(world: World) -> None:
    """A nightly DAG that is triggered without a section `nightly` refuses, and names the DAG to trigger."""
    world.dag_run.other_dag_id = NIGHTLY_DAG_ID
    world.params = {"mirror_outside_window": False, "note": None}

    world.refuses("preflight", match=r"NOT_SCHEDULED · .*Trigger the DAG kafka_migration__shop in mode sync")

    assert ["NOT_SCHEDULED"] == world.refusal_codes


@pytest.mark.parametrize("run_type", ["scheduled", "backfill"])
def test_nightly_run_without_its_section_is_refused(world: World, run_type: str) -> None:
    """A run from before the section was removed from the file is refused."""
    world.dag_run.run_type = run_type
    world.params = {}

    world.refuses("preflight", match=r"NOT_SCHEDULED · .*has no section nightly")


def test_windows_do_not_apply_to_a_dag_of_the_user(world: World, clock: FakeClock) -> None:
    """A user's own DAG with these operators runs outside the window as its params say."""
    begin(world, clock, hour=12)
    world.dag_run.other_dag_id = "reread_shop"
    world.params = {"mode": "validate"}
    world.do("preflight")

    assert ("validate", "") == (str(world.run.request.mode), world.run.run_window.idle_because)


def test_window_that_ends_keeps_what_was_copied(
    world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run whose window ends is behind and validates its part; the next run completes the topic."""
    world.source.produce("orders", 0, *[(b"k", b"%d" % n) for n in range(10)])
    begin(world, clock, hour=5.49)

    assert "behind" == watch(world, clock, copies=6)["outcome"]
    world.do("stop_mirror")
    assert "PASS" == world.judge()["verdict"]
    night_fails(world, "BEHIND · migration shop: Mirroring ended with 4 offsets left to copy")

    begin(world, clock, day=2)
    assert "drained" == watch(world, clock, copies=4)["outcome"]
    world.do("stop_mirror")
    world.judge()
    assert "success" == finish_night(world)["outcome"]

    first, second = world.ledger.generations
    assert first.stop is not None
    assert (6, 6) == (first.stop.mirror_positions[P0], second.start.mirror_positions[P0])
    assert 10 == world.certified.mirror_positions[P0]
    assert Verdict.PASS is topic_verdict(world.ledger, "orders")
    assert () == world.ledger.pending_generations


def test_late_run_may_warn(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `when_late: warn` a run that is behind succeeds with a warning."""
    clock = at_night(world, "  when_late: warn\n")
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    begin(world, clock, hour=5.49)
    watch(world, clock, copies=1)
    world.do("stop_mirror")
    world.judge()

    assert "behind" == finish_night(world)["outcome"]
    assert ([], ["BEHIND"]) == (
        world.run_document["findings"],
        [warning["code"] for warning in world.run_document["warnings"]],
    )


def test_forecast_comes_from_the_rate_of_the_run(
    world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is behind records its lag and its rate."""
    world.source.produce("orders", 0, *[(b"k", b"%d" % n) for n in range(60)])
    begin(world, clock)
    clock.elapsed_s = 5.5 * 3600 - 20

    watch(world, clock, copies=60)

    document = world.run.evidence.require(Kind.WATCH)
    assert (40, 1.0) == (document["lag"], document["rate"])
    assert "the window for mirroring ended at 2030-01-01T05:30:00+00:00" == document["reason"]


def test_mirror_is_not_started_when_the_window_is_over(world: World, clock: FakeClock) -> None:
    """A run that gets its reservation after the window starts nothing, and is behind by everything."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    begin(world, clock)
    world.do(*BEFORE_START)
    clock.elapsed_s = 5.5 * 3600

    assert {"generation": None, "pid": None} == world.do("start_mirror")
    assert "behind" == world.do("watch_lag")["outcome"]
    document = world.run.evidence.require(Kind.WATCH)
    assert (None, 2) == (document["generation"], document["lag"])
    assert "the window for mirroring ended" in document["reason"]
    assert {"generation": None, "stopped": False} == world.do("stop_mirror")
    night_fails(world, r"BEHIND · .*the time left is unknown")


def test_nothing_to_copy_is_not_late(world: World, clock: FakeClock) -> None:
    """A run with nothing to copy is not behind at the end of its window."""
    begin(world, clock)
    world.do(*BEFORE_START)
    clock.elapsed_s = 6 * 3600
    world.do("start_mirror")

    assert "drained" == world.do("watch_lag")["outcome"]


def test_living_mirror_is_adopted_after_the_window(world: World, clock: FakeClock) -> None:
    """A retry of `start_mirror` after the window finds the run's own process."""
    world.source.produce("orders", 0, (b"a", b"1"))
    begin(world, clock)
    first = world.start()
    clock.elapsed_s = 6 * 3600

    assert first == world.do("start_mirror")


def test_goals_that_are_reached_when_the_window_ends_are_proved(
    world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the window ends between the two polls that prove the goals, the second poll still counts."""
    world.source.produce("orders", 0, (b"a", b"1"))
    begin(world, clock)
    # One poll per second: the first finds nothing, the second everything, and then the window is over.
    clock.elapsed_s = 5.5 * 3600 - 1

    assert "drained" == watch(world, clock, copies=1)["outcome"]
    assert clock.elapsed_s > 5.5 * 3600


def mirroring_night(world: World, clock: FakeClock) -> None:
    """Leave a run with one of two records copied and MirrorMaker running, but without its watch."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    begin(world, clock)
    world.start()
    world.mirror({P0: 1})


@pytest.mark.parametrize("until", ["with until", "without until"])
def test_cleared_run_that_mirrors_is_not_idle(world: World, clock: FakeClock, until: str) -> None:
    """A run that is cleared outside the window stops and proves what its earlier attempt began, and is behind."""
    if until == "without until":
        world.edit_file('  until: "05:30"\n  validate_until: "07:00"\n', "")
    mirroring_night(world, clock)
    clock.elapsed_s = 6 * 3600
    world.dag_run.clear_number = 1

    world.do("preflight")
    assert f"{NIGHTLY_DAG_ID}/scheduled__1#1" == world.do("reserve")["taken_over_from"]
    assert {"generation": None, "pid": None} == world.do(*BEFORE_START[2:], "start_mirror")
    assert "behind" == world.do("watch_lag")["outcome"]
    world.do("stop_mirror")
    world.judge()

    assert [1] == [generation.number for generation in world.ledger.generations]
    assert (1, False) == (world.certified.mirror_positions[P0], world.host.status().is_running)
    night_fails(world, r"BEHIND · migration shop: Mirroring ended with 1 offset left")
    assert "" == world.host.status().holder


def test_cleared_run_that_has_stopped_is_idle(world: World, clock: FakeClock) -> None:
    """A run that is cleared outside the window after its MirrorMaker was stopped is idle."""
    mirroring_night(world, clock)
    world.do("stop_mirror")
    clock.elapsed_s = 12 * 3600
    world.dag_run.clear_number = 1
    world.do("preflight")

    assert world.run.run_window.idle_because.startswith("not in window")


@pytest.mark.parametrize("outcome", ["behind", "followed"])
def test_watch_that_ends_early_lets_the_run_continue(world: World, outcome: str) -> None:
    """After a watch that ended before its goals the run continues."""
    world.do("preflight")

    assert outcome == world.end_watch(world.watch_event(outcome, reason="told to"))["outcome"]
    assert outcome == world.run.evidence.require(Kind.WATCH)["outcome"]


def test_cutover_fails_if_its_watch_is_behind(world: World) -> None:
    """A cutover fails if its watch ended before the goals were reached."""
    world.params = {"mode": "cutover"}
    world.do("preflight")

    with pytest.raises(FindingsError, match="BEHIND"):
        world.end_watch(world.watch_event("behind", reason="told to", lag=1))


def test_watch_of_an_earlier_attempt_does_not_make_the_run_behind(world: World, clock: FakeClock) -> None:
    """An attempt without a watch is not behind because an earlier attempt was."""
    begin(world, clock)
    world.do(*BEFORE_START)
    world.run.evidence.write(Stored.WATCH, watch_ended(Outcome.BEHIND, lag=3, reason="x"))
    world.dag_run.clear_number = 1

    assert "BEHIND" not in world.finish_fails(preflight="failed", watch_lag="upstream_failed")


def test_backfill_at_noon_copies_nothing_unless_told(world: World, clock: FakeClock) -> None:
    """Outside the window a backfill run starts no MirrorMaker, unless its conf permits it."""
    begin(world, clock, hour=12, run_type="backfill")
    world.do("preflight")
    assert world.run.run_window.still_because.startswith("not in window")

    begin(world, clock, day=2, hour=12, run_type="backfill")
    world.params = {"mirror_outside_window": True}
    world.do("preflight")
    assert "" == world.run.run_window.still_because


def test_two_files_with_one_topic_are_refused(world: World, migration_text: str) -> None:
    """Two files that copy the same topic between the same clusters refuse their runs."""
    text = migration_text.replace("name: shop", "name: other").replace("[orders, audit]", "[audit, bills]")
    (world.migrations / "other.yaml").write_text(text)

    world.refuses("preflight", match=r"MIGRATIONS_OVERLAP · .* and other\.yaml both copy the topics audit, or")
