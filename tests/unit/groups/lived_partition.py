"""A partition with a random life: kills, retries, holes and purges, as the ledger and both clusters show it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.group_rules import Translated, plan_groups
from kafka_migration.core.groups.offsets_plan import GroupPlan
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.ledger.generations import Comparison, GenerationStart, Judgement, ReadOffsets, StopCertificate
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.mirror.mirror_process import HowEnded, ProcessEnding
from kafka_migration.core.translation.by_partition import (
    OffsetRange,
    Position,
    counts_needed,
    resent_ranges,
    source_probes,
    target_probes,
    translate,
)
from kafka_migration.core.translation.copies import FromTheRight, PartitionCopy, Resent, ResentRange, copies_of
from kafka_migration.core.validation.validation_contract import POSITION_DIGEST
from tests.growing_ledger import Entries
from tests.unit.groups.copied_partition import committed
from tests.unit.partitions import P0

HOLE = None
RUN, AT = "dag/run#1", "2030-01-01T00:00:00+00:00"


@dataclass
class LivedPartition:
    """One partition on both sides; a `None` of the source is a marker or an aborted record."""

    chance: random.Random
    source: list[str | None] = field(default_factory=list)
    target: list[str] = field(default_factory=list)
    entries: Entries = field(default_factory=Entries)
    spans: list[tuple[int, int, int, int]] = field(default_factory=list)
    position: int = 0
    source_log_start: int = 0
    target_log_start: int = 0

    def delete_before_the_copy(self, offsets: int) -> None:
        """Let the source have deleted its first offsets before the first generation."""
        self.source = [HOLE] * offsets
        self.position = self.source_log_start = offsets

    def grow(self, letters: str) -> None:
        """Let producers write records of a few different contents, and holes."""
        for _ in range(self.chance.randrange(1, 9)):
            self.source.append(HOLE if self.chance.random() < 0.3 else self.chance.choice(letters))

    def copy(
        self,
        reached: int,
        stored: int | None = None,
        *,
        retries: bool = False,
        restarts: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Let a generation copy up to an offset; a killed one stored a lower one, a retry sends a batch once more.

        :param restarts: where its task was before each restart within the generation, and from where it sent again
        """
        number, start, target_start = len(self.spans) + 1, self.position, len(self.target)
        begins, left = [start, *(again for _, again in restarts)], [*(at for at, _ in restarts), reached]
        sent = [r for begin, end in zip(begins, left, strict=True) for r in self.source[begin:end] if r is not HOLE]
        if retries and sent:
            at, size = self.chance.randrange(len(sent)), self.chance.randint(1, 3)
            sent[at + size : at + size] = sent[at : at + size]
        self.target += sent
        self.position = reached if stored is None else stored
        self.entries.append(GenerationStart(number, RUN, AT, {P0: start}, {P0: target_start}).to_document())
        ends = {P0: self.position}, {P0: len(self.target)}
        ending = ProcessEnding(HowEnded.KILLED if stored is not None else HowEnded.ORDERLY, resent=bool(restarts))
        stop = StopCertificate(number, RUN, AT, ending.is_clean, 143, "x", *ends, resent=ending.resent)
        self.entries.append(stop.to_document())
        self.spans.append((start, self.position, target_start, len(self.target)))

    def copy_somehow(self, most_restarts: int = 0) -> None:
        """Let a generation copy everything in order, or be killed anywhere; before that its task may be restarted."""
        end, retries = len(self.source), self.chance.random() < 0.15
        restarts = self._restarts(self.chance.randint(0, most_restarts))
        low = restarts[-1][1] if restarts else self.position
        if self.chance.random() < 0.5:
            return self.copy(end, retries=retries, restarts=restarts)
        reached = self.chance.randint(low, end)
        stored = self.chance.randint(low, reached)
        return self.copy(reached, stored, retries=retries, restarts=restarts)

    def _restarts(self, count: int) -> list[tuple[int, int]]:
        """Return restarts of a task; its stored position never goes back."""
        made: list[tuple[int, int]] = []
        low = self.position
        for _ in range(count):
            at = self.chance.randint(low, len(self.source))
            low = self.chance.randint(low, at)
            made.append((at, low))
        return made

    def judge(self, *, whole: bool) -> None:
        """Let a validation read every generation by itself, or all as one range; records sent twice are a warning."""
        first, last = self.spans[0], self.spans[-1]
        ranges = [(first[0], last[1], first[2], last[3])] if whole else self.spans
        found = tuple(self._compared(number, *span) for number, span in enumerate(ranges, start=1))
        generations = tuple(range(1, len(self.spans) + 1))
        verdicts, comparisons = {"orders": Verdict.WARN}, {"orders": found}
        judged = Judgement(RUN, AT, whole, generations, verdicts, {}, POSITION_DIGEST, comparisons)
        self.entries.append(judged.to_document())

    def _compared(self, number: int, start: int, end: int, target_start: int, target_end: int) -> Comparison:
        ours = [record for record in self.source[start:end] if record is not HOLE]
        theirs = self.target[target_start:target_end]
        read = ReadOffsets(0, number, start, end, target_start, target_end)
        return Comparison(Verdict.WARN, (read,), len(ours), len(theirs), _digest(ours), _digest(theirs))

    @property
    def ledger(self) -> Ledger:
        """What the ledger shows."""
        return self.entries.ledger

    @property
    def partition_copy(self) -> PartitionCopy:
        """The copy as the planner sees it."""
        return copies_of(
            self.ledger,
            {P0: self.source_log_start},
            {P0: len(self.source)},
            {P0: len(self.target)},
            {P0: self.target_log_start},
        )[P0]

    def plan(self, offset: int) -> GroupPlan:
        """Plan a group that committed this offset, as a run does with clusters."""
        copies, positions = {P0: self.partition_copy}, [Position(P0, offset)]
        resent = {each.partition: self._compare(each) for each in resent_ranges(copies, positions)}
        counts = {each: self._count(each) for each in counts_needed(copies, positions, resent)}
        translations = translate(copies, positions, counts, resent)
        source = {
            p: next(self._prints(self.source, max(p.offset, self.source_log_start), len(self.source)), None)
            for p in source_probes(copies, translations)
        }
        probes = target_probes(copies, translations, source)
        target = {
            p: next(self._prints(self.target, max(p.offset, self.target_log_start), len(self.target)), None)
            for p in probes.values()
        }
        translated = Translated(copies, translations, source, probes, target)
        (plan,) = plan_groups([committed({P0: offset})], translated, is_final=True)
        return plan

    def _compare(self, range_: ResentRange) -> Resent:
        assert range_.source_start >= self.source_log_start
        search = FromTheRight(range_, list(self._prints(self.source, range_.source_start, range_.source_end)))
        first, end = max(range_.target_start, self.target_log_start), range_.target_end
        while not search.is_done and end > first:
            start = max(first, end - self.chance.randint(1, 4))
            search.take(list(self._prints(self.target, start, end)))
            end = start
        return search.found()

    def _count(self, wanted: OffsetRange) -> int:
        assert wanted.start >= self.source_log_start
        return sum(record is not HOLE for record in self.source[wanted.start : wanted.end])

    @staticmethod
    def _prints(log: Sequence[str | None], start: int, end: int) -> Iterator[RecordPrint]:
        return (RecordPrint(n, r, -1, r) for n, r in enumerate(log[:end]) if n >= start and r is not HOLE)

    def unread(self, offset: int) -> list[str]:
        """Return the records of the copy that a group with this offset has not read, deleted ones too."""
        return [record for record in self.source[offset : self.position] if record is not HOLE]

    def best(self, offset: int) -> int:
        """Return the highest target offset from which a reader meets all unread records in order, by trying all."""
        unread = self.unread(offset)
        return max(place for place in range(len(self.target) + 1) if is_read_by(unread, self.target[place:]))


def is_read_by(unread: Sequence[object], log: Sequence[object]) -> bool:
    """Whether a reader of the log meets these records in their order."""
    left = iter(log)
    return all(record in left for record in unread)


def _digest(records: Sequence[str]) -> str:
    return hashlib.sha256("|".join(records).encode()).hexdigest()


def lived(chance: random.Random, *, may_purge: bool, most_restarts: int = 0) -> LivedPartition:
    """Return a partition that was copied by some generations, the last of them to the end, and then judged.

    :param most_restarts: how often at most the task of a generation was started again before that ended
    """
    partition = LivedPartition(chance)
    letters = chance.choice(["ab", "abc", "a", "abcdefghijklmnopqrstuvwxyz"])
    partition.delete_before_the_copy(chance.choice([0, 0, chance.randint(1, 5)]))
    for _ in range(chance.randint(1, 4)):
        partition.grow(letters)
        partition.copy_somehow(most_restarts)
    partition.copy(len(partition.source))
    for whole in chance.choice([(True,), (False,), (False, True)]):
        partition.judge(whole=whole)
    if may_purge:
        partition.source_log_start = chance.randint(partition.source_log_start, len(partition.source))
        partition.target_log_start = chance.choice([0, 0, chance.randint(0, len(partition.target))])
    return partition
