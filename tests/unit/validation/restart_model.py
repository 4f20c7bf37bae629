"""Random lives of a topic whose partitions several tasks copy, each with its own restarts, moves and losses.

A generation is one connector on Kafka Connect. Each task stores the positions of its own partitions, and Connect starts
a task again before a run notices it. So one generation sends records again at any place of its range.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import GenerationStart, StopCertificate, Window
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.mirror.mirror_process import HowEnded, ProcessEnding
from kafka_migration.core.validation.judging import TopicVerdict
from kafka_migration.core.validation.validation_contract import PartitionResult
from tests.growing_ledger import Entries
from tests.unit.validation.replay_model import TOPIC, Life, judge


@dataclass
class Partition:
    """One partition on both sides, and the position that its task has stored.

    With exactly-once the target keeps the offsets of records that were never committed, and those of markers.
    """

    logs: Life
    is_exactly_once: bool
    stored: int = 0

    def send(self, start: int, end: int) -> list[int]:
        """Append the copies of a source range; return the target offset of each."""
        places = []
        for offset in range(start, end):
            if (record := self.logs.source[offset]) is not None:
                places.append(len(self.logs.target))
                self.logs.target.append(record)
                self.logs.sent.append(offset)
        return places

    def live(self, rng: random.Random, *, to_the_end: bool, in_order: bool) -> None:
        """Let an instance of the task copy from the stored position on, and end in order or be killed."""
        start, end = self.stored, len(self.logs.source)
        reached = end if to_the_end else rng.randint(start, end)
        self.stored = reached if in_order else rng.choice((start, reached, rng.randint(start, reached)))
        self.send(start, self.stored)
        if self.is_exactly_once:
            # Fenced: what was not committed is never seen.
            self.logs.target += [None] * (reached - self.stored + 1)
        else:
            self.send(self.stored, reached)

    def live_on_cut_off(self, rng: random.Random) -> None:
        """Let two instances copy at once, because the worker of the first one is cut off; it may store its position."""
        start, end = self.stored, len(self.logs.source)
        flushed = rng.randint(start, end)
        self.send(start, flushed)
        turns = [rng.randint(flushed, end), rng.randint(start, end)]
        places = [flushed, start]
        while unfinished := [n for n in (0, 1) if places[n] < turns[n]]:
            number = rng.choice(unfinished)
            self.send(places[number], places[number] + 1)
            places[number] += 1
        self.stored = rng.choice(places)


@dataclass
class RestartedLife:
    """A topic on both clusters, its tasks, and the ledger of its runs."""

    seed: int
    alphabet: int
    is_exactly_once: bool = False
    partitions: list[Partition] = field(default_factory=list)
    tasks: int = 1
    entries: Entries = field(default_factory=Entries)
    runs: list[TopicVerdict] = field(default_factory=list)
    restarted: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        transactions = self.rng.random() < 0.4
        count = self.rng.randint(1, 3)
        lives = (Life(self.seed + n, transactions=transactions, alphabet=self.alphabet) for n in range(count))
        self.partitions = [Partition(life, self.is_exactly_once) for life in lives]
        self.tasks = self.rng.randint(1, count)

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        return self.entries.ledger

    @property
    def again(self) -> int:
        """How many records were really sent again."""
        sent = [each.logs.sent for each in self.partitions]
        return sum(len(each) - len(set(each)) for each in sent)

    def produce(self, most: int) -> None:
        """Append records to each partition."""
        for each in self.partitions:
            each.logs.produce(self.rng.randint(0, most))

    def generation(self, *, is_last: bool, with_cut_off: bool = False) -> None:
        """Let every task live, and be started again some times; then the connector is stopped and certified.

        The last generation of a life is stopped in order, after all was copied, and no task was started again.
        """
        begin, ends = self._positions(), self.target_ends()
        endings = [self._task(n, is_last=is_last, with_cut_off=with_cut_off) for n in range(self.tasks)]
        resent = any(was_restarted for was_restarted, _ in endings)
        how = HowEnded.ORDERLY if all(in_order for _, in_order in endings) else HowEnded.UNKNOWN
        self.restarted += resent
        self.certify(begin, ends, ProcessEnding(how, resent=resent))

    def _task(self, task: int, *, is_last: bool, with_cut_off: bool) -> tuple[bool, bool]:
        """Return whether the task was started again, and whether its last instance ended in order."""
        mine = [each for number, each in enumerate(self.partitions) if number % self.tasks == task]
        restarts = 0 if is_last else self.rng.choice((0, 0, 1, 1, 2, 3))
        for _ in range(restarts):
            # A worker that leaves in order lets its tasks store everything.
            is_moved = self.rng.random() < 0.2
            for each in mine:
                if with_cut_off and self.rng.random() < 0.5:
                    each.live_on_cut_off(self.rng)
                else:
                    each.live(self.rng, to_the_end=False, in_order=is_moved)
        in_order = is_last or self.rng.random() < 0.5
        for each in mine:
            each.live(self.rng, to_the_end=is_last or self.rng.random() < 0.4, in_order=in_order)
        return restarts > 0, in_order

    def certify(self, begin: dict[TopicPartition, int], ends: dict[TopicPartition, int], ending: ProcessEnding) -> None:
        """Write what the ledger has of a generation, as `steps.mirror.stop_certificate` certifies it."""
        number, after = len(self.ledger.generations) + 1, self.target_ends()
        positions = {p: each.logs.held(max(begin[p], each.stored)) for p, each in self._placed()}
        grown = {p: after[p] - ends[p] - (positions[p] - begin[p]) for p in positions}
        says_nothing = self.is_exactly_once or ending.resent
        stop = StopCertificate(
            generation=number,
            run=f"d/g{number}#1",
            at="t",
            graceful=ending.is_clean,
            exit_code=None,
            reason="stopped",
            mirror_positions=positions,
            target_end_offsets=after,
            ahead_records={} if says_nothing else {p: more for p, more in grown.items() if more > 0},
            resent=ending.resent,
        )
        start = GenerationStart(number, f"d/g{number}#1", "t", begin, ends)
        self.entries += [start.to_document(), stop.to_document()]

    def _placed(self) -> Iterable[tuple[TopicPartition, Partition]]:
        return ((TopicPartition(TOPIC, number), each) for number, each in enumerate(self.partitions))

    def _positions(self) -> dict[TopicPartition, int]:
        last = self.ledger.last_stop
        return {p: last.mirror_positions[p] if last else 0 for p, _ in self._placed()}

    def target_ends(self) -> dict[TopicPartition, int]:
        """Return the end of each partition on the target."""
        return {p: len(each.logs.target) for p, each in self._placed()}

    def judge(self, *, whole: bool = False) -> TopicVerdict | None:
        """Validate what is pending, or everything, as a run does; `None` without anything to judge."""
        judged = judge(self.entries, self._measured, self.target_ends(), whole=whole)
        if judged is not None:
            self.runs.append(judged.verdict)
        return judged and judged.verdict

    def _measured(self, window: Window) -> PartitionResult:
        logs = self.partitions[window.partition].logs
        logs.resent = {g.number for g in self.ledger.generations if g.has_resent}
        return logs.measured(window)


def restarted_life(
    seed: int, *, alphabet: int | None = None, is_exactly_once: bool = False, with_cut_off: bool = False
) -> RestartedLife:
    """Return a life of some generations that runs have judged; the last one ends in order, with everything copied."""
    rng = random.Random(seed)
    life = RestartedLife(seed, rng.choice((0, 0, 2, 5)) if alphabet is None else alphabet, is_exactly_once)
    for _ in range(rng.randint(1, 4)):
        life.produce(8)
        life.generation(is_last=False, with_cut_off=with_cut_off)
        if rng.random() < 0.5:
            life.judge()
    life.produce(2)
    life.generation(is_last=True)
    return life
