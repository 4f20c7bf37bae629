"""What the questions to the host carry, and what is kept of the answers."""

from __future__ import annotations

import pytest

from kafka_migration.core.migration.settings import Cluster, MirrorSettings
from kafka_migration.core.mirror.host import ProbeSubject
from kafka_migration.preflight.probes import MOST_NAMES, Probes
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


def test_each_question_is_asked_once(host: FakeMirrorHost) -> None:
    """The answer of a tool is kept by side, and the host is asked about itself once."""
    probes = Probes(client_properties=lambda cluster: {"bootstrap.servers": cluster.connection})
    for side in (SOURCE, TARGET, SOURCE):
        probes.tool(host, ProbeSubject.QUOTAS, side, MIRROR)
        probes.machine(host, ["b1"])

    assert ["host", "quotas", "quotas"] == sorted(str(probe.subject) for probe in host.probes)


def test_errors_hide_secrets_and_output_is_as_printed(host: FakeMirrorHost) -> None:
    """A tool's errors show no secret of the connection; its output is not mutilated by a short password."""
    facts = Probes(client_properties=lambda _: LOGIN).tool(host, ProbeSubject.QUOTAS, SOURCE, MIRROR)

    assert ("bad value ***", "rate=7") == (facts["errors"], facts["output"])


def test_question_carries_login_and_token_address(host: FakeMirrorHost) -> None:
    """A tool gets the settings as a file, the address, the homes of the migration, and the address of tokens."""
    Probes(client_properties=lambda _: LOGIN).tool(host, ProbeSubject.BROKERS, SOURCE, MIRROR)
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
    Probes().tool(host, ProbeSubject.SPACE, SOURCE, MIRROR, topics)

    assert listed == host.probes[0].topics


def test_names_are_bounded(host: FakeMirrorHost) -> None:
    """The host is asked for no more names than mirrorctl accepts."""
    Probes().machine(host, [f"b{number}" for number in range(MOST_NAMES + 1)])

    assert MOST_NAMES == len(host.probes[0].names)
