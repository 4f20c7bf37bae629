"""What `lint` says about the dedicated MirrorMaker 2, as Kafka's `MirrorMakerConfig` reads its file."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint

pytestmark = pytest.mark.unit

CLUSTERS = "clusters = source, target\nsource.bootstrap.servers = s1:9092\ntarget.bootstrap.servers = t1:9092\n"
ON = "source->target.enabled = true\n"
QUIET = "emit.heartbeats.enabled = false\n"
THREE = (
    "clusters = a, b, hub\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\nhub.bootstrap.servers = h:9092\n"
)


def judged(text: str, version: str = "") -> list[LintFinding]:
    """Return the findings on a file of the dedicated MirrorMaker."""
    return lint(read_mirror_files("mm2.properties", text), kafka_keys(), version)


def of(findings: Sequence[LintFinding], code: LintCode) -> list[tuple[int, ...]]:
    """Return the lines of each finding with a code."""
    return [(each.line, *each.others) for each in findings if each.code is code]


@pytest.mark.parametrize("rest", [f"{QUIET}", "source->target.emit.heartbeats.enabled = false\n", ""])
def test_a_cluster_of_the_file_is_no_side_of_a_connector(rest: str) -> None:
    """`target.bootstrap.servers` is the address of the cluster with that alias, whether a worker reads it or not."""
    found = judged(f"{CLUSTERS}{rest}plugin.path = /opt/plugins\n")

    assert of(found, LintCode.KEY_NEVER_EXISTED) == []
    assert of(found, LintCode.KEY_MISPLACED) == []


@pytest.mark.parametrize(
    ("text", "version", "blank", "idle"),
    [
        ("source->target.enabled = true \n", "", [], []),
        (f"source->target.enabled = true \n{QUIET}", "", [(4,)], [(4,)]),
        (f"source->target.enabled = true \n{QUIET}", "2.7", [], []),
        (f"source->target.enabled = true \n{QUIET}source->target.emit.heartbeats.enabled = TRUE\n", "", [], []),
        (
            f"source->target.enabled = true \n{QUIET}source->target.emit.heartbeats.enabled = true \n",
            "",
            [(4,), (6,)],
            [],
        ),
        (f"{ON}source->target.emit.heartbeats.enabled = true \n", "", [], []),
        (f"{ON}target->source.emit.heartbeats.enabled = true \n", "", [(5,)], []),
        (f"{ON}emit.heartbeats.enabled = true \n", "", [(5,)], []),
        (f"{ON}emit.heartbeats.enabled = true \n", "2.6", [], []),
        ("enabled = true \n", "", [], []),
    ],
)
def test_a_blank_matters_only_where_a_worker_is_missing(
    text: str, version: str, blank: list[tuple[int]], idle: list[tuple[int]]
) -> None:
    """A blank after `true` has a finding only if a pair of clusters has no worker because of it."""
    found = judged(f"{CLUSTERS}{text}", version)

    assert of(found, LintCode.VALUE_BLANK_KEPT) == blank
    # The blank explains that nothing runs.
    assert of(found, LintCode.NO_FLOW) == []
    assert idle == [] or of(found, LintCode.VALUE_BLANK_KEPT)[0] == idle[0]


@pytest.mark.parametrize("switch", ["", "target->source.enabled = false\nsource->target.groups = a\n"])
def test_a_file_without_a_flow_is_judged_as_if_it_ran(switch: str) -> None:
    """Where no flow is enabled, that is an error, and the other lines are judged as they will be read."""
    rest = "topics.exclude = *.copy\nsync.group.offsets.enabled = true\nemit.checkpoints.enabled = false\n"
    more = f"{rest}source.consumer.isolation.level = comitted\nplugin.path = /opt\n"
    found = judged(f"{CLUSTERS}{switch}{more}")
    first = 4 + switch.count("\n")

    assert of(found, LintCode.NO_FLOW) == [(5 if switch else 1,)]
    assert of(found, LintCode.PATTERN_INVALID) == [(first,)]
    assert of(found, LintCode.GROUP_SYNC_WITHOUT_CHECKPOINTS) == [(first + 2, first + 1)]
    assert of(found, LintCode.VALUE_REFUSED) == [(first + 3,)]


def test_two_ways_that_are_off_are_no_loop() -> None:
    """Which flows of an idle file will run together is not known, so they are not compared with each other."""
    identity = "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"
    found = judged(f"{CLUSTERS}{identity}")

    assert [each for each in found if each.code is LintCode.LOOP] == []


def test_no_flow_is_not_hidden_by_another_mistake_on_its_line() -> None:
    """That nothing is copied is said also where the same line has a mistake of another kind."""
    found = judged(f"{CLUSTERS}source->target.topic = orders\n")

    assert of(found, LintCode.NO_FLOW) == [(4,)]


def test_replicas_are_compared_for_each_topic() -> None:
    """`min.insync.replicas` of a worker's store concerns only the topic of this store."""
    factors = "target.offset.storage.replication.factor = 3\ntarget.config.storage.replication.factor = 1\n"
    least = "target.offset.storage.min.insync.replicas = {}\ntarget.min.insync.replicas = 9\n"

    assert of(judged(CLUSTERS + ON + factors + least.format(2)), LintCode.REPLICATION_BELOW_MIN_INSYNC) == []
    assert of(judged(CLUSTERS + ON + factors + least.format(4)), LintCode.REPLICATION_BELOW_MIN_INSYNC) == [(7, 5)]


def test_brokers_are_counted_on_the_cluster_of_the_topic() -> None:
    """A factor is compared with the brokers of the cluster on which its topic is; a reference is no broker."""
    more = "target.config.storage.replication.factor = 3\n"
    three = CLUSTERS.replace("t1:9092", "t1:9092,t2:9092,t3:9092")
    hidden = CLUSTERS.replace("t1:9092", "${env:BROKERS}")

    assert of(judged(three + ON + more), LintCode.REPLICATION_ABOVE_BROKERS) == []
    assert of(judged(hidden + ON + more), LintCode.REPLICATION_ABOVE_BROKERS) == []
    assert of(judged(CLUSTERS + ON + more), LintCode.REPLICATION_ABOVE_BROKERS) == [(5,)]


def test_a_worker_needs_three_topics() -> None:
    """Two stores of one worker with one topic are an error; one name on two clusters is none."""
    both = "target.offset.storage.topic = stores\ntarget.status.storage.topic = stores\n"
    apart = "source.offset.storage.topic = stores\ntarget.status.storage.topic = stores\n"

    assert of(judged(CLUSTERS + ON + both), LintCode.STORAGE_TOPICS_EQUAL) == [(5, 6)]
    assert of(judged(CLUSTERS + ON + apart), LintCode.STORAGE_TOPICS_EQUAL) == []


def test_workers_share_a_name_only_on_one_cluster() -> None:
    """One topic of the top level is two topics if the workers write to two clusters."""
    name = "config.storage.topic = stores\n"

    assert of(judged(f"{CLUSTERS}{ON}target->source.enabled = true\n{name}"), LintCode.WORKERS_SHARED) == []
    assert of(judged(f"{THREE}a->hub.enabled = true\nhub.group.id = mirror\n"), LintCode.WORKERS_SHARED) == [(6,)]


@pytest.mark.parametrize("line", ["source.cluster.alias = prod\n", "source->target.source.cluster.alias = prod\n"])
def test_an_alias_of_a_line_wins_over_that_of_the_flow(line: str) -> None:
    """A line for `source.cluster.alias` gives the connectors another alias, at the top level and in a flow."""
    assert of(judged(CLUSTERS + ON + line), LintCode.ALIAS_OVERRIDDEN) == [(5,)]


def test_lines_for_clients_that_do_not_exist_are_named() -> None:
    """A flow's producer settings reach the offset syncs only, and no client at all if these are off."""
    line = "source->target.producer.batch.size = 4\n"
    off = "source->target.emit.offset-syncs.enabled = false\n"
    effects = [
        [each.effect for each in judged(CLUSTERS + ON + line + more, "4.0") if each.code is LintCode.CLIENT_LIMITED]
        for more in ("", off)
    ]

    assert effects == [["it reaches only the producer of the offset syncs"], ["it has no effect on the copy"]]


@pytest.mark.parametrize(("version", "fix"), [("2.7", "source->target.consumer."), ("3.9", "")])
def test_until_2_7_no_client_reads_the_consumer_of_a_cluster(version: str, fix: str) -> None:
    """`A.consumer.` reaches the reader of the records from Kafka 2.8 on; before, only the flow's prefix does."""
    line = "source.consumer.max.poll.records = 5\n"
    found = [each for each in judged(CLUSTERS + ON + line, version) if each.code is LintCode.CLIENT_LIMITED]

    assert [fix in each.fix for each in found] == ([True] if fix else [])


def test_a_key_with_another_word_before_the_alias_is_corrected() -> None:
    """A key such as `cluster.A.bootstrap.servers` has its right name in the fix."""
    found = judged(CLUSTERS.replace("source.boot", "cluster.source.boot") + ON)

    assert [each.fix for each in found if each.code is LintCode.KEY_MISPLACED] == ["Write 'source.bootstrap.servers'."]


def test_all_lines_of_one_cause_are_named() -> None:
    """Unknown flows, missing providers, loops, old beside new names and repeated keys name each of their lines."""
    strange = judged(f"{CLUSTERS}{ON}x->y.topics = a\nx->y.groups = b\nx->y.made.up = c\n")
    text = f"{CLUSTERS}{ON}topics.blacklist = a\ntopics.exclude = b\ntasks.max = 2\ntasks.max = 4\n"
    secret = "source.ssl.key.password = ${vault:a:b}\ntarget.ssl.key.password = ${vault:a:b}\n"
    policy = "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"
    ways = f"{CLUSTERS}{ON}target->source.enabled = true\n{policy}"

    assert of(strange, LintCode.ALIAS_UNKNOWN) == [(5, 6, 7)]
    assert of(strange, LintCode.KEY_UNKNOWN) == []
    assert of(judged(text), LintCode.KEYS_OVERLAP) == [(5, 6)]
    assert of(judged(text), LintCode.KEY_REPEATED) == [(7, 8)]
    assert of(judged(CLUSTERS + ON + secret), LintCode.PROVIDER_MISSING) == [(5, 6)]
    assert of(judged(ways), LintCode.LOOP) == [(5, 6)]


def test_a_comment_on_an_unread_line_is_no_second_finding() -> None:
    """A line that nothing reads has one finding, whatever its value is."""
    found = [each.code for each in judged(f"{CLUSTERS}{ON}made.up.words = 5 # note\n") if each.line == 5]

    assert found == [LintCode.KEY_UNKNOWN]


def test_a_worker_without_the_login_of_a_flow_is_named() -> None:
    """A login for the clients of a flow does not reach the worker of the way back, which emits heartbeats."""
    login = "source->target.source.admin.security.protocol = SASL_SSL\n"

    assert of(judged(CLUSTERS + ON + login), LintCode.LOGIN_OF_WORKER_MISSING) == [(2, 5)]
    assert of(judged(CLUSTERS + ON + login + QUIET), LintCode.LOGIN_OF_WORKER_MISSING) == []
    assert of(judged(CLUSTERS + ON + login + "security.protocol = SSL\n"), LintCode.LOGIN_OF_WORKER_MISSING) == []


def test_an_ignored_line_of_a_cluster_names_only_lines_of_this_cluster() -> None:
    """That another line counts is said only if the clients of the same cluster read it."""
    text = f"{CLUSTERS.replace('target.bootstrap.servers', 'target.bootstrap.server')}{ON}"

    assert ["line 2" in each.effect for each in judged(text) if each.code is LintCode.KEY_MISSPELLED] == [False]


def test_quotes_are_judged_as_java_reads_them() -> None:
    """A quote before `*` is a letter that is repeated, so Java accepts the pattern."""
    found = judged(f'{CLUSTERS}{ON}topics.exclude = "*.copy,x"\n')

    assert {each.code for each in found if each.line == 5} == {LintCode.VALUE_QUOTED}


def test_a_blank_in_a_flow_ends_its_key() -> None:
    """The finding on `A -> B.enabled=true` says that the blank ends the key, because the line has a `=`."""
    found = [each.found for each in judged(f"{CLUSTERS}source -> target.enabled=true\n") if each.line == 4]

    assert found == ["a blank ends the key, and the rest of the line is its value"]


def test_exactly_once_belongs_to_the_target() -> None:
    """A worker writes with the settings of its target, so exactly-once at the source is off."""
    line = "{}.exactly.once.source.support = enabled\n"
    effects = [
        [each.effect for each in judged(CLUSTERS + ON + line.format(at)) if each.line == 5]
        for at in ("source", "target")
    ]

    assert effects[0] == ["exactly-once stays off for source->target"]
    assert effects[1] == [
        "of several processes only the one that leads can start tasks, because the others cannot fence"
    ]
