"""MirrorMaker copies between clusters that require encryption and a login."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.jars import fetched_kafka
from sandbox.sandbox import Sandbox
from sandbox.security.listeners import WAYS, Way
from tests.live.stage import Stage, connect_by, set_the_stage

pytestmark = [pytest.mark.live, pytest.mark.campaign]

TOPIC = "orders"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Both clusters with all ways to log in, and the MirrorMaker host."""
    with Sandbox(tmp_path_factory.mktemp("secured"), airflow=False, secured=True) as sandbox:
        for side, bootstrap in sandbox.bootstraps.items():
            sandbox.security[side].allow_everything(bootstrap)
        yield sandbox


@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
@pytest.mark.parametrize("way", WAYS)
def test_copy_over_a_secured_listener(
    secured: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Way, engine: str
) -> None:
    """Both engines copy every record if both connections use this way."""
    set_the_stage(secured, tmp_path, monkeypatch)
    connect_by(way, secured, monkeypatch)
    topic = f"{TOPIC}-{way}-{engine}"
    stage = Stage(secured, f"secured-{way}-{engine}", tmp_path, [topic], engine)
    outcome, sent, copied = stage.copied(topic)

    assert "drained" == outcome
    assert sent == copied


@pytest.mark.parametrize(
    ("way", "kafka"), [*((way, "4.2.0") for way in WAYS), ("oauthbearer", "4.0.0"), ("oauthbearer", "4.1.1")]
)
def test_kafka_4_copies_over_a_secured_listener(
    secured: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Way, kafka: str
) -> None:
    """MirrorMaker of Kafka 4 reads the logins as that of Kafka 3.9 does; OAuth changed in each of its versions."""
    set_the_stage(secured, tmp_path, monkeypatch)
    connect_by(way, secured, monkeypatch)
    topic = f"{TOPIC}-{way}-{kafka}"
    name = f"secured-{way}-{kafka.replace('.', '-')}"
    stage = Stage(secured, name, tmp_path, [topic], mirror=f"kafka_home: {fetched_kafka(kafka)}")
    outcome, sent, copied = stage.copied(topic)

    assert "drained" == outcome
    assert sent == copied
