"""Rules of what must not change between the end of one run and the start of the next."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, FindingsError, TransientError
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.validation.compared_windows import delta_windows
from kafka_migration.core.watching.watch import Outcome
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from kafka_migration.steps.mirror.start_stop import start_generation
from tests.steps.engines import ALARM, AlarmingHost, LossyEngine, lossy
from tests.steps.tasks import BEFORE_START
from tests.steps.world import AUDIT, FOUR_RECORDS, P0, P1, World
from tests.stored_examples import watch_ended


def refused(world: World) -> list[str]:
    """Return the codes with which the next run refuses; none if it starts MirrorMaker."""
    try:
        world.start()
    except FindingsError:
        return world.refusal_codes
    return []


def recreate_source(world: World, records: int) -> None:
    """Delete the source topic, create it again and fill it with other records."""
    settings = world.source.topics["orders"].configs
    world.source.delete_topics(["orders"])
    world.source.create_topics([NewTopic("orders", 2, 1, settings)])
    world.source.produce("orders", 0, *[(b"new", b"%d" % n) for n in range(records)])


def lose_newest_records(world: World, *, refill: int = 0) -> None:
    """Truncate the source's log after two records, as an unclean leader election does, and append other records."""
    del world.source.topics["orders"].partitions[0].records[2:]
    world.source.produce("orders", 0, *[(b"new", b"%d" % n) for n in range(refill)])


def forget_positions(world: World) -> None:
    world.target.delete_topics([InternalTopics.of("shop", 1).offsets])


def compact_last_copied(world: World) -> None:
    world.source.topics["orders"].configs["cleanup.policy"] = "compact"
    world.source.compact("orders", 0, 3)


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (lambda world: None, []),
        (forget_positions, ["POSITION_MISSING"]),
        (lambda world: world.store_position(1), ["POSITION_CHANGED"]),
        (lambda world: world.store_position(4), ["POSITION_CHANGED"]),
        (lambda world: recreate_source(world, 9), ["SOURCE_TOPIC_RECREATED"]),
        (lose_newest_records, ["SOURCE_TRUNCATED"]),
        (lambda world: lose_newest_records(world, refill=9), ["SOURCE_TRUNCATED"]),
        (compact_last_copied, []),
        (lambda world: world.source.purge("orders", 0, 4), []),
        (lambda world: world.source.purge("orders", 0, 5), ["GAP"]),
    ],
)
def test_next_run_starts_only_where_the_last_one_stopped(
    copied: World, change: Callable[[World], None], codes: list[str]
) -> None:
    """A missing or changed position, another source topic and a gap are refused; deleted copied records are not."""
    change(copied)

    assert codes == refused(copied)
    assert (not codes) == copied.host.status().is_running


def test_recreated_source_topic_is_detected_without_topic_ids(world: World) -> None:
    """Without topic ids a recreated source topic is detected by the record at the last copied offset."""
    world.source.topics["orders"].topic_id = ""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.copy({P0: 4})
    world.next_run()
    recreate_source(world, 9)
    world.source.topics["orders"].topic_id = ""

    world.refuses(*BEFORE_START, match=r"SOURCE_TOPIC_RECREATED · orders\[0\].*another record at offset 3")


def test_record_deleted_while_it_is_read_is_no_sign(copied: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that retention deletes between two requests does not make the source another topic."""
    real = copied.source.records_at

    def deleting(*asked: object) -> object:
        if copied.source.topics["orders"].partitions[0].log_start == 0:
            copied.source.purge("orders", 0, 4)
        return real(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(copied.source, "records_at", deleting)

    assert [] == refused(copied)


def test_record_that_cannot_be_read_is_no_sign(copied: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged record at the last copied offset does not make the source another topic, and refuses no other topic."""
    bad = RecordPrint(3, "", -1, "", unreadable="CRC")
    monkeypatch.setattr(copied.source, "records_at", lambda offsets, _: dict.fromkeys(offsets, bad))

    assert [] == refused(copied)


def test_marker_behind_the_last_position_may_be_deleted(world: World) -> None:
    """Regression: a deleted transaction marker, which is never copied, was taken for a lost record."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.source.leave_holes("orders", 0, 2)
    world.copy({P0: 4})
    world.next_run()
    world.source.produce("orders", 0, (b"k", b"6"))
    world.source.purge("orders", 0, 6)

    assert [] == refused(world)
    assert 6 == world.ledger.generations[-1].start.mirror_positions[P0]


def test_state_of_an_earlier_migration_is_refused_with_its_reset(world: World) -> None:
    """A stored position before the first copy is refused, because the copy would start there."""
    world.store_position(2)
    world.source.produce("orders", 0, *FOUR_RECORDS)

    with pytest.raises(FindingsError, match=r"STALE_MIRROR_STATE · orders\[0\].*stored position 3") as refusal:
        world.do(*BEFORE_START)
    assert world.run.engine.reset_command() in str(refusal.value)


def test_topic_that_is_gone_from_the_target_is_refused(world: World) -> None:
    """A topic that is missing on the target refuses the start, because MirrorMaker 1 would wait for it."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.do(*BEFORE_START)
    world.target.delete_topics(["orders"])

    world.refuses("start_mirror", match="TARGET_TOPIC_MISSING · topic orders")
    assert not world.host.status().is_running


@pytest.fixture
def engine(world: World) -> LossyEngine:
    """MirrorMaker 1 has stored position 3 of 4, and has lost records; the next run begins."""
    made = lossy(world)
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.start()
    made.positions[P0] = 3
    assert isinstance(world.host, AlarmingHost)
    world.host.alarm_line = ALARM
    world.do("stop_mirror")
    world.host.alarm_line = ""
    world.next_run()
    return made


def test_lossy_mirrormaker_is_killed_and_its_position_not_certified(world: World, engine: LossyEngine) -> None:
    """A MirrorMaker that may have lost records is killed, and certified at the positions at which it started."""
    stop = world.certified

    assert ([0], 0, 3) == (world.host.graces, stop.mirror_positions[P0], stop.remembered.stored_positions[P0])  # type: ignore[attr-defined]
    assert "its positions are not trusted" in stop.reason
    # All that it sent is sent again, as after a kill, also if its log ends in order.
    assert not stop.graceful
    assert [] == engine.rewinds


def test_position_is_set_back_by_the_next_start_and_only_then(world: World, engine: LossyEngine) -> None:
    """Positions are set back by the start, neither by the stop nor by the plan."""
    world.do(*BEFORE_START)
    assert [] == engine.rewinds

    world.do("start_mirror")
    assert [{P0: 0, P1: 0, AUDIT: 0}] == engine.rewinds
    assert 0 == world.ledger.generations[-1].start.mirror_positions[P0]

    engine.positions[P0] = 4
    world.do("stop_mirror")
    world.next_run(3)
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.start()
    assert (1, 4) == (len(engine.rewinds), world.ledger.generations[-1].start.mirror_positions[P0])


def test_refused_start_sets_nothing_back(world: World, engine: LossyEngine) -> None:
    """A start that is refused, for example for a changed position, sets nothing back."""
    world.do(*BEFORE_START)
    engine.positions[P0] = 2

    world.refuses("start_mirror", match=r"POSITION_CHANGED · orders\[0\].*changed from 3 to 2 after generation 1")
    assert [] == engine.rewinds


def test_killed_member_is_waited_for(world: World, engine: LossyEngine) -> None:
    """While the killed process is a member of its group, the start fails for a retry."""
    world.do(*BEFORE_START)
    engine.is_held = True
    with pytest.raises(TransientError, match="GROUP_ACTIVE"):
        world.do("start_mirror")
    assert not world.host.status().is_running

    engine.is_held = False
    assert 2 == world.do("start_mirror")["generation"]


def test_position_that_was_set_back_by_a_start_cut_short_stays(
    world: World, engine: LossyEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start after one that crashed finds the positions set back, and writes them only once."""
    world.do(*BEFORE_START)
    with monkeypatch.context() as patch:
        patch.setattr(LedgerStore, "append", lambda *a: (_ for _ in ()).throw(MemoryError))
        with pytest.raises(MemoryError):
            world.do("start_mirror")
    assert 1 == len(engine.rewinds)

    world.do("plan", "start_mirror")
    assert (1, 0) == (len(engine.rewinds), engine.positions[P0])


@pytest.fixture
def copied_three(world: World) -> World:
    """A run whose MirrorMaker runs and has copied three of four records."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.start()
    world.mirror({P0: 3})
    return world


def test_source_topic_that_was_missing_at_the_stop_is_refused_after_its_recreation(copied_three: World) -> None:
    """Regression: a topic that was missing at the stop was not certified, and its recreation was not detected."""
    copied_three.source.delete_topics(["orders"])
    copied_three.refuses("stop_mirror", match="SOURCE_TOPIC_MISSING · topic orders")
    copied_three.source.create_topics([NewTopic("orders", 2, 1, {})])
    copied_three.source.produce("orders", 0, *FOUR_RECORDS, *FOUR_RECORDS)
    copied_three.next_run()

    copied_three.refuses(*BEFORE_START, match="SOURCE_TOPIC_RECREATED · topic orders")


def test_source_topic_that_is_recreated_while_mirrormaker_runs_is_detected(copied_three: World) -> None:
    """The stop says so, as the next run does; only that topic is refused."""
    recreate_source(copied_three, 8)
    copied_three.refuses("stop_mirror", match="SOURCE_TOPIC_RECREATED · topic orders")
    assert {"source": ("orders",)} == copied_three.certified.recreated
    copied_three.next_run()

    copied_three.refuses(*BEFORE_START, match="SOURCE_TOPIC_RECREATED · topic orders")
    copied_three.next_run(3)
    copied_three.params = {**copied_three.params, "topics": ["audit"]}
    assert [] == refused(copied_three)


def test_target_topic_that_is_recreated_while_mirrormaker_runs_is_detected(copied_three: World) -> None:
    """The stop says so, and certifies the end that the copy should have; the next run refuses the topic."""
    copied_three.target.delete_topics(["orders"])
    copied_three.target.create_topics([NewTopic("orders", 2, 1, {})])
    copied_three.target.produce("orders", 0, FOUR_RECORDS[3])
    copied_three.refuses("stop_mirror", match="TARGET_TOPIC_RECREATED · topic orders")
    assert 3 == copied_three.certified.target_end_offsets[P0]
    copied_three.next_run()

    assert ["TARGET_TOPIC_RECREATED"] == refused(copied_three)


def test_topic_that_only_the_watch_saw_recreated_is_certified_as_another(copied_three: World) -> None:
    """Without topic ids the watch's finding counts, however the new topic has grown by the stop."""
    finding = Finding(Code.SOURCE_TOPIC_RECREATED, "topic orders", "end 0", "at least 4", "Delete nothing.")
    copied_three.run.evidence.write(Stored.WATCH, watch_ended(Outcome.FAILED, findings=(finding,)))
    recreate_source(copied_three, 8)
    copied_three.source.topics["orders"].topic_id = ""
    copied_three.refuses("stop_mirror", match="SOURCE_TOPIC_RECREATED · topic orders")
    copied_three.next_run()

    assert ["SOURCE_TOPIC_RECREATED"] == refused(copied_three)


def test_target_topic_that_was_missing_at_the_stop_is_refused_after_its_recreation(copied_three: World) -> None:
    """Regression: a missing target topic was certified with end 0, and the next run copied into an empty topic."""
    copied_three.target.delete_topics(["orders"])
    copied_three.refuses("stop_mirror", match="TARGET_TOPIC_MISSING · topic orders")
    copied_three.next_run()

    copied_three.refuses(*BEFORE_START, "start_mirror", match="TARGET_WRITTEN_BY_OTHERS")


def test_cancelled_watch_starts_no_generation(world: World) -> None:
    """Regression: the thread of a cancelled watch started a generation after the stop."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.do(*BEFORE_START)
    run = world.run
    run.has_left.set()

    with pytest.raises(TransientError, match="not started"):
        start_generation(run)
    assert ((), 0) == (world.ledger.generations, world.host.last)


def test_records_sent_before_a_kill_are_in_both_pieces(copied_three: World) -> None:
    """A killed generation and the next one are one window, and what both copied is in the pieces of both."""
    copied_three.target.produce("orders", 0, FOUR_RECORDS[3])
    copied_three.host.log = "killed in the middle of a line"
    copied_three.host.die(137)
    copied_three.do("stop_mirror")
    copied_three.next_run()
    copied_three.start()
    copied_three.host.log = "Kafka MirrorMaker stopped."
    copied_three.mirror({P0: 1})
    copied_three.do("stop_mirror")

    windows = delta_windows(copied_three.ledger.generations)
    (window,) = [w for w in windows if w.topic == "orders" and not w.partition]
    assert (0, 4, 0, 5) == (window.source_start, window.source_end, window.target_start, window.target_end)
    assert [(0, 4, 0), (3, 4, 4)] == [(p.source_start, p.source_end, p.target_start) for p in window.pieces]
