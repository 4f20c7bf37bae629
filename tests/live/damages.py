"""Kinds of damage, each at a random place of a copy, with the label that docs/concepts/validation.md gives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tests.live.comparison import Row
from tests.live.random_copies import HOT_KEYS, Copy, Header, Log, Placed
from tests.live.validation_scene import START_MS, Sent


class Change(NamedTuple):
    """One difference that must be reported: its label and fields, and the records of both sides that it names."""

    label: str
    fields: tuple[str, ...] = ()
    source: Placed | None = None
    target: Placed | None = None


# Every difference, as the changes of which one must be reported: where docs/concepts/validation.md says that of
# several equal explanations one is given, there are several.
Expected = list[list[Change]]


def missing(placed: Placed) -> Change:
    return Change("missing", source=placed)


def extra(placed: Placed) -> Change:
    return Change("extra", target=placed)


def again(placed: Placed, label: str = "duplicate") -> Change:
    return Change(label, target=placed)


def same(label: str, placed: Placed) -> Change:
    return Change(label, source=placed, target=placed)


def one_missing(copy: Copy) -> Expected:
    log, at = copy.some()
    return [[missing(log.pop(at))]]


def run_missing(copy: Copy) -> Expected:
    log, at = copy.some()
    return _cut(log, at, at + copy.rng.randint(2, 8))


def tail_missing(copy: Copy) -> Expected:
    log, _ = copy.some()
    return _cut(log, max(0, len(log) - copy.rng.randint(1, 8)), len(log))


def _cut(log: Log, start: int, end: int) -> Expected:
    lost = log[start:end]
    del log[start:end]
    return [[missing(placed)] for placed in lost]


def foreign(copy: Copy) -> Sent:
    """Return a record that the source does not have, of a key that it has or has not."""
    key = copy.rng.choice([*HOT_KEYS, None, b"foreign"])
    return Sent(key, copy.rng.randbytes(20), [("foreign", copy.rng.randbytes(4))], START_MS - copy.rng.randrange(999))


def foreign_in_between(copy: Copy) -> Expected:
    log, at = copy.some()
    log.insert(at, Placed(foreign(copy)))
    return [[extra(log[at])]]


def foreign_at_the_end(copy: Copy) -> Expected:
    log, _ = copy.some()
    log.append(Placed(foreign(copy)))
    return [[extra(log[-1])]]


def twice_in_a_row(copy: Copy) -> Expected:
    log, at = copy.some()
    log.insert(at, replace(log[at]))
    return [[again(log[at]), again(log[at + 1])]]


def sent_again_later(copy: Copy) -> Expected:
    """The record stands between others of its key once more; it is the second one, because of what lies between."""
    log, places = copy.of_one_key(4)
    first = copy.rng.randrange(len(places) - 2)
    at = copy.rng.randint(places[first + 1] + 1, places[-1])
    log.insert(at, replace(log[places[first]]))
    return [[again(log[at])]]


def replayed(copy: Copy) -> Expected:
    """A run of records comes a second time right behind the first; which of the two is one too many is all the same."""
    log, end = copy.some()
    first = log[max(0, end - copy.rng.randint(4, 12)) : end + 1]
    second = [replace(placed) for placed in first]
    log[end + 1 : end + 1] = second
    return [[again(one), again(other)] for one, other in zip(first, second, strict=True)]


def old_at_the_end(copy: Copy) -> Expected:
    log, places = copy.of_one_key(2)
    log.insert(copy.rng.randint(places[-1] + 1, len(log)), replace(log[copy.rng.choice(places[:-1])]))
    (stale,) = [placed for placed in log[places[-1] + 1 :] if placed.record.key == log[places[-1]].record.key]
    return [[again(stale, "stale")]]


def neighbours_of_a_key_exchanged(copy: Copy) -> Expected:
    log, places = copy.of_one_key(2)
    first = copy.rng.randrange(len(places) - 1)
    one, other = places[first : first + 2]
    log[one], log[other] = log[other], log[one]
    return [[same("reordered", log[one]), same("reordered", log[other])]]


def moved_far_within_its_key(copy: Copy) -> Expected:
    """Two others of its key or more are passed, so that it is this one which stands wrong."""
    log, places = copy.of_one_key(4)
    number = copy.rng.randrange(len(places) - 2)
    ends = [places[number], places[copy.rng.randrange(number + 2, len(places))]]
    copy.rng.shuffle(ends)
    moved = log.pop(ends[0])
    log.insert(ends[1], moved)
    return [[same("reordered", moved)]]


def exchanged_far_within_a_key(copy: Copy) -> Expected:
    """Two others of their key or more stand between, so that it is these which stand wrong."""
    log, places = copy.of_one_key(4)
    number = copy.rng.randrange(len(places) - 3)
    one, other = places[number], places[copy.rng.randrange(number + 3, len(places))]
    log[one], log[other] = log[other], log[one]
    return [[same("reordered", log[one])], [same("reordered", log[other])]]


def different_keys_exchanged(copy: Copy) -> Expected:
    """No key differs; only the order of the partition does."""
    log = copy.some()[0]
    at = copy.rng.choice([n for n in range(len(log) - 1) if log[n].record.key != log[n + 1].record.key])
    log[at], log[at + 1] = log[at + 1], log[at]
    return []


def _altered(log: Log, at: int, **fields: object) -> Expected:
    old = log[at]
    log[at] = replace(old, record=replace(old.record, **fields))  # type: ignore[arg-type]
    names = tuple(name.removesuffix("_ms") for name in fields)
    return [[Change("altered", names, old, log[at])]]


def _flipped(copy: Copy, data: bytes) -> bytes:
    bit = copy.rng.randrange(8 * len(data))
    return bytes(byte ^ (1 << bit % 8 if n == bit // 8 else 0) for n, byte in enumerate(data))


def value_bit(copy: Copy) -> Expected:
    log, at = copy.some(lambda r: r.value)
    return _altered(log, at, value=_flipped(copy, log[at].record.value or b""))


def value_tombstone(copy: Copy) -> Expected:
    return _altered(*copy.some(lambda r: r.value), value=None)


def value_null_empty(copy: Copy) -> Expected:
    log, at = copy.some(lambda r: not r.value)
    return _altered(log, at, value=b"" if log[at].record.value is None else None)


def key_changed(copy: Copy) -> Expected:
    log, at = copy.some(lambda r: r.key)
    others = {b"new", *HOT_KEYS} - {log[at].record.key}
    return _altered(log, at, key=copy.rng.choice(sorted(others)))


def key_null_empty(copy: Copy) -> Expected:
    log, at = copy.some(lambda r: not r.key)
    return _altered(log, at, key=b"" if log[at].record.key is None else None)


def timestamp(copy: Copy) -> Expected:
    log, at = copy.some()
    return _altered(log, at, timestamp_ms=log[at].record.timestamp_ms + copy.rng.choice([-1, 1]))


def everything_but_the_key(copy: Copy) -> Expected:
    log, at = copy.some(lambda r: r.key is not None)
    other = foreign(copy)
    return _altered(log, at, value=other.value, headers=other.headers, timestamp_ms=other.timestamp_ms)


def _headers(copy: Copy, least: int, changed: Callable[[list[Header]], list[Header]]) -> Expected:
    log, at = copy.some(lambda r: len(r.headers) >= least)
    return _altered(log, at, headers=changed(log[at].record.headers))


def header_bit(copy: Copy) -> Expected:
    def changed(headers: list[Header]) -> list[Header]:
        at = copy.rng.choice([n for n, (_, value) in enumerate(headers) if value])
        key, value = headers[at]
        return [*headers[:at], (key, _flipped(copy, value or b"")), *headers[at + 1 :]]

    return _headers(copy, 1, changed)


def header_added(copy: Copy) -> Expected:
    def changed(headers: list[Header]) -> list[Header]:
        at = copy.rng.randint(0, len(headers))
        return [*headers[:at], ("added", copy.rng.choice([None, b"", b"x"])), *headers[at:]]

    return _headers(copy, 0, changed)


def header_lost(copy: Copy) -> Expected:
    def changed(headers: list[Header]) -> list[Header]:
        at = copy.rng.randrange(len(headers))
        return headers[:at] + headers[at + 1 :]

    return _headers(copy, 1, changed)


def header_renamed(copy: Copy) -> Expected:
    return _headers(copy, 1, lambda headers: [(headers[0][0] + "?", headers[0][1]), *headers[1:]])


def headers_exchanged(copy: Copy) -> Expected:
    def changed(headers: list[Header]) -> list[Header]:
        at = copy.rng.randrange(len(headers) - 1)
        return [*headers[:at], headers[at + 1], headers[at], *headers[at + 2 :]]

    return _headers(copy, 2, changed)


def header_null_empty(copy: Copy) -> Expected:
    flat = {None: b"", b"": None}
    log, at = copy.some(lambda r: any(not value for _, value in r.headers))
    return _altered(log, at, headers=[(key, flat.get(value, value)) for key, value in log[at].record.headers])


def another_partition(copy: Copy) -> Expected:
    """The rest of its key stays, so that it is this one which is in the wrong partition."""
    log, places = copy.of_one_key(3)
    moved = log.pop(copy.rng.choice(places))
    others = copy.rng.choice([other for other in copy.target if other is not log])
    others.insert(copy.rng.randint(0, len(others)), moved)
    return [[same("moved", moved)]]


def values_exchanged(copy: Copy) -> Expected:
    """Another record of their key stands between, so that each is compared with its own."""
    log, places = copy.of_one_key(5)
    pairs = [(one, other) for n, one in enumerate(places) for other in places[n + 2 :]]
    one, other = copy.rng.choice([(a, b) for a, b in pairs if log[a].record.value != log[b].record.value])
    values = log[one].record.value, log[other].record.value
    return _altered(log, one, value=values[1]) + _altered(log, other, value=values[0])


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of damage, what its first place in a partition may be called, and whether only positions show it."""

    damage: Callable[[Copy], Expected]
    first: frozenset[str]
    by_position_only: bool = False


def _kinds(first: Sequence[str], *damages: Callable[[Copy], Expected], **more: bool) -> dict[str, Kind]:
    return {damage.__name__.replace("_", " "): Kind(damage, frozenset(first), **more) for damage in damages}


ALTERATIONS = (
    *(value_bit, value_tombstone, value_null_empty, key_changed, key_null_empty, timestamp, everything_but_the_key),
    *(header_bit, header_added, header_lost, header_renamed, headers_exchanged, header_null_empty, values_exchanged),
)
REORDERINGS = (neighbours_of_a_key_exchanged, moved_far_within_its_key, exchanged_far_within_a_key)
KINDS: dict[str, Kind] = {
    **_kinds(["missing"], one_missing, run_missing, tail_missing),
    **_kinds(["extra"], foreign_in_between, foreign_at_the_end),
    **_kinds(["duplicate"], twice_in_a_row),
    # The first place is looked at with one block before it: what repeats a record from further up is extra there.
    **_kinds(["duplicate", "extra"], sent_again_later, replayed, old_at_the_end),
    **_kinds(["reordered"], *REORDERINGS),
    **_kinds(["reordered"], different_keys_exchanged, by_position_only=True),
    **_kinds(["altered"], *ALTERATIONS),
    **_kinds(["missing", "extra"], another_partition),
}


@dataclass(frozen=True)
class Damaged:
    """A copy with one damage, and every difference that must be found, as the rows of which one must be there."""

    copy: Copy
    expected: list[set[Row]]
    first: frozenset[str]


def damaged(copy: Copy, kind: Kind) -> Damaged:
    """Put a damage into a copy."""
    rows = [{_row(copy, one) for one in changes} for changes in kind.damage(copy)]
    return Damaged(copy, rows, kind.first)


def _row(copy: Copy, change: Change) -> Row:
    source = None if change.source is None else change.source.origin
    return Row(change.label, change.fields, source, None if change.target is None else copy.place_of(change.target))


def first_differing(copy: Copy, partition: int) -> int | None:
    """Return the first offset at which a partition is not the same on both sides."""
    ours, theirs = copy.source[partition], [placed.record for placed in copy.target[partition]]
    for offset, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if one != other:
            return offset
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs))
