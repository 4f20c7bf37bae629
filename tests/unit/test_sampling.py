"""Rules of samples: what a run reads that does not read everything."""

from __future__ import annotations

import pytest

from kafka_migration.core.sampling import left_out, sampled
from kafka_migration.core.validation import Window

pytestmark = pytest.mark.unit

WINDOWS = [
    Window(generation, topic, topic, partition, 0, 10, 0, 10)
    for topic in ("audit", "orders")
    for partition in range(200)
    for generation in (1, 2)
]
EMPTY = Window(1, "orders", "orders", 200, 5, 5, 5, 5)


def partitions(windows: tuple[Window, ...], topic: str) -> set[int]:
    """Return which partitions of a topic are read."""
    return {w.partition for w in windows if w.topic == topic}


def test_sample_is_about_as_large_as_asked_for():
    """Of many partitions of each topic about the share is read, with all of their windows."""
    chosen = sampled(WINDOWS, 25, seed="run", by_key=False)

    for topic in ("audit", "orders"):
        assert 30 < len(partitions(chosen, topic)) < 70
    assert len(chosen) == 2 * sum(len(partitions(chosen, topic)) for topic in ("audit", "orders"))


def test_sample_is_the_same_for_the_same_run_only():
    """Repeated, a run reads the same partitions; the next one reads others."""
    first, again, other = (sampled(WINDOWS, 25, seed=seed, by_key=False) for seed in ("a", "a", "b"))

    assert first == again
    assert first != other


@pytest.mark.parametrize("by_key", [False, True])
def test_sample_is_never_nothing(by_key):
    """However small the share, each topic has a partition that is read, and by key one topic is read whole."""
    chosen = sampled(WINDOWS, 1, seed="run", by_key=by_key)

    if by_key:
        (topic,) = {w.topic for w in chosen}
        assert 200 == len(partitions(chosen, topic))
    else:
        assert partitions(chosen, "audit")
        assert partitions(chosen, "orders")


def test_topic_that_is_left_out_is_left_out_whole():
    """Regression: by key the empty windows of a topic were compared, and the topic taken for judged."""
    windows = [Window(1, topic, topic, p, 0, 10 * p, 0, 10 * p) for topic in "abc" for p in (0, 1)]

    assert 1 == len({w.topic for w in sampled(windows, 1, seed="run", by_key=True)})


def test_what_is_left_out_is_counted():
    """Windows without offsets are kept, since they cost nothing, and are not counted."""
    windows = [*WINDOWS, EMPTY]
    chosen = sampled(windows, 25, seed="run", by_key=False)

    assert EMPTY in chosen
    assert len(windows) - len(chosen) == sum(left_out(windows, chosen).values())
    assert {} == left_out(windows, windows)
