"""Windows: the offset ranges that one validation compares, from what the ledger's generations copied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.generations import Generation
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.ledger.window import Window


def delta_windows(generations: Iterable[Generation]) -> tuple[Window, ...]:
    """Return the windows of these generations; consecutive graceful ones of a partition become one.

    A generation that ended ungracefully keeps a window of its own, because its target range may end with
    records that the next generation sends again.
    """
    windows: dict[TopicPartition, list[Window]] = {}
    may_grow: dict[TopicPartition, bool] = {}
    for generation in generations:
        graceful = generation.stop is not None and generation.stop.graceful
        for window in copied_windows(generation):
            partition = TopicPartition(window.topic, window.partition)
            mine = windows.setdefault(partition, [])
            if mine and graceful and may_grow[partition] and _touches(mine[-1], window):
                mine[-1] = replace(mine[-1], source_end=window.source_end, target_end=window.target_end)
            else:
                mine.append(window)
            may_grow[partition] = graceful
    return tuple(window for partition in sorted(windows) for window in windows[partition])


def delta_key_windows(generations: Iterable[Generation]) -> tuple[Window, ...]:
    """Return the windows of these generations for a comparison by key; consecutive ones of a topic become one.

    Also after an ungraceful end: the records that the next generation sent again are then found with the first copy.
    """
    topics: dict[str, list[list[Window]]] = {}
    for generation in generations:
        for topic in sorted(generation.topics):
            windows = [w for w in copied_windows(generation, by_key=True) if w.topic == topic]
            mine = topics.setdefault(topic, [])
            if mine and _continues(mine[-1], windows):
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


def joined_windows(windows: Iterable[Window]) -> dict[TopicPartition, Window]:
    """Return one window per partition over all of these windows, given in the order of their generations."""
    whole: dict[TopicPartition, Window] = {}
    for window in windows:
        partition = TopicPartition(window.topic, window.partition)
        whole[partition] = _from_start_of(whole.get(partition, window), window)
    return whole


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
    first = joined_windows(w for generation in ledger.generations for w in copied_windows(generation, by_key=by_key))
    moved = ledger.moved_topics()
    ends = {p: end for p, end in target_end_offsets.items() if p.topic not in moved}
    if by_key:
        first = _of_whole_topics(first, ends)
    return tuple(
        replace(window, target_end=max(window.target_start, ends.get(partition, window.target_end)))
        for partition, window in sorted(first.items())
        if window.topic in wanted
    )


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

    A killed generation has copied past its position, in the order of the source. Records that the next one sends again
    belong to the windows of both, and comparing both proves them. By key, offsets do not show this.
    """
    start, stop = generation.start, generation.stop
    if stop is None:
        return
    ahead = {} if stop.graceful or by_key else stop.ahead_records
    topics = {p.topic for p in stop.mirror_positions}
    only_on_target = {p for p in stop.target_end_offsets if p.topic in topics} if by_key else set()
    for partition in sorted(stop.mirror_positions.keys() | only_on_target):
        # A partition that is unknown at the start was added while MirrorMaker ran: it begins at offset 0.
        yield Window(
            generation=generation.number,
            topic=partition.topic,
            target_topic=partition.topic,
            partition=partition.partition,
            source_start=start.mirror_positions.get(partition, 0),
            source_end=stop.mirror_positions.get(partition, 0) + ahead.get(partition, 0),
            target_start=start.target_end_offsets.get(partition, 0),
            target_end=stop.target_end_offsets.get(partition, 0),
        )


def _touches(earlier: Window, later: Window) -> bool:
    return (earlier.source_end, earlier.target_end) == (later.source_start, later.target_start)
