"""Where groups go back to over copies of which counting tells the place: what they read on both sides is everything."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.clusters_seen import CommittedGroup
from kafka_migration.core.kafka.cluster import GroupDescription, GroupState
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from kafka_migration.core.ledger.generations import Comparison, GenerationStart, Judgement, ReadOffsets, StopCertificate
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.rollback.rollback_rules import Returning, failed_back
from kafka_migration.core.translation.by_partition import Position, counts_needed, translate
from kafka_migration.core.translation.by_topic import CopiedTopic, HowCopied, RepartitionedTopic, repartitioned_topics
from kafka_migration.core.translation.copies import copies_of
from kafka_migration.core.translation.translation_contract import TranslatedTopic
from kafka_migration.core.validation.validation_contract import POSITION_DIGEST
from tests.folded import fold
from tests.present import present
from tests.unit.partitions import P0

RUN, AT = "kafka_migration__shop/manual__1#1", "2030-01-01T00:00:00+00:00"
HOW = HowCopied("orders", keeps_partitions=True, is_compacted=False, has_timestamps=True)


@dataclass
class Copying:
    """MirrorMaker 2 over one partition of records that are their own numbers; a killed one sends its last again."""

    rng: random.Random
    may_be_killed: bool
    source_end: int = 0
    target: list[int] = field(default_factory=list)
    entries: list[dict[str, object]] = field(default_factory=list)
    position: int = 0

    def generation(self, number: int) -> None:
        """Let records come and be copied; certify where MirrorMaker stands."""
        begin, end = {P0: self.position}, {P0: len(self.target)}
        self.entries.append(GenerationStart(number, RUN, AT, begin, end).to_document())
        self.source_end += self.rng.randrange(8)
        self.target += range(self.position, self.source_end)
        is_killed = self.may_be_killed and self.rng.random() < 0.4
        self.position = max(self.position, self.source_end - self.rng.randrange(4)) if is_killed else self.source_end
        stop = StopCertificate(
            number, RUN, AT, not is_killed, 143, "stopped", {P0: self.position}, {P0: len(self.target)}
        )
        self.entries.append(stop.to_document())

    @property
    def ledger(self) -> Ledger:
        """What the ledger knows of it, with a validation of each generation."""
        ledger = fold(self.entries)
        return fold([*self.entries, judged(ledger).to_document()])


def judged(ledger: Ledger) -> Judgement:
    """Return a good validation of these generations, in which every offset is a record."""
    compared = []
    for generation in ledger.generations:
        start, stop = generation.start, present(generation.stop)
        source, target = (start.mirror_positions[P0], stop.mirror_positions[P0]), stop.target_end_offsets[P0]
        read = ReadOffsets(0, generation.number, *source, start.target_end_offsets[P0], target)
        compared.append(Comparison(Verdict.PASS, (read,), source[1], source[1], "digest", "digest"))
    numbers = tuple(generation.number for generation in ledger.generations)
    verdicts, comparisons = {"orders": Verdict.PASS}, {"orders": tuple(compared)}
    return Judgement(RUN, AT, False, numbers, verdicts, {}, POSITION_DIGEST, comparisons)


def copied(rng: random.Random, *, may_be_killed: bool) -> Copying:
    """Return a copy that is made in some generations, the last of them to the end."""
    copying = Copying(rng, may_be_killed)
    for number in range(1, rng.randint(2, 6)):
        copying.generation(number)
    copying.may_be_killed = False
    copying.generation(9)
    return copying


def copied_once() -> Copying:
    """Return a clean copy that was made in one generation."""
    copying = Copying(random.Random(1), may_be_killed=False, source_end=10)
    copying.generation(1)
    return copying


def topic_of(copying: Copying) -> CopiedTopic:
    """Return the topic looked at from the copy."""
    ledger = copying.ledger
    copies = copies_of(ledger, {P0: 0}, {P0: copying.source_end}, {P0: len(copying.target)})
    return CopiedTopic(repartitioned(ledger), {}, {0: copies[P0]})


def moved_to(copying: Copying, committed: int) -> int:
    """Return where a cutover puts a group."""
    copies = copies_of(copying.ledger, {P0: 0}, {P0: copying.source_end}, {P0: len(copying.target)})
    places = frozenset({Position(P0, committed)})
    # Each offset is a record here, so that any range holds as many as it is long.
    counts = {piece: piece.end - piece.start for piece in counts_needed(copies, places)}
    return translate(copies, places, counts)[Position(P0, committed)].target_offset


@settings(max_examples=300)
@given(rng=st.randoms(use_true_random=False), may_be_killed=st.booleans())
def test_counted_place_loses_nothing(rng: random.Random, may_be_killed: bool) -> None:
    """A group that reads the copy and then goes back by counting has read every record, in clean copies none twice.
    Counting gives no answer from the first record on that a killed MirrorMaker sent twice."""
    copying = copied(rng, may_be_killed=may_be_killed)
    committed = rng.randint(0, copying.source_end)
    moved = moved_to(copying, committed)
    stand = rng.randint(moved, len(copying.target))
    topic = topic_of(copying)

    found = topic.counted({0: stand})

    if found is None:
        assert may_be_killed
    else:
        back = max(found[0], committed)
        read = {*range(committed), *copying.target[moved:stand], *range(back, copying.source_end)}
        assert set(range(copying.source_end)) == read
        if not may_be_killed:
            assert back == committed + stand - moved


def group(on_target: dict[int, int], on_source: dict[int, int]) -> CommittedGroup:
    """Return a group with these commits."""
    description = GroupDescription("billing", GroupState.EMPTY)
    source, target = (
        {TopicPartition("orders", p): CommittedOffset(at) for p, at in side.items()} for side in (on_source, on_target)
    )
    return CommittedGroup(description, description, source, target)


def test_nothing_goes_back_before_what_was_read_on_the_source() -> None:
    """A group has read what it had committed on the source, whatever its offsets on the target are."""
    copying = copied_once()
    topic, end = topic_of(copying), copying.source_end
    returned = present(Returning({"orders": topic}).returned(group({0: 2}, {0: 6}), topic, {0: 2}))

    assert ({P0: CommittedOffset(6)}, end - 6) == (returned.proposed, returned.unread)


def test_holes_and_deleted_records_are_not_counted() -> None:
    """Transaction markers between records, or a deleted place on the target, make counting impossible."""
    markers = [
        GenerationStart(1, RUN, AT, {P0: 0}, {P0: 0}).to_document(),
        StopCertificate(1, RUN, AT, True, 143, "stopped", {P0: 10}, {P0: 8}).to_document(),
    ]
    copies = copies_of(fold(markers), {P0: 0}, {P0: 10}, {P0: 8})
    with_holes = CopiedTopic(repartitioned(fold(markers)), {}, {0: copies[P0]})
    whole = topic_of(Copying(random.Random(1), may_be_killed=False))
    copying = copied_once()
    deleted = CopiedTopic(topic_of(copying).topic, {0: 5}, topic_of(copying).copies)

    assert with_holes.counted({0: 4}) is None
    assert (None, {0: 6}) == (deleted.counted({0: 4}), deleted.counted({0: 6}))
    assert whole.copies


def test_topic_that_spark_could_not_read_refuses_its_groups_on_the_way_back() -> None:
    """The finding is the job's reason with the record's place, not that the group has read more since."""
    markers = [
        GenerationStart(1, RUN, AT, {P0: 0}, {P0: 0}).to_document(),
        StopCertificate(1, RUN, AT, True, 143, "stopped", {P0: 10}, {P0: 8}).to_document(),
    ]
    topic = CopiedTopic(repartitioned(fold(markers)), {}, {})
    text = "target partition 0: the record at offset 5 cannot be read"
    why = TranslatedTopic(topic="orders", translations=(), unreadable=text, has_bad_record=True)
    returning = Returning({"orders": topic}, {"billing"}, unreadable={"orders": why})
    (plan,) = failed_back([group({0: 4}, {0: 2})], returning)

    assert [(Code.RECORD_UNREADABLE, why.unreadable)] == [(finding.code, finding.found) for finding in plan.refusals]


def repartitioned(ledger: Ledger) -> RepartitionedTopic:
    """Return the topic of a ledger."""
    return repartitioned_topics(ledger, {"orders": HOW}, {P0: 0})["orders"]


def test_generations_that_were_read_whole_are_not_asked_about() -> None:
    """A group has read everything before the last generation that began at or before its offset in every partition."""
    copying = Copying(random.Random(1), may_be_killed=False)
    for number in (1, 2, 3):
        copying.source_end += 5
        copying.generation(number)
    topic = topic_of(copying)
    begun = [began.mirror_positions[0] for began in topic.topic.began]

    assert [((0, begin),) for begin in begun] == [topic.read({0: begin}, {}) for begin in begun]
    assert ((0, begun[1]),) == topic.read({0: begun[2] - 1}, {})
    assert ((0, begun[2] - 1),) == topic.read({0: begun[2] - 1}, {0: begun[2] - 1})
