"""The validation job: request document in, result document out, one Spark application for all topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from kafka_digest.blocks import (
    Block,
    Comparison,
    SplitInput,
    check_blocks,
    compare_blocks,
    drill_range,
    side_document,
)
from kafka_digest.classify import Difference
from kafka_digest.digest import DIGEST, block_rows
from kafka_digest.drill import LOOK_AHEAD_RECORDS, DrillCase, first_differences
from kafka_digest.errors import JobError, naming
from kafka_digest.kafka_source import read_ranges
from kafka_digest.log_bounds import read_log_bounds
from kafka_digest.windows import SideRange, WindowPlan, in_rounds, plan_window, requested_range, too_long

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = 1
REQUEST_KIND = "validation-request"
RESULT_KIND = "validation-result"
SIDES = ("source", "target")
WINDOW_FIELDS = {"topic", "target_topic", "partition", "source_start", "source_end", "target_start", "target_end"}
# The hashes of three blocks per side are kept while drilling: about 400 MB for 16 partitions and the default
# block size, spilling to disk beyond Spark's storage memory.
DRILLED_TOGETHER = 16

Blocks = dict[tuple[str, str, int], list[Block]]


@dataclass(frozen=True, slots=True)
class Measured:
    """A window with the blocks of both sides and how they compare."""

    plan: WindowPlan
    source: Sequence[Block]
    target: Sequence[Block]
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class ValidationJob:
    """Compares the windows of one request.

    :param clients: per side, the options of Spark's Kafka reader
    """

    session: SparkSession
    clients: Mapping[str, Mapping[str, str]]
    isolation_level: str
    block_records: int

    def run(self, windows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return one entry of the result per window, in the order of the request. Raises `JobError`."""
        bounds = {side: self._log_bounds(windows, side) for side in SIDES}
        plans = [plan_window(window, bounds["source"], bounds["target"]) for window in windows]
        entries: dict[int, dict[str, Any]] = {}
        for together in in_rounds(plans):
            measured = self._measured(together)
            differences = self._differences(measured)
            for number, one in enumerate(measured):
                entries[id(one.plan)] = _entry(one, differences.get(number))
        return [entries[id(plan)] for plan in plans]

    def _log_bounds(self, windows: Sequence[Mapping[str, Any]], side: str) -> dict[tuple[str, int], Any]:
        asked = [requested_range(window, side) for window in windows]
        places = {piece.place for piece in asked if not piece.is_empty}
        with naming(f"asking the {side} cluster for the log bounds of {len(places)} partitions"):
            return read_log_bounds(self.session._jvm, self.clients[side], places, self.isolation_level)

    def _measured(self, plans: Sequence[WindowPlan]) -> list[Measured]:
        with naming(f"reading {len(plans)} windows on both sides"):
            blocks = self._blocks({side: [getattr(plan, side) for plan in plans] for side in SIDES})
        measured = []
        for plan in plans:
            source = blocks.get(("source", *plan.source.place), [])
            target = blocks.get(("target", *plan.target.place), [])
            measured.append(Measured(plan, source, target, compare_blocks(source, target)))
        return measured

    def _blocks(self, ranges: Mapping[str, Sequence[SideRange]]) -> Blocks:
        """Read both sides in one Spark job and return their blocks by (side, topic, partition)."""
        read = {
            side: read_ranges(self.session, self.clients[side], ranges[side], self.isolation_level) for side in SIDES
        }
        frames = [block_rows(frame, side, self.block_records) for side, frame in read.items() if frame is not None]
        if not frames:
            return {}
        blocks: Blocks = {}
        rows = frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])
        for row in rows.collect():
            blocks.setdefault((row["side"], row["topic"], row["partition"]), []).append(_block(row))
        for place, found in blocks.items():
            found.sort(key=lambda block: block.number)
            self._check(place, found)
        return blocks

    def _check(self, place: tuple[str, str, int], blocks: Sequence[Block]) -> None:
        try:
            check_blocks(blocks, self.block_records)
        except SplitInput as error:
            side, topic, partition = place
            raise JobError(f"{side} {topic}[{partition}] was not read in one piece: {error}") from error

    def _differences(self, measured: Sequence[Measured]) -> dict[int, Difference]:
        """Return the first difference per number of a window that differs."""
        cases = [
            self._drill_case(number, one, one.comparison.first_differing)
            for number, one in enumerate(measured)
            if one.comparison.first_differing is not None
        ]
        found: dict[int, Difference] = {}
        for start in range(0, len(cases), DRILLED_TOGETHER):
            found |= self._drilled(cases[start : start + DRILLED_TOGETHER])
        return found

    def _drill_case(self, number: int, one: Measured, block: int) -> DrillCase:
        return DrillCase(
            number,
            one.plan.source.place,
            one.plan.target.place,
            drill_range(one.source, block, self.block_records, LOOK_AHEAD_RECORDS),
            drill_range(one.target, block, self.block_records, LOOK_AHEAD_RECORDS),
            sum(block.records for block in one.source),
            sum(block.records for block in one.target),
        )

    def _drilled(self, cases: Sequence[DrillCase]) -> dict[int, Difference]:
        """Return the differences of these cases; what cannot be read again stays unclassified, with the reason."""
        try:
            with naming("reading the first differing blocks again"):
                frames = [
                    read_ranges(self.session, self.clients[side], _drill_ranges(cases, side), self.isolation_level)
                    for side in SIDES
                ]
                return first_differences(frames[0], frames[1], cases)
        except JobError as error:
            # The difference itself is proved by the digests, so it is reported rather than lost.
            lost = Difference("unclassified", None, None, (), f"The digests differ; {error}")
            return {case.number: lost for case in cases}


def _drill_ranges(cases: Sequence[DrillCase], side: str) -> list[SideRange]:
    pieces = [(getattr(case, f"{side}_place"), getattr(case, f"{side}_range")) for case in cases]
    return [SideRange(*place, piece.start_offset, piece.end_offset) for place, piece in pieces if piece is not None]


def _block(row: Any) -> Block:
    return Block(
        number=row["block"],
        records=row["records"],
        low_sum=row["low_sum"],
        high_sum=row["high_sum"],
        key_value_bytes=row["key_value_bytes"],
        first_offset=row["first_offset"],
        last_offset=row["last_offset"],
    )


def _entry(one: Measured, difference: Difference | None) -> dict[str, Any]:
    plan, comparison = one.plan, one.comparison
    differs = comparison.differing_blocks > 0
    if differs and difference is None:
        difference = Difference(
            "unclassified", None, None, (), "The digests differed at first; read again, the records are equal."
        )
    return {
        **plan.window,
        "source": side_document(one.source),
        "target": side_document(one.target),
        "equal": not differs and plan.source.unreadable is None and plan.target.unreadable is None,
        "blocks": comparison.blocks,
        "differing_blocks": comparison.differing_blocks,
        "source_unreadable": plan.source.unreadable,
        "target_unreadable": plan.target.unreadable,
        "first_difference": None if difference is None else difference.to_document(),
    }


def validate(
    session: SparkSession, request: Mapping[str, Any], clients: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Return the result document of a request. Raises `JobError` if it cannot be carried out."""
    started_at = datetime.now(UTC)
    _check_request(request)
    job = ValidationJob(session, clients, request["isolation_level"], request["block_records"])
    entries = job.run(request["windows"])
    return {
        "schema": SCHEMA,
        "kind": RESULT_KIND,
        "digest": DIGEST,
        "spark_version": session.version,
        "started_at": started_at.isoformat(),
        "finished_at": datetime.now(UTC).isoformat(),
        "source_records": sum(entry["source"]["records"] for entry in entries),
        "target_records": sum(entry["target"]["records"] for entry in entries),
        "partitions": entries,
    }


def _check_request(request: Mapping[str, Any]) -> None:
    found = (request.get("kind"), request.get("schema"), request.get("digest"))
    if found != (REQUEST_KIND, SCHEMA, DIGEST):
        raise JobError(f"the request is {found}; this job reads {(REQUEST_KIND, SCHEMA, DIGEST)}")
    lacking = [name for name in ("isolation_level", "block_records", "windows") if name not in request]
    lacking += sorted({name for window in request.get("windows", ()) for name in WINDOW_FIELDS - window.keys()})
    if lacking:
        raise JobError(f"the request lacks {', '.join(lacking)}")
    if request["isolation_level"] not in {"read_committed", "read_uncommitted"}:
        raise JobError(f"isolation level {request['isolation_level']!r} is not known")
    if not 1 <= request["block_records"] <= 1 << 24:
        raise JobError(f"block_records is {request['block_records']}; expected 1 to {1 << 24}")
    long = too_long(request["windows"])
    if long:
        raise JobError(f"{len(long)} windows hold more offsets than a rank can count, first {long[0]}")
