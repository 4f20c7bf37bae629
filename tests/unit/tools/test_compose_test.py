"""Rules of the test of `docker-compose.yaml`: what it refuses, takes along, and calls healthy or proved."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from kafka_migration.core.connect.connect_config import copier_name, reservation_name
from sandbox.compose import __main__ as compose_test
from sandbox.compose import base_image, engine, project
from sandbox.compose.checkout import extra_certificates
from sandbox.compose.checks import verdict_flaws
from sandbox.compose.commands import Steps, run
from sandbox.compose.connectors import CONNECTOR, RESERVATION, connector_flaws
from sandbox.compose.failure import ComposeTestFailed, NotPossibleHere, cleaning_up
from sandbox.compose.logins import give_logins, listening
from sandbox.compose.project import Project, ServiceState
from sandbox.data.topics import TOPICS
from sandbox.interrupts import Interrupts
from sandbox.jars import PROJECT
from sandbox.processes import identify
from tests.waiting import wait_until


@pytest.mark.parametrize(
    ("program", "text"),
    [(None, r"apt-get install docker\.io docker-compose"), ("/nowhere/docker", "No Docker engine answers")],
)
def test_a_machine_without_an_engine_is_refused(
    monkeypatch: pytest.MonkeyPatch, program: str | None, text: str
) -> None:
    """The text says what to install, or that a user who is not root must start an engine."""
    monkeypatch.setattr(engine, "found", lambda _: program)
    monkeypatch.setattr(engine, "_answers", lambda *_: False)
    monkeypatch.setattr("sandbox.compose.engine.os.geteuid", lambda: 1000)

    with pytest.raises(NotPossibleHere, match=text), engine.engine():
        pass


def test_a_machine_without_compose_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither `docker-compose` nor `docker compose` is there."""
    monkeypatch.setattr(project, "found", lambda _: None)

    with pytest.raises(NotPossibleHere, match="apt-get install docker-compose"):
        project.compose_command("false")


@pytest.mark.parametrize(
    ("version_2", "chosen"), [("true", ("true", "compose")), ("false", ("/usr/bin/docker-compose",))]
)
def test_version_2_of_compose_is_preferred(
    monkeypatch: pytest.MonkeyPatch, version_2: str, chosen: tuple[str, ...]
) -> None:
    """The test runs with `docker compose` where it is installed, else with `docker-compose`."""
    monkeypatch.setattr(project, "found", lambda name: f"/usr/bin/{name}")

    assert chosen == project.compose_command(version_2)


def test_a_failed_command_tells_the_end_of_its_output() -> None:
    """The text has the last output of a command, errors included."""
    with pytest.raises(ComposeTestFailed, match="ended with 7:\nout\nwhy"):
        run(("sh", "-c", "echo out; echo why >&2; exit 7"), 10)


def test_the_made_base_image_is_slim(tmp_path: Path) -> None:
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


def test_only_the_machines_own_certificates_are_taken(tmp_path: Path) -> None:
    """Certificates of the package are in the images already; the others are given to the build."""
    packaged = tmp_path / "packaged"
    packaged.mkdir()
    (packaged / "one.crt").write_text(certificate("one"))
    bundle = tmp_path / "bundle"
    bundle.write_text(f"{certificate('one')}\n{certificate('own')}\n")

    assert [certificate("own")] == extra_certificates(bundle, packaged)
    assert [] == extra_certificates(bundle, tmp_path / "missing")


def test_a_verdict_without_records_is_a_flaw() -> None:
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
def test_when_a_service_is_as_it_should_be(state: ServiceState, one_shot: bool, expected: bool) -> None:
    """A service must be healthy; a one-shot must have ended with 0."""
    assert expected == state.is_done(one_shot=one_shot)


class BrokenProject:
    """A project in which nothing succeeds."""

    name = "kmc0"

    def up(self) -> None:
        raise ComposeTestFailed("not healthy")

    def tell_logs(self) -> None:
        raise ComposeTestFailed("no logs")

    def down(self, *, volumes: bool) -> None:
        raise ComposeTestFailed("not down")

    how_to_remove = Project.how_to_remove


def test_the_first_error_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """What fails while cleaning up is printed, with what is left to do by hand, and replaces nothing."""
    broken = BrokenProject()
    with (
        pytest.raises(ComposeTestFailed, match="not healthy"),
        compose_test._running(broken, Steps(), Interrupts()),  # type: ignore[arg-type]
    ):
        pass

    said = capsys.readouterr().out
    assert "And then: no logs" in said
    assert "And then: not down" in said
    assert "docker volume ls --quiet --filter label=com.docker.compose.project=kmc0 | xargs -r docker volume rm" in said


def test_failing_to_clean_up_is_an_error_of_its_own() -> None:
    """A failed clean-up fails the test if nothing failed before."""
    with pytest.raises(ComposeTestFailed, match="not down"), cleaning_up():
        raise ComposeTestFailed("not down")


def test_the_callers_settings_do_not_reach_the_file(tmp_path: Path) -> None:
    """What the file asks for comes from the copy's `.env` or from the test; the rest of the environment stays."""
    (tmp_path / "docker-compose.yaml").write_text("${ADMIN_PASSWORD:?no} ${AIRFLOW_PORT:-8080}")
    caller = {"ADMIN_PASSWORD": "mine", "AIRFLOW_PORT": "1", "PATH": "/bin"}
    tested = Project(engine.Engine("docker", caller), tmp_path, "kmc0", {"AIRFLOW_PORT": "2"})

    assert {"PATH": "/bin", "AIRFLOW_PORT": "2"} == tested.environment()


STUBBORN = """#!/bin/sh
trap '' TERM
for argument; do case $argument in unix://*) socket=${argument#unix://} ;; esac; done
sleep 300 & echo $! >"${socket%/sock}/child"
touch "$socket"; echo 'API listen on'
while :; do sleep 1; done
"""


def test_an_engine_that_does_not_stop_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It goes with all that its session began, its folder is removed, and the test says so."""
    (tmp_path / "dockerd").write_text(STUBBORN)
    (tmp_path / "dockerd").chmod(0o755)
    monkeypatch.setattr(engine, "found", lambda _: str(tmp_path / "dockerd"))
    monkeypatch.setattr("sandbox.compose.engine.os.geteuid", lambda: 0)
    monkeypatch.setattr(engine, "STOP_S", 0.5)

    own = engine._own_engine()
    folder = own.__enter__().parent
    child = int((folder / "child").read_text())
    with pytest.raises(ComposeTestFailed, match="was killed"):
        own.__exit__(None, None, None)

    assert not folder.exists()
    wait_until(lambda: identify(child) is None, what="the end of the child")


def test_what_an_engine_leaves_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder with something mounted in it is not looked into; the text names both."""
    table = tmp_path / "mountinfo"
    table.write_text(f"1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / {tmp_path}/kmc/a rw - tmpfs x rw\n")
    (tmp_path / "kmc" / "a").mkdir(parents=True)
    monkeypatch.setattr(engine, "MOUNTS", table)
    monkeypatch.setattr("sandbox.compose.engine.subprocess.run", lambda *_, **__: SimpleNamespace(returncode=1))

    with pytest.raises(ComposeTestFailed, match=rf"not removed: {tmp_path}/kmc, {tmp_path}/kmc/a"):
        engine._remove_folder(tmp_path / "kmc")
    assert (tmp_path / "kmc" / "a").is_dir()


def test_the_deepest_mount_is_unmounted_first() -> None:
    """Others than those below the folder are left alone."""
    table = "1 0 0:1 / / rw\n2 1 0:2 / /x/a rw\n3 2 0:3 / /x/a/b rw\n4 1 0:4 / /xy rw\n"

    assert [Path("/x/a/b"), Path("/x/a")] == engine.mounts_below(Path("/x"), table)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that say how brokers and connections are set up."""
    files = (
        "docker/kafka.properties",
        "docker-compose.yaml",
        "include/migrations/demo.yaml",
        "include/connect/demo.yaml",
    )
    for name in files:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text((PROJECT / name).read_text())
    return tmp_path


def test_brokers_of_the_copy_ask_for_a_login(checkout: Path) -> None:
    """Brokers and connections have the same login, and the migration file accepts that it is not encrypted."""
    give_logins(checkout, "pw")

    services = yaml.safe_load((checkout / "docker-compose.yaml").read_text())
    for side in ("source", "target"):
        connection = json.loads(services["x-connections"][f"AIRFLOW_CONN_DEMO_{side.upper()}"])["extra"]
        assert (f"kafka-{side}:9094", "pw") == (connection["bootstrap.servers"], connection["sasl.password"])
        migration = yaml.safe_load((checkout / "include/migrations/demo.yaml").read_text())
        assert ["sasl_plaintext"] == migration[side]["insecure"]
    brokers = dict(line.split("=", 1) for line in (checkout / "docker/kafka.properties").read_text().splitlines()[1:])
    assert "LOGIN://:9094" in brokers["listeners"].split(",")
    assert "LOGIN://@KAFKA_HOST@:9094" in brokers["advertised.listeners"].split(",")
    assert brokers["listener.name.login.plain.sasl.jaas.config"].endswith('user_migration="pw";')


def test_workers_of_the_copy_know_the_login_and_connectors_refer_to_it(checkout: Path) -> None:
    """The reference in the migration file is a variable of each worker that its configuration provider may read."""
    give_logins(checkout, "pw")

    services = yaml.safe_load((checkout / "docker-compose.yaml").read_text())["services"]
    migration = yaml.safe_load((checkout / "include/connect/demo.yaml").read_text())
    provider = (PROJECT / "docker" / "connect.properties").read_text()
    for side in ("source", "target"):
        reference = {"sasl.jaas.config": "${env:CONNECT_SECRET_LOGIN}"}
        assert reference == migration["mirror"]["connect"]["secrets"][side]
        assert ["sasl_plaintext"] == migration[side]["insecure"]
    for worker in ("connect-1", "connect-2"):
        assert services[worker]["environment"]["CONNECT_SECRET_LOGIN"].endswith('username="migration" password="pw";')
    assert "allowlist.pattern=CONNECT_SECRET_.*" in provider


def connector(state: str, tasks: int = 0, **config: str) -> dict[str, Any]:
    """Return a connector as the REST interface shows it with its configuration and its status."""
    return {"info": {"config": config}, "status": {"connector": {"state": state}, "tasks": [{}] * tasks}}


@pytest.mark.parametrize(
    ("connectors", "flaws"),
    [
        ({"kafka-migration.demo": connector("STOPPED")}, []),
        ({"kafka-migration.demo": connector("STOPPED"), "other": connector("RUNNING", 1)}, []),
        ({"kafka-migration.demo": connector("RUNNING", 2)}, ["kafka-migration.demo is RUNNING with 2 tasks"]),
        ({"kafka-migration.demo": connector("STOPPED", 1)}, ["kafka-migration.demo is STOPPED with 1 tasks"]),
        (
            {"kafka-migration.demo": connector("STOPPED", jaas="pw-1")},
            ["the configuration of kafka-migration.demo has Kafka's login"],
        ),
        (
            {"kafka-migration-reservation.demo": connector("STOPPED")},
            [
                "kafka-migration-reservation.demo still exists",
                "kafka-migration.demo does not exist, so another engine has copied",
            ],
        ),
    ],
)
def test_a_connector_that_is_left_is_a_flaw(connectors: dict[str, Any], flaws: list[str]) -> None:
    """After a run the connector that copied exists, has stopped and shows no login; the reservation is gone."""
    assert flaws == connector_flaws(connectors, "pw-1")
    assert (copier_name("demo"), reservation_name("demo")) == (CONNECTOR, RESERVATION)


def test_services_of_a_profile_count_only_with_it(tmp_path: Path) -> None:
    """A service of a profile that was not chosen is not waited for."""
    services = {"kafka": {"restart": "no"}, "connect-1": {"restart": "always", "profiles": ["connect"]}}
    (tmp_path / "docker-compose.yaml").write_text(yaml.safe_dump({"services": services}))
    plain = Project(engine.Engine("docker", {}), tmp_path, "kmc0")

    assert {"kafka": True} == plain.services()
    chosen = replace(plain, variables=compose_test.VARIABLES["connect"])
    assert {"kafka": True, "connect-1": False} == chosen.services()


def test_files_that_take_no_login_fail_the_test(checkout: Path) -> None:
    """A file that has changed so that the edit does nothing is named."""
    (checkout / "docker-compose.yaml").write_text("services: {}\n")

    with pytest.raises(ComposeTestFailed, match=r"docker-compose\.yaml is not as the test expects"):
        give_logins(checkout, "pw")


def test_ports_that_other_hosts_can_reach_are_asked() -> None:
    """Of the kernel's table the sockets that listen count, for both versions of IP."""
    table = """\
  sl  local_address rem_address   st tx_queue
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000
   1: 0100007F:0050 0100007F:8000 01 00000000:00000000
   0: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A 00000000:00000000
"""

    assert {8080, 443} == listening(table)
