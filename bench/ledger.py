"""The cost of reading the ledger of a large migration, compared with parsing the JSON of its files.

Every night appends three entries: a generation starts, it stops, its copy is judged. The opponent reads the same files
from the page cache and keeps nothing. The ledger also checks the chain and the fields of each entry. It reads large
mappings when they are first used; the second figure adds what each start of MirrorMaker asks for.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measuring import interleaved, ratio
from bench.results import Row
from bench.sizes import Ledger as Size
from kafka_migration.adapters.store.ledger_store import LEDGER_FOLDER, LedgerStore
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.generations import (
    Comparison,
    Fingerprint,
    GenerationStart,
    Judgement,
    ReadOffsets,
    Remembered,
    StopCertificate,
)
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.validation.validation_contract import POSITION_DIGEST
from tests.contract.memory_anchor import MemoryAnchor

MIGRATION = "bench"
PARTITIONS_PER_TOPIC = 100
RECORDS_PER_NIGHT = 1_000
_AT = "2030-01-01T00:00:00+00:00"


def rows(size: Size) -> Iterator[Row]:
    """Generate the ledger and time both arms."""
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder:
        root, head = Path(folder), MemoryAnchor()
        filled(LedgerStore(root, MIGRATION, anchor=head), size.partitions, size.nights)
        files = sorted((root / MIGRATION / LEDGER_FOLDER).iterdir())
        arms = {
            "ledger": lambda: _read(root, head),
            "start": lambda: _ask_like_a_start(_read(root, head)),
            "json.loads": lambda: _parse(files),
        }
        costs = interleaved(arms, size.runs)
    yield ratio(
        "ledger of 10,000 partitions × 30 nights, read once ÷ json.loads of its files", costs, "ledger", "json.loads"
    )
    yield ratio(
        "ledger of 10,000 partitions × 30 nights, read and asked by a start ÷ json.loads of its files",
        costs,
        "start",
        "json.loads",
    )


def _read(root: Path, head: MemoryAnchor) -> Ledger:
    """Read the ledger as a new process does."""
    return LedgerStore(root, MIGRATION, anchor=head).read()


def _ask_like_a_start(ledger: Ledger) -> None:
    assert ledger.last_stop is not None
    assert not ledger.pending_generations
    assert ledger.copied_topics


def _parse(files: list[Path]) -> None:
    for file in files:
        json.loads(file.read_bytes())


def filled(store: LedgerStore, partitions: int, nights: int) -> None:
    """Append the entries of so many nights."""
    for night in range(1, nights + 1):
        run = f"kafka_nightly_sync__{MIGRATION}/night-{night}#1"
        begin, end = (_offsets(partitions, number) for number in (night - 1, night))
        store.append(GenerationStart(night, run, _AT, begin, begin, _topic_ids(begin)).to_document())
        store.append(StopCertificate(night, run, _AT, True, 143, "stopped", end, end, _remembered(end)).to_document())
        store.append(_judgement(night, run, end).to_document())


def _offsets(partitions: int, night: int) -> Offsets:
    """Return the offsets of all partitions after a night."""
    places = (divmod(number, PARTITIONS_PER_TOPIC) for number in range(partitions))
    return {TopicPartition(f"topic-{topic:03}", number): night * RECORDS_PER_NIGHT for topic, number in places}


def _topic_ids(offsets: Offsets) -> dict[str, str]:
    return {p.topic: f"id-of-{p.topic}" for p in offsets}


def _remembered(end: Offsets) -> Remembered:
    prints = {p: Fingerprint(at - 1, hashlib.sha256(f"{p} {at}".encode()).hexdigest()) for p, at in end.items()}
    return Remembered(end, {}, prints, _topic_ids(end))


def _judgement(night: int, run: str, end: Offsets) -> Judgement:
    """Return the judgement of a comparison by position: one comparison per partition."""
    comparisons: dict[str, tuple[Comparison, ...]] = {}
    for p, at in end.items():
        comparisons[p.topic] = (*comparisons.get(p.topic, ()), _comparison(night, p, at))
    verdicts = dict.fromkeys(comparisons, Verdict.PASS)
    counts = {topic: RECORDS_PER_NIGHT * len(made) for topic, made in comparisons.items()}
    return Judgement(run, _AT, False, (night,), verdicts, counts, POSITION_DIGEST, comparisons)


def _comparison(night: int, partition: TopicPartition, at: int) -> Comparison:
    start = at - RECORDS_PER_NIGHT
    window = ReadOffsets(partition.partition, night, start, at, start, at)
    digest = hashlib.sha256(f"{partition} {night}".encode()).hexdigest()
    return Comparison(Verdict.PASS, (window,), RECORDS_PER_NIGHT, RECORDS_PER_NIGHT, digest, digest)
