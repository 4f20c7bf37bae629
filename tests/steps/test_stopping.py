"""Rules of `stop_mirror` and of the stop certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.mirror.mirror_process import ProcessState
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.watching.watch import Outcome
from tests.contract.fake_mirror_host import FakeMirrorHost
from tests.steps.clock import FakeClock
from tests.steps.engines import set_mirror
from tests.steps.tasks import BEFORE_START
from tests.steps.world import FOUR_RECORDS, P0, World
from tests.stored_examples import watch_ended

P2 = TopicPartition("orders", 2)


def begin(world: World) -> World:
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.start()
    return world


@pytest.fixture
def running(world: World) -> World:
    """A run whose MirrorMaker runs and has four records to copy."""
    return begin(world)


@pytest.fixture
def clock(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock of all runs, on which the stop sleeps."""
    monkeypatch.setattr("kafka_migration.steps.mirror.start_stop.time", SimpleNamespace(sleep=clock.sleep))
    return clock


def test_certificate_remembers_positions_prints_and_ids(running: World) -> None:
    """The certificate has MirrorMaker's stored positions, prints of the last copied records, and the topics' ids."""
    running.mirror({P0: 3})
    running.do("stop_mirror")
    kept = running.certified.remembered

    assert {P0: 3} == kept.stored_positions
    assert {P0: (2, RecordPrint.of(2, *FOUR_RECORDS[2], headers=(), timestamp_ms=-1).digest)} == kept.fingerprints
    assert {"orders": "old-1", "audit": "old-2"} == kept.source_topic_ids


@pytest.mark.parametrize(
    ("stamps", "expected"),
    [
        ((1_000, 3_000, 2_000), "1970-01-01T00:00:02+00:00"),
        ((1_000, 3_000, -1), None),
        # A producer's clock is fast.
        ((1_000, 3_000, 10**15), "2030-01-01T00:00:00+00:00"),
    ],
)
def test_certificate_has_the_time_of_the_last_copied_record(
    clock: FakeClock, world: World, stamps: tuple[int, ...], expected: str | None
) -> None:
    """It is the timestamp of the last record, not the newest one; it is never in the future, and may be unknown."""
    for stamp in stamps:
        world.source.produce("orders", 0, (b"k", b"v"), timestamp_ms=stamp)
    world.start()
    world.mirror({P0: 3})
    world.do("stop_mirror")

    assert expected == world.certified.last_record_at


def test_stop_that_is_cleared_alone_takes_the_reservation_of_its_own_run(running: World) -> None:
    """Regression: a cleared stop was refused, because the earlier attempt held the reservation of its MirrorMaker."""
    running.dag_run.clear_number = 1
    running.do("stop_mirror")

    assert (None, ProcessState.STOPPED) == (running.ledger.open_generation, running.host.status().state)
    assert running.run.identity.holder == running.host.status().holder


def test_stop_takes_no_reservation_from_another_run(running: World) -> None:
    """A stop is refused if another run has taken over the reservation."""
    running.host.reserve("dag/other#1", take_over_from=running.run.identity.holder)

    running.refuses("stop_mirror", match="NOT_RESERVED")
    assert ProcessState.RUNNING == running.host.status().state


def test_records_lost_while_it_ran_fail_the_stop_when_it_is_certified(running: World) -> None:
    """A gap fails the stop after MirrorMaker is stopped and certified; certificate and finding have its range."""
    running.mirror({P0: 1})
    running.source.purge("orders", 0, 3)

    running.refuses("stop_mirror", match=r"GAP_DURING_RUN · orders\[0\].*offsets 1–2")
    assert {P0: (1, 3)} == running.certified.gaps
    assert 1 == running.run.evidence.require(Stored.STOP).certificate.generation
    assert {"generation": 1, "stopped": False} == running.do("stop_mirror")


def test_loss_is_told_by_the_next_try_if_its_document_could_not_be_written(
    running: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A try that fails between certificate and document leaves the loss to the next one; it is never forgotten."""
    running.mirror({P0: 1})
    running.source.purge("orders", 0, 3)
    write = RunEvidence.write

    def full(evidence: RunEvidence, kind: Any, document: Any) -> str:
        if kind is Stored.STOP:
            raise TransientError("the evidence store does not answer")
        return write(evidence, kind, document)

    with monkeypatch.context() as failing:
        failing.setattr(RunEvidence, "write", full)
        with pytest.raises(TransientError, match="does not answer"):
            running.do("stop_mirror")

    running.refuses("stop_mirror", match=r"GAP_DURING_RUN · orders\[0\].*offsets 1–2")
    assert 1 == running.run.evidence.require(Kind.STOP)["certificate"]["generation"]
    assert {"generation": 1, "stopped": False} == running.do("stop_mirror")


def test_gap_that_the_watch_saw_is_certified(running: World) -> None:
    """A gap that only the watch saw is kept although MirrorMaker's position moves past it, without what was copied."""
    running.run.evidence.write(Stored.WATCH, watch_ended(Outcome.FAILED, gaps={P0: (0, 3)}))
    running.mirror({P0: 1})
    running.source.purge("orders", 0, 3)
    running.target.produce("orders", 0, FOUR_RECORDS[3])
    running.store_position(3)

    running.refuses("stop_mirror", match="GAP_DURING_RUN")
    assert ({P0: (1, 3)}, 4) == (running.certified.gaps, running.certified.mirror_positions[P0])


def test_watch_of_another_generation_proves_nothing(running: World) -> None:
    """Offsets that were proved for another generation are not certified."""
    running.mirror({P0: 2})
    running.run.evidence.write(Stored.WATCH, watch_ended(Outcome.DRAINED, 7, proved={P0: 4}))
    running.do("stop_mirror")

    assert 2 == running.certified.mirror_positions[P0]


def test_markers_that_were_proved_and_then_deleted_are_no_gap(running: World) -> None:
    """Markers that the watch proved, and that retention then deleted, are no gap."""
    running.source.leave_holes("orders", 0, 2)
    running.mirror({P0: 4})
    running.run.evidence.write(Stored.WATCH, watch_ended(Outcome.BEHIND, proved={P0: 6}))
    running.source.purge("orders", 0, 6)
    running.do("stop_mirror")

    assert (6, {}) == (running.certified.mirror_positions[P0], running.certified.gaps)


def test_partition_added_while_it_ran_begins_at_zero(running: World) -> None:
    """Regression: records of a new partition that were deleted before MirrorMaker found it were no gap."""
    running.mirror({P0: 4})
    running.source.create_partitions({"orders": 3})
    running.source.produce("orders", 2, *FOUR_RECORDS)
    running.source.purge("orders", 2, 3)

    running.refuses("stop_mirror", match=r"GAP_DURING_RUN · orders\[2\].*offsets 0–2")
    assert {P2: (0, 3)} == running.certified.gaps


def test_certificate_has_the_records_that_will_be_copied_again(running: World) -> None:
    """After a kill the certificate counts the target's records after the stored position."""
    running.mirror({P0: 4})
    running.store_position(1)
    running.host.ignores_term, running.host.log = True, "cut off"
    running.do("stop_mirror")
    stop = running.certified

    assert ({P0: 2}, 2, False, "killed after the grace time") == (
        stop.ahead_records,
        stop.mirror_positions[P0],
        stop.graceful,
        stop.reason,
    )


def test_partition_added_while_it_ran_is_counted_from_its_own_begin(running: World) -> None:
    """Regression: all records of a partition that was added after the start were counted as copied again."""
    for side in (running.source, running.target):
        side.create_partitions({"orders": 3})
    running.source.produce("orders", 2, *FOUR_RECORDS)
    running.mirror({P0: 4, P2: 4})
    running.do("stop_mirror")

    assert (4, {}) == (running.certified.mirror_positions[P2], running.certified.ahead_records)


def test_source_that_deletes_while_it_is_probed_hides_no_gap(running: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe whose start was deleted finds the first remaining record, which proves nothing."""
    running.mirror({P0: 1})
    real = running.source.probe

    def deleting(*asked: Any) -> Any:
        running.source.purge("orders", 0, 3)
        return real(*asked)

    monkeypatch.setattr(running.source, "probe", deleting)
    running.do("stop_mirror")

    assert 1 == running.certified.mirror_positions[P0]
    running.next_run()
    running.refuses(*BEFORE_START, match=r"GAP · orders\[0\].*offsets 1–2")


class Survivor(FakeMirrorHost):
    """A host whose process outlives KILL."""

    def stop(self, holder: str, generation: int | None, grace_s: int) -> Any:
        """Stop nothing."""
        return replace(self.status(), state=ProcessState.RUNNING)


@pytest.mark.parametrize("task_id", ["stop_mirror", "start_mirror"])
def test_process_that_outlives_the_stop_is_never_certified(world: World, task_id: str) -> None:
    """While a process survives its stop, no run certifies it or starts another one."""
    world.host = Survivor("shop")
    begin(world)
    if task_id == "start_mirror":
        world.next_run()
        world.do(*BEFORE_START)

    world.refuses(task_id, match="MIRROR_NOT_STOPPED")
    assert [None] == [g.stop for g in world.ledger.generations]


def unsettled(world: World, monkeypatch: pytest.MonkeyPatch, clock: FakeClock, until_s: float) -> None:
    """Let a transaction be open on the target until a second of the clock."""
    set_mirror(world, "exactly_once: true")
    begin(world)
    world.mirror({P0: 4})
    real = world.target.log_end_offsets

    def ends(partitions: Any, isolation: Any) -> Any:
        behind = isolation == "read_committed" and clock.elapsed_s < until_s
        return {p: end - (behind and end > 0) for p, end in real(partitions, isolation).items()}

    monkeypatch.setattr(world.target, "log_end_offsets", ends)


def test_exactly_once_is_certified_when_the_target_has_settled(
    world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stop waits for the open transaction of a killed MirrorMaker before it certifies the target's ends."""
    unsettled(world, monkeypatch, clock, until_s=66)
    world.do("stop_mirror")

    # Each record is in a transaction of its own, with a marker after it.
    assert (66, 8, {}) == (clock.elapsed_s, world.certified.target_end_offsets[P0], world.certified.ahead_records)


def test_transaction_that_stays_open_is_left_to_a_retry(
    world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction that stays open fails the try without a certificate."""
    unsettled(world, monkeypatch, clock, until_s=10_000)

    with pytest.raises(TransientError, match=r"still open on target orders\[0\]"):
        world.do("stop_mirror")
    assert 150 == clock.elapsed_s
    assert world.ledger.last_stop is None
    assert not world.host.status().is_running


def test_ends_that_rise_after_a_kill_are_waited_for(
    running: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a kill the target's ends are certified when they no longer rise."""
    running.mirror({P0: 2})
    running.host.log = "killed in the middle of a line"
    read = running.target.log_end_offsets
    rising = iter([(FOUR_RECORDS[2],), (FOUR_RECORDS[3],)])

    def ends(*arguments: Any) -> Any:
        running.target.produce("orders", 0, *next(rising, ()))
        return read(*arguments)

    monkeypatch.setattr(running.target, "log_end_offsets", ends)
    running.do("stop_mirror")

    assert 4 == running.certified.target_end_offsets[P0]


def test_forecast_is_in_the_evidence(world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The forecast adds the source's retention (1 h) to the time of the first uncopied record (30 minutes ago)."""
    world.source.topics["orders"].configs["retention.ms"] = "3600000"
    begin(world)
    prints = {P0: RecordPrint(0, "digest", int(clock.now().timestamp() - 1800) * 1000, "content")}
    monkeypatch.setattr(world.source, "records_at", lambda offsets, _: {**dict.fromkeys(offsets), **prints})
    world.do("stop_mirror")
    forecast = world.run.evidence.require(Kind.STOP)["forecast"]

    assert ("2030-01-01T00:30:00+00:00", "orders[0]") == (forecast["at"], forecast["partition"])


@pytest.mark.parametrize("call", ["effective_configs", "records_at"])
def test_forecast_that_cannot_be_made_does_not_fail_the_stop(
    running: World, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """If the source does not answer, the forecast is unknown, and the stop succeeds."""
    monkeypatch.setattr(running.source, call, lambda *a: (_ for _ in ()).throw(TransientError("away")))

    assert running.do("stop_mirror")["stopped"]
    assert running.run.evidence.require(Kind.STOP)["forecast"] is None


def test_forecast_is_unknown_without_the_next_record(running: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the next record of a partition cannot be read, the forecast is unknown."""
    monkeypatch.setattr(running.source, "records_at", lambda *a: {})
    running.do("stop_mirror")

    assert running.run.evidence.require(Kind.STOP)["forecast"] is None


@pytest.mark.parametrize("timestamp_ms", [1_700_000_000_000_000, 9_000_000_000_000_000_000])
def test_timestamp_of_the_far_future_counts_as_now(
    running: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, timestamp_ms: int
) -> None:
    """Regression: a timestamp in microseconds, beyond any calendar, failed the stop."""
    prints = {P0: RecordPrint(0, "digest", timestamp_ms, "content")}
    monkeypatch.setattr(running.source, "records_at", lambda offsets, _: {**dict.fromkeys(offsets), **prints})
    running.do("stop_mirror")

    assert "2030-01-01T00:00:01+00:00" == running.run.evidence.require(Kind.STOP)["forecast"]["at"]
    assert [] == running.refusal_codes


def test_record_that_cannot_be_read_does_not_fail_the_stop(running: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no fingerprint; everything else of the run is certified."""
    running.mirror({P0: 3})
    bad = RecordPrint(2, "", -1, "", unreadable="CRC")
    monkeypatch.setattr(running.source, "records_at", lambda offsets, _: dict.fromkeys(offsets, bad))
    running.do("stop_mirror")

    assert ({}, {P0: 3}) == (running.certified.remembered.fingerprints, running.certified.remembered.stored_positions)


def break_ledger(world: World) -> None:
    first = min(world.run.ledger.folder.iterdir())
    first.write_text(first.read_text().replace("manual__1", "manual__2"))


def loop_ledger(world: World) -> None:
    first = min(world.run.ledger.folder.iterdir())
    first.unlink()
    first.symlink_to(first)


@pytest.mark.parametrize("damage", [break_ledger, loop_ledger])
def test_broken_ledger_keeps_no_mirrormaker_alive(running: World, damage: Callable[[World], None]) -> None:
    """With a changed or unreadable ledger MirrorMaker is stopped, and the task fails without a certificate."""
    damage(running)

    running.refuses("stop_mirror", match="LEDGER_BROKEN")

    assert not running.host.status().is_running


def test_reservation_that_was_cut_short_is_completed(running: World) -> None:
    """A try that died after the host's reservation and before its ledger entry does not block the next try."""
    first = running.run.identity.holder
    running.dag_run.clear_number = 1
    running.host.reserve(running.run.identity.holder, take_over_from=first)

    assert running.do("stop_mirror")["stopped"]

    assert running.run.identity.holder == running.ledger.reserved_by
    assert 1 == running.certified.generation


def test_broken_ledger_stops_no_mirrormaker_of_another_run(running: World) -> None:
    """A run without the reservation stops nothing, also with a broken ledger."""
    break_ledger(running)
    running.dag_run.run_id = "manual__other"
    running.run.evidence.freeze_migration(running.file.read_text())

    running.refuses("stop_mirror", match="LEDGER_BROKEN")

    assert running.host.status().is_running


@pytest.mark.parametrize("task_id", ["plan", "create_topics", "start_mirror"])
def test_nothing_starts_over_a_broken_ledger(world: World, task_id: str) -> None:
    """Every task that acts refuses a ledger whose entry was changed."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.do(*BEFORE_START)
    break_ledger(world)

    world.refuses(task_id, match="LEDGER_BROKEN")

    assert not world.host.processes
