"""What a run must read again, because a generation that it validates may have sent it again.

The generation before was killed, and another run has judged that one. If every record of it was found equal, the place
of its last records on the target is known: the new window begins with them. Else its windows are read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile
from typing import NamedTuple

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import Comparison, Generation, ReadOffsets, Window
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.validation.compared_windows import (
    Past,
    continues,
    copied_windows,
    delta_windows,
    has_repeated_all,
    joined,
    pieces_of,
)

_Reads = dict[int, list[tuple[Comparison, ReadOffsets]]]


class _Open(NamedTuple):
    """The generations of a topic right before another one that may repeat them; the first was killed.

    `windows` are theirs, by partition. `is_proved` says whether their windows need not be read again.
    """

    chain: Sequence[Generation]
    windows: Mapping[int, Sequence[Window]]
    is_proved: bool


@dataclass(frozen=True, slots=True)
class Replays(Past):
    """The killed generations before those that a run validates."""

    ledger: Ledger
    by_key: bool
    _pasts: dict[tuple[int, str], _Open] = field(default_factory=dict, compare=False)
    _reads: dict[str, _Reads] = field(default_factory=dict, compare=False)
    _topics: dict[str, list[Generation]] = field(default_factory=dict, compare=False)

    def with_unproved(self, generations: Sequence[Generation]) -> list[Generation]:
        """Return the generations, in order, with the killed ones before them that must be read again."""
        wanted = {generation.number: set(generation.topics) for generation in generations}
        for topic, first in {topic: g for g in reversed(generations) for topic in g.topics}.items():
            past = self._before(first, topic)
            if not past.is_proved:
                for generation in past.chain:
                    wanted.setdefault(generation.number, set()).add(topic)
        return [g.limited_to(wanted[g.number]) for g in self.ledger.generations if g.number in wanted]

    def joined_to(self, generation: Generation, window: Window) -> Window:
        """Return a window, joined to the copy before it from the first record that was sent again.

        A window that repeats nothing, or whose past `with_unproved` includes, is returned as it is.
        """
        past = self._before(generation, window.topic)
        found = past.windows.get(window.partition, [])
        if len(found) != 1 or not past.is_proved:
            return window
        earlier, after_kill = _from_first_again(found[0], window), past.chain[-1].was_killed
        return joined(earlier, window, after_kill) if earlier and continues(earlier, window, after_kill) else window

    def is_open(self, generation: Generation, topic: str) -> bool:
        """Whether a generation before this one was killed, and it is not known that others have repeated all of it."""
        return bool(self._before(generation, topic).chain)

    def _before(self, generation: Generation, topic: str) -> _Open:
        place = generation.number, topic
        if place not in self._pasts:
            chain = self._open_chain(generation, topic)
            windows: dict[int, list[Window]] = {}
            for window in delta_windows(chain, _Chain()):
                windows.setdefault(window.partition, []).append(window)
            self._pasts[place] = _Open(chain, windows, self._is_proved(chain, topic))
        return self._pasts[place]

    def _open_chain(self, generation: Generation, topic: str) -> list[Generation]:
        chain: list[Generation] = []
        for earlier in self._generations_of(topic):
            # Most generations are not killed, and old ones are many.
            if earlier.number < generation.number and (chain or earlier.was_killed):
                chain.append(earlier)
                if self._is_settled(chain, topic):
                    chain.clear()
        return chain

    def _generations_of(self, topic: str) -> Sequence[Generation]:
        """Return the stopped generations of a topic, limited to it, from the first one that was killed on."""
        if not self._topics:
            for generation in dropwhile(lambda each: not each.was_killed, self.ledger.generations):
                for name, mine in generation.by_topic().items():
                    self._topics.setdefault(name, []).append(mine)
        return self._topics.get(topic, ())

    def _is_settled(self, chain: Sequence[Generation], topic: str) -> bool:
        """Whether the last of these generations ended in order, and has repeated all that those before it sent.

        Where lengths do not show this, a good verdict does: it found no record after the positions.
        """
        last = chain[-1]
        if last.was_killed:
            return False
        if self.by_key:
            judgement = self.ledger.judgement_on(topic, last.number)
            return judgement is None or judgement.topics[topic].is_good
        windows = delta_windows(chain, _Chain())
        return all(has_repeated_all(window) or self._is_good_up_to(window) for window in windows)

    def _is_good_up_to(self, window: Window) -> bool:
        """Whether the newest reading of a window's end is good, ends with it, and all was repeated by the positions."""
        comparison, read = next(self._readings(window), (None, None))
        is_passed = pieces_of(window)[-1].source_end == window.source_end
        is_good = comparison is not None and comparison.verdict.is_good
        return is_passed and is_good and read is not None and read.target_end == window.target_end

    def _is_proved(self, chain: Sequence[Generation], topic: str) -> bool:
        """Whether earlier judgements show what the first of these generations copied, and where.

        By key, a good judgement shows that a generation sent nothing after its position.
        """
        if self.by_key:
            judged = [self.ledger.judgement_on(topic, generation.number) for generation in chain]
            return all(judgement is not None and judgement.topics[topic].is_good for judgement in judged)
        return all(self._is_equal(g, window) for g in chain[:1] for window in copied_windows(g))

    def _is_equal(self, generation: Generation, window: Window) -> bool:
        """Whether a window was found equal, and every offset is a record if the target may have some after the
        position.
        """
        ahead = generation.stop.ahead_records if generation.stop else {}
        is_simple = not ahead.get(TopicPartition(window.topic, window.partition)) and not generation.has_resent
        for comparison, read in self._readings(window):
            if not comparison.verdict.is_good:
                return False
            if is_simple and read.target_end <= window.target_end:
                return True
            if _is_record_by_record(comparison, read) and _holds(read, window):
                return True
        return window.is_empty

    def _readings(self, window: Window) -> Iterator[tuple[Comparison, ReadOffsets]]:
        """Return the comparisons that read offsets of a window on either side, newest first."""
        if window.topic not in self._reads:
            self._reads[window.topic] = _reads_of(self.ledger, window.topic)
        return (each for each in self._reads[window.topic].get(window.partition, ()) if _is_met(each[1], window))


class _Chain(Past):
    """What belongs together in any case."""

    def is_open(self, generation: Generation, topic: str) -> bool:
        return True


def _reads_of(ledger: Ledger, topic: str) -> _Reads:
    """Return what was read of each partition, newest first."""
    found: _Reads = {}
    for judgement in reversed(ledger.judgements):
        for comparison in judgement.comparisons.get(topic, ()):
            for read in comparison.windows:
                found.setdefault(read.partition, []).append((comparison, read))
    return found


def _from_first_again(copied: Window, later: Window) -> Window | None:
    """Return a window without the records of its first piece that were sent once; each of its offsets is a record."""
    first, *others = pieces_of(copied)
    begin, end = (others[0].source_start, others[0].target_start) if others else (later.source_start, copied.target_end)
    again = max(0, first.source_end - max(first.source_start, begin))
    if not again and not others:
        return None
    first = first._replace(source_start=first.source_end - again, target_start=end - again)
    pieces = (first, *others) if others else ()
    return replace(copied, source_start=first.source_start, target_start=first.target_start, pieces=pieces)


def _is_met(read: ReadOffsets, window: Window) -> bool:
    on_source = read.source_start < window.source_end and window.source_start < read.source_end
    return on_source or (read.target_start < window.target_end and window.target_start < read.target_end)


def _is_record_by_record(comparison: Comparison, read: ReadOffsets) -> bool:
    source, target = read.source_end - read.source_start, read.target_end - read.target_start
    return (source, target) == (comparison.source_records, comparison.target_records) and source == target


def _holds(read: ReadOffsets, window: Window) -> bool:
    distance = window.source_start - read.source_start
    is_there = read.source_start <= window.source_start and window.source_end <= read.source_end
    return is_there and window.target_start - read.target_start == distance and window.target_end <= read.target_end
