"""Clean copies of topics of every shape on real clusters: none of them raises an alarm.

A small copier stands for MirrorMaker: what a reader of committed records gets from the source is sent to the target, to
the same partition or, with another number of partitions, to that of the key.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.validation_contract import KEY_DIGEST, POSITION_DIGEST
from sandbox.sandbox import Sandbox
from tests.live.comparison import Outcome, compared, contradictions, raw_logs
from tests.live.random_copies import Copy
from tests.live.shapes import PARTITIONS, SHAPES, force_compaction, send
from tests.live.validation_scene import Clusters, Side
from tests.oracle import Logs

pytestmark = [pytest.mark.live, pytest.mark.campaign]

SEEDS = range(2)
# Digest, partitions of the target.
LEVELS = {"by position": (POSITION_DIGEST, PARTITIONS), "by key": (KEY_DIGEST, PARTITIONS + 1)}
COPIES = [(shape, seed) for shape in SHAPES for seed in SEEDS]


def name_of(shape: str, seed: int) -> str:
    return f"{shape.replace(' ', '-')}-{seed}"


def target_of(topic: str, level: str) -> str:
    return f"{topic}.{level.replace(' ', '-')}"


SHAPE_OF = {name_of(shape, seed): SHAPES[shape] for shape, seed in COPIES}


@dataclass
class Copies(Clusters):
    """Topics of all shapes on the source, and two copies of each on the target."""

    def fill_source(self) -> None:
        """Write the source's topics."""
        for topic, shape in SHAPE_OF.items():
            rng = random.Random(topic)
            logs = shape.placed(rng, shape.records(rng), PARTITIONS)
            self.source.create(topic, PARTITIONS, **shape.source)
            placed = {(topic, number): log for number, log in enumerate(logs)}
            send(self.source, placed, shape.codecs[0], in_transactions=shape.in_transactions[0])
            if shape.log_start:
                self.source.purge(topic, shape.log_start)
            if shape.is_compacted:
                force_compaction(self.source, topic, logs)

    def copy(self) -> None:
        """Read the source once and write both copies."""
        self.source.ends()
        read = self.source.records(self.source.starts())
        for topic, shape in SHAPE_OF.items():
            logs = [[record for _, record in read[topic, number]] for number in range(PARTITIONS)]
            for level, (_, partitions) in LEVELS.items():
                name = target_of(topic, level)
                self.target.create(name, partitions, **shape.target)
                copied = Copy(random.Random(name), logs, partitions).sent
                placed = {(name, number): log for number, log in enumerate(copied)}
                send(self.target, placed, shape.codecs[1], in_transactions=shape.in_transactions[1])

    def windows(self, level: str) -> Iterator[Window]:
        """All of every topic that one level compares."""
        sides = [(side.starts(), side.ends()) for side in (self.source, self.target)]
        for topic in SHAPE_OF:
            target = target_of(topic, level)
            for number in range(LEVELS[level][1]):
                places = (topic, number), (target, number)
                (start, end), (copy_start, copy_end) = (
                    (starts.get(place, 0), ends.get(place, 0))
                    for place, (starts, ends) in zip(places, sides, strict=True)
                )
                yield Window(1, topic, target, number, start, end, copy_start, copy_end)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copies]:
    """Two clusters with all topics and their copies."""
    with Sandbox(tmp_path_factory.mktemp("sandbox"), airflow=False) as sandbox:
        state = sandbox.state
        made = Copies(Side(state.source_bootstrap), Side(state.target_bootstrap), state.spark_jars)
        made.fill_source()
        made.copy()
        yield made


@pytest.fixture(scope="module", params=list(LEVELS))
def level(request: pytest.FixtureRequest) -> str:
    """How copies are compared."""
    return str(request.param)


@pytest.fixture(scope="module")
def outcome(copies: Copies, level: str, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What one submission says of all copies of a level."""
    left_out = [topic for topic, shape in SHAPE_OF.items() if shape.is_untimed]
    return compared(copies, tmp_path_factory.mktemp("job"), copies.windows(level), LEVELS[level][0], left_out)


@pytest.mark.parametrize(("shape", "seed"), COPIES)
def test_clean_copy_raises_no_alarm(outcome: Outcome, level: str, shape: str, seed: int) -> None:
    """Equal as far as it is compared, with as many records on both sides; keys in several partitions are only said."""
    topic = name_of(shape, seed)
    verdict, is_scattered = outcome.verdicts[topic], level == "by key" and shape == "keys in several partitions"

    assert (Verdict.PASS, verdict.source_records) == (verdict.verdict, verdict.target_records)
    assert (verdict.source_records == 0) == (shape == "empty")
    assert [Code.KEYS_IN_SEVERAL_PARTITIONS] * is_scattered == [warning.code for warning in verdict.warnings]
    assert is_scattered == (topic in outcome.rows)


def test_another_reader_finds_the_same(copies: Copies, outcome: Outcome, level: str) -> None:
    """An oracle that reads the records through another client finds each copy good."""
    source, target = (all_logs(side) for side in (copies.source, copies.target))
    for topic, shape in SHAPE_OF.items():
        target[topic] = target[target_of(topic, level)]
        if shape.is_untimed:
            source[topic], target[topic] = untimed(source[topic]), untimed(target[topic])

    assert {} == contradictions(outcome, source, target)


def all_logs(side: Side) -> dict[str, Logs]:
    """Return what another reader finds on one side, by topic."""
    return {**raw_logs(side.records(side.starts()))}


def untimed(logs: Logs) -> Logs:
    """Return records without their timestamps."""
    return [[record._replace(timestamp_ms=0) for record in log] for log in logs]
