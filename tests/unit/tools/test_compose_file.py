"""Rules of `docker-compose.yaml`, its Dockerfile and the script that makes its secrets."""

from __future__ import annotations

import base64
import json
import os
import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.spark.spark_target import (
    SparkTarget,
    cipher_findings,
    own_settings,
    parsed_properties,
    unprotected_findings,
)
from sandbox.compose.checkout import COPIED, read_env
from tests.programs import installed

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docker-compose.yaml").read_text()
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(TEXT)["services"]
SETTINGS = [setting for service in SERVICES.values() for setting in service.get("environment", {}).items()]
ONE_SHOTS = {"airflow-db", "demo-data"}
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
SCRIPTS = [path for path in (ROOT / "docker").iterdir() if path.is_file() and path.read_bytes()[:2] == b"#!"]
STAGES = dict(re.findall(r"^FROM \S+ AS (\S+)\n(.*?)(?=^FROM |\Z)", DOCKERFILE, re.MULTILINE | re.DOTALL))
SECRET = re.compile(r"PASSWORD|SECRET|KEY")
SPARK_SECRET = "${SPARK_SECRET:?run docker/make-env first}"


@pytest.fixture
def env_file(tmp_path: Path) -> Path:
    """The file that a fresh `make-env` wrote."""
    make_env(tmp_path / ".env")
    return tmp_path / ".env"


def make_env(file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "docker" / "make-env", file], capture_output=True, text=True)


def interpolated() -> set[str]:
    """Return the names of all variables that the compose file takes from outside."""
    return set(re.findall(r"\$\{(\w+)", TEXT))


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_every_service_has_a_health_check_or_ends(name: str) -> None:
    """A service has a health check and is restarted; a one-shot has and does neither."""
    service = SERVICES[name]

    assert (name not in ONE_SHOTS) == ("test" in service.get("healthcheck", {}))
    assert ("no" if name in ONE_SHOTS else "unless-stopped") == service["restart"]


def test_dependencies_state_a_condition() -> None:
    """What a service needs is healthy, or a one-shot that ended well, not merely started."""
    for service in SERVICES.values():
        for needed, how in service.get("depends_on", {}).items():
            expected = "service_completed_successfully" if needed in ONE_SHOTS else "service_healthy"
            assert expected == how["condition"]


def test_secrets_have_no_default() -> None:
    """Each secret comes from `.env`, and without it nothing starts."""
    secrets = {name for name in interpolated() if SECRET.search(name)}
    required = set(re.findall(r"\$\{(\w+):\?run docker/make-env first\}", TEXT))

    assert secrets == required
    assert len(re.findall(r"\$\{\w+:\?", TEXT)) == len(re.findall(r"\$\{\w*(?:PASSWORD|SECRET|KEY)\w*\b", TEXT))


def test_settings_with_secrets_name_a_variable() -> None:
    """The file contains no value that should be secret."""
    for name, value in SETTINGS:
        assert value.startswith("${") or not SECRET.search(name) or "PASSWORDS_FILE" in name


def test_settings_with_secrets_inside_name_a_variable() -> None:
    """The database's address and the connections have no secret of their own in them either."""
    settings = dict(SETTINGS)
    address = settings["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"]
    connections = [json.loads(value) for name, value in settings.items() if name.startswith("AIRFLOW_CONN_")]

    assert re.search(r"://airflow:\$\{AIRFLOW_DB_PASSWORD:\?[^}]*\}@", address)
    assert 5 == len(connections)
    assert [] == [text for connection in connections for text in embedded_secrets(connection)]


def embedded_secrets(connection: dict[str, Any]) -> list[str]:
    """Return the literal values of a connection under names of secrets; file names do not count."""
    fields = {**connection, **connection.get("extra", {})}
    named = {name: str(value) for name, value in fields.items() if re.search(r"pass|secret|key|token|jaas", name)}
    harmless = {"key_file", "no_host_key_check"}
    return [value for name, value in named.items() if name not in harmless and "${" not in value]


def test_a_written_out_secret_is_found() -> None:
    """The rule above finds a literal secret."""
    assert ["hidden"] == embedded_secrets({"conn_type": "ssh", "password": "hidden", "extra": {"key_file": "/key"}})
    assert ["abc"] == embedded_secrets({"extra": {"private_key": "abc", "host_key": "ssh-ed25519 ${MIRROR}"}})


def test_workers_are_a_profile_of_their_own() -> None:
    """Nobody who does not ask for it gets a Connect cluster, and no other service waits for it."""
    workers = {name for name, service in SERVICES.items() if service.get("profiles")}

    assert {"connect-1", "connect-2"} == workers
    assert all(["connect"] == SERVICES[name]["profiles"] for name in workers)
    assert all(name == SERVICES[name]["environment"]["CONNECT_HOST"] for name in workers)
    assert set() == workers & {needed for service in SERVICES.values() for needed in service.get("depends_on", {})}


def test_connection_leads_to_a_worker() -> None:
    """The connection names a worker and the port of `docker/connect.properties`, which the health check asks too."""
    connection = json.loads(SERVICES["scheduler"]["environment"]["AIRFLOW_CONN_DEMO_CONNECT"])
    settings = properties(ROOT / "docker" / "connect.properties")
    port = settings["rest.advertised.port"]

    assert {"conn_type": "http", "host": "http://connect-1", "port": int(port)} == connection
    assert f"http://:{port}" == settings["listeners"]
    assert f"/dev/tcp/localhost/{port}\n" in (ROOT / "docker" / "connect-health.sh").read_text()


def test_workers_have_the_topics_that_the_migration_file_names() -> None:
    """What the file says about the workers is what they are configured with; their Kafka is the target."""
    said = yaml.safe_load((ROOT / "include" / "connect" / "demo.yaml").read_text())["mirror"]["connect"]
    kept = properties(ROOT / "docker" / "connect.properties")
    topics = {f"{kind}_topic": kept[f"{kind}.storage.topic"] for kind in ("status", "config", "offset")}

    assert {**topics, "group": kept["group.id"]} == said
    assert "kafka-target:9092" == kept["bootstrap.servers"]


def properties(file: Path) -> dict[str, str]:
    """Return the entries of a file of properties."""
    lines = (line for line in file.read_text().splitlines() if not line.startswith("#"))
    return {key: value for key, _, value in (line.partition("=") for line in lines)}


def test_ports_are_published_on_loopback_only() -> None:
    """Nothing is reachable from another machine."""
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]

    assert ["127.0.0.1:${AIRFLOW_PORT:-8080}:8080"] == ports


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_services_run_without_privileges(name: str) -> None:
    """The user of each image has a number that is not root's, and nothing gives it more rights."""
    service = SERVICES[name]
    users = re.findall(r"^USER (\S+)", STAGES[role(service)], re.MULTILINE)

    assert re.fullmatch(r"1\d{4}:1\d{4}", users[-1])
    assert not {"user", "privileged", "cap_add"} & set(service)
    assert (["ALL"], ["no-new-privileges:true"]) == (service["cap_drop"], service["security_opt"])


def role(service: dict[str, Any]) -> str:
    """Return which image a service has, by the name that the Dockerfile gives it."""
    named = re.fullmatch(r"kafka-migration/([\w-]+):\$\{KAFKA_MIGRATION_TAG:-local\}", service["image"])
    assert named
    return named[1]


def test_each_image_is_built_by_one_service() -> None:
    """Each image is a target of the Dockerfile, named after it; no two services build the same tag at once."""
    built = [service for service in SERVICES.values() if "build" in service]

    assert {"docker/Dockerfile"} == {service["build"]["dockerfile"] for service in built}
    assert [role(service) for service in built] == [service["build"]["target"] for service in built]
    assert sorted({role(service) for service in SERVICES.values()}) == sorted(role(service) for service in built)
    assert set() == {role(service) for service in built} - set(STAGES)


def test_dockerfile_needs_no_buildkit() -> None:
    """The classic builder understands every instruction, and the base image is an argument."""
    assert DOCKERFILE.index("ARG BASE_IMAGE=debian:bookworm-slim") < DOCKERFILE.index("FROM ${BASE_IMAGE} AS base")
    assert not re.search(r"--mount|--chmod|--chown|<<|^# syntax", DOCKERFILE, re.MULTILINE)


def test_the_declared_connector_jars_are_named() -> None:
    """Airflow's image names the jars of `sandbox/jars.json`, at the place that they are copied to."""
    artifacts = json.loads((ROOT / "sandbox" / "jars.json").read_text())["spark-kafka-4.0.0-3.9.1"]["artifacts"]
    expected = {f"/opt/spark-jars/{'-'.join(artifact.split(':')[1:])}.jar" for artifact in artifacts}

    (named,) = re.findall(r"SPARK_JARS=(\S+)", DOCKERFILE)
    assert expected == set(named.split(","))


def test_spark_is_protected() -> None:
    """Master, worker and the connection authenticate with one secret of `.env` and encrypt what they send."""
    script = (ROOT / "docker" / "spark.sh").read_text()
    defaults = script.partition("<<END\n")[2].partition("END\n")[0].replace("$SPARK_SECRET", SPARK_SECRET)
    settings = SERVICES["scheduler"]["environment"]
    (connection,) = [json.loads(value) for name, value in settings.items() if name == "AIRFLOW_CONN_DEMO_SPARK"]
    target = SparkTarget("demo_spark", connection["host"], own=own_settings(connection["extra"]))

    assert () == unprotected_findings(target, (4, 0, 0), declared=False)
    assert target.own == parsed_properties(defaults)
    # Accepted in the demo's migration files.
    assert [Code.SPARK_CIPHER_WEAK] == [finding.code for finding in cipher_findings(target, (4, 0, 0))]
    for name in ("spark-master", "spark-worker"):
        assert SPARK_SECRET == SERVICES[name]["environment"]["SPARK_SECRET"]
    assert "unset SPARK_SECRET" in script


@pytest.mark.parametrize("lock", ["airflow", "spark"])
def test_images_have_the_tested_versions(lock: str) -> None:
    """What an image installs has the versions of `requirements.lock`, and nothing comes on top."""
    tested = versions(ROOT / "requirements.lock")
    installed = versions(ROOT / "docker" / f"requirements-{lock}.lock")

    assert {} == {name: found for name, found in installed.items() if found != tested.get(name)}


def versions(lock: Path) -> dict[str, set[str]]:
    """Return the versions of each package; there are several where markers decide."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock.read_text(), re.MULTILINE):
        found.setdefault(name, set()).add(version)
    return found


def test_more_packages_are_installed_within_the_lock() -> None:
    """`extra-requirements.txt` asks for nothing by itself, and what is written into it changes no locked version."""
    lines = (ROOT / "docker" / "extra-requirements.txt").read_text().splitlines()

    assert [] == [line for line in lines if not line.startswith("#")]
    assert '--constraint "$lock" -r "$extra"' in (ROOT / "docker" / "install-python").read_text()
    assert "statsd" in versions(ROOT / "docker" / "requirements-airflow.lock")


def test_images_trust_certificates_of_ones_own() -> None:
    """A base that has the package learns them too, and Python's libraries ask the system."""
    assert "apt-install ca-certificates && update-ca-certificates" in STAGES["base"]
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"):
        assert f"{name}=/etc/ssl/certs/ca-certificates.crt" in STAGES["python"]


def test_mirrorctl_finds_its_folder_in_every_way() -> None:
    """Asked with `exec` it works in the same folders as over SSH."""
    over_ssh = set(re.findall(r"\b(KAFKA\w+=\S+)", (ROOT / "docker" / "sshd_config").read_text()))
    (settings,) = re.findall(r"^ENV (.*)", STAGES["mirror-host"], re.MULTILINE)

    assert over_ssh == set(settings.split())


def test_key_of_the_mirror_host_may_call_mirrorctl_only() -> None:
    """Airflow's key gives no shell on the MirrorMaker host: it can only run the script that the line names."""
    script = (ROOT / "docker" / "mirror-host.sh").read_text()

    assert """printf 'restrict,command="sh /opt/docker/mirrorctl forced" ssh-ed25519 %s airflow\\n'""" in script
    assert "COPY plugins/kafka_migration/host/mirrorctl /opt/docker/sections/" in STAGES["mirror-host"]
    assert "cat /opt/docker/sections/*.sh > /opt/docker/mirrorctl" in STAGES["mirror-host"]


def test_what_the_images_copy_is_let_in() -> None:
    """Every folder that a stage copies is in the build's context, and in the copy that the test builds."""
    let_in = set(re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    copied = {path for line in re.findall(r"^COPY (?!--from)(.*)", DOCKERFILE, re.M) for path in line.split()[:-1]}

    assert set() == {path.split("/")[0] for path in copied} - let_in
    assert set() == let_in - set(COPIED)
    assert [] == [path for path in copied if not (ROOT / path).exists()]


def test_make_env_gives_every_secret(env_file: Path) -> None:
    """The file has exactly the required variables, all different, in characters that need no quoting."""
    values = read_env(env_file)

    assert {name for name in interpolated() if SECRET.search(name)} == set(values)
    assert len(values) == len(set(values.values()))
    assert [] == [name for name, value in values.items() if not re.fullmatch(r"[A-Za-z0-9+/=_-]{24,}", value)]
    assert 32 == len(base64.urlsafe_b64decode(values["AIRFLOW_FERNET_KEY"]))


def test_make_env_makes_the_keys_that_belong_together(env_file: Path, tmp_path: Path) -> None:
    """The public keys are those of the private ones."""
    values = read_env(env_file)

    for role in ("HOST", "CLIENT"):
        private = tmp_path / role
        private.touch(mode=0o600)
        private.write_bytes(base64.b64decode(values[f"MIRROR_{role}_KEY"]))
        public = subprocess.run(["ssh-keygen", "-y", "-f", private], capture_output=True, text=True, check=True).stdout
        assert values[f"MIRROR_{role}_PUBLIC_KEY"] == public.split()[1]


def test_make_env_keeps_secrets_to_their_owner(env_file: Path) -> None:
    """Only its owner may read the file, and it is neither committed nor copied into an image."""
    assert 0o600 == stat.S_IMODE(env_file.stat().st_mode)
    assert "/.env" in (ROOT / ".gitignore").read_text().split()
    assert "!.env" not in (ROOT / ".dockerignore").read_text().split()


def test_make_env_overwrites_nothing(env_file: Path) -> None:
    """A file that is there is refused, because its secrets belong to volumes."""
    before = env_file.read_text()
    refused = make_env(env_file)

    assert (3, before) == (refused.returncode, env_file.read_text())
    assert "exists already" in refused.stderr


def test_make_env_never_makes_the_same_twice(env_file: Path, tmp_path: Path) -> None:
    """Each file has secrets of its own."""
    make_env(tmp_path / "other")

    assert set() == set(read_env(env_file).values()) & set(read_env(tmp_path / "other").values())


def test_scripts_can_be_run() -> None:
    """What the images start, and `make-env`, are executable."""
    assert [] == [path.name for path in SCRIPTS if not os.access(path, os.X_OK)]


def test_scripts_pass_shellcheck() -> None:
    """The shell scripts have none of the usual mistakes."""
    done = subprocess.run([installed("shellcheck"), *SCRIPTS], capture_output=True, text=True)

    assert (0, "") == (done.returncode, done.stdout)
