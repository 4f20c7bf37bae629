"""Rules of whether the source may be switched off, with an example for each reason against it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kafka_migration.airflow_adapters import airflow_connections as connections
from kafka_migration.cli.main import main
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import GenerationStart, StopCertificate
from kafka_migration.core.rollback.decommission import State, WaitingTimes, decommission_conditions, may_go
from kafka_migration.steps.rollback.decommissioning import read_old_cluster
from tests.airflow.world import World
from tests.contract.fake_cluster import FakeGroup
from tests.steps.cutover import cut_over
from tests.steps.world import P0, P1

LATER = timedelta(days=30)
USUAL = WaitingTimes()


@pytest.fixture
def done(scene: World) -> World:
    """Everything is cut over, the groups have read on, and the topics' retention is restored."""
    cut_over(scene)
    scene.do("restore_settings")
    scene.target.commit("billing", {P0: 4})
    scene.target.join("reporting")
    return scene


def reasons(world: World, after: timedelta = LATER, patience: WaitingTimes = USUAL) -> list[str]:
    """Return the reasons against switching the source off at a time after now."""
    old = read_old_cluster(
        now=datetime.now(UTC) + after,
        ledger=world.ledger,
        topics=world.run.whole_migration.topics,
        source=world.source,
        target=world.target,
        evidence_of=world.run.evidence_of,
    )
    conditions = decommission_conditions(old, patience)
    found = [reason for condition in conditions for reason in condition.reasons]
    assert may_go(conditions) is not bool(found)
    # Only a value that cannot be read, or a process of which nothing is known, is unknown.
    for condition in conditions:
        unknown = ["cannot be read" in reason or "may still run" in reason for reason in condition.reasons]
        is_unknown = bool(unknown) and all(unknown)
        assert (condition.state is State.UNKNOWN) is is_unknown, condition
    return found


def test_yes_when_everything_is_over(done: World) -> None:
    """A month after a complete cutover, with consumers only on the target, the source may be switched off."""
    assert [] == reasons(done)


CHANGES: dict[str, tuple[Callable[[World], Any], str]] = {
    "written": (lambda world: world.source.produce("orders", 0, (b"late", b"1")), "orders[0]: its end is 5, but was 4"),
    "partition": (lambda world: world.source.create_partitions({"audit": 2}), "audit: 2 partitions, but 1 when"),
    "committed": (
        lambda world: world.source.commit("billing", {P0: 4}),
        "group billing has committed on the source since",
    ),
    "member": (lambda world: world.source.join("billing"), "group billing has members on the source"),
    "other group": (
        lambda world: world.source.commit("console", {P0: 1}),
        "group console has commits on the source, and no",
    ),
    "reader": (lambda world: world.source.join("flink", "f", "/h", P0), "group flink has members on the source"),
    "no id": (lambda world: world.source.commit("", {P0: 1}), "group '': its commits on the source cannot be read"),
    "share group": (
        lambda world: world.source.groups.update(shared=FakeGroup(kind="share")),
        "group shared: its commits on the source cannot be read",
    ),
    "broken group": (
        lambda world: world.source.__dict__.update(
            groups={**world.source.groups, "console": FakeGroup()},
            broken_groups={"console": TransientError("no coordinator")},
        ),
        "group console: its commits on the source cannot be read",
    ),
    "broken on the target": (
        lambda world: world.target.broken_groups.update(billing=TransientError("no coordinator")),
        "group billing cannot be read on the target: no coordinator",
    ),
    "not read": (lambda world: world.target.leave("reporting"), "group reporting has no member on the target"),
    "frozen": (
        lambda world: world.run.ledger.append(
            {"kind": "settings-frozen", "run": "r", "at": "2030-01-01T00:00:00+00:00", "topics": ["orders"]}
        ),
        "orders: its retention on the target is still turned off",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_because(done: World, change: str) -> None:
    """Each change has exactly one reason."""
    act, expected = CHANGES[change]
    act(done)

    (reason,) = reasons(done)
    assert expected in reason


def test_topic_that_is_still_mirrored(done: World) -> None:
    """A topic that was added after the cutover and is still mirrored is a reason."""
    late = TopicPartition("late", 0)
    done.source.create_topics([NewTopic("late", 1, 1, {"retention.ms": "1000"})])
    at = "2030-01-01T00:00:00+00:00"
    done.run.ledger.append(GenerationStart(7, "r/r#1", at, {late: 0}, {late: 0}).to_document())
    done.run.ledger.append(StopCertificate(7, "r/r#1", at, True, 143, "stopped", {late: 0}, {late: 0}).to_document())

    assert "not cut over: late" in reasons(done)


def test_group_that_was_not_moved(scene: World) -> None:
    """A group that the cutover did not move is a reason."""
    scene.source.join("reporting")
    cut_over(scene)
    scene.do("restore_settings")
    scene.source.leave("reporting")
    scene.target.commit("billing", {P0: 4})

    found = reasons(scene)
    assert any("group reporting was not moved" in reason for reason in found)
    assert any("group reporting has commits on the source, and no cutover has moved it" in reason for reason in found)


def test_mirrormaker_without_a_stop_certificate(done: World) -> None:
    """Nothing is known of a process that may still run, so the source may not be switched off."""
    start = GenerationStart(7, "r/r#1", "2030-01-01T00:00:00+00:00", {P0: 4}, {P0: 4})
    done.run.ledger.append(start.to_document())

    assert "generation 7 has no stop certificate: its MirrorMaker process may still run" in reasons(done)


def test_not_before_its_time(done: World) -> None:
    """The source must be quiet for a time, and the time for a rollback must be over."""
    assert ["orders, audit: cut over 1h00m ago; the source must receive no records for 24h00m"] == [
        reason for reason in reasons(done, timedelta(hours=1.001)) if "no records" in reason
    ]
    assert [] == reasons(done, timedelta(hours=2), WaitingTimes(timedelta(hours=1), timedelta(hours=1)))
    assert ["audit"] == [reason.partition(":")[0] for reason in reasons(done, timedelta(days=2))]


def test_topic_that_is_missing_on_the_source(done: World) -> None:
    """A topic that was deleted on the source is reported with its partitions, not taken for quiet."""
    done.source.delete_topics(["audit"])

    assert [
        "audit: 0 partitions, but 1 when it was copied",
        "audit[0]: its end cannot be read, but was 0 when it was copied",
        "audit: its retention on the source cannot be read",
    ] == reasons(done)


def test_end_that_cannot_be_read(done: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An end that cannot be read is a reason, not a yes."""
    read = done.source.log_end_offsets
    monkeypatch.setattr(
        done.source, "log_end_offsets", lambda *asked: {p: at for p, at in read(*asked).items() if p != P1}
    )

    assert ["orders[1]: its end cannot be read, but was 1 when it was copied"] == reasons(done)


def command(world: World, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    """Run the command on the world's clusters."""
    clusters = {"source": world.source, "target": world.target}
    monkeypatch.setattr(connections, "cluster_named", lambda side, connection_id, allowed: clusters[side])
    return main(["decommission", "shop", "--evidence-root", str(world.root), *options])


def test_command_prints_every_reason(
    done: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Right after the cutover the answer is no, with exit code 5."""
    assert command(done, monkeypatch) == 5
    head, *conditions, _ledger = capsys.readouterr().out.splitlines()
    assert "May the source of shop be switched off? No: of 9 conditions, 2 are not met." == head
    assert [line for line in conditions if line.startswith("  The time for a rollback is over – NOT MET:")]
    assert "  Every topic is cut over – MET" in conditions
    assert not [line for line in conditions if "?" in line]
    assert command(done, monkeypatch, "-o", "json", "--quiet-for", "1s", "--overlap", "1s") in {0, 5}
    document = json.loads(capsys.readouterr().out)
    assert (3, "shop", 9) == (document["schema"], document["migration"], len(document["conditions"]))
    assert {"met", "not met", "unknown"} >= {each["state"] for each in document["conditions"]}


def test_command_before_any_cutover(
    scene: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a cutover the answer is no, and no cluster is asked."""
    scene.source.is_down = True

    assert command(scene, monkeypatch) == 5
    assert "nothing is cut over" in capsys.readouterr().out


def validation(world: World) -> None:
    """Begin a validation after the cutover."""
    world.next_run()
    world.params = {"mode": "validate"}
    world.do("preflight")


def test_report_has_a_section(done: World) -> None:
    """The report of a validation after the cutover says whether the source may be switched off, and why not."""
    validation(done)
    done.finish(preflight="success")

    assert "## May the source be switched off?" in done.report
    assert "**No**: all conditions must be met." in done.report


def test_report_of_a_cluster_that_does_not_answer(done: World) -> None:
    """If the source does not answer, the report says no, and the run does not fail."""
    validation(done)
    done.source.is_down = True
    done.finish(preflight="success")

    assert "| Both clusters can be read | UNKNOWN | " in done.report
