"""Rules of the test of `docker-compose.yaml`: what it refuses, takes along, and calls healthy or proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.compose import base_image, engine, project
from sandbox.compose.checkout import extra_certificates
from sandbox.compose.checks import verdict_flaws
from sandbox.compose.commands import run
from sandbox.compose.failure import ComposeTestFailed, NotPossibleHere
from sandbox.compose.project import ServiceState
from sandbox.data.topics import TOPICS

pytestmark = pytest.mark.unit


def test_a_machine_without_docker_is_refused(monkeypatch: pytest.MonkeyPatch):
    """The text says what to install."""
    monkeypatch.setattr(engine, "found", lambda _: None)

    with pytest.raises(NotPossibleHere, match=r"apt-get install docker\.io docker-compose"), engine.engine():
        pass


def test_without_an_engine_one_is_started_as_root_only(monkeypatch: pytest.MonkeyPatch):
    """Another user is told to start one."""
    monkeypatch.setattr(engine, "found", lambda program: f"/nowhere/{program}")
    monkeypatch.setattr(engine, "_answers", lambda *_: False)
    monkeypatch.setattr(engine.os, "geteuid", lambda: 1000)

    with pytest.raises(NotPossibleHere, match="No Docker engine answers"), engine.engine():
        pass


def test_a_machine_without_compose_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Neither `docker-compose` nor `docker compose` is there."""
    monkeypatch.setattr(project, "found", lambda _: None)

    with pytest.raises(NotPossibleHere, match="apt-get install docker-compose"):
        project.compose_command("false")


def test_a_failed_command_tells_the_end_of_its_output():
    """What a command said last is in the text, errors included."""
    with pytest.raises(ComposeTestFailed, match="ended with 7:\nout\nwhy"):
        run(("sh", "-c", "echo out; echo why >&2; exit 7"), 10)


def test_the_made_base_image_is_slim(tmp_path: Path):
    """Manuals and package lists go, and packages to come leave theirs out."""
    for folder in ("etc/dpkg/dpkg.cfg.d", "usr/share/man/man1", "var/lib/apt/lists", "usr/share/zoneinfo"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "var/lib/apt/lists/list").touch()
    base_image.make_slim(tmp_path)

    assert [] == [*(tmp_path / "usr/share/man").iterdir(), *(tmp_path / "var/lib/apt/lists").iterdir()]
    assert (tmp_path / "usr/share/zoneinfo").is_dir()
    assert "path-exclude /usr/share/man/*\n" in (tmp_path / "etc/dpkg/dpkg.cfg.d/slim").read_text()


def certificate(text: str) -> str:
    return f"-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----"


def test_only_the_machines_own_certificates_are_taken(tmp_path: Path):
    """Certificates of the package are in the images already; the others are given to the build."""
    packaged = tmp_path / "packaged"
    packaged.mkdir()
    (packaged / "one.crt").write_text(certificate("one"))
    bundle = tmp_path / "bundle"
    bundle.write_text(f"{certificate('one')}\n{certificate('own')}\n")

    assert [certificate("own")] == extra_certificates(bundle, packaged)
    assert [] == extra_certificates(bundle, tmp_path / "missing")


def test_a_verdict_without_records_is_a_flaw():
    """The test passes only if each of the demo's topics is proved with records in it."""
    topics = {topic.name: {"standing": "PASS", "target_records": 5} for topic in TOPICS}

    assert [] == verdict_flaws({"standing": "PASS", "topics": topics})
    assert ["orders has 0 records"] == verdict_flaws(
        {"standing": "PASS", "topics": {**topics, "orders": {"standing": "PASS", "target_records": 0}}}
    )
    assert 5 == len(verdict_flaws({"standing": "pending", "topics": {}}))


@pytest.mark.parametrize(
    ("state", "one_shot", "expected"),
    [
        (ServiceState("running", "healthy", 0), False, True),
        (ServiceState("running", "starting", 0), False, False),
        (ServiceState("running", "", 0), False, False),
        (ServiceState("exited", "", 0), True, True),
        (ServiceState("exited", "", 1), True, False),
        (ServiceState("running", "", 0), True, False),
        (ServiceState("missing", "", -1), True, False),
    ],
)
def test_when_a_service_is_as_it_should_be(state: ServiceState, one_shot: bool, expected: bool):
    """A service must be healthy; a one-shot must have ended with 0."""
    assert expected == state.is_done(one_shot=one_shot)
