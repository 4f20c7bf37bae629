"""Every kind of damage at random places of real topics: none escapes, and each is called what it is.

Each case is a topic of its own. One submission per level compares them all, so the first test of a level takes minutes.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.validation_contract import KEY_DIGEST, POSITION_DIGEST, PartitionResult
from sandbox.sandbox import Sandbox
from tests.live.comparison import Outcome, Row, Spot, compared, contradictions, raw_logs
from tests.live.damages import KINDS, Damaged, damaged, first_differing
from tests.live.random_copies import Copy, placed_by_key, random_records
from tests.live.shapes import send
from tests.live.validation_scene import Clusters, Place, Sent, Side

pytestmark = [pytest.mark.live, pytest.mark.campaign]

SEEDS = range(20)
HEAPS = range(40)
RECORDS = 90
# Records before the windows of source and target, and behind both, which nobody asks for.
BEFORE, AFTER = (3, 5), 2
OUTSIDE = Sent(b"hot-1", b"outside")
# Digest, partitions of the source, partitions of the target.
LEVELS = {"by position": (POSITION_DIGEST, 2, 2), "by key": (KEY_DIGEST, 2, 3)}
CASES = [(kind, seed) for kind in KINDS for seed in SEEDS]


@dataclass
class Level(Clusters):
    """All damaged topics of one level on both clusters: those with one damage, and heaps of several."""

    name: str
    damages: Mapping[str, Damaged]
    heaps: Mapping[str, Copy]

    @cached_property
    def copies(self) -> dict[str, Copy]:
        """All topics."""
        return {**{topic: case.copy for topic, case in self.damages.items()}, **self.heaps}

    def fill(self) -> None:
        """Create all topics and send their records, between others that no window holds."""
        _, *partitions = LEVELS[self.name]
        for side, count, before in zip((self.source, self.target), partitions, BEFORE, strict=True):
            side.create_all(dict.fromkeys(self.copies, count), segment_index_bytes="4096")
            places = [(topic, number) for topic in self.copies for number in range(count)]
            side.fill(dict.fromkeys(places, [OUTSIDE] * before))
            self._send(side)
            side.ends()  # so that no marker comes behind what follows
            side.fill(dict.fromkeys(places, [OUTSIDE] * AFTER))

    def _send(self, side: Side) -> None:
        """Send the records of a side; those of some source topics in transactions, whose markers leave holes."""
        for holes in (False, True):
            topics = {t: copy for t, copy in self.copies.items() if holes == (side is self.source and t.endswith("0"))}
            logs = {topic: copy.source if side is self.source else copy.sent for topic, copy in topics.items()}
            placed = {(topic, number): log for topic, parts in logs.items() for number, log in enumerate(parts)}
            send(side, placed, "none", in_transactions=holes)

    @cached_property
    def ranges(self) -> list[dict[Place, tuple[int, int]]]:
        """The offsets of the windows on either side."""
        return [
            {place: (before, end - AFTER) for place, end in side.ends().items()}
            for side, before in zip((self.source, self.target), BEFORE, strict=True)
        ]

    @cached_property
    def read(self) -> list[dict[Place, list[tuple[int, Sent]]]]:
        """The records of the windows on either side with their offsets, as another reader than Spark finds them."""
        return [
            {
                place: [record for record in records if record[0] < ranges[place][1]]
                for place, records in side.records({place: start for place, (start, _) in ranges.items()}).items()
            }
            for side, ranges in zip((self.source, self.target), self.ranges, strict=True)
        ]

    def offset(self, side: int, topic: str, spot: Spot | None) -> Spot | None:
        """Return where on a side the n-th record of a partition is; `None` if there is none."""
        if spot is None:
            return None
        partition, number = spot
        records = self.read[side][topic, partition]
        return (partition, records[number][0]) if number < len(records) else None

    def expected(self, topic: str) -> list[set[Row]]:
        """Return what must be found of a topic, by the real offsets of its records."""

        def found(row: Row) -> Row:
            return row._replace(source=self.offset(0, topic, row.source), target=self.offset(1, topic, row.target))

        return [{found(row) for row in one} for one in self.damages[topic].expected]

    def windows(self) -> Iterator[Window]:
        """The window of every partition that either side has."""
        for topic in self.copies:
            for number in range(max(LEVELS[self.name][1:])):
                source, target = (ranges.get((topic, number), (0, 0)) for ranges in self.ranges)
                yield Window(1, topic, topic, number, *source, *target)


def name_of(kind: str, seed: int) -> str:
    return f"{kind.replace(' ', '-')}-{seed}"


def copy_of(level: str, seed: str) -> Copy:
    """Return a faithful copy of random records."""
    rng = random.Random(f"{level} {seed}")
    _, source, target = LEVELS[level]
    return Copy(rng, placed_by_key(rng, random_records(rng, RECORDS), source), target)


def heap(level: str, seed: int) -> Copy:
    """Return a copy with several damages on top of each other, or with none."""
    copy = copy_of(level, f"heap {seed}")
    for _ in range(copy.rng.randrange(5)):
        with suppress(IndexError):  # another damage took what this one needs
            copy.rng.choice(list(KINDS.values())).damage(copy)
    return copy


@pytest.fixture(scope="module", params=list(LEVELS))
def level(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Level]:
    """Two clusters with every case of a level."""
    made = {name_of(kind, seed): damaged(copy_of(request.param, f"{kind} {seed}"), KINDS[kind]) for kind, seed in CASES}
    heaps = {name_of("heap", seed): heap(request.param, seed) for seed in HEAPS}
    with Sandbox(tmp_path_factory.mktemp("sandbox"), airflow=False) as sandbox:
        state = sandbox.state
        sides = Side(state.source_bootstrap), Side(state.target_bootstrap)
        level = Level(*sides, state.spark_jars, request.param, made, heaps)
        level.fill()
        yield level


@pytest.fixture(scope="module")
def outcome(level: Level, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What one submission says of all cases of a level."""
    return compared(level, tmp_path_factory.mktemp("job"), level.windows(), LEVELS[level.name][0])


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_damage_is_found_and_called_what_it_is(level: Level, outcome: Outcome, kind: str, seed: int) -> None:
    """One damage is one FAIL: each difference with its label and fields, and where its records are on both sides.

    An exchange of different keys damages no key, so that it is none where keys are compared.
    """
    topic = name_of(kind, seed)
    rows = outcome.rows.get(topic, [])
    expected = level.expected(topic)
    is_damage = level.name == "by position" or not KINDS[kind].by_position_only

    assert (Verdict.FAIL if is_damage else Verdict.PASS) == outcome.verdicts[topic].verdict, f"expected {expected}"
    assert len(expected) == len(rows), f"expected {expected}, found {rows}"
    assert [] == [one for one in expected if not one & set(rows)], f"found {rows}"
    assert Counter(row.label for row in rows) == outcome.counts(topic)


@pytest.mark.parametrize("level", ["by position"], indirect=True)
@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_first_place_of_a_partition_is_named(level: Level, outcome: Outcome, kind: str, seed: int) -> None:
    """By position the first place of each partition that differs is named, with both offsets; no other partition is."""
    topic = name_of(kind, seed)
    case = level.damages[topic]

    for found in outcome.windows[topic]:
        number = found.window.partition
        place = first_differing(case.copy, number)
        assert found.equal == (place is None)
        if place is not None:
            check_first(case, found, *(level.offset(side, topic, (number, place)) for side in (0, 1)))


def check_first(case: Damaged, found: PartitionResult, source: Spot | None, target: Spot | None) -> None:
    """Hold the first difference to where the partition differs; a side that ends there has no offset."""
    first = found.first_difference
    assert first is not None
    assert first.kind in case.first, first
    assert [spot and spot[1] for spot in (source, target)] == [first.source_offset, first.target_offset], first
    assert first.kind != "altered" or {first.fields} == {row.fields for one in case.expected for row in one}


def test_another_reader_finds_the_same(level: Level, outcome: Outcome) -> None:
    """Whether a topic is a good copy, and how many of its records have no partner, an oracle says likewise.

    It reads the records through another client and shares no code with the job.
    """
    source, target = (raw_logs(read) for read in level.read)

    assert {} == contradictions(outcome, source, target)
    assert {True, False} == {outcome.verdicts[topic].verdict.is_good for topic in level.heaps}
