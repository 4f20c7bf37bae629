"""Rules about the way from the MirrorMaker host to the brokers."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.preflight.host.asking_host import NamesOnHost
from kafka_migration.preflight.host.machine_checks import resolve_findings
from kafka_migration.preflight.host.tools_checks import connect_findings
from kafka_migration.preflight.scene.check import Fact, UnknownFact

ADDRESSES = ("b1.example:9092", "b2.example:9092")
LATE = "org.apache.kafka.common.errors.TimeoutException: late\nCaused by: x.DisconnectException: gone"
ANSWERS = {"b1.example:9092": "", "b2.example:9092": LATE}
RESOLVED = NamesOnHost.of("b1.example 0 10.0.0.1 \nb2.example 0 10.0.0.2 fe80::1 \n")
IT = Fact("what it is", "It matters.", "Describe")
UNRESOLVED = NamesOnHost.of("b1.example 0 10.0.0.1 \nb2.example 2 \nb3.example 137 \n")


def test_look_up_that_was_ended_is_unknown() -> None:
    """A name of which the host says nothing, or whose look-up was ended, is neither found nor missing."""
    assert ["b3.example", "b4.example"] == UNRESOLVED.unknown(["b1.example", "b2.example", "b3.example", "b4.example"])


def test_names_without_an_address_are_known() -> None:
    """A name is missing only if the host said so; a look-up that was ended says nothing."""
    assert {"b1.example": ("10.0.0.1",)} == UNRESOLVED.found
    assert {"b2.example"} == UNRESOLVED.missing


def test_hosts_block_has_the_addresses_of_the_worker() -> None:
    """A name that only the worker resolves is refused with the line for /etc/hosts."""
    (finding,) = resolve_findings("source.connection", ADDRESSES, UNRESOLVED, {"b2.example": ("10.0.0.2", "fe80::1")})

    assert (Code.HOST_CANNOT_RESOLVE, "no address of b2.example on the MirrorMaker host") == (
        finding.code,
        finding.found,
    )
    assert "\n10.0.0.2 b2.example\n" in finding.remedy
    assert [] == list(resolve_findings("source.connection", ADDRESSES, RESOLVED, {}))


def test_name_that_nobody_resolves_has_no_block() -> None:
    """A name that the worker does not resolve either has no line; the brokers or the DNS are wrong."""
    (finding,) = resolve_findings("source.connection", ADDRESSES, UNRESOLVED, {"b2.example": ()})

    assert "/etc/hosts" not in finding.remedy
    assert "advertised.listeners" in finding.remedy


def test_broker_that_does_not_answer_is_refused() -> None:
    """A broker with an error, or without an answer, is refused by its address; one that answers is not."""
    (finding,) = connect_findings("source.connection", ADDRESSES, ANSWERS, RESOLVED)

    assert Code.HOST_CANNOT_CONNECT == finding.code
    assert "b2.example:9092 (x.DisconnectException: gone)" in finding.found
    assert "b1.example" not in finding.found
    (missing,) = connect_findings("x", (*ADDRESSES, "b3.example:9092"), dict.fromkeys(ADDRESSES, ""), RESOLVED)
    assert "b3.example:9092 (no answer)" in missing.found
    assert [] == list(connect_findings("x", ADDRESSES[:1], ANSWERS, RESOLVED))


def test_unresolved_broker_is_refused_once() -> None:
    """A broker whose name has no address on the host is not refused again because it does not answer."""
    failed = UnknownFact(IT, "it failed", "Fix it.", is_failure=True)

    assert [] == list(connect_findings("x", ADDRESSES, ANSWERS, UNRESOLVED))
    assert [] == list(connect_findings("x", ADDRESSES, failed, UNRESOLVED))
    assert 1 == len(list(connect_findings("x", ADDRESSES, failed, RESOLVED)))
