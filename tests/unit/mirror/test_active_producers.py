"""Who still writes to a partition, from the output of Kafka's tool."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.active_producers import (
    MAX_PROBES,
    parse_producers,
    partitions_named,
    producers_probe,
    with_producers,
)

pytestmark = pytest.mark.unit

OUTPUT = """\
ProducerId	ProducerEpoch	LatestCoordinatorEpoch	LastSequence	LastTimestamp	CurrentTransactionStartOffset
4001      	0            	-1                    	17          	1893456000000	None
4002      	0            	1                     	17          	1893456060000	1200
"""
P0 = TopicPartition("orders", 0)


def finding(code: Code, found: str, subject: str = "topic orders") -> Finding:
    return Finding(code, subject, found, "ends that stand still", "Stop them.")


def test_table_is_read() -> None:
    """Each row is a producer, the last that wrote first; anything else is nobody."""
    last, first = parse_producers(OUTPUT)

    assert (4002, 1200, 4001, None) == (last.producer_id, last.open_since, first.producer_id, first.open_since)
    assert () == parse_producers("Error: the API is not supported by the broker") == parse_producers("")


HEADER = OUTPUT.splitlines()[0]


@pytest.mark.parametrize(
    "output",
    [
        "ProducerId ProducerEpoch\n1 2\n",
        f"{HEADER}\n4001 0 -1 17 yesterday None\n",
        f"{HEADER}\nx 0 -1 17 1893456000000 None\n",
        f"{HEADER}\n4001 0 -1 17 {'9' * 5000} None\n",
        f"{HEADER}\n4001 0 -1 17 {'9' * 30} None\n",
        f"{HEADER}\n4001 0 -1\n",
        f"{HEADER}\n4001 0 -1 17 1893456000000 None extra\n",
        "ProducerId ProducerEpoch\nProducerId ProducerEpoch\n",
        f"{HEADER.replace('LastTimestamp', 'Time')}\n4001 0 -1 17 1893456000000 None\n",
    ],
)
def test_odd_output_replaces_no_finding(output: str) -> None:
    """What a tool prints that is no row of its table is left out; the finding stays, and good rows count."""
    moving = finding(Code.FENCE_MOVING, "orders[0] grew by 7")

    assert (moving,) == with_producers([moving], {P0: parse_producers(output)})
    assert 4001 in {producer.producer_id for producer in parse_producers(OUTPUT + output.partition("\n")[2])}


@pytest.mark.parametrize("timestamp", [-1, 2**62, -(2**62)])
def test_time_that_no_calendar_has_is_shown_as_it_is(timestamp: int) -> None:
    """A producer gives its records any timestamp; the finding names it all the same."""
    moving = finding(Code.FENCE_MOVING, "orders[0] grew by 7")
    producers = parse_producers(f"{HEADER}\n4001 0 -1 17 {timestamp} None\n")

    assert "producer id 4001" in with_producers([moving], {P0: producers})[0].found


def test_finding_names_who_wrote_last() -> None:
    """The producer of each named partition is in the text of its topic, with the time of its last record."""
    moving = finding(Code.FENCE_MOVING, "orders[0] grew by 7")
    other = finding(Code.FENCE_MOVING, "audit[0] grew by 7", "topic audit")
    dead = finding(Code.MIRROR_DEAD, "orders[0]")
    told = with_producers([moving, other, dead], {P0: parse_producers(OUTPUT)})

    last = "producer id 4002 (last record 2030-01-01T00:01:00+00:00, transaction open since offset 1,200)"
    assert last in told[0].found
    assert (other, dead) == told[1:]
    assert (moving,) == with_producers([moving], {P0: ()})


def test_only_the_first_partitions_of_a_fence_are_asked_about() -> None:
    """Each question starts a Java process on the host."""
    names = "; ".join(f"orders[{number}] grew" for number in range(9))
    found = partitions_named([finding(Code.MIRROR_DEAD, "audit[3]"), finding(Code.FENCE_MOVING, names)])

    assert tuple(TopicPartition("orders", number) for number in range(MAX_PROBES)) == found


def test_login_is_in_a_file() -> None:
    """The address is an argument; whatever else the client needs is in a file that goes along."""
    probe = producers_probe(P0, "bootstrap.servers = a:1\nsasl.jaas.config = secret\n", None, None)

    assert ("--bootstrap-server", "a:1") == probe.arguments[:2]
    assert not any("secret" in argument for argument in probe.arguments)
    assert "secret" in probe.files["client.properties"]
