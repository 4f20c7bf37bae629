"""Rules of a watch during which a cluster, the host or the evidence store does not answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from kafka_migration.adapters.store import run_status_store
from kafka_migration.adapters.store.run_status_store import NewsStore
from kafka_migration.adapters.system.deadlines import at_most
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.steps.mirror import watcher as watcher_module
from kafka_migration.steps.mirror import watching as watching_module
from tests.steps.engines import set_mirror
from tests.steps.watching import Restart, Scene, a_watch, codes, found, started, watch
from tests.steps.world import World

POLL_S, STALL_S, LIMIT_S = 15, 180, 540
MODES = ["sync", "follow", "cutover"]


@pytest.fixture
def scene(world: World, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A sync with 20 records to copy, polled every 15 seconds; it fails after three times 180 s without an answer."""
    return scene_of(world, monkeypatch, "sync")


def scene_of(world: World, monkeypatch: pytest.MonkeyPatch, mode: str) -> Scene:
    made = started(world, {"mode": mode}, records=20)
    world.edit_file("  unreachable_after: 20m\n", "")
    world.freeze()
    return made


def silent_host(scene: Scene) -> None:
    scene.world.host.errors = [TransientError("SSH_UNREACHABLE: me@mirror:22: timed out")] * 1000


def silent(side: str) -> Callable[[Scene], None]:
    def fall_silent(scene: Scene) -> None:
        cluster = getattr(scene.world, side)
        cluster.cluster_id, cluster.is_down = f"{side} ({side[:3]}_kafka, {side}:9092)", True

    return fall_silent


@pytest.mark.parametrize(
    ("fall_silent", "party", "address"),
    [
        (silent_host, "MirrorMaker host", "me@mirror:22"),
        (silent("source"), "source cluster", "source:9092"),
        (silent("target"), "target cluster", "target:9092"),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_silence_sends_an_alert_and_then_fails_the_run(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    fall_silent: Callable[[Scene], None],
    party: str,
    address: str,
) -> None:
    """A warning and one alert say who does not answer, at which address and since when; the run fails at the limit."""
    scene = scene_of(world, monkeypatch, mode)
    trigger = a_watch(scene.world)
    fall_silent(scene)
    warned_at: list[float] = []
    scene.script = lambda now: warned_at.extend([now.clock.elapsed_s] * bool(now.warnings))
    event = watch(scene, trigger)

    assert ("failed", ("UNREACHABLE", party)) == (event["outcome"], found(event)[0])
    assert LIMIT_S == scene.clock.elapsed_s
    assert "no answer since 2030-01-01T00:00:00+00:00 (" in event["findings"][0]["found"]
    assert address in event["findings"][0]["found"]
    (alert,), (warning,) = scene.alerts, scene.warnings
    assert "unreachable" == alert.kind
    assert f"No answer from the {party} since Tue 2030-01-01 00:00 UTC: " in alert.text
    assert address in alert.text
    assert f"no answer from the {party} since 2030-01-01T00:00:00+00:00: " in warning
    assert "The run fails at 2030-01-01T00:09:00+00:00" in warning
    assert warned_at
    assert warned_at[0] <= STALL_S + 2 * POLL_S


def test_silence_while_the_fence_is_proved_fails_the_cutover(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that stops answering after the announcement fails the run long before `fence_wait`."""
    scene = scene_of(world, monkeypatch, "cutover")

    def script(now: Scene) -> None:
        now.copy()
        if now.clock.elapsed_s == 45:
            silent("source")(now)

    scene.script = script
    event = watch(scene)

    assert "announced" in scene.stages()
    assert ("UNREACHABLE", "source cluster") == found(event)[0]
    assert scene.clock.elapsed_s == 45 + LIMIT_S


def test_both_clusters_are_named(scene: Scene) -> None:
    """If neither cluster answers, the findings name both."""
    silent("target")(scene)
    silent("source")(scene)

    assert ["target cluster", "source cluster"] == [subject for _, subject in found(watch(scene))]


def test_silence_that_ends_in_time_changes_nothing(scene: Scene) -> None:
    """After an answer in time the watch continues, and a second warning says that the cluster answers again."""
    silent("source")(scene)

    def answer_again(now: Scene) -> None:
        if now.clock.elapsed_s >= 300:
            now.world.source.is_down = False
            now.copy()

    scene.script = answer_again
    event = watch(scene)

    assert "drained" == event["outcome"]
    assert ["unreachable"] == [alert.kind for alert in scene.alerts]
    assert "The source cluster answers again, after 5m00s." == scene.warnings[-1]


def test_evidence_store_that_does_not_answer_fails_the_run(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """An evidence store that does not answer fails the run, although the copy continues."""

    def gone(path: Any) -> Any:
        raise OSError(5, "Input/output error", str(path))

    monkeypatch.setattr(run_status_store, "read_json", gone)
    scene.script = lambda now: now.produce()
    event = watch(scene)

    assert ("UNREACHABLE", "evidence store") == found(event)[0]


def test_partition_without_a_leader_is_a_silence(scene: Scene) -> None:
    """A source that does not answer for one partition leaves the lag unknown, which fails the run as well."""
    real = scene.world.source.log_start_offsets
    scene.world.source.log_start_offsets = lambda partitions: {  # type: ignore[method-assign]
        p: offset for p, offset in real(partitions).items() if p.partition != 0
    }
    event = watch(scene)

    assert ("UNREACHABLE", "source cluster") == found(event)[0]
    assert "orders[0]" in event["findings"][0]["found"] or "audit[0]" in event["findings"][0]["found"]


def test_request_to_stop_wins_over_a_silence(scene: Scene) -> None:
    """A request to stop during a silence ends the watch at the next poll."""
    silent("target")(scene)

    def ask(now: Scene) -> None:
        if now.clock.elapsed_s == 60:
            now.world.run.stop_requests.request(StopRequest(1, "t", "2030", "ada"))

    scene.script = ask

    assert ("behind", 60) == (watch(scene)["outcome"], scene.clock.elapsed_s)


def test_restart_of_the_triggerer_does_not_extend_the_limit(scene: Scene) -> None:
    """The time of the last answer survives a restart, so the limit stays and no second alert is sent."""
    silent("target")(scene)
    trigger = a_watch(scene.world)

    def restart(now: Scene) -> None:
        if now.clock.elapsed_s == 300:
            raise Restart

    scene.script = restart
    with pytest.raises(Restart):
        watch(scene, trigger)
    scene.script = lambda now: None
    event = watch(scene, a_watch(scene.world))

    assert ("UNREACHABLE", LIMIT_S) == (event["findings"][0]["code"], scene.clock.elapsed_s)
    assert ["unreachable"] == [alert.kind for alert in scene.alerts]


def test_silent_target_is_named_before_the_mirrormaker_that_dies_of_it(scene: Scene) -> None:
    """MirrorMaker is not restarted while the target does not answer, and the target is the first finding."""
    scene.world.host.log = "org.apache.kafka.common.errors.TimeoutException: marker-line\n"
    silent("target")(scene)
    scene.script = lambda now: now.world.host.die(1) if now.clock.elapsed_s == 240 else None
    event = watch(scene)
    texts = [*scene.infos, *scene.warnings, *(str(finding) for finding in event["findings"])]

    assert 1 == scene.world.host.last
    assert "target cluster" == event["findings"][0]["subject"]
    assert 1 == sum(text.count("marker-line") for text in texts)
    assert any("a cluster answers too late; generation 1 ended" in warning for warning in scene.warnings)
    assert all("target:9092" in line for line in scene.infos)


def test_silence_is_named_before_the_death_that_fails_the_run(scene: Scene) -> None:
    """A run without restarts whose MirrorMaker dies while the target is silent names the target first."""
    set_mirror(scene.world, "restarts: 0")
    scene.world.freeze()
    silent("target")(scene)
    scene.script = lambda now: now.world.host.die(1) if now.clock.elapsed_s == 60 else None

    assert ["UNREACHABLE", "MIRROR_DEAD"] == codes(watch(scene))


def test_cause_in_the_log_is_named_before_a_silence(scene: Scene) -> None:
    """A death whose log names a cause of its own is no consequence of a target that is silent for a moment."""
    set_mirror(scene.world, "restarts: 0")
    scene.world.freeze()
    silent("target")(scene)
    scene.world.host.log = "java.lang.OutOfMemoryError: Java heap space"
    scene.script = lambda now: now.world.host.die(3) if now.clock.elapsed_s == 60 else None

    event = watch(scene)

    assert ["MIRROR_OUT_OF_MEMORY", "UNREACHABLE"] == codes(event)
    assert 1 == event["findings"][0]["found"].count("MirrorMaker is out of memory")


@pytest.mark.parametrize("mode", MODES)
def test_no_progress_line_is_longer_than_160(world: World, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """A progress line has 160 characters at most, however long the client's error is."""
    scene = scene_of(world, monkeypatch, mode)
    silent("target")(scene)
    scene.world.target.cluster_id += ": " + "and it goes on " * 30
    watch(scene)

    assert 160 == max(map(len, scene.infos))
    assert all(line.startswith("State: ") for line in scene.infos)


def test_each_poll_writes_its_progress(scene: Scene) -> None:
    """Each poll writes lag, rate, generation, run and who does not answer; the last one writes the outcome."""
    written: list[dict[str, Any]] = []

    def script(now: Scene) -> None:
        written.append(NewsStore(now.world.root, "shop").progress() or {})
        now.world.source.is_down = now.clock.elapsed_s < 60
        if now.clock.elapsed_s >= 120:
            now.copy()

    silent("source")(scene)
    scene.script = script
    watch(scene)
    last = NewsStore(scene.world.root, "shop").progress()

    assert last is not None
    assert ("drained", 0, [], 1) == (last["outcome"], last["lag"], last["silent"], last["generation"])
    first = written[0]
    assert ([], first["step_at"]) == (last["behind"], last["step_at"])
    known = [each for each in written if each["lag"]]
    assert known
    assert [("orders", each["lag"]) for each in known] == [
        (t["topic"], t["lag"]) for each in known for t in each["behind"]
    ]
    assert (None, "source cluster", None) == (first["lag"], first["silent"][0]["party"], first["rate"])
    assert scene.world.run.identity.holder == last["run"]


def test_watch_keeps_the_begin_of_its_step(scene: Scene) -> None:
    """A triggerer that starts again tells the time in the step from the step's begin, not from its own."""
    news, began = NewsStore(scene.world.root, "shop"), "2029-12-31T00:00:00+00:00"
    scene.script = lambda now: now.copy()
    begun = a_watch(scene.world)
    news.tell_step(scene.world.run.identity.holder, "watch_lag", began)
    watch(scene, begun)

    assert began == (news.progress() or {})["step_at"]


@pytest.mark.parametrize("name", ["progress.json", "progress-series.json", "last-run.json"])
def test_progress_that_cannot_be_written_does_not_end_the_watch(scene: Scene, name: str) -> None:
    """A watch whose progress file cannot be written ends as any other."""
    place = scene.world.root / "shop" / name
    place.unlink(missing_ok=True)
    place.mkdir()
    (place / "file").write_text("")
    scene.script = Scene.copy

    assert "drained" == watch(scene)["outcome"]


def test_each_poll_has_a_limit(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls of a poll share `poll_interval` + 10 s, less a reserve for a call that has begun."""
    limits: list[float] = []

    def noted(seconds: float) -> Any:
        limits.append(seconds)
        return at_most(seconds)

    monkeypatch.setattr(watcher_module, "at_most", noted)
    scene.script = Scene.copy
    watch(scene)

    assert POLL_S + 10 - 2 == max(limits)


def test_evidence_store_that_hangs_delays_no_lease(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the evidence store hangs, polls renew the lease and end in time, and the run fails at the limit."""
    is_over = threading.Event()
    monkeypatch.setattr(watcher_module, "STORE_S", 0.05)
    monkeypatch.setattr(watching_module, "POLL_RESERVE_S", 0.05)
    monkeypatch.setattr(run_status_store, "read_json", lambda path: is_over.wait(60))
    scene.script = lambda now: now.produce()
    try:
        event = watch(scene)
    finally:
        is_over.set()

    assert ("UNREACHABLE", "evidence store") == found(event)[0]
    assert scene.world.host.processes[1].renewals > 1
