"""What two logs have in common, said by plain Python on raw records: the judge that shares no code with the job."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple


class Raw(NamedTuple):
    """A record by all that is compared of it."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int = 0


Run = tuple[Raw, ...]
Logs = Sequence[Sequence[Raw]]  # by partition


def same_by_position(source: Logs, target: Logs) -> bool:
    """Tell whether each partition holds the same records in the same order."""
    return [tuple(log) for log in source] == [tuple(log) for log in target]


def same_by_key(source: Logs, target: Logs) -> bool:
    """Tell whether both sides hold the same runs of keys, in whatever partitions, and as many of each without a key."""
    return _keyless(source) == _keyless(target) and _runs(source) == _runs(target)


def good_by_key(source: Logs, target: Logs) -> bool:
    """Tell whether the target is right: keys that several source partitions hold may interleave in one of its own."""
    ours, theirs = _runs(source), _runs(target)
    keys = ours.keys() | theirs.keys()
    return _keyless(source) == _keyless(target) and all(_is_right(ours[key], theirs[key]) for key in keys)


def unpaired(source: Logs, target: Logs) -> tuple[int, int]:
    """Return how many records of the source the target does not hold, and how many of the target the source does not.

    A record that is held twice on one side and once on the other has one partner.
    """
    ours, theirs = (Counter(record for log in logs for record in log) for logs in (source, target))
    return (ours - theirs).total(), (theirs - ours).total()


def _keyless(logs: Logs) -> Counter[Raw]:
    return Counter(record for log in logs for record in log if record.key is None)


def _runs(logs: Logs) -> defaultdict[bytes, Counter[Run]]:
    """Return by key what each partition that holds it has of it."""
    runs: defaultdict[bytes, Counter[Run]] = defaultdict(Counter)
    for log in logs:
        for key in {record.key for record in log if record.key is not None}:
            runs[key][tuple(record for record in log if record.key == key)] += 1
    return runs


def _is_right(ours: Counter[Run], theirs: Counter[Run]) -> bool:
    if ours == theirs or ours.total() < 2 or theirs.total() != 1:
        return ours == theirs
    (whole,), parts = theirs, list(ours.elements())
    held = Counter(record for part in parts for record in set(part))
    own = [[record for record in part if held[record] == 1] for part in parts]
    return Counter(whole) == Counter(record for part in parts for record in part) and all(
        [record for record in whole if record in set(part)] == part for part in own
    )
