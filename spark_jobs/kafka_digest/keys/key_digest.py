"""The digest `key-order-fmix64/2`: counts, content and order of every key, regardless of its partition.

Input is one Kafka partition's range in log order, as two 64-bit hashes per record: of its key and of all the rest
(`position_digest.py` defines both). A *run* is what one key has in one such range: `n` records with the hashes
h_0 … h_n-1.

- position hash of a record `fmix64(h_i + i * PHI)`, with PHI = 0x9E3779B97F4A7C15; digest of a run `H` = their sum
- digest of a bucket = the sum of `fmix64(fmix64(key + n * PHI) + H)` over the runs whose key hash begins with the
  bucket's 16 bits; it comes with the number of records
- records without a key have the key hash `NULL_KEY`, and no order: their bucket is `NULL_BUCKET`, its digest the sum
  of `fmix64(h)`

All sums are modulo 2^64. Buckets of different ranges can be added, so the digest of several partitions is the sum of
theirs. If every key is in one partition, the digest does not depend on the number of partitions. A changed key stays
undetected with probability 2^-64. `fmix64` is the last step of MurmurHash3 (Austin Appleby, public domain).

numpy only; no Spark.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DIGEST = "key-order-fmix64/2"
BUCKET_BITS = 16
BUCKETS = 1 << BUCKET_BITS
NULL_BUCKET = BUCKETS
# A key with this hash counts as null and its order is not checked; the probability is 2^-64.
NULL_KEY = 0x6E756C6C6B657930

_KEY_SHIFT = np.uint64(64 - BUCKET_BITS)
_PHI = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(33)
_FIRST, _SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]


def fmix64(values: Hashes) -> Hashes:
    """Mix 64-bit values so that every bit depends on every bit; overwrites and returns the given array."""
    values ^= values >> _SHIFT
    values *= _FIRST
    values ^= values >> _SHIFT
    values *= _SECOND
    values ^= values >> _SHIFT
    return values


def buckets_of(keys: Hashes) -> Places:
    """Return the bucket of each key hash: its upper bits."""
    return (keys >> _KEY_SHIFT).astype(np.int64)


@dataclass(frozen=True)
class Groups:
    """Records grouped by key, with each key's records in log order.

    `order` are the places of the records, `starts` where in it each of `keys` begins; keys ascend.
    """

    order: Places
    starts: Places
    keys: Hashes

    @property
    def lengths(self) -> Places:
        """The number of records of each key."""
        return np.diff(self.starts, append=len(self.order))


def grouped(keys: Hashes) -> Groups:
    """Group records by key without losing their order, by one sort of plain integers.

    The integer is the upper part of the key's hash and the record's place. Two keys with the same upper part may
    interleave. This is detected, and then the complete hashes are sorted, which takes longer.
    """
    place_mask = np.uint64((1 << max(1, len(keys) - 1).bit_length()) - 1)
    packed = (keys & ~place_mask) | np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    found = _cut(keys, (packed & place_mask).astype(np.int64))
    if (found.keys[1:] <= found.keys[:-1]).any():
        return _cut(keys, np.argsort(keys, kind="stable"))
    return found


def _cut(keys: Hashes, order: Places) -> Groups:
    in_order = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
    return Groups(order, starts, in_order[starts])


class BucketSums:
    """Records and digest per bucket; sums of different ranges may be added into one."""

    def __init__(self) -> None:
        self.records = np.zeros(BUCKETS + 1, np.uint64)
        self.digests = np.zeros(BUCKETS + 1, np.uint64)

    def add_runs(self, keys: Hashes, counts: Hashes, digests: Hashes) -> None:
        """Add the digests of whole runs, whose keys ascend."""
        if not len(keys):
            return
        buckets = buckets_of(keys)
        starts = np.flatnonzero(np.concatenate(([True], buckets[1:] != buckets[:-1])))
        mixed = fmix64(fmix64(keys + counts * _PHI) + digests)
        self.records[buckets[starts]] += np.add.reduceat(counts, starts)
        self.digests[buckets[starts]] += np.add.reduceat(mixed, starts)

    def add_without_order(self, records: Hashes) -> None:
        """Add the hashes of records without a key."""
        # As slices, because numpy warns when a single number overflows.
        self.records[NULL_BUCKET:] += np.uint64(len(records))
        self.digests[NULL_BUCKET:] += fmix64(records.copy()).sum(dtype=np.uint64)

    def add_sums(self, buckets: Places, records: Hashes, digests: Hashes) -> None:
        """Add the sums of another part of the same topic; a bucket may occur more than once."""
        np.add.at(self.records, buckets, records)
        np.add.at(self.digests, buckets, digests)

    @property
    def filled(self) -> Places:
        """The buckets that hold records."""
        return np.flatnonzero(self.records)

    @property
    def total(self) -> tuple[int, int]:
        """Records and digest of all buckets together."""
        return int(self.records.sum()), int(self.digests.sum(dtype=np.uint64))

    def differing(self, other: BucketSums) -> Places:
        """Return the buckets that differ."""
        return np.flatnonzero((self.records != other.records) | (self.digests != other.digests))


class KeyRuns:
    """The runs of one range, carried from batch to batch: per key its number of records and its digest.

    :param max_keys: the maximum number of keys in memory, at 24 bytes each (twice that while they grow)
    """

    def __init__(self, max_keys: int) -> None:
        self._max_keys = max_keys
        self._keys, self._counts, self._digests = (np.empty(0, np.uint64) for _ in range(3))

    def add(self, keys: Hashes, records: Hashes) -> Places:
        """Add the next records of the range; return the places of those that were left out, in log order.

        A key is left out with all its records if it first appears when `max_keys` keys are already in memory.
        """
        if not len(keys):
            return np.empty(0, np.int64)
        groups = grouped(keys)
        at, known = self._find(groups.keys)
        before = np.zeros(len(at), np.uint64)
        before[known] = self._counts[at[known]]
        lengths, digests = groups.lengths.astype(np.uint64), _run_digests(groups, records, before)
        self._counts[at[known]] += lengths[known]
        self._digests[at[known]] += digests[known]
        fresh = np.flatnonzero(~known)
        taken = fresh[: self._max_keys - len(self._keys)]
        self._insert(at[taken], groups.keys[taken], lengths[taken], digests[taken])
        return _members(groups, fresh[len(taken) :])

    def _find(self, keys: Hashes) -> tuple[Places, NDArray[np.bool_]]:
        """Return where each key is or should be inserted, and whether it is there."""
        at = np.searchsorted(self._keys, keys)
        known = np.zeros(len(keys), np.bool_)
        inside = at < len(self._keys)
        known[inside] = self._keys[at[inside]] == keys[inside]
        return at, known

    def _insert(self, at: Places, keys: Hashes, counts: Hashes, digests: Hashes) -> None:
        if len(at):
            self._keys = np.insert(self._keys, at, keys)
            self._counts = np.insert(self._counts, at, counts)
            self._digests = np.insert(self._digests, at, digests)

    def roll_up(self, sums: BucketSums, but: int | None = None) -> None:
        """Add all runs to the sums and drop them, because the range has ended; or all except that of one key."""
        ended = np.ones(len(self._keys), np.bool_) if but is None else self._keys != but
        sums.add_runs(self._keys[ended], self._counts[ended], self._digests[ended])
        self._keys, self._counts, self._digests = self._keys[~ended], self._counts[~ended], self._digests[~ended]


def _run_digests(groups: Groups, records: Hashes, before: Hashes) -> Hashes:
    """Return what these records add to the digests of their runs, which already have `before` records."""
    first = before - groups.starts.astype(np.uint64)
    position = np.repeat(first, groups.lengths)
    position += np.arange(len(position), dtype=np.uint64)
    position *= _PHI
    position += records[groups.order]
    return np.add.reduceat(fmix64(position), groups.starts)


def _members(groups: Groups, numbers: Places) -> Places:
    """Return the places of all records of these groups, in log order."""
    wanted = np.zeros(len(groups.keys), np.bool_)
    wanted[numbers] = True
    return np.sort(groups.order[np.repeat(wanted, groups.lengths)])
