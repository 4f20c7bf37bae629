"""The migration file of a wave loads and says what the wave says, whatever groups are called."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.migration_text import NO_GROUP
from kafka_migration.core.migration.settings import ConnectSettings, Insecurity
from kafka_migration.core.waves.wave_file import (
    MAX_PATTERN,
    MAX_PATTERNS,
    Names,
    group_patterns,
    wave_file,
)
from kafka_migration.core.waves.wave_plan import Clusters, GroupReads, Wave, Wish, plan_waves
from kafka_migration.migration_file.loading import load_migration

NAMES = Names("old_kafka", "new_kafka", "mirror_host", "spark", 5)
GROUPS = st.lists(st.text(st.characters(codec="utf-8"), max_size=40), min_size=1, max_size=5, unique=True)


def wave(*groups: str, topics: tuple[str, ...] = ("1e3", "null", "orders")) -> Wave:
    """Return a wave whose topics have names that YAML could take for something else."""
    reads = tuple(GroupReads(group, topics=frozenset(topics)) for group in groups)
    (made,) = plan_waves(Clusters(dict.fromkeys(topics, 1), dict.fromkeys(topics, 2), reads), Wish()).waves
    return made


def test_it_says_what_the_wave_says() -> None:
    """Connections, topics and exactly the wave's groups are in the file, with as many replicas as usual."""
    migration = load_migration(wave_file("shop-01", wave("a.b", "c"), NAMES), where="shop-01.yaml")

    assert ("shop-01", ("1e3", "null", "orders")) == (migration.name, migration.topics)
    assert ("a\\.b", "c") == migration.cutover.groups
    assert ("old_kafka", "new_kafka") == (migration.source.connection, migration.target.connection)
    assert ("mirror_host", "spark") == (migration.mirror.connection, migration.validation.spark_connection)
    assert migration.target_replication_factor == 3
    assert migration.mirror.kafka_home is None


def test_it_names_kafkas_folder_where_that_was_given() -> None:
    """The file has the folder on the host, and no comment asks for it."""
    text = wave_file("shop-01", wave("a"), replace(NAMES, kafka_home="/opt/kafka"))

    assert "/opt/kafka" == load_migration(text, where="shop-01.yaml").mirror.kafka_home
    assert "mirror.kafka_home" not in text


def test_it_names_the_connect_cluster_where_that_was_given() -> None:
    """With a topic of the workers' states the file is one of engine `connect`, without fields of a host."""
    text = wave_file("shop-01", wave("a"), replace(NAMES, mirror="shop_connect", status_topic="connect-status"))
    mirror = load_migration(text, where="shop-01.yaml").mirror

    assert ("connect", "shop_connect") == (mirror.engine, mirror.connection)
    assert mirror.connect == ConnectSettings("connect-status")
    assert "mirror.kafka_home" not in text
    assert "#   mirror.connect: further settings of the workers" in text


def test_it_says_what_was_allowed_for_the_connections() -> None:
    """The file allows the protections that `waves` was allowed to give up, each on its side."""
    names = replace(NAMES, source_insecure=tuple(Insecurity), target_insecure=(Insecurity.NO_HOST_NAME_CHECK,))
    migration = load_migration(wave_file("shop-01", wave("a"), names), where="shop-01.yaml")

    assert (names.source_insecure, names.target_insecure) == (migration.source.insecure, migration.target.insecure)


@given(GROUPS)
def test_any_group_is_named_exactly(groups: list[str]) -> None:
    """Whatever groups are called, the file loads, names each of them and matches no other; no comment ends early."""
    known = [group for group in groups if group and wave(group).is_read]
    text = wave_file("shop-01", wave(*groups), NAMES, ["not known: \n- x", *groups])
    migration = load_migration(text, where="shop-01.yaml")

    assert ("1e3", "null", "orders") == migration.topics
    for group in known:
        matching = [pattern for pattern in migration.cutover.groups if re.compile(pattern, re.DOTALL).fullmatch(group)]
        assert [re.escape(group)] == matching
    assert len(known) == len(migration.cutover.groups) or not known


def test_comment_cannot_be_ended() -> None:
    """A line break in a group's name, of whatever kind, is shown and begins no line."""
    text = wave_file("shop-01", wave("a\nname: evil\r\x85\u2028x"), NAMES)

    assert "name: evil" not in text.splitlines()
    assert load_migration(text, where="").name == "shop-01"


def test_wave_without_groups_moves_none() -> None:
    """A file must name groups; where none is known the pattern matches nothing."""
    migration = load_migration(wave_file("shop-01", wave(), NAMES), where="shop-01.yaml")

    assert (NO_GROUP,) == migration.cutover.groups
    assert not re.fullmatch(NO_GROUP, "")


def test_more_groups_than_a_file_has_patterns() -> None:
    """Several groups then share a pattern, which still matches each of them and nothing else."""
    groups = [f"group.{number}" for number in range(5 * MAX_PATTERNS)]
    patterns = group_patterns(groups)
    text = wave_file("shop-01", wave(*groups), NAMES)

    assert len(patterns) <= MAX_PATTERNS
    assert max(map(len, patterns)) <= MAX_PATTERN
    matched = [name for name in [*groups, "group.", "groupx1"] if any(re.fullmatch(each, name) for each in patterns)]
    assert groups == matched
    assert tuple(patterns) == load_migration(text, where="").cutover.groups


def test_name_that_no_file_can_hold_is_refused() -> None:
    """A group whose name is longer than a pattern may be makes the file invalid, and is not left out silently."""
    with pytest.raises(Refused, match=r"cutover\.groups"):
        load_migration(wave_file("shop-01", wave("g" * (MAX_PATTERN + 1)), NAMES), where="shop-01.yaml")


def test_few_brokers_have_few_replicas() -> None:
    """Never more replicas than the target has brokers."""
    text = wave_file("shop-01", wave("g"), Names("a", "b", "c", "d", 1))

    assert load_migration(text, where="").target_replication_factor == 1
