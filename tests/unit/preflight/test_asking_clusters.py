"""What the question about both clusters carries, and what is kept of the answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from kafka_migration.core.documents.codec import read
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.migration.settings import Cluster, Migration
from kafka_migration.core.mirror.host import HostProbe, HostReply, ProbeSubject
from kafka_migration.preflight.host.asking_clusters import (
    ClientAnswer,
    HostAnswers,
    Question,
    answer_of,
    answers_of_host,
    on_host,
    read_answers,
)
from kafka_migration.preflight.host.machine_checks import host_clock
from kafka_migration.preflight.host.target_space_check import target_space
from kafka_migration.preflight.host.tools_checks import cluster_clocks, host_brokers, quotas
from kafka_migration.preflight.scene.check import Fact, UnknownFact, run_checks
from kafka_migration.preflight.scene.scene import Scene
from tests.checked_scene import Deployed, Run, alone, scene_of

LOGIN = {
    "bootstrap.servers": "b1:9092",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "u",
    "sasl.password": "7",
}
TOKEN = {
    "bootstrap.servers": "b2:9092",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.client.id": "u",
    "sasl.oauthbearer.client.secret": "8",
    "sasl.oauthbearer.token.endpoint.url": "https://id.example/token",
}
IT = Fact("what it is", "It matters.", "Describe")
QUESTION = Question("it", IT, str)


@pytest.fixture
def run(migration: Migration) -> Run:
    """A run with a host."""
    return Run(migration)


@pytest.fixture
def scene(run: Run) -> Scene:
    """A scene of that run, for which nothing was asked yet."""
    return scene_of(run)


def test_all_checks_ask_the_host_once(run: Run, scene: Scene) -> None:
    """All checks that ask the clusters from the host share one call, which is about both clusters."""
    asking = [alone(check) for check in (host_brokers, cluster_clocks, target_space, quotas)]
    run_checks(asking, scene)

    assert ["clusters"] == [str(probe.subject) for probe in run.second_host.probes]


def test_host_without_an_answer_about_itself_is_asked_about_the_clusters(
    run: Run, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of the probe of the host belongs to the checks of the host."""
    monkeypatch.setattr(run.host, "probe", _lost)
    clocks, own = run_checks([alone(check) for check in (cluster_clocks, host_clock)], scene)

    assert ("passed", "failed") == (clocks.state, own.state)
    assert [Code.SSH_UNREACHABLE] == [finding.code for finding in own.findings]


def test_question_carries_both_logins_and_all_token_addresses(run: Run, scene: Scene) -> None:
    """The host gets the settings of both clusters, the homes, the topics of both sides, and all addresses of tokens."""
    names = replace(run.migration.mirror.topic_names, pattern="new.{topic}")
    mirror = replace(run.migration.mirror, kafka_home="/kafka", topic_names=names)
    run.migration = replace(run.migration, mirror=mirror)
    other = {**TOKEN, "sasl.oauthbearer.token.endpoint.url": "https://a.example/token"}
    run.deployment = Deployed(client_settings=lambda cluster: TOKEN if cluster == run.migration.source else other)
    answers_of_host(scene)
    (probe,) = run.second_host.probes

    assert ("/kafka", None) == (probe.kafka_home, probe.java_home)
    assert ["source", "target"] == [side for side, text in probe.properties.items() if "clientSecret" in text]
    option = "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://a.example/token,https://id.example/token"
    assert (option,) == probe.java_options
    assert ("audit", "new.audit", "new.orders", "orders") == probe.topics


def test_settings_are_read_before_any_answer(run: Run, scene: Scene) -> None:
    """Without a token address, no option is set; each connection is read once."""
    asked: list[str] = []

    def settings(cluster: Cluster) -> dict[str, Any]:
        asked.append(cluster.connection)
        return LOGIN

    run.deployment = Deployed(client_settings=settings)
    for _ in range(2):
        on_host(scene, QUESTION)

    assert [run.migration.source.connection, run.migration.target.connection] == asked
    assert () == run.second_host.probes[0].java_options


def answers(**outputs: object) -> dict[str, str]:
    """Return the facts of a probe with these outputs about the source."""
    side = {name: {"exit": "0", "output": output} for name, output in outputs.items()}
    return {"exit": "0", "output": json.dumps({"source": side, "target": {}})}


def test_unreadable_answer_hides_no_other(run: Run, scene: Scene) -> None:
    """An answer of another form, or none, is unknown with a reason; the others are read."""
    run.second_host.probed[ProbeSubject.CLUSTERS] = answers(it="yes", brokers=[1])
    brokers = Question("brokers", IT, partial(read, Mapping[str, str]))
    found, other = on_host(scene, QUESTION), on_host(scene, brokers)

    assert "yes" == found["source"]
    assert isinstance(found["target"], UnknownFact)
    assert "no answer to this question" in found["target"].reason
    assert isinstance(other["source"], UnknownFact)
    assert "the host answered something else" in other["source"].reason


@pytest.mark.parametrize(
    "output",
    ["", "{", "[]", "null", "1", '{"source": []}', '{"source": {"it": {}}}', "[" * 100_000, '{"source": {"it": 1}}'],
)
def test_other_documents_are_unknown(output: str) -> None:
    """What is not the program's document answers nothing, and is no error."""
    found = read_answers({"exit": "0", "output": output})
    answer = answer_of(QUESTION, found.to("it", "source"), {})

    assert isinstance(answer, UnknownFact)
    assert answer.is_failure
    assert "mirrorctl" in answer.remedy


def test_errors_hide_secrets_and_output_is_as_printed() -> None:
    """Errors show no secret of either connection; an output is not mutilated by a short password."""
    settings: Any = {"source": LOGIN, "target": TOKEN}
    failed = answer_of(QUESTION, ClientAnswer("1", errors="x.Error: bad value 7 or 8"), settings)

    assert isinstance(failed, UnknownFact)
    assert "x.Error: bad value *** or ***" == failed.reason
    assert "rate=78" == answer_of(QUESTION, ClientAnswer("0", "rate=78"), settings)


def _refused(_: HostProbe) -> HostReply:
    raise TransientError("HOST_LOCKED: process 5 has held the probing-clusters of this migration for over 130 s")


def _lost(_: HostProbe) -> HostReply:
    raise TransientError("the connection was lost")


def test_host_that_answers_other_preflights_leaves_facts_unknown(
    run: Run, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe that does not get its turn is a fact that is unknown, with its reason; another failure is passed on."""
    monkeypatch.setattr(run.second_host, "probe", _refused)
    unknown = on_host(scene, QUESTION)["source"]
    assert "it is unknown what it is: the host answered other preflights" in str(unknown)

    monkeypatch.setattr(run.second_host, "probe", _lost)
    with pytest.raises(TransientError, match="lost"):
        on_host(scene_of(run), QUESTION)


def unknown(exit_code: str, errors: str = "") -> UnknownFact:
    """Return the fact that an answer leaves unknown."""
    found = answer_of(QUESTION, HostAnswers({}, ClientAnswer(exit_code, errors=errors)).to("it", "target"), {})
    assert isinstance(found, UnknownFact)
    return found


def test_unanswered_question_says_why() -> None:
    """A question without an answer is unknown with its innermost error; what a user can change has a remedy."""
    failed = unknown("1", "a.KafkaException: no\nCaused by: a.TimeoutException: late")
    denied = unknown("1", "x.ClusterAuthorizationException: no")
    old = unknown("1", "x.UnsupportedVersionException: no")
    absent = unknown(
        "1", 'Exception in thread "main" java.lang.NoClassDefFoundError: org/apache/kafka/clients/admin/Admin'
    )
    older = unknown("1", "java.lang.NoSuchMethodError: no")
    late, large = unknown("timeout"), unknown("large")

    remedy = "Correct the cause that the client names."
    assert UnknownFact(IT, "a.TimeoutException: late", remedy, is_failure=True) == failed
    assert ("Grant Describe to the user of the connection.", False) == (denied.remedy, denied.is_failure)
    assert ("", False) == (old.remedy, old.is_failure)
    assert ("Kafka on the host is too old to ask for it", "", False) == (older.reason, older.remedy, older.is_failure)
    assert "whole Kafka distribution" in absent.remedy
    assert (True, False) == (late.is_failure, large.is_failure)
    assert "the answer is too large for a reply of the host" == large.reason
