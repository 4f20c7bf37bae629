"""Rules of mode `follow`, and of requests to stop mirroring: the whole trigger on fakes and a fake clock."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.cli.main import main
from kafka_migration.core.findings.errors import FindingsError
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.cluster import NewTopic, Side
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.watching.watch import WatchEnded, WatchResult
from tests.steps.watching import Restart, Scene, a_watch, codes, found, started, watch
from tests.steps.world import P0, World
from tests.topic_verdicts import topic_verdict


@pytest.fixture
def following(world: World, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A run that follows a source without records to copy."""
    return started(world, {"mode": "follow"})


def ask_to_stop(scene: Scene, generation: int = 1, reason: str = "") -> StopRequest:
    request = StopRequest(generation, scene.world.run.identity.holder, "2030-01-01T00:00:00+00:00", "ada", reason)
    return scene.world.run.stop_requests.request(request)


def at(seconds: float, scene: Scene, act: Any) -> None:
    """Do something once, at that second."""
    before = scene.script

    def script(now: Scene) -> None:
        before(now)
        if now.clock.elapsed_s == seconds:
            act(now)

    scene.script = script


def test_following_from_the_start_to_the_ledger(following: Scene) -> None:
    """A run that follows copies under traffic until it is asked to stop; its copy is certified and validated."""
    world = following.world
    assert world.host.status().is_running

    def traffic(now: Scene) -> None:
        if now.clock.elapsed_s <= 1800:
            now.produce()
            now.copy()

    following.script = traffic
    arguments = ["stop", "shop", "--evidence-root", str(world.root), "--reason", "enough"]
    at(2100, following, lambda now: main(arguments))
    event = watch(following)
    ended = WatchEnded.extended(WatchResult.from_document(event), at=world.run.now(), generation=1)
    world.run.evidence.write(Stored.WATCH, ended)
    world.do("stop_mirror")
    world.judge()

    assert ("followed", [], 2100) == (event["outcome"], event["findings"], following.clock.elapsed_s)
    assert event["reason"].startswith("asked to stop by ")
    assert event["reason"].endswith(": enough")
    assert following.states[-1] == "following, at the end of the source"
    assert world.host.processes[1].renewals == len(following.infos)
    assert world.certified.mirror_positions[P0] == 120
    assert topic_verdict(world.ledger, "orders") is Verdict.PASS
    assert () == world.ledger.pending_generations


def test_following_ends_at_its_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The watch ends at the first poll after `follow_until`, also after `watch.time_limit`."""
    scene = started(world, {"mode": "follow", "follow_until": "2030-01-01T02:00:05+01:00"})
    event = watch(scene)

    assert ("followed", 3600 + 15) == (event["outcome"], scene.clock.elapsed_s)
    assert "followed until 2030-01-01T02:00:05+01:00" in event["reason"]


def test_following_goes_on_after_a_restart(following: Scene) -> None:
    """A restarted triggerer continues to follow, and finds requests that were made while it was away."""
    trigger = a_watch(following.world)

    def crash(now: Scene) -> None:
        raise Restart

    at(60, following, crash)
    with pytest.raises(Restart):
        watch(following, trigger)
    following.clock.elapsed_s = 5000
    following.script = lambda now: None
    at(5015, following, lambda now: now.produce(3))
    at(5030, following, ask_to_stop)
    event = watch(following, trigger)

    assert ("followed", 5030, 3) == (event["outcome"], following.clock.elapsed_s, event["lag"])


def test_partition_added_while_following_is_followed(following: Scene) -> None:
    """A partition that is added while the run follows is followed as well."""

    def grow(now: Scene) -> None:
        now.world.source.create_partitions({"orders": 3})
        now.produce(4, partition=2)

    at(30, following, grow)
    at(60, following, ask_to_stop)
    event = watch(following)

    assert ("followed", 4) == (event["outcome"], event["lag"])


@pytest.mark.parametrize(
    ("harm", "code"), [("die", "MIRROR_DEAD"), ("purge", "GAP_DURING_RUN"), ("rest", "MIRROR_STALLED")]
)
def test_following_fails_as_a_sync_does(following: Scene, harm: str, code: str) -> None:
    """A dead process, a gap and a stall fail the watch with their finding."""

    def act(now: Scene) -> None:
        now.produce(3)
        if harm == "die":
            now.world.host.dies_at_start = True
            now.world.host.die()
        if harm == "purge":
            now.world.source.purge("orders", 0, 2)

    at(30, following, act)
    event = watch(following)

    assert ("failed", [code]) == (event["outcome"], codes(event))


def test_source_that_does_not_answer_is_waited_for(following: Scene) -> None:
    """While the source does not answer the stage stays, and only a request or the time limit ends the watch."""
    following.world.source.is_down = True
    at(300, following, ask_to_stop)
    event = watch(following)

    assert ("followed", None) == (event["outcome"], event["lag"])
    assert [
        "following, waiting, old did not answer within 20 s",
        "following, waiting, since 2030-01-01T00:00:00+00:00: old did not answer within 20 s",
    ] == following.states


@pytest.mark.parametrize("mode", ["sync", "rehearse"])
def test_sync_that_is_asked_to_stop_is_behind(world: World, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """A sync that is asked to stop before its goals ends behind, with the reason and its lag."""
    scene = started(world, {"mode": mode}, records=5)
    at(15, scene, lambda now: ask_to_stop(now, reason="maintenance"))
    event = watch(scene)

    assert ("behind", 5, []) == (event["outcome"], event["lag"], event["findings"])
    assert event["reason"] == "asked to stop by ada at 2030-01-01T00:00:00+00:00: maintenance"


def test_goals_that_are_reached_win_over_a_request(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sync whose goals are proved by the poll that finds the request is drained."""
    scene = started(world, {"mode": "sync"}, records=5)
    at(15, scene, Scene.copy)
    at(30, scene, ask_to_stop)

    assert watch(scene)["outcome"] == "drained"


def test_cutover_that_is_asked_to_stop_fails(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cutover that is asked to stop fails."""
    scene = started(world, {"mode": "cutover"})
    at(30, scene, lambda now: ask_to_stop(now, reason="not tonight"))
    event = watch(scene)

    with pytest.raises(FindingsError, match=r"STOP_REQUESTED · generation 1 .* by ada .*: not tonight"):
        world.end_watch(event)
    assert ("failed", {}, ["announced"]) == (event["outcome"], event["goals"], scene.stages())


def test_request_to_another_generation_does_not_count(following: Scene) -> None:
    """A request to stop another generation does not end the watch."""
    ask_to_stop(following, generation=7)
    at(120, following, ask_to_stop)

    assert watch(following)["outcome"] == "followed"
    assert following.clock.elapsed_s == 120


@pytest.mark.parametrize("has_ids", [True, False])
@pytest.mark.parametrize("side", ["source", "target"])
def test_topic_that_is_created_again_ends_the_watch_at_once(following: Scene, side: Side, has_ids: bool) -> None:
    """Regression: the watch said 100 % while the records of a new topic were copied after those of the old one.

    Brokers without topic ids show it by an end that falls. The other topics may be copied by the next run.
    """
    cluster = following.world.source if side == "source" else following.world.target

    def renew() -> None:
        cluster.delete_topics(["orders"])
        cluster.create_topics([NewTopic("orders", 2, 1, {})])
        hide()

    def hide() -> None:
        if not has_ids:
            cluster.topics["orders"].topic_id = ""

    hide()
    following.produce(9)
    at(30, following, lambda now: following.copy())
    at(60, following, lambda now: renew())
    event = watch(following)

    assert [(f"{side.upper()}_TOPIC_RECREATED", "topic orders")] == found(event)
    assert ("failed", 60) == (event["outcome"], following.clock.elapsed_s)
    assert "Lag: unknown" in event["progress"]


def test_request_that_cannot_be_read_does_not_end_the_watch(following: Scene) -> None:
    """A request that cannot be read is reported, and the watch continues."""
    folder = following.world.root / "shop" / "stop-requests"
    folder.mkdir()
    (folder / "1.json").write_text("{")
    at(60, following, lambda now: (folder / "1.json").unlink())
    at(120, following, ask_to_stop)
    event = watch(following)

    assert ("followed", 120) == (event["outcome"], following.clock.elapsed_s)
    assert "stop requests cannot be read (EvidenceUnreadable" in following.states[0]
    assert following.states[-1] == "following, at the end of the source"


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"mode": "follow", "follow_until": "2020-01-01T00:00:00+00:00"}, "2020-01-01"),
        ({"mode": "sync", "follow_until": "2130-01-01T00:00:00+00:00"}, "2130-01-01T00:00:00.00:00 in mode sync"),
    ],
)
def test_time_to_follow_must_make_sense(world: World, params: dict[str, Any], found: str) -> None:
    """A `follow_until` in the past, or in another mode, is refused before anything is started."""
    world.params = params

    with pytest.raises(FindingsError, match=f"RUN_CONF_INVALID · .* field follow_until is .* accepts: {found}"):
        world.start()
    assert not world.host.status().is_running
