"""Rules of waves: what joins topics, what does not, in what order they come, and what is said beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_migration.core.kafka.cluster import GroupKind
from kafka_migration.core.kafka.reserved_topics import reserved_reason, streams_topics
from kafka_migration.core.kafka.transaction_log import COMMITTED_OFFSETS
from kafka_migration.core.migration.patterns import matches
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.waves.components import Join, Split, split_of
from kafka_migration.core.waves.wave_file import reasons, remarks
from kafka_migration.core.waves.wave_plan import (
    MAX_TOPICS,
    Clusters,
    GroupReads,
    WavePlan,
    Wish,
    plan_waves,
    some_plain,
)
from kafka_migration.engines.mirrormaker2 import never_copied_findings
from kafka_migration.migration_file.models import ALL_USUAL_GROUPS
from kafka_migration.migration_file.topics_section import TopicModel, problems_of

TOPICS = [f"t{number}" for number in range(8)]
NAMES = st.sampled_from(["alpha", "beta", "gamma", "delta", "monitor"])
Topics = Mapping[str, frozenset[str]]
READS = st.dictionaries(NAMES, st.frozensets(st.sampled_from(TOPICS), max_size=3))


def clusters(
    reads: Mapping[str, Iterable[str]],
    writes: Mapping[str, Iterable[str]] | None = None,
    records: Mapping[str, int] | None = None,
) -> Clusters:
    """Return clusters with eight topics of one partition and as many records as their number."""
    return Clusters(
        partitions=dict.fromkeys(TOPICS, 1),
        records={topic: number for number, topic in enumerate(TOPICS)} if records is None else records,
        groups=tuple(GroupReads(group, topics=frozenset(topics)) for group, topics in reads.items()),
        transactions={name: frozenset(topics) for name, topics in (writes or {}).items()},
    )


def topics_of(plan: WavePlan) -> list[tuple[str, ...]]:
    return [wave.topics for wave in plan.waves]


def words(plan: WavePlan, number: int = 0) -> str:
    wave = plan.waves[number]
    return "\n".join([*reasons(wave), *remarks(wave)])


@given(READS, READS)
def test_nothing_crosses_waves(reads: Topics, writes: Topics) -> None:
    """All topics of a group that is not ignored, and of a transactional id, are in one wave, which names it."""
    plan = plan_waves(clusters(reads, writes), Wish(ignored_groups=("monitor",)))

    for group, topics in reads.items():
        its_waves = [wave for wave in plan.waves if topics.intersection(wave.topics)]
        assert len(its_waves) <= 1 or group == "monitor"
        assert all(group in (wave.ignored if group == "monitor" else wave.movable) for wave in its_waves)
    for name, topics in writes.items():
        its_waves = [wave for wave in plan.waves if topics.intersection(wave.topics)]
        assert len(its_waves) <= 1
        assert all(name in wave.transactional_ids for wave in its_waves)


@given(READS, READS)
def test_waves_are_no_larger_than_they_must_be(reads: Topics, writes: Topics) -> None:
    """Of the topics that groups read no wave can be divided: from each of its topics joins lead to all others."""
    for wave in plan_waves(clusters(reads, writes), Wish()).waves:
        reached = {wave.topics[0]}
        while more := {t for join in wave.joins if reached.intersection(join.topics) for t in join.topics} - reached:
            reached |= more
        assert reached == set(wave.topics) or not wave.is_read


@given(READS, READS, st.randoms(use_true_random=False))
def test_order_of_what_is_read_changes_nothing(reads: Topics, writes: Topics, random: Random) -> None:
    """Clusters list what they have in any order; the waves are the same."""

    def shuffled(items: Mapping[str, Any]) -> dict[str, Any]:
        pairs = list(items.items())
        random.shuffle(pairs)
        return dict(pairs)

    known, again = clusters(reads, writes), clusters(shuffled(reads), shuffled(writes))
    again = Clusters(shuffled(again.partitions), shuffled(again.records), again.groups, again.transactions)

    assert plan_waves(known, Wish()) == plan_waves(again, Wish())


@given(READS, READS)
def test_smallest_first_and_unread_last(reads: Topics, writes: Topics) -> None:
    """The first wave has the fewest records; all topics that no group reads are together in the last."""
    waves = plan_waves(clusters(reads, writes), Wish()).waves

    assert all(wave.is_read for wave in waves[:-1])
    for one, other in pairwise(wave for wave in waves if wave.is_read):
        assert (one.records or 0) <= (other.records or 0)


@given(READS, READS, st.integers(1, 9))
def test_small_waves_are_put_together(reads: Topics, writes: Topics, min_topics: int) -> None:
    """Each topic is in one wave; no wave that groups read is smaller than asked for, and no wave is divided for it."""
    alone = plan_waves(clusters(reads, writes), Wish()).waves
    waves = plan_waves(clusters(reads, writes), Wish(min_topics=min_topics)).waves
    read = [wave for wave in waves if wave.is_read]

    assert sorted(TOPICS) == sorted(topic for wave in waves for topic in wave.topics)
    assert all(any(set(one.topics) <= set(wave.topics) for wave in waves) for one in alone)
    assert all(len(wave.topics) >= min_topics for wave in read) or len(read) == 1
    assert all((wave.parts > 1) is ("they are independent" in "".join(reasons(wave))) for wave in read)


def test_small_rest_joins_the_last_wave() -> None:
    """Topics that remain after the last wave and are too few for one of their own are not left out."""
    reads = {"alpha": ["t1"], "beta": ["t2"], "gamma": ["t3"]}

    assert ("t1", "t2", "t3") == topics_of(plan_waves(clusters(reads), Wish(min_topics=2)))[0]


def test_a_wave_says_why() -> None:
    """The groups and transactional ids that join topics are named with these topics."""
    plan = plan_waves(clusters({"billing": ["t1", "t2"], "audit": ["t2"]}, {"tx": ["t2", "t3"]}), Wish())

    assert ("t1", "t2", "t3") == plan.waves[0].topics
    assert ["group billing reads t1, t2", "transactional id tx wrote t2, t3"] == list(reasons(plan.waves[0]))
    assert ("audit", "billing") == plan.waves[0].movable
    assert (6, 3) == (plan.waves[0].records, plan.waves[0].partitions)


def test_unknown_number_of_records_is_not_small() -> None:
    """A wave of which the records are not known comes after those that are known, and says so."""
    plan = plan_waves(clusters({"a": ["t1"], "b": ["t2"]}, records={"t2": 5_000}), Wish())

    assert [("t2",), ("t1",)] == topics_of(plan)[:2]
    assert plan.waves[1].records is None
    assert "how many records these topics have: t0, t1, t3, t4, t5, t6, t7" in plan.not_known


def test_ignored_groups_join_nothing() -> None:
    """A group whose whole name matches joins no topics, and is listed for each wave that it reads."""
    known = clusters({"monitor": TOPICS, "monitor-2": ["t1", "t2"], "a": ["t3"]})
    plan = plan_waves(known, Wish(ignored_groups=("monitor",)))

    assert [("t3",), ("t1", "t2")] == topics_of(plan)[:2]
    assert ["monitor"] == [each.group for each in plan.ignored]
    assert {("monitor",)} == {wave.ignored for wave in plan.waves}
    assert "ignored, although they read these topics: monitor" in words(plan)


IGNORED = ("console-consumer-77", "kafka-migration-mirror-shop", "__canary")


@pytest.mark.parametrize("group", [*IGNORED, "connect-sink", "a"])
def test_only_usual_groups_join_topics(group: str) -> None:
    """Temporary groups, MirrorMaker 1's own and a platform's join nothing; sink connectors are usual consumers.

    Regression: the default of `cutover.groups` matches exactly the groups that a wave does not ignore.
    """
    first = plan_waves(clusters({group: TOPICS}), Wish()).waves[0]
    is_usual = group not in IGNORED

    assert (() if group in IGNORED else (group,)) == first.movable
    assert (is_usual, is_usual, tuple(TOPICS)) == (first.is_read, bool(first.joins), first.topics)
    assert matches(group, [ALL_USUAL_GROUPS]) is is_usual


def test_topics_that_are_elsewhere_join_and_are_not_proposed() -> None:
    """A topic that is on the target with records, in another file or not asked for still holds the others together."""
    known = clusters({"a": ["t1", "t2"], "b": ["t2", "t3"], "c": ["t4", "t5"], "d": ["t6"]})
    known = Clusters(known.partitions, known.records, known.groups, on_target={"t2": 7, "t5": None, "t6": 3, "t1": 0})
    plan = plan_waves(known, Wish(topics=("t[1-6]",), elsewhere={"t3": "in old.yaml already"}))

    assert [("t1",), ("t4",)] == topics_of(plan)
    assert "belongs together with t2, already on the target, with records up to offset 7" in words(plan)
    assert "belongs together with t3, in old.yaml already" in words(plan)
    assert "belongs together with t5, already on the target; it is unknown whether it is empty" in words(plan, 1)
    assert "not asked for" == plan.elsewhere["t7"]
    assert {"t0", "t2", "t3", "t5", "t6", "t7"} == plan.elsewhere.keys()


def test_transaction_with_offsets_is_told_and_not_guessed() -> None:
    """A transactional id that committed a group's offsets joins no group, and the wave says what is not known."""
    plan = plan_waves(clusters({"a": ["t1"]}, {"tx": ["t1", "t2", COMMITTED_OFFSETS]}), Wish())

    assert ("t1", "t2") == plan.waves[0].topics
    assert ("tx",) == plan.waves[0].committing
    assert "also commits offsets of an unknown group" in words(plan)


def test_unknown_is_told() -> None:
    """A group or transactional id that may not be described is reported as unknown, unless it is ignored."""
    groups = (
        GroupReads("secret", not_known="denied"),
        GroupReads("sharing", "share", not_known="its kind"),
        GroupReads("monitor", not_known="denied"),
    )
    partly = Clusters({"t": 1}, {"t": 1}, groups, {"tx": frozenset()}, "half of it was read")
    plan = plan_waves(partly, Wish(ignored_groups=("monitor",)))

    assert (
        "what group secret reads: denied",
        "what group sharing reads: its kind",
        "what transactional ids write to (__transaction_state): half of it was read",
        "what these transactional ids write to, because the log no longer shows it: tx",
    ) == plan.not_known
    assert ["sharing"] == [each.group for each in plan.immovable]


@pytest.mark.parametrize(("kind", "is_movable"), [("classic", True), ("consumer", True), ("share", False)])
def test_only_groups_with_offsets_of_their_own_move(kind: GroupKind, is_movable: bool) -> None:
    """A wave names the groups that no cutover can move, and proposes only the others."""
    plan = plan_waves(Clusters({"t": 1}, {"t": 1}, (GroupReads("g", kind, frozenset({"t"})),)), Wish())

    assert (("g",) if is_movable else ()) == plan.waves[0].movable
    assert is_movable is ("no cutover can move g" not in words(plan))


def test_streams_topics_belong_to_their_application() -> None:
    """What Kafka Streams made is joined by its name to the group of the longest name that fits."""
    made = ("app-KSTREAM-1-changelog", "app-two-store-repartition", "app-changelog", "other-changelog")

    assert {"app": made[::2], "app-two": made[1:2]} == streams_topics(made, {"app", "app-two"})

    partitions = {**dict.fromkeys(made, 1), "in": 1}
    groups = (GroupReads("app", topics=frozenset({"in"})),)
    plan = plan_waves(Clusters(partitions, partitions, groups), Wish())
    assert {"in", "app-KSTREAM-1-changelog", "app-changelog"} < set(plan.waves[0].topics)
    assert "created by Kafka Streams: app-KSTREAM-1-changelog" in words(plan)


LEFT_OUT = [
    *("__consumer_offsets", ".hidden", "mm2-offsets.a.internal", "a.checkpoints.internal", "x-internal", "heartbeats"),
    *("a.heartbeats", "orders.replica", "_schemas", "_confluent-metrics", "connect-configs", "my-connect-status"),
]


@pytest.mark.parametrize("topic", LEFT_OUT)
def test_topics_of_tools_are_left_out(topic: str) -> None:
    """Topics that belong to Kafka, or to a tool, are in no wave, and each is listed with the reason."""
    plan = plan_waves(Clusters({topic: 1}, {}), Wish())

    assert () == plan.waves
    assert plan.left_out[topic]


@pytest.mark.parametrize("topic", ["orders", "_orders", "connect-orders", "internal", "heartbeats.log", "a-changelog"])
def test_other_topics_are_not(topic: str) -> None:
    """A name that only resembles that of a tool's topic is an application's."""
    assert "" == reserved_reason(topic)


@pytest.mark.parametrize("topic", [*LEFT_OUT, "orders", "_orders"])
def test_whatever_is_proposed_can_be_copied(migration: Migration, topic: str) -> None:
    """A topic that a migration file refuses, or that MirrorMaker 2 leaves out, is in no wave."""
    is_refused = any(problems_of([TopicModel(name=topic)]))
    copied = not is_refused and not any(never_copied_findings(replace(migration, topics=(topic,))))

    assert copied or reserved_reason(topic)


def star(name: str, *topics: str) -> Join:
    return Join("group", name, tuple(sorted(topics)))


MANY = tuple(f"t{number:02}" for number in range(12))


HALVES = [star("left", *MANY[:6]), star("right", *MANY[6:])]
WHOLES = [star("all-1", *MANY), star("all-2", *MANY)]


@pytest.mark.parametrize(
    ("joins", "expected"),
    [
        pytest.param(
            [*HALVES, star("bridge", "t05", "t06"), star("pair", "t00", "t01")],
            Split(("bridge",), 2, 6),
            id="the group in the middle",
        ),
        pytest.param(
            [*WHOLES, *(star(f"g{n}", *MANY[n : n + 2]) for n in (0, 2, 4))],
            Split(("all-1", "all-2"), 9, 2),
            id="only both together",
        ),
        pytest.param([Join("transactional id", "tx", MANY), WHOLES[0]], None, id="a transactional id joins all"),
    ],
)
def test_hint_names_the_groups_that_join_most(joins: list[Join], expected: Split | None) -> None:
    """The hint names the groups without which the largest part is smallest; transactional ids cannot be ignored."""
    assert expected == split_of(MANY, joins)


def test_only_large_waves_have_a_hint() -> None:
    """A wave that one sees through at a glance has none; a large one says what would become of it."""
    partitions = dict.fromkeys(MANY, 1)
    groups = (GroupReads("monitor", topics=frozenset(MANY)), GroupReads("a", topics=frozenset(MANY[:2])))
    plan = plan_waves(Clusters(partitions, partitions, groups), Wish())

    assert plan_waves(clusters({"a": TOPICS}), Wish()).waves[0].split is None
    assert "without group monitor it would split into 11 parts, the largest with 2 topics" in words(plan)


def test_names_in_lines_are_few_and_visible() -> None:
    """A line names the first ten, shows invisible characters as escapes, and shortens long names."""
    assert "a, 'b\\n' and 1 more" == some_plain(["a", "b\n", "c"], 2)
    assert len(some_plain(["x" * 30_000])) == 250


def test_nothing_there_is_no_wave() -> None:
    """A cluster without topics gives no wave, and nothing is unknown."""
    assert WavePlan((), {}, {}, (), (), ()) == plan_waves(Clusters({}, {}), Wish())


def test_unread_topics_are_as_many_files_as_they_must_be() -> None:
    """Topics without a group are one wave, unless a migration file would have too many topics."""
    partitions = {f"t{number:04}": 1 for number in range(MAX_TOPICS + 2)}
    tied = {"tx": ("t0000", "t5001")}
    waves = plan_waves(Clusters(partitions, partitions, transactions=tied), Wish()).waves

    assert [(MAX_TOPICS, False), (2, False)] == [(len(wave.topics), wave.is_read) for wave in waves]
    assert set(tied["tx"]) <= set(waves[0].topics)


def test_two_thousand_topics_in_one_wave() -> None:
    """A large wave, with groups that each join two topics in a chain, is planned with its hint."""
    topics = [f"t{number:04}" for number in range(2_000)]
    partitions = dict.fromkeys(topics, 1)
    groups = tuple(GroupReads(f"g{n}", topics=frozenset(pair)) for n, pair in enumerate(pairwise(topics)))
    (wave,) = plan_waves(Clusters(partitions, partitions, groups), Wish()).waves

    assert wave.split is not None
    assert wave.split.parts == 2
    assert len(wave.topics) == 2_000
