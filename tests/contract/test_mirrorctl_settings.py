"""A probe brings only the client settings that this package writes, however Java's properties could spell others."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.mirror.host import HostProbe, ProbeSubject
from kafka_migration.engines.launching import render_properties
from tests.contract.client_settings import (
    HOSTILE_LINES,
    OTHER_SETTINGS,
    judged,
    listed_settings,
    mutations,
    packages_properties,
    quoted,
    read_by_java,
)
from tests.contract.local_host import ForcedTransport, LocalTransport, Machine
from tests.contract.process_contract import codes

pytestmark = pytest.mark.live

GOOD = "bootstrap.servers = b1:9092\nsecurity.protocol = PLAINTEXT\n"


def shell_of(machine: Machine) -> Path:
    """Return the machine's `sh`."""
    return machine.bin / "sh"


def test_list_is_what_the_package_writes() -> None:
    """mirrorctl accepts each setting that a connection can become, and no other."""
    written = {name for properties in packages_properties() for name in properties}

    assert written == listed_settings()


def test_packages_settings_are_accepted_and_read_back(any_machine: Machine, tmp_path: Path) -> None:
    """Whatever a connection holds, its settings are accepted, and Java reads the same values from them."""
    properties = list(packages_properties())
    accepted, refusals = judged(shell_of(any_machine), tmp_path, list(map(render_properties, properties)))

    assert {} == refusals
    assert len(properties) == len(accepted)
    assert dict(enumerate(properties)) == read_by_java(tmp_path / "accepted")


def test_hostile_lines_are_refused_without_their_value(any_machine: Machine, tmp_path: Path) -> None:
    """Each line that could be another setting is refused, wherever it is; its value is not shown."""
    texts = [text for line in HOSTILE_LINES for text in (f"{line}\n{GOOD}", f"{GOOD}{line}\n{GOOD}", GOOD + line)]
    accepted, refusals = judged(shell_of(any_machine), tmp_path, [text for text in texts if text != GOOD])

    assert [] == [quoted(path.read_text()) for path in accepted.values()]
    assert [] == [message for message in refusals.values() if "canary" in message]


@pytest.mark.parametrize("name", OTHER_SETTINGS)
@pytest.mark.parametrize("transport", [LocalTransport, ForcedTransport])
def test_refusal_names_the_setting(machine: Machine, transport: type[LocalTransport], name: str) -> None:
    """The reply to a whole call is a coded refusal with the name, on either side; nothing is written."""
    homes = str(machine.kafka_home), str(machine.java_home)
    host = ScriptMirrorHost("shop", transport(machine), str(machine.home))
    for side in ("source", "target"):
        settings = {"source": GOOD, "target": GOOD, side: f"{GOOD}{name} = canary\n"}
        with pytest.raises(Refused, match=rf"setting {name} is not allowed") as error:
            host.probe(HostProbe(ProbeSubject.CLUSTERS, *homes, properties=settings))
        assert {Code.HOST_REFUSED} == codes(error)
        assert "canary" not in str(error.value)
    assert not (machine.home / "shop").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{GOOD}security.protocol = SSL\n", "security.protocol is given twice"),
        (f"{GOOD}client.rack = ${{x}}\n", "client.rack has a reference"),
        (f"{GOOD}canarykey==\n", "in line 3 is not allowed"),
        (f"client.rack = {'x' * 2_200_000}\n", "more than 2097152 bytes"),
    ],
)
def test_reason_is_said(any_machine: Machine, tmp_path: Path, text: str, said: str) -> None:
    """A duplicate, a reference, a line without a name and too long settings are refused with the reason."""
    _, refusals = judged(shell_of(any_machine), tmp_path, [text])

    assert said in refusals[0]
    assert "canary" not in refusals[0]


@pytest.mark.parametrize("count", [200, pytest.param(3000, marks=pytest.mark.campaign)])
def test_java_reads_nothing_else(slow_machine: Machine, tmp_path: Path, count: int) -> None:
    """From every text that mirrorctl accepts, Java reads only settings of the list, and no reference in a value."""
    texts = mutations(count, seed=count)
    accepted, refusals = judged(shell_of(slow_machine), tmp_path, texts)
    read = read_by_java(tmp_path / "accepted")

    assert count == len(accepted) + len(refusals)
    assert accepted
    for number, settings in read.items():
        assert settings.keys() <= listed_settings(), quoted(texts[number])
        assert not [value for value in settings.values() if "${" in value], quoted(texts[number])
