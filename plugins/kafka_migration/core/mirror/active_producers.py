"""Active producers: adds the producers that Kafka's tool lists for a partition to the findings of the fence.

Brokers only know producers with an id: idempotent ones (the Java client's default since 3.0) and transactional ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.host import GENERATION_DIR, PROBE_CLASS, HostProbe

FENCE_CODES = frozenset({Code.FENCE_MOVING, Code.FENCE_OPEN_TRANSACTION})
# Each probe starts a Java process on the MirrorMaker host.
MAX_PROBES = 3
TIMEOUT_S = 60
_CLIENT_FILE = "client.properties"
_NAMED = re.compile(r"(?P<topic>[A-Za-z0-9._-]+)\[(?P<partition>[0-9]+)\]")


class ActiveProducer(NamedTuple):
    """A producer that the leader of a partition knows; `open_since` is the offset at which its transaction began."""

    producer_id: int
    last_timestamp_ms: int
    open_since: int | None

    def __str__(self) -> str:
        try:
            at = datetime.fromtimestamp(self.last_timestamp_ms / 1000, UTC).isoformat(timespec="seconds")
        except (ValueError, OverflowError, OSError):
            # The producer sets the timestamp, and may set any value.
            at = f"timestamp {self.last_timestamp_ms}"
        transaction = "" if self.open_since is None else f", transaction open since offset {self.open_since:,}"
        return f"producer id {self.producer_id} (last record {at}{transaction})"


def partitions_named(findings: Iterable[Finding]) -> tuple[TopicPartition, ...]:
    """Return the first partitions that findings of a fence name."""
    texts = (finding.found for finding in findings if finding.code in FENCE_CODES)
    named = (match for text in texts for match in _NAMED.finditer(text))
    found = dict.fromkeys(TopicPartition(match["topic"], int(match["partition"])) for match in named)
    return tuple(found)[:MAX_PROBES]


def producers_probe(
    partition: TopicPartition, client_properties: str, kafka_home: str | None, java_home: str | None
) -> HostProbe:
    """Return the probe for the host: `kafka-transactions.sh describe-producers`, which brokers support since 2.8.

    :param client_properties: the text of a properties file with the cluster's address and login
    """
    servers = re.search(r"^bootstrap\.servers = (.*)$", client_properties, re.MULTILINE)
    return HostProbe(
        main_class=PROBE_CLASS,
        arguments=(
            "--bootstrap-server",
            servers[1] if servers else "",
            "--command-config",
            f"{GENERATION_DIR}/{_CLIENT_FILE}",
            "describe-producers",
            "--topic",
            partition.topic,
            "--partition",
            str(partition.partition),
        ),
        files={_CLIENT_FILE: client_properties},
        timeout_s=TIMEOUT_S,
        kafka_home=kafka_home,
        java_home=java_home,
    )


def parse_producers(output: str) -> tuple[ActiveProducer, ...]:
    """Parse the tool's table, the most recent producer first; other lines are ignored, and no table means none."""
    lines = [line.split() for line in output.splitlines()]
    header = next((n for n, words in enumerate(lines) if words[:2] == ["ProducerId", "ProducerEpoch"]), None)
    if header is None:
        return ()
    found = []
    for words in lines[header + 1 :]:
        with suppress(ValueError, KeyError):
            found.append(_producer(dict(zip(lines[header], words, strict=True))))
    return tuple(sorted(found, key=lambda producer: -producer.last_timestamp_ms))


def _producer(row: Mapping[str, str]) -> ActiveProducer:
    start = row["CurrentTransactionStartOffset"]
    return ActiveProducer(
        _int64(row["ProducerId"]), _int64(row["LastTimestamp"]), _int64(start) if start.isdecimal() else None
    )


def _int64(text: str) -> int:
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise ValueError(text)
    return number


def with_producers(
    findings: Iterable[Finding], producers: Mapping[TopicPartition, tuple[ActiveProducer, ...]]
) -> tuple[Finding, ...]:
    """Return the findings with the last producer of each partition, if one is known."""
    return tuple(_with(finding, producers) for finding in findings)


def _with(finding: Finding, producers: Mapping[TopicPartition, tuple[ActiveProducer, ...]]) -> Finding:
    if finding.code not in FENCE_CODES:
        return finding
    mine = [f"{p}: {known[0]}" for p, known in producers.items() if known and finding.subject == f"topic {p.topic}"]
    return replace(finding, found=f"{finding.found}. Last wrote {'; '.join(mine)}") if mine else finding
