"""Rules of the labels of one key's differences."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_digest.keys import subsequences
from kafka_digest.keys.alignment import (
    ABORTED,
    ALTERED,
    COMPACTED,
    DUPLICATE,
    EXPIRED,
    EXTRA,
    INTERLEAVED,
    MISSING,
    MOVED,
    REORDERED,
    STALE,
    UNPROVED,
    Difference,
    Known,
    Records,
    align,
    surplus,
)
from kafka_digest.keys.subsequences import common_subsequence


class Sent(NamedTuple):
    """A record of the key as a test writes it down."""

    value: int
    timestamp: int
    partition: int = 0
    headers: int = 0
    tombstone: bool = False


def records(sent: Sequence[Sent]) -> Records:
    """Return records as the drill-down gives them: sorted by partition, hashed."""
    rows = sorted(enumerate(sent), key=lambda row: (row[1].partition, row[0]))
    fields = [np.array([getattr(r, name) for _, r in rows], np.int64) for name in ("value", "headers", "timestamp")]
    hashes = np.array([hash((r.value, r.headers, r.timestamp)) for _, r in rows], np.int64)
    partitions = np.array([r.partition for _, r in rows], np.int32)
    tombstones = np.array([r.tombstone for _, r in rows], np.bool_)
    return Records(partitions, np.array([n for n, _ in rows], np.int64), hashes, fields, tombstones)


Place = tuple[str, int | None, int | None]
SOURCE = [Sent(value, 1000 + value) for value in range(10)]
OTHER = Sent(99, 9999)
SHORT = st.lists(st.integers(0, 4), max_size=14)


def moved_to(sent: Sent, partition: int) -> Sent:
    """Return the record in another partition."""
    return sent._replace(partition=partition)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param(SOURCE, [], id="equal"),
        pytest.param(SOURCE[1:], [(MISSING, 0, None)], id="first missing"),
        pytest.param(SOURCE[:-1], [(MISSING, 9, None)], id="last missing"),
        pytest.param([], [(MISSING, n, None) for n in range(10)], id="all missing"),
        pytest.param([*SOURCE[:4], OTHER, *SOURCE[4:]], [(EXTRA, None, 4)], id="extra"),
        pytest.param([*SOURCE, SOURCE[0]], [(STALE, None, 10)], id="first again at the end"),
        pytest.param([*SOURCE, SOURCE[9]], [(DUPLICATE, None, 10)], id="last again"),
        pytest.param([*SOURCE[:3], SOURCE[0], *SOURCE[3:]], [(DUPLICATE, None, 3)], id="first again in the middle"),
        pytest.param([*SOURCE[:5], *SOURCE[2:]], [(DUPLICATE, None, n) for n in (5, 6, 7)], id="replay"),
        pytest.param([*SOURCE[1:], SOURCE[0]], [(REORDERED, 0, 9)], id="first moved behind all"),
        pytest.param([SOURCE[9], *SOURCE[:9]], [(REORDERED, 9, 0)], id="last moved before all"),
        pytest.param([*SOURCE[:3], OTHER, *SOURCE[4:]], [(ALTERED, 3, 3)], id="replaced by another"),
        pytest.param([*SOURCE[:3], moved_to(SOURCE[3], 1), *SOURCE[4:]], [(MOVED, 3, 9)], id="in another partition"),
    ],
)
def test_damage_has_its_label_and_place(target: Sequence[Sent], expected: list[Place]) -> None:
    """Each kind of damage is labelled once, at its records on both sides."""
    assert expected == [found[:3] for found in align(records(SOURCE), records(target))]


@pytest.mark.parametrize("place", [0, 4, 9])
@pytest.mark.parametrize("names", [("value",), ("headers",), ("timestamp",), ("value", "headers")])
def test_altered_record_names_its_fields(place: int, names: tuple[str, ...]) -> None:
    """Only the fields that differ are named."""
    target = list(SOURCE)
    changed: dict[str, Any] = dict.fromkeys(names, 77)
    target[place] = target[place]._replace(**changed)

    assert [Difference(ALTERED, place, place, names)] == align(records(SOURCE), records(target))


def test_missing_and_altered_neighbours_are_told_apart() -> None:
    """Of two source records against one target record in a gap, the one that shares a field with it is altered."""
    target = [*SOURCE[:3], SOURCE[4]._replace(value=77), *SOURCE[5:]]

    assert {(MISSING, 3, None), (ALTERED, 4, 3)} == {found[:3] for found in align(records(SOURCE), records(target))}


@given(order=st.permutations([0] * 5 + [1] * 5))
def test_records_of_several_source_partitions_may_interleave(order: list[int]) -> None:
    """A key in two source partitions: any interleaving in which each keeps its order is equal."""
    source = [sent._replace(partition=n % 2) for n, sent in enumerate(SOURCE)]
    rows = [iter([s for s in source if s.partition == number]) for number in (0, 1)]
    target = [next(rows[number])._replace(partition=0) for number in order]

    assert [Difference(INTERLEAVED, 0, 0)] == align(records(source), records(target))


def test_key_that_both_sides_hold_in_several_partitions_alike_is_equal() -> None:
    """Regression: a key that was read because of another key of its bucket was reported as moved."""
    source = [sent._replace(partition=n % 3 // 2) for n, sent in enumerate(SOURCE)]
    target = [sent._replace(partition=2 - n % 3 // 2) for n, sent in enumerate(SOURCE)]

    assert [] == align(records(source), records(target))


def test_order_inside_one_of_several_source_partitions_counts() -> None:
    """A key in two source partitions: an exchange inside one of them is reordered."""
    source = [sent._replace(partition=n % 2) for n, sent in enumerate(SOURCE)]
    target = [SOURCE[2], SOURCE[0], *SOURCE[3:], SOURCE[1]]

    assert [INTERLEAVED, REORDERED, REORDERED] == [d.label for d in align(records(source), records(target))]


def test_identical_records_of_several_source_partitions_hide_no_order() -> None:
    """Regression: one record that two source partitions hold took back every reordered record of its key."""
    a, b, twin = SOURCE[:3]
    source = [a, b, twin, moved_to(twin, 1)]

    found = align(records(source), records([b, a, twin, twin]))

    assert [INTERLEAVED, REORDERED] == [d.label for d in found]


@given(data=st.data())
def test_clean_interleaving_with_a_replay_is_never_reordered(data: st.DataObject) -> None:
    """Regression: identical records in several source partitions were taken by the wrong one, and named reordered."""
    ours, theirs = (data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=5)) for _ in range(2))
    order = data.draw(st.permutations([0] * len(ours) + [1] * len(theirs)))
    rows = iter(ours), iter(theirs)
    target = [Sent(next(rows[number]), 0) for number in order]
    again = data.draw(st.integers(0, len(target)))
    source = [*(Sent(v, 0) for v in ours), *(Sent(v, 0, partition=1) for v in theirs)]

    found = align(records(source), records([*target, *target[again:]]))

    assert {d.label for d in found} <= {INTERLEAVED, DUPLICATE, STALE}


@given(source=SHORT, target=SHORT)
def test_common_subsequence_is_the_longest(source: list[int], target: list[int]) -> None:
    """As long as the one that a table of all lengths gives, ascending on both sides, of equal records."""
    ours, theirs = common_subsequence(np.array(source, np.int64), np.array(target, np.int64))
    table = [[0] * (len(target) + 1) for _ in range(len(source) + 1)]
    for i, one in enumerate(source):
        for j, other in enumerate(target):
            table[i + 1][j + 1] = table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])

    assert table[-1][-1] == len(ours) == len(theirs)
    assert all(np.all(np.diff(places) > 0) for places in (ours, theirs))
    assert [source[i] for i in ours] == [target[j] for j in theirs]


@given(source=SHORT, target=SHORT, split=st.booleans())
def test_differences_account_for_every_record(source: list[int], target: list[int], split: bool) -> None:
    """Without its differences each side is the same sequence; each record is in one difference at most."""
    ours = records([Sent(value, value) for value in source])
    theirs = records([Sent(value, value, partition=n % 2 if split else 0) for n, value in enumerate(target)])
    found = align(ours, theirs)
    at_source = [d.source for d in found if d.source is not None]
    at_target = [d.target for d in found if d.target is not None]
    left_source = np.delete(ours.records, at_source)

    assert (len(at_source), len(at_target)) == (len(set(at_source)), len(set(at_target)))
    assert Counter(left_source.tolist()) == Counter(np.delete(theirs.records, at_target).tolist())
    assert split or left_source.tolist() == np.delete(theirs.records, at_target).tolist()
    for difference in found:
        if difference.label in (REORDERED, MOVED):
            assert ours.records[difference.source] == theirs.records[difference.target]


def test_many_identical_records_do_not_cost_their_square(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a bound identical records are paired by their number; a clean end stays clean."""
    monkeypatch.setattr(subsequences, "_MAX_PAIRS", 10)
    same = [Sent(1, 1)] * 20
    found = align(records([SOURCE[0], *same, SOURCE[2]]), records([SOURCE[3], *same, *same[:3], SOURCE[4]]))

    assert Counter({DUPLICATE: 3, ALTERED: 2}) == Counter(d.label for d in found)


def test_replay_of_very_many_identical_records_is_no_reordering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: paired by their number, identical records crossed the others between them."""
    monkeypatch.setattr(subsequences, "_MAX_PAIRS", 10)
    source = [sent for n in range(50) for sent in (Sent(7, 7), Sent(100 + n, 0))]
    target = [*source[:30], *source[10:60], *source[40:]]

    assert {DUPLICATE} == {d.label for d in align(records(source), records(target))}


@pytest.mark.parametrize("seed", range(40))
def test_several_damages_of_unique_records_are_each_labelled(seed: int) -> None:
    """Damages that do not touch each other are all found, each under its own label."""
    rng = random.Random(seed)
    source = [Sent(value, value) for value in range(60)]
    places = dict(zip(rng.sample(range(2, 58, 5), 4), (MISSING, DUPLICATE, ALTERED, EXTRA), strict=True))
    target: list[Sent] = []
    for place, sent in enumerate(source):
        label = places.get(place)
        target += {
            None: [sent],
            MISSING: [],
            DUPLICATE: [sent, source[place - 2]],
            ALTERED: [sent._replace(value=700 + place)],
            EXTRA: [sent, Sent(1000 + place, 1000 + place)],
        }[label]

    assert Counter(places.values()) == Counter(d.label for d in align(records(source), records(target)))


TOMBSTONE = Sent(0, 2000, tombstone=True)
ON_SOURCE, ON_TARGET, BOTH = (True, False), (False, True), (True, True)


def compacting(**known: Any) -> Known:
    """Return what is known of a topic that both clusters compact."""
    return Known(**{"compacted": BOTH, **known})


def of_source(label: str, *offsets: int) -> list[Place]:
    """Return one difference for each of these source records."""
    return [(label, offset, None) for offset in offsets]


def of_target(label: str, *offsets: int) -> list[Place]:
    """Return one difference for each of these target records."""
    return [(label, None, offset) for offset in offsets]


COMPACTS = compacting()
GOES_ON = compacting(behind=BOTH)
DELETED_ON_SOURCE = {"behind": ON_SOURCE, "deleted_behind": ON_SOURCE}
DELETED_ON_TARGET = {"behind": ON_TARGET, "deleted_behind": ON_TARGET}
EXPIRED_ON_SOURCE, EXPIRED_ON_TARGET = Known(expired=ON_SOURCE), Known(expired=ON_TARGET)

CLEANED = {
    "source compacted": (SOURCE[6:], SOURCE, COMPACTS, of_target(COMPACTED, *range(6))),
    "target compacted": (SOURCE, SOURCE[8:], COMPACTS, of_source(COMPACTED, *range(8))),
    "topic not compacted": (SOURCE, SOURCE[8:], Known(), of_source(MISSING, *range(8))),
    "newest missing": (SOURCE, SOURCE[:9], COMPACTS, of_source(MISSING, 9)),
    "newest missing, older ones are there": (SOURCE, SOURCE[:9], GOES_ON, of_source(MISSING, 9)),
    "all replaced after the range": (SOURCE[:1], [], GOES_ON, of_source(COMPACTED, 0)),
    "missing in the middle": (SOURCE, [*SOURCE[:3], *SOURCE[4:]], COMPACTS, of_source(MISSING, 3)),
    "foreign, replaced": (SOURCE, [*SOURCE[:3], OTHER, *SOURCE[3:]], COMPACTS, of_target(EXTRA, 3)),
    "old record at the end": (SOURCE, [*SOURCE, SOURCE[0]], GOES_ON, of_target(STALE, 10)),
    "only the source is compacted": (SOURCE, SOURCE[8:], Known(compacted=ON_SOURCE), of_source(MISSING, *range(8))),
    "identical records compacted": ([SOURCE[0]] * 2, [SOURCE[0]], COMPACTS, of_source(COMPACTED, 0)),
    "last of identical records stays": (
        [SOURCE[0], SOURCE[1], SOURCE[0]],
        [SOURCE[0]],
        COMPACTS,
        of_source(COMPACTED, 0, 1),
    ),
    "sent again, then compacted": (
        SOURCE[:4],
        [SOURCE[2], *SOURCE[1:4]],
        COMPACTS,
        [(COMPACTED, 0, None), (DUPLICATE, None, 0)],
    ),
    "newest is foreign": (SOURCE[:2], [*SOURCE[:2], OTHER], COMPACTS, of_target(EXTRA, 2)),
    "altered, and has a newer one": (SOURCE, [*SOURCE[:3], OTHER, *SOURCE[4:]], COMPACTS, [(ALTERED, 3, 3)]),
    "key deleted": ([*SOURCE[:2], TOMBSTONE], [], COMPACTS, of_source(COMPACTED, 0, 1, 2)),
    "source deleted": ([], [SOURCE[0], TOMBSTONE], COMPACTS, of_target(COMPACTED, 0, 1)),
    "tombstone missing, key alive": ([SOURCE[0], TOMBSTONE], [SOURCE[0]], COMPACTS, of_source(MISSING, 1)),
    "alive before the range": ([TOMBSTONE], [], compacting(before=BOTH), of_source(MISSING, 0)),
    "on neither side any more": ([TOMBSTONE], [], compacting(before=ON_SOURCE), of_source(COMPACTED, 0)),
    "deleted after the range": ([], SOURCE[:1], compacting(**DELETED_ON_TARGET, goes_on=BOTH), of_target(COMPACTED, 0)),
    "deleted after the range, and the source ends with the range": (
        [],
        SOURCE[:1],
        compacting(**DELETED_ON_TARGET),
        of_target(EXTRA, 0),
    ),
    "source may have forgotten": ([], SOURCE[:1], compacting(goes_on=BOTH), of_target(UNPROVED, 0)),
    "source still has earlier records": (
        [],
        SOURCE[:1],
        compacting(before=ON_SOURCE, goes_on=BOTH),
        of_target(EXTRA, 0),
    ),
    "tombstone after the source's range was never copied": (
        SOURCE[:2],
        [],
        compacting(**DELETED_ON_SOURCE, goes_on=ON_SOURCE),
        of_source(MISSING, 0, 1),
    ),
    "tombstone after the source's range may have been copied": (
        SOURCE[:2],
        [],
        compacting(**DELETED_ON_SOURCE, goes_on=BOTH),
        of_source(UNPROVED, 0, 1),
    ),
    "nothing deleted the key": (SOURCE[:2], [], compacting(behind=ON_SOURCE, goes_on=BOTH), of_source(MISSING, 0, 1)),
    "later records of the target do not come from the source": (
        SOURCE[:2],
        [],
        compacting(behind=ON_TARGET, goes_on=BOTH),
        of_source(MISSING, 0, 1),
    ),
    "deleted, cleaned, and created again after the copy": (
        [SOURCE[0], TOMBSTONE],
        [],
        compacting(behind=ON_SOURCE, goes_on=ON_SOURCE),
        of_source(COMPACTED, 0, 1),
    ),
    "only what came after the source's range": (
        SOURCE[:2],
        [OTHER],
        compacting(behind=ON_SOURCE, goes_on=ON_SOURCE, has_tail=True),
        [*of_source(COMPACTED, 0, 1), (EXTRA, None, 0)],
    ),
    "earlier records are still there": (SOURCE[:3], SOURCE[1:3], compacting(before=ON_TARGET), of_source(MISSING, 0)),
    "alive after the range": ([], SOURCE[:1], compacting(behind=ON_TARGET), of_target(EXTRA, 0)),
    "key gone without a tombstone": (SOURCE[:1], [], COMPACTS, of_source(MISSING, 0)),
    "source expired": (SOURCE[4:], SOURCE, EXPIRED_ON_SOURCE, of_target(EXPIRED, *range(4))),
    "target expired": (SOURCE, SOURCE[4:], EXPIRED_ON_TARGET, of_source(EXPIRED, *range(4))),
    "only the source expired": (SOURCE, SOURCE[4:], EXPIRED_ON_SOURCE, of_source(MISSING, *range(4))),
    "extra after what expired": (
        SOURCE[4:],
        [*SOURCE[:6], OTHER, *SOURCE[6:]],
        EXPIRED_ON_SOURCE,
        [*of_target(EXPIRED, *range(4)), (EXTRA, None, 6)],
    ),
}


@pytest.mark.parametrize(("source", "target", "known", "expected"), CLEANED.values(), ids=CLEANED)
def test_what_a_log_may_delete_is_told_from_damage(
    source: Sequence[Sent], target: Sequence[Sent], known: Known, expected: list[Place]
) -> None:
    """Only what compaction or retention can have taken is explained by them: older records, never newer ones."""
    found = align(records(source), records(target), known)

    assert sorted(expected, key=str) == sorted((d[:3] for d in found), key=str)


def test_aborted_records_are_named_before_duplicates() -> None:
    """A record that was aborted and sent again is on the target twice: one of the two is the aborted one."""
    aborted = tuple(records([SOURCE[3], OTHER]).records.tolist())
    target = records([*SOURCE[:4], SOURCE[3], OTHER, *SOURCE[4:], OTHER])

    found = align(records(SOURCE), target, Known(aborted=aborted))

    assert [(ABORTED, None), (ABORTED, None), (EXTRA, None)] == [d[:2] for d in found]
    assert {3, 4, 5, 12} >= {d.target for d in found}


@pytest.mark.parametrize(
    ("source", "target", "known", "expected"),
    [
        pytest.param(1, 3, Known(aborted=(7,)), [ABORTED, DUPLICATE], id="one aborted, one more"),
        pytest.param(0, 1, Known(aborted=(7, 7)), [ABORTED], id="aborted only"),
        pytest.param(0, 2, EXPIRED_ON_SOURCE, [EXPIRED, EXPIRED], id="source expired"),
        pytest.param(2, 0, EXPIRED_ON_TARGET, [EXPIRED, EXPIRED], id="target expired"),
        pytest.param(2, 0, EXPIRED_ON_SOURCE, [MISSING, MISSING], id="not this side"),
    ],
)
def test_identical_records_without_a_key_are_explained_by_number(
    source: int, target: int, known: Known, expected: list[str]
) -> None:
    """Records without a key that are more or fewer are aborted or expired, as far as there can be such."""
    assert expected == [d.label for d in surplus(source, target, known)]


def test_identical_records_do_not_hide_what_a_replay_and_a_cleaner_left() -> None:
    """Regression: a longer run that looks alike was taken for the copy, and a good copy then lacked a record."""
    again, (a, b, c, d, e) = Sent(7, 7), SOURCE[:5]
    source = [again, again, a, b, again, c, d, e]
    target = [b, again, c, b, again, c, d, e]

    assert {COMPACTED: 3, DUPLICATE: 3} == Counter(d.label for d in align(records(source), records(target), COMPACTS))


@pytest.mark.parametrize("partition", [0, 1])
def test_compaction_explains_nothing_of_a_key_in_several_source_partitions(partition: int) -> None:
    """Of two partitions it is unknown which record is newer, so records missing at a beginning are unproved."""
    source = [*SOURCE[:2], *(moved_to(sent, 1) for sent in SOURCE[2:4])]
    target = [record for record in SOURCE[:4] if record != SOURCE[2 * partition]]

    assert {UNPROVED, INTERLEAVED} == {d.label for d in align(records(source), records(target), COMPACTS)}
    assert MISSING in {d.label for d in align(records(source), records(target))}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param([SOURCE[0], SOURCE[2], OTHER, SOURCE[1], SOURCE[3]], {UNPROVED}, id="source may have had it"),
        pytest.param([SOURCE[0], SOURCE[2], SOURCE[3]], {MISSING}, id="not the first of its partition"),
        pytest.param([], {MISSING}, id="nothing newer is there"),
    ],
)
def test_of_a_key_in_several_source_partitions_only_beginnings_are_unproved(
    target: Sequence[Sent], expected: set[str]
) -> None:
    """What cannot have been compacted of such a key is damage."""
    source = [*SOURCE[:2], *(moved_to(sent, 1) for sent in SOURCE[2:4])]
    found = {d.label for d in align(records(source), records(target), COMPACTS)}

    assert expected == found - {INTERLEAVED}


def test_altered_record_of_a_key_in_several_source_partitions_is_altered() -> None:
    """Regression: it was reported as one record missing and another extra, because partitions have no common gaps."""
    source = [*SOURCE[:3], *(moved_to(sent, 1) for sent in SOURCE[3:6])]
    target = [SOURCE[3], SOURCE[0], SOURCE[1]._replace(value=77), SOURCE[4], SOURCE[2], SOURCE[5]]

    found = align(records(source), records(target))

    assert [INTERLEAVED, ALTERED] == [d.label for d in found]
    assert (1, 2, ("value",)) == found[1][1:4]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [(2, 0, [(COMPACTED, MISSING)] * 2), (0, 2, [(COMPACTED, EXTRA), (COMPACTED, DUPLICATE)]), (1, 1, [])],
)
def test_a_cleaner_keeps_no_record_without_a_key(source: int, target: int, expected: list[tuple[str, str]]) -> None:
    """Regression: records without a key that a cleaner had removed failed the copy."""
    assert expected == [(d.label, d.otherwise) for d in surplus(source, target, COMPACTS)]


def test_record_that_comes_too_early_is_no_replay() -> None:
    """A replay goes back; consumers that saw a record before one that precedes it saw it out of order."""
    a, b, c = SOURCE[:3]

    assert {EXTRA} == {d.label for d in align(records([a, b, c]), records([a, c, b, c]))}
    assert {DUPLICATE} == {d.label for d in align(records(SOURCE), records([*SOURCE[:4], *SOURCE[1:7], *SOURCE[3:]]))}


@given(source=SHORT, data=st.data())
def test_every_compaction_of_a_copy_is_explained(source: list[int], data: st.DataObject) -> None:
    """Whatever both sides drop of the records before one that both keep, identical ones too, nothing is damage."""
    sent = [Sent(value, 0) for value in [*source, 9]]
    kept = [sent[data.draw(st.integers(0, len(source)), label="first kept") :] for _ in range(2)]

    found = align(records(kept[0]), records(kept[1]), COMPACTS)

    assert {d.label for d in found} <= {COMPACTED}
    assert abs(len(kept[0]) - len(kept[1])) == len(found)
