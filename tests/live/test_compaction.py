"""Copies under Kafka's own log cleaner: the verdicts are those of the definition that the model follows.

A small copier stands for MirrorMaker. What both clusters hold once their cleaners have run is read by another client
and given to the model, which knows what the verdict must be; the job says what it is.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from zlib import crc32

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.validation_contract import KEY_DIGEST, POSITION_DIGEST
from sandbox.sandbox import Sandbox
from tests.compaction.cleaner import Entry, Log, Record
from tests.compaction.histories import History
from tests.compaction.histories import Side as Clustered
from tests.compaction.product import verdict_on
from tests.compaction.truth import Truth, truth_of
from tests.live.comparison import Outcome, compared
from tests.live.validation_scene import START_MS, Clusters, Place, Sent, Side
from tests.unit.jobs.test_compaction_model import EXPECTED
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

HISTORIES = range(int(os.environ.get("COMPACTION_LIVE_HISTORIES", "24")))
CLEANED_S = 300
SOON = {
    "cleanup_policy": "compact",
    "segment_ms": "100",
    "min_cleanable_dirty_ratio": "0.0001",
    "max_compaction_lag_ms": "1000",
}
DAMAGES = (None, None, "lose", "lose last", "alter", "swap", "again", "foreign")
# By position, and by key to another number of partitions.
LEVELS = {"position": (POSITION_DIGEST, 1), "key": (KEY_DIGEST, 3)}


def topic_of(number: int, level: str = "") -> str:
    """Return a topic's name: of the source, or of one of its copies."""
    return f"t{number}{'.' if level else ''}{level}"


def damaged(rng: random.Random, records: list[Sent], damage: str | None) -> list[Sent]:
    """Return what a copier sends that does this damage."""
    sent, at = list(records), rng.randrange(len(records) - 1)
    if damage == "lose":
        del sent[at]
    elif damage == "lose last":
        last = rng.choice([record.key for record in sent])
        del sent[max(n for n, record in enumerate(sent) if record.key == last)]
    elif damage == "alter":
        sent[at] = Sent(sent[at].key, b"altered", timestamp_ms=sent[at].timestamp_ms)
    elif damage == "swap":
        sent[at], sent[at + 1] = sent[at + 1], sent[at]
    elif damage == "again":
        sent += sent[at:]
    elif damage == "foreign":
        sent.insert(at, Sent(b"key-%d" % rng.randrange(9), b"foreign", timestamp_ms=START_MS))
    return sent


@dataclass
class Copies(Clusters):
    """Topics with both their copies, and where their windows end."""

    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    windows: dict[Place, tuple[int, int]] = field(default_factory=dict)

    def dice(self, number: int) -> random.Random:
        """Return the dice of a history."""
        return random.Random(f"history {number}")

    def compacts(self, number: int) -> tuple[bool, bool]:
        """Return which sides are compacted."""
        return ((True, True), (False, True), (True, False), (True, True))[number % 4]

    def forgets(self, number: int) -> bool:
        """Whether tombstones go as soon as they can."""
        return number % 3 != 0

    def create_topics(self) -> None:
        """Create all topics."""
        for number in HISTORIES:
            settings = [
                SOON | {"delete_retention_ms": "0" if self.forgets(number) else "86400000"} if compacts else {}
                for compacts in self.compacts(number)
            ]
            self.source.create(topic_of(number), 1, **settings[0])
            for level, (_, partitions) in LEVELS.items():
                self.target.create(topic_of(number, level), partitions, **settings[1])

    def produce(self, number: int, rng: random.Random, most: int) -> None:
        """Send the source some records of a few keys; some delete their key."""
        self.source.send(
            topic_of(number), 0, [self._record(rng, next(self.numbers)) for _ in range(rng.randint(8, most))]
        )

    def _record(self, rng: random.Random, number: int) -> Sent:
        value = None if rng.random() < 0.3 else b"value-%d" % number
        return Sent(b"key-%d" % rng.randrange(5), value, timestamp_ms=START_MS + number)

    def copy(self) -> None:
        """Read the source and write both copies; what was read and written so far is compared."""
        ends = self.source.ends()
        read = self.source.records({(topic_of(number), 0): 0 for number in HISTORIES})
        for number in HISTORIES:
            rng = self.dice(-number)
            sent = damaged(rng, [r for _, r in read[topic_of(number), 0]], DAMAGES[number % len(DAMAGES)])
            self.windows[topic_of(number), 0] = (0, ends[topic_of(number), 0])
            for level, (_, partitions) in LEVELS.items():
                placed: dict[int, list[Sent]] = {}
                for record in sent:
                    placed.setdefault(crc32(record.key or b"") % partitions, []).append(record)
                self.target.send_all(topic_of(number, level), placed)
        self.windows |= {place: (0, end) for place, end in self.target.ends().items()}

    def wait_until_cleaned(self) -> None:
        """Wait until the cleaners have left of each key one record, and no tombstone where they are to be forgotten.

        The newest segment is never cleaned, so records of other keys are sent until the others are.
        """
        waiting = [
            (side, (topic_of(number, level), partition), self.forgets(number))
            for number in HISTORIES
            for side, level, partitions in self._cleaned(number)
            for partition in range(partitions)
        ]

        def is_cleaned() -> bool:
            for side in (self.source, self.target):
                fillers = {
                    place: [Sent(b"filler-%d" % next(self.numbers), b"", timestamp_ms=START_MS + next(self.numbers))]
                    for of_side, place, _ in waiting
                    if of_side is side
                }
                side.fill(fillers)
            for side in (self.source, self.target):
                forgets = {place: it for of_side, place, it in waiting if of_side is side}
                read = side.records(dict.fromkeys(forgets, 0))
                done = {place for place, records in read.items() if _is_clean([r for _, r in records], forgets[place])}
                waiting[:] = [item for item in waiting if item[0] is not side or item[1] not in done]
            return not waiting

        wait_until(is_cleaned, CLEANED_S, "the log cleaners")

    def _cleaned(self, number: int) -> Iterator[tuple[Side, str, int]]:
        source, target = self.compacts(number)
        if source:
            yield self.source, "", 1
        if target:
            yield from ((self.target, level, partitions) for level, (_, partitions) in LEVELS.items())

    def asked(self, level: str) -> Iterator[Window]:
        """Return the windows of one level."""
        for number in HISTORIES:
            for partition in range(LEVELS[level][1]):
                ours = self.windows.get((topic_of(number), partition), (0, 0))
                theirs = self.windows[topic_of(number, level), partition]
                yield Window(1, topic_of(number), topic_of(number, level), partition, *ours, *theirs)

    def history(self, number: int, level: str) -> History:
        """Return what both clusters hold of a copy, as the model has it."""
        compacts, partitions = self.compacts(number), LEVELS[level][1]
        source = self._side(self.source, topic_of(number), 1, compacts[0])
        return History(
            level == "key", source, self._side(self.target, topic_of(number, level), partitions, compacts[1])
        )

    def _side(self, side: Side, topic: str, partitions: int, compacts: bool) -> Clustered:
        places = [(topic, partition) for partition in range(partitions)]
        read, ends = side.records(dict.fromkeys(places, 0)), side.ends()
        logs = [
            Log(0, compacts, [Entry(offset, _known(record)) for offset, record in read[place]], ends[place])
            for place in places
        ]
        return Clustered(logs, [self.windows[place] for place in places])


def _is_clean(records: Sequence[Sent], forgets: bool) -> bool:
    keyed = [record for record in records if not (record.key or b"").startswith(b"filler")]
    keys = [record.key for record in keyed]
    return len(set(keys)) == len(keys) and not (forgets and any(record.value is None for record in keyed))


def _known(record: Sent) -> Record:
    value = None if record.value is None else crc32(record.value)
    return Record(crc32(record.key or b""), value, record.timestamp_ms)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copies]:
    """Two clusters with sources that go on after they were copied, and cleaners that have run on both."""
    with Sandbox(tmp_path_factory.mktemp("sandbox"), airflow=False) as sandbox:
        state = sandbox.state
        made = Copies(Side(state.source_bootstrap), Side(state.target_bootstrap), state.spark_jars)
        made.create_topics()
        for number in HISTORIES:
            made.produce(number, made.dice(number), 16)
        made.copy()
        for number in HISTORIES:
            if number % 2:
                made.produce(number, made.dice(number + 1_000), 10)
        made.wait_until_cleaned()
        yield made


@pytest.fixture(scope="module", params=list(LEVELS))
def level(request: pytest.FixtureRequest) -> str:
    """How copies are compared."""
    return str(request.param)


@pytest.fixture(scope="module")
def outcome(copies: Copies, level: str, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What one submission says of all copies of a level."""
    compacted = {
        side: [topic_of(n) for n in HISTORIES if copies.compacts(n)[number]]
        for number, side in enumerate(("source", "target"))
    }
    folder = tmp_path_factory.mktemp("job")
    return compared(copies, folder, copies.asked(level), LEVELS[level][0], compacted=compacted)


def test_verdicts_are_those_of_the_definition(copies: Copies, outcome: Outcome, level: str) -> None:
    """Each copy has the verdict that the definition gives to what another reader finds, and the model's counts."""
    made = {topic_of(number): copies.history(number, level) for number in HISTORIES}
    truths = {topic: truth_of(history) for topic, history in made.items()}
    told = {topic: outcome.verdicts[topic].verdict for topic in made}

    assert {} == {t: (truths[t].name, told[t]) for t in made if told[t] not in EXPECTED[truths[t]]}
    assert {topic: verdict_on(history)[0] for topic, history in made.items()} == told
    assert {Truth.EXPLAINED, Truth.REFUTED} <= set(truths.values())
    good = [topic_of(number) for number in HISTORIES if DAMAGES[number % len(DAMAGES)] is None]
    assert Verdict.FAIL not in {told[topic] for topic in good}


def test_the_cleaners_have_run(copies: Copies, level: str) -> None:
    """The histories are about something: on each compacted side records of the windows are gone."""
    for number in HISTORIES:
        history = copies.history(number, level)
        for side, compacts in zip((history.source, history.target), copies.compacts(number), strict=True):
            offsets = [[e.offset for e in log.entries] for log in side.logs]
            has_holes = any(o and (o[0] > 0 or any(b - a > 1 for a, b in pairwise(o))) for o in offsets)
            assert has_holes or not compacts
