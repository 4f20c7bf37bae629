"""Rules of the classification of a partition's first difference."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from kafka_digest.position.classify import Difference, Elsewhere, Record, align, classify_first_difference
from tests.present import present

SIDE_GAP = 1000


def record(content: int) -> Record:
    """Return a record whose hashes all derive from its content; rank and offset are set by `run`."""
    return Record(0, 0, content, content * 10 + 1, content * 10 + 2, 7, content * 10 + 4)


def altered(original: Record, *names: str) -> Record:
    """Return a record of which only these fields are changed."""
    changed = {name: getattr(original, name) + 5_000_000 for name in names}
    return original._replace(record=original.record + 5_000_000, **changed)


def run(records: Sequence[Record], first_offset: int = 0, first_rank: int = 0) -> list[Record]:
    """Number records in their order in a log."""
    return [r._replace(rank=first_rank + place, offset=first_offset + place) for place, r in enumerate(records)]


def contents(numbers: Sequence[int]) -> list[Record]:
    """Return one record per number; equal numbers make equal records."""
    return [record(number) for number in numbers]


def difference_of(source: Sequence[Record], target: Sequence[Record]) -> Difference | None:
    return classify_first_difference(run(source), run(target, SIDE_GAP))


def classified(source: Sequence[Record], target: Sequence[Record]) -> Difference:
    """Classify two whole partitions that differ, source offsets from 0, target offsets from 1000."""
    return present(difference_of(source, target))


def place_of(difference: Difference) -> tuple[str, int | None, int | None]:
    """Return the kind of a difference and its offsets on both sides."""
    return difference.kind, difference.source_offset, difference.target_offset


SIX = contents(range(1, 7))
NEW = record(99)


def test_equal_runs_have_no_difference() -> None:
    """Equal records are equal, whatever their offsets."""
    assert difference_of(SIX, SIX) is None
    assert difference_of([], []) is None


@pytest.mark.parametrize("place", [0, 3, 5])
@pytest.mark.parametrize("names", [("key",), ("value",), ("headers",), ("timestamp",), ("key", "value")])
def test_an_altered_record_names_its_fields(place: int, names: tuple[str, ...]) -> None:
    """A changed record is altered in exactly the changed fields, also as the first and the last."""
    target = [*SIX[:place], altered(SIX[place], *names), *SIX[place + 1 :]]

    difference = classified(SIX, target)

    assert (names, ("altered", place, SIDE_GAP + place)) == (difference.fields, place_of(difference))


def test_a_rewritten_timestamp_on_every_record_is_altered() -> None:
    """If all records have another timestamp (append time on the target), they are altered, not lost."""
    difference = classified(SIX, [altered(r, "timestamp") for r in SIX])

    assert (difference.kind, difference.fields, difference.source_offset) == ("altered", ("timestamp",), 0)


def test_a_record_overwritten_by_its_neighbour_is_altered() -> None:
    """A record at its place is called altered rather than one missing and one duplicate, which explains no more."""
    assert ("altered", 1, 1001) == place_of(classified(SIX, [SIX[0], SIX[0], *SIX[2:]]))


def test_tiny_partitions() -> None:
    """One record on either side is enough to distinguish the kinds."""
    one, other = contents([1, 2])

    assert classified([one], []).kind == "missing"
    assert classified([], [one]).kind == "extra"
    assert classified([one], [one, one]).kind == "duplicate"
    assert classified([one], [altered(one, "value")]).kind == "altered"
    assert classified([one, other], [other, one]).kind == "reordered"


def test_two_damages_name_the_first() -> None:
    """A second damage shortly after the first does not hide it."""
    assert ("missing", 1) == place_of(classified(SIX, SIX[:1] + SIX[2:3] + SIX[4:]))[:2]


def test_records_with_nothing_in_common_are_unclassified() -> None:
    """Runs that share nothing and continue differently are unclassified."""
    source, target = contents(range(10)), contents(range(50, 57))

    difference = classify_first_difference(run(source), run(target), source_ended=False)

    assert present(difference).kind == "unclassified"


def cut(source: Sequence[Record], target: Sequence[Record], elsewhere: Elsewhere) -> Difference:
    """Classify two runs that continue after the seen records."""
    difference = classify_first_difference(
        run(source, first_rank=500),
        run(target, SIDE_GAP, first_rank=500),
        elsewhere=elsewhere,
        source_ended=False,
        target_ended=False,
    )
    return present(difference)


def test_the_cut_of_a_run_is_no_difference() -> None:
    """A missing record shifts the target by one, so its run shows one record more: neither extra nor moved."""
    numbers = [1, 2, 1, 2, 1, 2]

    difference = cut(contents(numbers), contents([*numbers[1:], 1]), Elsewhere())

    assert difference.kind == "missing"


def test_a_long_missing_batch_is_found_beyond_the_run() -> None:
    """If the target continues with a much later source record, the records in between are missing."""
    far = record(51)._replace(rank=900, offset=900)

    difference = cut(contents(range(1, 9)), contents(range(51, 59)), Elsewhere(source=[far]))

    assert ("missing", 0, SIDE_GAP) == place_of(difference)
    assert "source offset 900" in difference.detail


def test_a_long_replay_is_a_duplicate() -> None:
    """If the source's record comes later and the target's came before, a batch was copied twice."""
    again = record(51)._replace(rank=3, offset=SIDE_GAP - 400)
    later = record(1)._replace(rank=1200, offset=SIDE_GAP + 700)

    difference = cut(contents(range(1, 9)), contents(range(51, 59)), Elsewhere(target=[again, later]))

    assert ("duplicate", 0, SIDE_GAP) == place_of(difference)


def test_a_long_foreign_batch_is_extra() -> None:
    """If the source's record comes later and the target's was never seen, others wrote in between."""
    later = record(1)._replace(rank=1200, offset=SIDE_GAP + 700)

    assert cut(contents(range(1, 9)), contents(range(51, 59)), Elsewhere(target=[later])).kind == "extra"


def test_a_record_moved_beyond_the_run_is_reordered() -> None:
    """A record left out here that the target holds only much later was moved, not lost."""
    late = record(1)._replace(rank=900, offset=SIDE_GAP + 400)
    source, target = contents(range(1, 9)), contents(range(2, 10))

    assert cut(source, target, Elsewhere(target=[late])).kind == "reordered"


Damage = Callable[[random.Random, list[Record]], tuple[list[Record], str, int]]


def drop(rng: random.Random, records: list[Record]) -> tuple[list[Record], str, int]:
    """Leave out up to five records."""
    start = rng.randrange(len(records))
    count = rng.randint(1, min(5, len(records) - start))
    return records[:start] + records[start + count :], "missing", start


def insert(rng: random.Random, records: list[Record]) -> tuple[list[Record], str, int]:
    """Put in up to five new records."""
    place = rng.randint(0, len(records))
    new = [record(10_000 + n) for n in range(rng.randint(1, 5))]
    return records[:place] + new + records[place:], "extra", place


def repeat(rng: random.Random, records: list[Record]) -> tuple[list[Record], str, int]:
    """Copy some records again, directly after the last of them."""
    end = rng.randint(1, len(records))
    start = rng.randrange(end)
    return records[:end] + records[start:end] + records[end:], "duplicate", end


def swap(rng: random.Random, records: list[Record]) -> tuple[list[Record], str, int]:
    """Exchange two records."""
    one, other = sorted(rng.sample(range(len(records)), 2))
    damaged = list(records)
    damaged[one], damaged[other] = damaged[other], damaged[one]
    return damaged, "reordered", one


def change(rng: random.Random, records: list[Record]) -> tuple[list[Record], str, int]:
    """Change some fields of one record."""
    place = rng.randrange(len(records))
    names = rng.sample(["key", "value", "headers", "timestamp"], rng.randint(1, 4))
    return [*records[:place], altered(records[place], *names), *records[place + 1 :]], "altered", place


def move(rng: random.Random, records: list[Record]) -> tuple[list[Record], str, int]:
    """Move the first record to the end."""
    return [*records[1:], records[0]], "reordered", 0


def reverse(rng: random.Random, records: list[Record]) -> tuple[list[Record], str, int]:
    """Reverse all records."""
    return records[::-1], "reordered", 0


@pytest.mark.parametrize("damage", [drop, insert, repeat, swap, change, move, reverse])
def test_random_damage_to_unique_records_is_named(damage: Damage) -> None:
    """One damage to unique records, of any place and length, is named with its kind and its place on both sides."""
    for seed in range(100):
        rng = random.Random(seed)
        source = contents(range(1, rng.randint(3, 60)))
        target, kind, place = damage(rng, source)

        difference = classified(source, target)
        at_source, at_target = (place if place < len(side) else None for side in (source, target))

        assert (kind, at_source, None if at_target is None else SIDE_GAP + at_target) == place_of(difference), seed
        assert difference.detail.endswith(".")


def test_repeating_records_never_break_the_alignment() -> None:
    """With few distinct records many explanations fit; one is given, at the first place that differs."""
    for seed in range(200):
        rng = random.Random(seed)
        source = contents(rng.choices(range(1, 4), k=rng.randint(0, 20)))
        target = contents(rng.choices(range(1, 4), k=rng.randint(0, 20)))

        difference = difference_of(source, target)

        if [r.record for r in source] == [r.record for r in target]:
            assert difference is None, seed
        else:
            same = 0
            while same < min(len(source), len(target)) and source[same] == target[same]:
                same += 1
            assert difference is not None, seed
            assert difference.source_offset == (same if same < len(source) else None), seed
            assert difference.target_offset == (SIDE_GAP + same if same < len(target) else None), seed


def test_aligned_rests_are_equal() -> None:
    """What lies outside the hunks of an alignment is the same on both sides."""
    for seed in range(50):
        rng = random.Random(seed)
        source, target = (rng.choices(range(4), k=rng.randint(0, 15)) for _ in range(2))

        hunks = align(source, target)

        in_source = {i for h in hunks for i in range(h.source_start, h.source_end)}
        in_target = {j for h in hunks for j in range(h.target_start, h.target_end)}
        left = [
            [e for n, e in enumerate(side) if n not in hunk]
            for side, hunk in ((source, in_source), (target, in_target))
        ]
        assert left[0] == left[1], seed
