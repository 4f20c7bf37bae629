"""What the questions to the host carry, and what is kept of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import Barrier

import pytest

from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import ClusterFacts
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.host import HostProbe, HostReply, ProbeSubject
from kafka_migration.preflight.host.asking_host import MOST_NAMES, answer_of, machine, tools
from kafka_migration.preflight.scene.check import Fact
from kafka_migration.preflight.scene.scene import Scene
from tests.checked_scene import Deployed, Run, scene_of
from tests.contract.fake_mirror_host import FakeMirrorHost

LOGIN = {
    "bootstrap.servers": "b1:9092",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "u",
    "sasl.password": "7",
}
TOKEN = {
    "bootstrap.servers": "b1:9092",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.client.id": "u",
    "sasl.oauthbearer.client.secret": "7",
    "sasl.oauthbearer.token.endpoint.url": "https://id.example/token",
}


@pytest.fixture
def run(migration: Migration) -> Run:
    """A run whose host has tools that quote the password, in their output by chance."""
    run = Run(migration)
    run.host.probed[ProbeSubject.QUOTAS] = {"errors": "bad value 7", "output": "rate=7"}
    return run


@pytest.fixture
def scene(run: Run) -> Scene:
    """A scene of that run, for which nothing was asked yet."""
    return scene_of(run)


def test_each_question_is_asked_once(run: Run, scene: Scene) -> None:
    """The answers of a tool are kept, and the host is asked about itself once."""
    for _ in range(2):
        tools(scene, ProbeSubject.QUOTAS)
        machine(scene)

    assert ["quotas", "host"] == [str(probe.subject) for probe in run.host.probes]
    assert ["quotas"] == [str(probe.subject) for probe in run.second_host.probes]


def test_sides_are_asked_at_once(run: Run, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question about one side does not wait for the answer about the other."""
    both, answer = Barrier(2), FakeMirrorHost.probe

    def meeting(host: FakeMirrorHost, probe: HostProbe) -> HostReply:
        both.wait(60)
        return answer(host, probe)

    monkeypatch.setattr(FakeMirrorHost, "probe", meeting)
    tools(scene, ProbeSubject.CLOCK)

    assert [1, 1] == [len(run.host.probes), len(run.second_host.probes)]


def test_one_side_without_answer_is_an_error(run: Run, scene: Scene) -> None:
    """If one side is not answered, nothing is kept, and the error is that of the call."""
    run.second_host.errors = [TransientError("no answer")] * 2
    for _ in range(2):
        with pytest.raises(TransientError, match="no answer"):
            tools(scene, ProbeSubject.CLOCK)

    assert 2 == len(run.host.probes)


def test_errors_hide_secrets_and_output_is_as_printed(run: Run, scene: Scene) -> None:
    """A tool's errors show no secret of the connection; its output is not mutilated by a short password."""
    run.deployment = Deployed(client_settings=lambda _: LOGIN)
    facts = tools(scene, ProbeSubject.QUOTAS)["source"]

    assert ("bad value ***", "rate=7") == (facts["errors"], facts["output"])


def test_question_carries_login_and_token_address(run: Run, scene: Scene) -> None:
    """A tool gets the settings as a file, the address, the homes of the migration, and the address of tokens."""
    run.migration = replace(run.migration, mirror=replace(run.migration.mirror, kafka_home="/kafka"))
    run.deployment = Deployed(client_settings=lambda _: TOKEN)
    tools(scene, ProbeSubject.BROKERS)
    (probe,) = run.host.probes

    assert ("b1:9092", "/kafka", None) == (probe.bootstrap, probe.kafka_home, probe.java_home)
    assert "clientSecret" in probe.properties
    assert ("-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://id.example/token",) == probe.java_options


@pytest.mark.parametrize(
    ("topics", "listed"),
    [(("-a", "b", "c"), ("b", "c", "-a")), (("-a", "-b"), ()), ((), ())],
)
def test_list_of_topics_is_no_option(run: Run, scene: Scene, topics: tuple[str, ...], listed: tuple[str, ...]) -> None:
    """A list of topics never begins with a dash; if every name does, the answer is not limited."""
    run.migration = run.migration.of_topics(topics)
    tools(scene, ProbeSubject.SPACE)

    assert listed == run.host.probes[0].topics


def test_names_are_bounded(run: Run, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host is asked for no more names than mirrorctl accepts."""
    many = tuple(f"b{number}:9092" for number in range(MOST_NAMES + 1))
    monkeypatch.setattr(run.source, "facts", lambda: ClusterFacts("id", len(many), many))
    machine(scene)

    assert MOST_NAMES == len(run.host.probes[0].names)


def _refused(_: HostProbe) -> HostReply:
    raise TransientError("HOST_LOCKED: process 5 has held the probing of this migration for over 130 s")


def _lost(_: HostProbe) -> HostReply:
    raise TransientError("the connection was lost")


def test_host_that_answers_other_preflights_leaves_a_fact_unknown(
    run: Run, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe that does not get its turn is a fact that is unknown, with its reason; another failure is passed on."""
    monkeypatch.setattr(run.host, "probe", _refused)
    facts: Mapping[str, str] = tools(scene, ProbeSubject.QUOTAS)["source"]
    unknown = answer_of(Fact("which quotas there are", "They slow a copy."), facts)
    assert "it is unknown which quotas there are: the host answered other preflights" in str(unknown)

    monkeypatch.setattr(run.host, "probe", _lost)
    with pytest.raises(TransientError, match="lost"):
        tools(scene, ProbeSubject.SPACE)["source"]
