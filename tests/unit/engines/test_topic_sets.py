"""What an engine is given names exactly the topics of the migration, as the engine reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.engine import LaunchFacts
from kafka_migration.engines.mirrormaker1 import MirrorMaker1
from kafka_migration.engines.mirrormaker2 import MirrorMaker2
from kafka_migration.migration_file.loading import load_migration
from tests.conftest import MIGRATION_TEXT
from tests.contract.fake_cluster import FakeCluster

NAME = st.from_regex(r"[A-Za-z0-9._-]{1,249}", fullmatch=True).filter(lambda name: name not in {".", ".."})
TOPICS = st.lists(NAME, min_size=1, max_size=30, unique=True)
FACTS = LaunchFacts({"bootstrap.servers": "a:1"}, {"bootstrap.servers": "b:2"}, max_message_bytes=2048, partitions=2)


def near(topics: Iterable[str]) -> set[str]:
    """Return the topics and names that differ from them in one place."""
    found = set(topics)
    for topic in list(found):
        found |= {f"{topic}x", f"x{topic}", topic[1:], topic[:-1], topic.upper(), topic.lower()}
        found |= {topic.replace(".", letter, 1) for letter in "x-_"}
    return found - {""}


def taken_by_mirrormaker2(migration: Migration) -> Callable[[str], bool]:
    """Return whether MirrorMaker 2 takes a topic: it splits the list at commas and joins the parts by `|` (3.9.1)."""
    text = MirrorMaker2(migration, FakeCluster("old"), FakeCluster("new")).launch(1, FACTS).files["mm2.properties"]
    (line,) = (line for line in text.splitlines() if line.startswith("shop-source->shop-target.topics"))
    listed = line.partition(" = ")[2].replace("\\\\", "\\")
    pattern = re.compile("|".join(part.strip() for part in listed.split(",")))
    return lambda name: pattern.fullmatch(name) is not None


def taken_by_mirrormaker1(migration: Migration) -> Callable[[str], bool]:
    """Return whether MirrorMaker 1 takes a topic: it reads a comma as `|` and removes blanks and quotes (3.9.1)."""
    arguments = MirrorMaker1(migration, FakeCluster("old"), FakeCluster("new")).launch(1, FACTS).arguments
    given_ = arguments[arguments.index("--whitelist") + 1].strip().replace(",", "|").replace(" ", "").strip("\"'")
    pattern = re.compile(given_)
    return lambda name: pattern.fullmatch(name) is not None


TAKEN = {"mirrormaker2": taken_by_mirrormaker2, "mirrormaker1": taken_by_mirrormaker1}


@pytest.mark.parametrize("engine", TAKEN)
@given(topics=TOPICS)
def test_engine_reads_back_exactly_the_topics(engine: str, topics: list[str]) -> None:
    """Of all names near to those of a legal set of topics, the engine takes that set and no other name."""
    text = MIGRATION_TEXT.replace("mirror:\n", f"mirror:\n  engine: {engine}\n")
    migration = load_migration(text, where="shop.yaml").of_topics(tuple(topics))
    takes = TAKEN[engine](migration)

    assert set(topics) == {name for name in near(topics) if takes(name)}
