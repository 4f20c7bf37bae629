"""Windows: the offset ranges that one validation compares, from what the ledger's generations copied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.generations import Generation, Piece, Window
from kafka_migration.core.ledger.ledger import Ledger


class Past:
    """What was copied before the generations of a run; this one has nothing. `core.validation.replays` knows more."""

    def joined_to(self, generation: Generation, window: Window) -> Window:
        """Return a window, joined to the copy of earlier generations that it may repeat in part."""
        return window

    def is_open(self, generation: Generation, topic: str) -> bool:
        """Whether a generation before this one was killed, and it is not known that others have repeated all of it."""
        return False


NOTHING_BEFORE = Past()


def delta_windows(generations: Iterable[Generation], past: Past = NOTHING_BEFORE) -> tuple[Window, ...]:
    """Return the windows of these generations; consecutive ones of a partition become one.

    Also after an ungraceful end: the next generation sends records again, and only one comparison of both generations
    shows which records are on the target twice. Such a window has pieces. A killed generation begins a window, because
    a later run may have to read it again, and not what was copied before it.
    """
    windows: dict[TopicPartition, list[Window]] = {}
    was_killed: dict[TopicPartition, bool] = {}
    for generation in generations:
        for window in copied_windows(generation):
            partition = TopicPartition(window.topic, window.partition)
            mine, after_kill = windows.setdefault(partition, []), was_killed.get(partition, False)
            begins = generation.was_killed and not after_kill and not past.is_open(generation, window.topic)
            if mine and not (begins and has_repeated_all(mine[-1])) and continues(mine[-1], window, after_kill):
                mine[-1] = joined(mine[-1], window, after_kill)
            else:
                mine.append(past.joined_to(generation, window))
            was_killed[partition] = generation.was_killed
    return tuple(window for partition in sorted(windows) for window in windows[partition])


def continues(earlier: Window, later: Window, after_kill: bool) -> bool:
    """Whether a window begins where another ends; after a kill it may begin before that on the source."""
    end, start = pieces_of(earlier)[-1].source_end, later.source_start
    return earlier.target_end == later.target_start and (start <= end if after_kill else start == end)


def joined(earlier: Window, later: Window, after_kill: bool) -> Window:
    """Return one window over both; after a kill the later one is a piece of its own, which may repeat records."""
    *before, last = pieces_of(earlier)
    if after_kill:
        pieces = (*before, last, *pieces_of(later))
    else:
        pieces = (*before, last._replace(generation=later.generation, source_end=later.source_end))
    # A generation that was killed may have sent more than the later one has.
    source_end = max(earlier.source_end, later.source_end)
    pieces = pieces if len(pieces) > 1 else ()
    return replace(_from_start_of(earlier, later), source_end=source_end, pieces=pieces)


def has_repeated_all(window: Window) -> bool:
    """Whether the last piece of a window surely contains all that earlier ones sent: it is as long as each of them.

    The source's offsets may have holes, so only the lengths on the target show this: there each offset is a record.
    """
    starts = [piece.target_start for piece in pieces_of(window)]
    *killed, last = (end - start for start, end in pairwise([*starts, window.target_end]))
    return last >= max(killed, default=last)


def pieces_of(window: Window) -> tuple[Piece, ...]:
    """Return the pieces of a window; at least one."""
    whole = Piece(window.generation, window.source_start, window.source_end, window.target_start)
    return window.pieces or (whole,)


def delta_key_windows(generations: Iterable[Generation], past: Past = NOTHING_BEFORE) -> tuple[Window, ...]:
    """Return the windows of these generations for a comparison by key; consecutive ones of a topic become one.

    Also after an ungraceful end: the records that the next generation sent again are then found with the first copy.
    A killed generation begins a comparison, as in `delta_windows`.
    """
    topics: dict[str, list[list[Window]]] = {}
    was_killed: dict[str, bool] = {}
    for generation in generations:
        for topic, one in sorted(generation.by_topic().items()):
            windows = list(copied_windows(one, by_key=True))
            mine, after_kill = topics.setdefault(topic, []), was_killed.get(topic, False)
            begins = generation.was_killed and not after_kill and not past.is_open(generation, topic)
            was_killed[topic] = generation.was_killed
            if mine and not begins and _continues(mine[-1], windows):
                mine[-1] = _extended(mine[-1], windows)
            else:
                mine.append(windows)
    return tuple(window for topic in sorted(topics) for windows in topics[topic] for window in windows)


def _continues(earlier: Iterable[Window], later: Iterable[Window]) -> bool:
    """Whether the later windows begin where the earlier ones end.

    A target partition that was added between them ends the comparison: keys may be in another partition from then on.
    """
    known = {w.partition: w for w in earlier}
    return known.keys() <= {w.partition for w in later} and all(
        _follows(known[w.partition], w) if w.partition in known else w.target_end == 0 for w in later
    )


def _follows(earlier: Window, later: Window) -> bool:
    """Whether one window begins where another ends; a partition that the source got since may begin anywhere."""
    source_follows = later.source_start == earlier.source_end or not _has_source(earlier)
    return source_follows and later.target_start == earlier.target_end


def _has_source(window: Window) -> bool:
    return window.source_start < window.source_end


def _extended(earlier: Iterable[Window], later: Iterable[Window]) -> list[Window]:
    known = {w.partition: w for w in earlier}
    return [_from_start_of(known[w.partition], w) if w.partition in known else w for w in later]


def _from_start_of(earlier: Window, later: Window) -> Window:
    """Return the later window, extended to the start of the earlier one."""
    source_start = earlier.source_start if _has_source(earlier) else later.source_start
    return replace(later, source_start=source_start, target_start=earlier.target_start)


def whole_windows(
    ledger: Ledger, topics: Iterable[str], target_end_offsets: Offsets, *, by_key: bool = False
) -> tuple[Window, ...]:
    """Return one window per partition over everything that was ever copied, up to the target's current end.

    The current end is used because a whole validation must also find records that should not be there. After the
    cutover the target has its own producers, whose records are not part of the copy: then the recorded end is used.
    """
    wanted = set(topics)
    first = _whole_by_key(ledger.generations) if by_key else _whole_in_place(ledger.generations)
    moved = ledger.moved_topics()
    ends = {p: end for p, end in target_end_offsets.items() if p.topic not in moved}
    if by_key:
        first = _of_whole_topics(first, ends)
    return tuple(
        replace(window, target_end=max(window.target_start, ends.get(partition, window.target_end)))
        for partition, window in sorted(first.items())
        if window.topic in wanted
    )


def _whole_by_key(generations: Iterable[Generation]) -> dict[TopicPartition, Window]:
    whole: dict[TopicPartition, Window] = {}
    for window in (w for generation in generations for w in copied_windows(generation, by_key=True)):
        partition = TopicPartition(window.topic, window.partition)
        whole[partition] = _from_start_of(whole.get(partition, window), window)
    return whole


def _whole_in_place(generations: Iterable[Generation]) -> dict[TopicPartition, Window]:
    whole: dict[TopicPartition, Window] = {}
    was_killed: dict[TopicPartition, bool] = {}
    for generation in generations:
        for window in copied_windows(generation):
            partition = TopicPartition(window.topic, window.partition)
            known = whole.get(partition)
            whole[partition] = joined(known, window, was_killed[partition]) if known else window
            was_killed[partition] = generation.was_killed
    return whole


def _of_whole_topics(windows: Mapping[TopicPartition, Window], ends: Offsets) -> dict[TopicPartition, Window]:
    """Return windows for one comparison per topic, including target partitions that no generation knows."""
    newest: dict[str, Window] = {}
    for window in windows.values():
        newest[window.topic] = max(window, newest.get(window.topic, window), key=lambda w: w.generation)
    unknown = {
        p: replace(newest[p.topic], partition=p.partition, source_start=0, source_end=0, target_start=0, target_end=0)
        for p in ends
        if p.topic in newest and p not in windows
    }
    known = {p: replace(window, generation=newest[p.topic].generation) for p, window in windows.items()}
    return {**unknown, **known}


def copied_windows(generation: Generation, *, by_key: bool = False) -> Iterable[Window]:
    """Return what a generation copied, per partition; by key also for partitions that only the target has.

    A killed generation has copied past its position, in the order of the source. The window includes as many offsets
    as the target has more records. Its true end may be later, if the source's offsets have holes. By key, offsets do
    not show how far it came.
    """
    stop = generation.stop
    if stop is None:
        return
    ahead = {} if stop.graceful or by_key else stop.ahead_records
    topics = {p.topic for p in stop.mirror_positions}
    only_on_target = {p for p in stop.target_end_offsets if p.topic in topics} if by_key else set()
    for partition in sorted(stop.mirror_positions.keys() | only_on_target):
        yield generation.window(partition, ahead.get(partition, 0))
