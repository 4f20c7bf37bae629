"""Blocks: runs of `block_records` records of a partition, by rank, each with its digest. No Spark."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from kafka_digest.runtime.job_errors import JobError


@dataclass(frozen=True)
class Block:
    """The records with ranks `[number * block_records, …)`: count, the two halves of the digest, extent.

    `untimed` is the number of records without a timestamp.
    """

    number: int
    records: int
    low_sum: int
    high_sum: int
    key_value_bytes: int
    first_offset: int
    last_offset: int
    untimed: int = 0

    @property
    def content(self) -> tuple[int, int, int]:
        """The part that must be equal on both sides."""
        return self.records, self.low_sum, self.high_sum


@dataclass(frozen=True)
class Comparison:
    """The number of blocks of the longer side, the number that differ, and the first that differs (`None`: equal)."""

    blocks: int
    differing_blocks: int
    first_differing: int | None


@dataclass(frozen=True)
class DrillRange:
    """The offsets `[start_offset, end_offset)` to read again, and the rank of their first record."""

    start_rank: int
    start_offset: int
    end_offset: int


def check_blocks(partition: str, blocks: Sequence[Block], block_records: int) -> None:
    """Raise `JobError` unless all blocks except the last are full and none is missing.

    This is the case exactly if the ranks were counted from 0 without a restart. So it proves that no reader split the
    partition.
    """
    for position, block in enumerate(blocks):
        full = block.records == block_records
        last = position == len(blocks) - 1
        if block.number != position or block.records > block_records or not (full or last):
            found = f"block {block.number} at place {position} holds {block.records} records"
            raise JobError(f"{partition} was not read in one piece: {found}")


def compare_blocks(source: Sequence[Block], target: Sequence[Block], equal: Collection[int] = ()) -> Comparison:
    """Compare two sides block by block; a block on only one side is a difference.

    :param equal: blocks that are known to be equal although their digests are not
    """
    differing = _differing(source, target) - set(equal)
    blocks = {block.number for side in (source, target) for block in side}
    return Comparison(len(blocks), len(differing), min(differing, default=None))


def _differing(source: Sequence[Block], target: Sequence[Block]) -> set[int]:
    ours = {block.number: block.content for block in source}
    theirs = {block.number: block.content for block in target}
    return {number for number in ours.keys() | theirs.keys() if ours.get(number) != theirs.get(number)}


def doubtful_blocks(source: Sequence[Block], target: Sequence[Block]) -> set[int]:
    """Return the blocks that may be equal although their digests are not: the source has no timestamp of some records.

    MirrorMaker gives the copies of these the time of the copy.
    """
    counts = {block.number: block.records for block in target}
    untimed = {block.number for block in source if block.untimed and counts.get(block.number) == block.records}
    return untimed & _differing(source, target)


def drill_range(blocks: Sequence[Block], number: int, block_records: int, ahead_records: int) -> DrillRange | None:
    """Return what to read on one side to examine a block: the previous block, the block itself, the next one, and as
    many further blocks as hold `ahead_records`, as far as they exist.

    `None` if the side has none of these.
    """
    return range_of(blocks, number - 1, number + 1 + ahead_records // block_records, block_records)


def range_of(blocks: Sequence[Block], first: int, last: int, block_records: int) -> DrillRange | None:
    """Return what to read on one side to get the blocks from one number to another; `None` if it has none of them."""
    near = [block for block in blocks if first <= block.number <= last]
    if not near:
        return None
    return DrillRange(near[0].number * block_records, near[0].first_offset, near[-1].last_offset + 1)


def window_digest(blocks: Iterable[Block]) -> str:
    """Return the digest of a window in hexadecimal: the sum of the position hashes of all its records, modulo 2^64.

    The same records in the same order have the same digest, regardless of the block length.
    """
    total = sum(block.low_sum + (block.high_sum << 32) for block in blocks)
    return f"{total % (1 << 64):016x}"


def side_document(blocks: Sequence[Block]) -> dict[str, int | None]:
    """Return the counts of one side for the result document."""
    return {
        "records": sum(block.records for block in blocks),
        "key_value_bytes": sum(block.key_value_bytes for block in blocks),
        "first_offset": blocks[0].first_offset if blocks else None,
        "last_offset": blocks[-1].last_offset if blocks else None,
        "untimed": sum(block.untimed for block in blocks),
    }
