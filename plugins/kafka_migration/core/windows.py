"""Windows: the offset ranges that one validation compares, from what the ledger's generations copied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafka_migration.core.generations import Generation
from kafka_migration.core.ledger import Ledger
from kafka_migration.core.migration import Phase
from kafka_migration.core.offsets import Offsets, TopicPartition
from kafka_migration.core.validation import Window


def delta_windows(generations: Iterable[Generation]) -> tuple[Window, ...]:
    """Return the windows of these generations; consecutive graceful ones of a partition become one.

    A generation that ended ungracefully keeps a window of its own, because its target range may end with
    records that the next generation sends again.
    """
    windows: dict[TopicPartition, list[Window]] = {}
    may_grow: dict[TopicPartition, bool] = {}
    for generation in generations:
        graceful = generation.stop is not None and generation.stop.graceful
        for window in _generation_windows(generation):
            partition = TopicPartition(window.topic, window.partition)
            mine = windows.setdefault(partition, [])
            if mine and graceful and may_grow[partition] and _touches(mine[-1], window):
                mine[-1] = replace(mine[-1], source_end=window.source_end, target_end=window.target_end)
            else:
                mine.append(window)
            may_grow[partition] = graceful
    return tuple(window for partition in sorted(windows) for window in windows[partition])


def whole_windows(ledger: Ledger, topics: Iterable[str], target_end_offsets: Offsets) -> tuple[Window, ...]:
    """Return one window per partition over all that was ever copied, up to the target's present end.

    The present end, because a whole re-reading must also see what is there and should not be. After the cutover
    the target has producers of its own: what they append belongs to no copy, so the recorded end is the end.
    """
    wanted = set(topics)
    first: dict[TopicPartition, Window] = {}
    for generation in ledger.generations:
        for window in _generation_windows(generation):
            partition = TopicPartition(window.topic, window.partition)
            known = first.get(partition, window)
            first[partition] = replace(
                known,
                source_end=window.source_end,
                generation=generation.number,
                target_end=window.target_end,
            )
    ends = {} if ledger.phase is Phase.CUT_OVER else target_end_offsets
    return tuple(
        replace(window, target_end=max(window.target_start, ends.get(partition, window.target_end)))
        for partition, window in sorted(first.items())
        if window.topic in wanted
    )


def _generation_windows(generation: Generation) -> Iterable[Window]:
    """Return what a generation copied, per partition.

    One that was killed has copied further than its position tells, in the order of the source: what the next one sends
    again belongs to the windows of both, and the reading of both proves it.
    """
    start, stop = generation.start, generation.stop
    if stop is None:
        return
    ahead = {} if stop.graceful else stop.ahead_records
    for partition in sorted(stop.mirror_positions):
        # A partition that the start did not know was added while MirrorMaker ran: it begins at offset 0.
        yield Window(
            generation=generation.number,
            topic=partition.topic,
            target_topic=partition.topic,
            partition=partition.partition,
            source_start=start.mirror_positions.get(partition, 0),
            source_end=stop.mirror_positions[partition] + ahead.get(partition, 0),
            target_start=start.target_end_offsets.get(partition, 0),
            target_end=stop.target_end_offsets.get(partition, 0),
        )


def _touches(earlier: Window, later: Window) -> bool:
    return (earlier.source_end, earlier.target_end) == (later.source_start, later.target_start)
