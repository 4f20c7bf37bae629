"""Rules of a watch that a record ends which MirrorMaker cannot copy: the record is named, whatever ended."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from tests.steps.watching import Scene, codes, found, started, watch
from tests.steps.world import P0, World

ERRORS = "org.apache.kafka.common.errors"
TOO_LARGE = (
    f"{ERRORS}.RecordTooLargeException: The message is 2087 bytes when serialized which is larger than 1000, which is "
    "the value of the max.request.size configuration."
)
LARGE = (b"k", b"x" * 2000)
STATUS = "status-task-MirrorSourceConnector-0"


@pytest.fixture
def scene(world: World, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A sync of five records in whose first partition a sixth is too large, and a seventh."""
    world.source.produce("orders", 0, *[(b"k", b"v")] * 5, LARGE, LARGE)
    return started(world, {"mode": "sync"})


def fail_task(world: World, trace: str) -> None:
    """Let MirrorMaker 2 copy five records, and write that its task has failed."""
    world.mirror({P0: 5})
    status = {"state": "FAILED", "trace": f"ConnectException: Unrecoverable\n\tat x\nCaused by: {trace}"}
    world.target.produce(InternalTopics.of("shop", 1).status, 0, (STATUS.encode(), json.dumps(status).encode()))


def lines(event: dict[str, Any]) -> str:
    return str(event["findings"][0]["found"])


def test_failed_task_is_a_named_record(scene: Scene) -> None:
    """The first record at or after the stored position that breaks the rule is named, once."""
    fail_task(scene.world, TOO_LARGE)
    event = watch(scene)

    assert [("RECORD_TOO_LARGE", "orders[0]")] == found(event)
    assert "the record at offset 5, " in lines(event)
    assert TOO_LARGE in lines(event)


def test_death_by_a_record_is_named_without_a_restart(scene: Scene) -> None:
    """The same cause has the same code where the process dies; it would die at each start, so there is none."""
    scene.world.mirror({P0: 5})
    scene.world.host.log = f"[2026] ERROR {TOO_LARGE}\nINFO Kafka mirror maker shutdown successfully"
    scene.world.host.die(255)
    event = watch(scene)

    assert [("RECORD_TOO_LARGE", "orders[0]")] == found(event)
    assert ([], 1) == (scene.world.run.evidence.of_attempt(Kind.RESTART), len(scene.world.ledger.generations))


def test_death_at_the_first_start_is_called_after_its_cause(world: World) -> None:
    """The task that starts MirrorMaker is refused with the cause in MirrorMaker's words, not with its whole log."""
    world.source.produce("orders", 0, (b"k", b"v"))
    world.do("preflight", "reserve", "plan", "create_topics")
    world.host.dies_at_start = True
    world.host.log = f"[2026-01-01 10:00:00,000] ERROR x\n{ERRORS}.SaslAuthenticationException: No\n\tat x\nrest"

    said = world.refuses("start_mirror", match="LOGIN_REFUSED · migration shop on the MirrorMaker host")
    assert f"MirrorMaker says: {ERRORS}.SaslAuthenticationException: No." in said
    assert "rest" not in said


def test_record_without_a_key_is_found_where_its_batch_failed_without_a_reason(scene: Scene) -> None:
    """The other records of the batch get a text without the reason; the target's policy and the record tell it."""
    world = scene.world
    world.target.topics["orders"].configs["cleanup.policy"] = "compact"
    world.source.produce("orders", 1, (b"k", b"v"), (None, b"v"))
    why = "Failed to append record because it was part of a batch which had one more more invalid records"
    fail_task(world, f"org.apache.kafka.common.KafkaException: {why}")
    event = watch(scene)

    assert [("RECORD_WITHOUT_KEY", "orders[1]")] == found(event)
    assert "the record at offset 1, without a key" in lines(event)


def test_negative_time_is_named(scene: Scene) -> None:
    """A negative time ends the task, -1 does not."""
    world = scene.world
    world.source.produce("orders", 1, (b"k", b"v"), timestamp_ms=-1)
    world.source.produce("orders", 1, (b"k", b"v"), timestamp_ms=-2)
    fail_task(world, "org.apache.kafka.common.InvalidRecordException: Invalid record timestamp -2")

    assert [("RECORD_TIME_REFUSED", "orders[1]")] == found(watch(scene))


def test_record_that_is_not_found_keeps_the_code_of_its_cause(scene: Scene) -> None:
    """A source that does not answer hides the place, not the cause."""
    fail_task(scene.world, TOO_LARGE)
    scene.world.source.record_shapes = lambda *asked: iter(())  # type: ignore[method-assign]
    event = watch(scene)

    assert [("RECORD_TOO_LARGE", "MirrorMaker")] == found(event)
    assert "not found on the source in time" in lines(event)


@pytest.mark.parametrize(
    ("error", "code"),
    [(f"{ERRORS}.TopicAuthorizationException: Not authorized", "RIGHT_MISSING"), ("x.Odd: no", "MIRROR_TASK_FAILED")],
)
def test_task_that_failed_for_another_reason_is_called_after_it(scene: Scene, error: str, code: str) -> None:
    """No record is blamed for what its words do not mean: another known cause has its code, an unknown one none."""
    fail_task(scene.world, error)

    assert [code] == codes(watch(scene))


def test_stall_at_a_record_is_named(scene: Scene) -> None:
    """A producer that retries a refused record for ever stalls; the newest cause in its log counts."""
    world = scene.world
    world.target.topics["orders"].configs["cleanup.policy"] = "compact"
    world.source.produce("orders", 0, (None, b"v"))
    world.mirror({P0: 5})
    world.host.log = "WARN Got error produce response on topic-partition orders-0, retrying. Error: CORRUPT_MESSAGE"

    assert [("RECORD_WITHOUT_KEY", "orders[0]")] == found(watch(scene))
