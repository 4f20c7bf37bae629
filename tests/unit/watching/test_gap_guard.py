"""Rules of continuity: what must be, before a start, as the last stop certificate says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.ledger.generations import Fingerprint, GenerationStart, Remembered, StopCertificate
from kafka_migration.core.watching.gap_guard import (
    SourceTruth,
    continuity_findings,
    fingerprints_to_read,
    recreated_source_findings,
    stale_state_findings,
)
from tests.folded import fold
from tests.unit.partitions import AUDIT, P0, P1

ENDS = {P0: 50, P1: 0}


def certificate(generation: int = 1, positions: Offsets | None = None, **remembered: Any) -> StopCertificate:
    """A certificate with position 50 in the first partition and no stored position for the second."""
    positions = positions or {P0: 50, P1: 7}
    kept = Remembered(**{"stored_positions": {P0: 50}, **remembered})
    return StopCertificate(generation, "dag/run#1", "t", True, 143, "stopped", positions, ENDS, kept)


def last_stop(*stops: StopCertificate) -> StopCertificate | None:
    entries = [GenerationStart(s.generation, s.run, "t", {}, {}).to_document() for s in stops]
    return fold([*entries, *(stop.to_document() for stop in stops)]).last_stop


@pytest.mark.parametrize(
    ("stored", "ends", "found"),
    [
        ({P0: 50}, ENDS, []),
        ({}, ENDS, [(Code.POSITION_MISSING, "orders[0]")]),
        ({P0: 49}, ENDS, [(Code.POSITION_CHANGED, "orders[0]")]),
        ({P0: 51}, ENDS, [(Code.POSITION_CHANGED, "orders[0]")]),
        ({P0: 50, P1: 7}, ENDS, [(Code.POSITION_CHANGED, "orders[1]")]),
        ({P0: 50}, {P0: 51, P1: 0}, [(Code.TARGET_WRITTEN_BY_OTHERS, "orders[0]")]),
        ({P0: 50}, {P0: 43, P1: 0}, [(Code.TARGET_WRITTEN_BY_OTHERS, "orders[0]")]),
        # A run that is limited to other topics reads no position of these.
        ({}, {AUDIT: 0}, []),
    ],
)
def test_positions_and_ends_must_be_those_of_the_certificate(stored: Offsets, ends: Offsets, found: list[Any]) -> None:
    """A stored position that is missing, changed or new is refused, and so is a target end that moved."""
    assert found == [(f.code, f.subject) for f in continuity_findings(certificate(), stored, ends)]
    assert () == continuity_findings(None, stored, ends)


@pytest.mark.parametrize(("stored", "count"), [({P0: 50}, 0), ({P0: 20}, 0), ({P0: 30}, 1), ({}, 1)])
def test_position_that_is_not_trusted_may_be_set_back_already(stored: Offsets, count: int) -> None:
    """Regression: the plan, which comes before the start that sets a position back, refused the one it found."""
    findings = continuity_findings(certificate(rewind={P0: 20}), stored, ENDS)

    assert count == len(findings)


def test_stale_state_names_the_reset() -> None:
    """A position in a topic that no run has copied is refused, with the command that resets MirrorMaker's state."""
    first = stale_state_findings({AUDIT: 4}, (), "reset --it")
    later = stale_state_findings({P0: 9, AUDIT: 4}, {"orders"}, "reset --it")

    assert [(Code.STALE_MIRROR_STATE, "audit[0]")] * 2 == [(f.code, f.subject) for f in (*first, *later)]
    assert first[0].remedy.endswith("reset --it")
    # It would take the positions of what was copied as well.
    assert "reset --it" not in later[0].remedy
    assert () == stale_state_findings({P0: 9}, {"orders"}, "reset --it")


def record(offset: int, value: bytes = b"v") -> RecordPrint:
    return RecordPrint.of(offset, b"k", value, (), 1)


REMEMBERED: dict[str, Any] = {
    "fingerprints": {P0: Fingerprint(49, record(49).digest)},
    "source_topic_ids": {"orders": "id-1"},
}


def truth(topic_id: str = "", found: RecordPrint | None = None, compacted: bool = False) -> SourceTruth:
    topics = {"orders": TopicDescription("orders", topic_id, 2, {})}
    return SourceTruth(topics, {P0: found}, {"orders"} if compacted else ())


@pytest.mark.parametrize(
    ("now", "subjects"),
    [
        (truth("id-1", record(49)), []),
        (truth("id-2", record(49)), ["topic orders"]),
        (truth("", record(49)), []),
        (truth("", record(49, b"other")), ["orders[0]"]),
        (truth("id-1", record(49, b"other")), ["orders[0]"]),
        (truth("", record(60)), ["orders[0]"]),
        (truth("", None), ["orders[0]"]),
        (truth("", record(60), compacted=True), []),
        (truth("", None, compacted=True), []),
        (truth("", record(49, b"other"), compacted=True), ["orders[0]"]),
    ],
)
def test_recreated_topic_is_told_by_its_id_or_by_its_record(now: SourceTruth, subjects: list[str]) -> None:
    """Another id, or another record at the last copied offset, is another topic; a compacted record is no sign."""
    findings = recreated_source_findings(certificate(**REMEMBERED), now)

    assert subjects == [f.subject for f in findings]
    code = Code.SOURCE_TRUNCATED if "id-1" in repr(now) else Code.SOURCE_TOPIC_RECREATED
    assert {code} >= {f.code for f in findings}


def test_nothing_to_compare_is_no_sign() -> None:
    """Before the first stop, and without ids and fingerprints in the certificate, no topic counts as recreated."""
    assert () == recreated_source_findings(None, truth("id-2"))
    assert () == recreated_source_findings(certificate(), truth("id-2"))


@pytest.mark.parametrize(("log_start", "wanted"), [({P0: 49}, {P0: 49}), ({P0: 50}, {}), ({}, {})])
def test_deleted_record_is_not_read_again(log_start: Offsets, wanted: Mapping[TopicPartition, int]) -> None:
    """A fingerprint that retention has deleted, or whose partition cannot be read, is not looked for."""
    assert wanted == fingerprints_to_read(certificate(**REMEMBERED), log_start)
    assert {} == fingerprints_to_read(None, log_start)


def test_first_id_of_a_topic_stays() -> None:
    """A source topic that was recreated during the copy is found at the next start."""
    stops = (certificate(number, source_topic_ids={"orders": f"id-{number}"}) for number in (1, 2))
    (finding,) = recreated_source_findings(last_stop(*stops), truth("id-2", record(49)))

    assert "topic orders" == finding.subject
