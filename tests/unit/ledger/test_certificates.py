"""Rules of stop certificates and of the ledger that adds them up."""

from __future__ import annotations

from typing import Any

from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.ledger.generations import Fingerprint, GenerationStart, Remembered, StopCertificate
from kafka_migration.core.ledger.ledger import Ledger
from tests.folded import fold
from tests.present import present
from tests.unit.partitions import AUDIT, P0


def start(generation: int, positions: Offsets, run: str = "dag/run#1") -> dict[str, Any]:
    return GenerationStart(generation, run, "t", positions, {}).to_document()


def stop(generation: int, positions: Offsets, **remembered: Any) -> StopCertificate:
    kept = Remembered(**{"stored_positions": positions, **remembered})
    return StopCertificate(generation, "dag/run#1", "t", True, 143, "stopped", positions, {}, kept)


def folded(*stops: StopCertificate) -> Ledger:
    entries = ([start(s.generation, s.mirror_positions), s.to_document()] for s in stops)
    return fold(entry for pair in entries for entry in pair)


def test_later_certificate_replaces_what_it_is_about() -> None:
    """Of its partitions nothing that an earlier one remembered is left, and of others everything."""
    first = stop(1, {P0: 9, AUDIT: 4}, rewind={P0: 3, AUDIT: 1}, fingerprints={P0: Fingerprint(8, "ab")})
    last = present(folded(first, stop(2, {P0: 20}, stored_positions={})).last_stop)

    assert {P0: 20, AUDIT: 4} == last.mirror_positions
    assert Remembered({AUDIT: 4}, {AUDIT: 1}) == last.remembered


def test_positions_are_set_back_once() -> None:
    """What a stop did not trust is to be set back until a generation was started after it."""
    entries = [start(1, {P0: 3}), stop(1, {P0: 3}, rewind={P0: 3}).to_document()]

    assert {P0: 3} == fold(entries).rewind
    assert {} == fold([*entries, start(2, {P0: 3})]).rewind
    assert {} == fold([*entries, start(2, {P0: 3}), stop(2, {P0: 9}).to_document()]).rewind
    assert {} == Ledger().rewind


def test_first_start_of_a_generation_wins() -> None:
    """A second start of the same generation does not change where it began."""
    (generation,) = fold([start(1, {P0: 3}), start(1, {P0: 8}, "dag/other#1")]).generations

    assert ({P0: 3}, "dag/run#1") == (generation.start.mirror_positions, generation.start.run)


def test_copied_topics_are_those_that_were_started_for() -> None:
    """Whatever became of the generation: with or without a certificate its topics may have been written."""
    ledger = fold([start(1, {P0: 3}), start(2, {AUDIT: 0})])

    assert {"orders", "audit"} == ledger.copied_topics
    assert frozenset() == Ledger().copied_topics
