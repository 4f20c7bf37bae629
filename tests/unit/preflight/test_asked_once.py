"""What the questions to the host carry, and what is kept of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Barrier

import pytest

from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.settings import Cluster, MirrorSettings
from kafka_migration.core.mirror.host import HostProbe, HostReply, ProbeSubject
from kafka_migration.preflight.scene.asked_once import MOST_NAMES, AskedSide, Probes
from kafka_migration.preflight.scene.tool_answers import answer_of
from tests.contract.fake_mirror_host import FakeMirrorHost

SOURCE, TARGET = Cluster("old", "a"), Cluster("new", "b")
MIRROR = MirrorSettings("mirrormaker2", "host", "/kafka", None, 1, 256, 60, 60, "read_committed")
LOGIN = {
    "bootstrap.servers": "b1:9092",
    "sasl.jaas.config": 'x required username="u" password="7";',
    "sasl.oauthbearer.token.endpoint.url": "https://id.example/token",
}


@pytest.fixture
def host() -> FakeMirrorHost:
    """A host whose tools quote the password, in their output by chance."""
    host = FakeMirrorHost()
    host.probed[ProbeSubject.QUOTAS] = {"errors": "bad value 7", "output": "rate=7"}
    return host


def ask(
    host: FakeMirrorHost, subject: ProbeSubject, probes: Probes | None = None, topics: Sequence[str] = ()
) -> Mapping[str, str]:
    """Ask a tool about the source only."""
    return (probes or Probes()).tools(subject, {"source": AskedSide(host, SOURCE, topics)}, MIRROR)["source"]


def test_each_question_is_asked_once(host: FakeMirrorHost) -> None:
    """The answers of a tool are kept, and the host is asked about itself once."""
    probes = Probes(client_properties=lambda cluster: {"bootstrap.servers": cluster.connection})
    sides: Mapping[Side, AskedSide] = {"source": AskedSide(host, SOURCE), "target": AskedSide(host, TARGET)}
    for _ in range(2):
        probes.tools(ProbeSubject.QUOTAS, sides, MIRROR)
        probes.machine(host, ["b1"])

    assert ["host", "quotas", "quotas"] == sorted(str(probe.subject) for probe in host.probes)
    assert {SOURCE.connection, TARGET.connection, ""} == {probe.bootstrap for probe in host.probes}


def test_sides_are_asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The question about one side does not wait for the answer about the other."""
    first, second, both = FakeMirrorHost(), FakeMirrorHost(), Barrier(2)
    answer = FakeMirrorHost.probe

    def meeting(host: FakeMirrorHost, probe: HostProbe) -> HostReply:
        both.wait(60)
        return answer(host, probe)

    monkeypatch.setattr(FakeMirrorHost, "probe", meeting)
    Probes().tools(
        ProbeSubject.CLOCK, {"source": AskedSide(first, SOURCE), "target": AskedSide(second, TARGET)}, MIRROR
    )

    assert [1, 1] == [len(first.probes), len(second.probes)]


def test_one_side_without_answer_is_an_error(host: FakeMirrorHost) -> None:
    """If one side is not answered, nothing is kept, and the error is that of the call."""
    silent, probes = FakeMirrorHost(), Probes()
    silent.errors = [TransientError("no answer")] * 2
    sides: Mapping[Side, AskedSide] = {"source": AskedSide(host, SOURCE), "target": AskedSide(silent, TARGET)}
    for _ in range(2):
        with pytest.raises(TransientError, match="no answer"):
            probes.tools(ProbeSubject.CLOCK, sides, MIRROR)

    assert 2 == len(host.probes)


def test_errors_hide_secrets_and_output_is_as_printed(host: FakeMirrorHost) -> None:
    """A tool's errors show no secret of the connection; its output is not mutilated by a short password."""
    facts = ask(host, ProbeSubject.QUOTAS, Probes(client_properties=lambda _: LOGIN))

    assert ("bad value ***", "rate=7") == (facts["errors"], facts["output"])


def test_question_carries_login_and_token_address(host: FakeMirrorHost) -> None:
    """A tool gets the settings as a file, the address, the homes of the migration, and the address of tokens."""
    ask(host, ProbeSubject.BROKERS, Probes(client_properties=lambda _: LOGIN))
    (probe,) = host.probes

    assert ("b1:9092", "/kafka", None) == (probe.bootstrap, probe.kafka_home, probe.java_home)
    assert 'password=\\"7\\"' in probe.properties or 'password="7"' in probe.properties
    assert ("-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://id.example/token",) == probe.java_options


@pytest.mark.parametrize(
    ("topics", "listed"),
    [(("-a", "b", "c"), ("b", "c", "-a")), (("-a", "-b"), ()), ((), ())],
)
def test_list_of_topics_is_no_option(host: FakeMirrorHost, topics: tuple[str, ...], listed: tuple[str, ...]) -> None:
    """A list of topics never begins with a dash; if every name does, the answer is not limited."""
    ask(host, ProbeSubject.SPACE, topics=topics)

    assert listed == host.probes[0].topics


def test_names_are_bounded(host: FakeMirrorHost) -> None:
    """The host is asked for no more names than mirrorctl accepts."""
    Probes().machine(host, [f"b{number}" for number in range(MOST_NAMES + 1)])

    assert MOST_NAMES == len(host.probes[0].names)


def test_host_that_answers_other_preflights_leaves_a_fact_unknown(
    host: FakeMirrorHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe that does not get its turn is a fact that is unknown, with its reason; another failure is passed on."""

    def refused(_: HostProbe) -> HostReply:
        raise TransientError("HOST_LOCKED: process 5 has held the probing of this migration for over 130 s")

    monkeypatch.setattr(host, "probe", refused)
    unknown = answer_of("the quotas", ask(host, ProbeSubject.QUOTAS), "DescribeConfigs")
    assert "the quotas is unknown: the host answered other preflights" in str(unknown)

    def lost(_: HostProbe) -> HostReply:
        raise TransientError("the connection was lost")

    monkeypatch.setattr(host, "probe", lost)
    with pytest.raises(TransientError, match="lost"):
        ask(host, ProbeSubject.SPACE)
