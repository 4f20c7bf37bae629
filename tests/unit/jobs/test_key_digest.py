"""Rules of the per-key digest, held to a plain computation of its definition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_digest.keys.key_digest import NULL_BUCKET, BucketSums, KeyRuns, grouped

WORD = (1 << 64) - 1
PHI = 0x9E3779B97F4A7C15
Row = tuple[int, int]
Sums = dict[int, tuple[int, int]]

# Few keys, most of them equal in their upper bits: the case that one sort of packed integers gets wrong.
KEYS = st.one_of(st.integers(0, 5), st.integers(0, 5).map(lambda n: (7 << 60) + n), st.integers(0, WORD))
ROWS = st.lists(st.tuples(KEYS, st.integers(0, WORD)), max_size=60)


def fmix(value: int) -> int:
    """Return MurmurHash3's final mix of one integer."""
    value ^= value >> 33
    value = value * 0xFF51AFD7ED558CCD & WORD
    value ^= value >> 33
    value = value * 0xC4CEB9FE1A85EC53 & WORD
    return value ^ value >> 33


def by_definition(rows: Iterable[Row]) -> Sums:
    """Return records and digest per bucket as the module's text defines them."""
    runs: defaultdict[int, list[int]] = defaultdict(list)
    for key, record in rows:
        runs[key].append(record)
    sums: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for key, records in runs.items():
        run = sum(fmix(record + place * PHI & WORD) for place, record in enumerate(records)) & WORD
        bucket = sums[key >> 48]
        bucket[0] += len(records)
        bucket[1] = bucket[1] + fmix(fmix(key + len(records) * PHI & WORD) + run & WORD) & WORD
    return {bucket: (records, digest) for bucket, (records, digest) in sums.items()}


def columns(rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray]:
    """Return rows as the two arrays that a batch has."""
    return np.array([k for k, _ in rows], np.uint64), np.array([r for _, r in rows], np.uint64)


def digest(*batches: Sequence[Row], max_keys: int = 1_000) -> tuple[Sums, list[Row]]:
    """Digest one range in batches; return its sums, and the rows that were left out."""
    runs, sums, left_out = KeyRuns(max_keys), BucketSums(), []
    for batch in batches:
        left_out += [batch[place] for place in runs.add(*columns(batch))]
    runs.roll_up(sums)
    return of(sums), left_out


def summed(rows: Sequence[Row]) -> BucketSums:
    """Return the sums of one range."""
    runs, sums = KeyRuns(1_000), BucketSums()
    runs.add(*columns(rows))
    runs.roll_up(sums)
    return sums


def added(parts: Iterable[Sequence[Row]]) -> Sums:
    """Return the sum of the sums of several ranges."""
    sums = BucketSums()
    for alone in map(summed, parts):
        sums.add_sums(alone.filled, alone.records[alone.filled], alone.digests[alone.filled])
    return of(sums)


def of(sums: BucketSums) -> Sums:
    """Return the filled buckets as plain integers."""
    return {int(b): (int(sums.records[b]), int(sums.digests[b])) for b in sums.filled}


@given(rows=ROWS, cuts=st.lists(st.integers(0, 60), max_size=4))
def test_digest_is_what_its_definition_says(rows: list[Row], cuts: list[int]) -> None:
    """For any batches and any key hashes, the sums are those of the definition."""
    edges = [0, *sorted(cuts), len(rows)]
    batches = [rows[start:end] for start, end in pairwise(edges)]

    assert (by_definition(rows), []) == digest(*batches)


@given(ranges=st.lists(ROWS, max_size=4))
def test_digests_of_ranges_add_up(ranges: list[list[Row]]) -> None:
    """Merge law: the digest of several ranges is the sum of theirs, in any order and grouping."""
    together = BucketSums()
    for rows in ranges:
        runs = KeyRuns(1_000)
        runs.add(*columns(rows))
        runs.roll_up(together)

    assert of(together) == added(ranges)


@given(rows=ROWS, partitions=st.integers(1, 5), data=st.data())
def test_digest_is_the_same_for_any_number_of_partitions(rows: list[Row], partitions: int, data: st.DataObject) -> None:
    """Merge law: where every key lives in one of them, the sums of the partitions are those of the whole."""
    parts = [[row for row in rows if row[0] % partitions == number] for number in range(partitions)]

    assert (added(data.draw(st.permutations(parts))), []) == digest(rows)


@given(rows=ROWS, max_keys=st.integers(0, 4), cut=st.integers(0, 60))
def test_keys_beyond_the_bound_are_left_out_whole(rows: list[Row], max_keys: int, cut: int) -> None:
    """A key is kept with all its records or left out with all of them, in log order; nothing is lost."""
    kept, left_out = digest(rows[:cut], rows[cut:], max_keys=max_keys)
    outside = {key for key, _ in left_out}

    assert [row for row in rows if row[0] in outside] == left_out
    assert by_definition(row for row in rows if row[0] not in outside) == kept
    assert len({key for key, _ in rows} - outside) <= max_keys


@given(rows=ROWS)
@settings(max_examples=50)
def test_order_inside_a_key_counts_and_between_keys_does_not(rows: list[Row]) -> None:
    """Sorting rows by key changes nothing; exchanging two different records of one key does."""
    first = {key: place for place, (key, _) in reversed(list(enumerate(rows)))}
    assert digest(sorted(rows, key=lambda row: row[0])) == digest(rows)
    for place, (key, record) in enumerate(rows):
        other = first[key]
        if rows[other][1] != record:
            swapped = list(rows)
            swapped[place], swapped[other] = rows[other], rows[place]
            assert digest(swapped) != digest(rows)


def test_two_keys_that_share_their_upper_bits_keep_their_own_records() -> None:
    """Trap: packed with their places, A B A of equal upper bits is three groups; the whole hash decides."""
    a, b = (5 << 60) + 1, (5 << 60) + 2
    groups = grouped(np.array([a, b, a, b, b], np.uint64))

    assert ([a, b], [0, 2, 1, 3, 4]) == (groups.keys.tolist(), groups.order.tolist())


def test_records_without_key_have_no_order_and_do_not_cancel() -> None:
    """Trap: the same records in any order are equal, and identical ones do not cancel as in an exclusive or."""

    def keyless(*records: int) -> Sums:
        sums = BucketSums()
        sums.add_without_order(np.array(records, np.uint64))
        return of(sums)

    assert keyless(1, 2, 3) == keyless(3, 1, 2)
    assert keyless(1) != keyless(1, 2, 2)
    assert keyless(1, 2, 2) != keyless(1, 3, 3)
    assert [NULL_BUCKET] == list(keyless(1, 2))


def test_an_exchange_at_a_distance_of_a_power_of_two_is_seen() -> None:
    """Trap: sums of powers lose the upper bits between places 2^e apart; mixed positions lose none."""
    far = 1 << 17
    records = np.arange(2 * far, dtype=np.uint64)
    records[[0, far]] = 0, 1 << 50
    swapped = records.copy()
    swapped[[0, far]] = swapped[[far, 0]]

    def one_key(values: np.ndarray) -> Sums:
        runs, sums = KeyRuns(1), BucketSums()
        runs.add(np.full(len(values), 9, np.uint64), values)
        runs.roll_up(sums)
        return of(sums)

    assert one_key(records) != one_key(swapped)
