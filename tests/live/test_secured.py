"""MirrorMaker copies between clusters that require encryption and a login."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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
