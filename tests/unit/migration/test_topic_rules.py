"""Rules of the topics of a migration file: names, patterns, exclusions, and the settings of the first match."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from kafka_migration.core.migration.settings import Migration, Mode
from kafka_migration.core.migration.topic_list_rules import MOST_TOPICS, topic_list_findings, topic_list_warnings
from kafka_migration.core.migration.topic_rules import (
    AS_USUAL,
    TopicList,
    TopicRule,
    TopicRules,
    TopicSettings,
    resolve,
)

SHOP = TopicRules((TopicRule("name", "audit"), TopicRule("pattern", r"shop\..*"), TopicRule("exclude", r".*\.tmp")))
NAMES = st.text(alphabet="abcXYZ019._-", min_size=1, max_size=12).filter(lambda name: name.strip("."))


def test_names_come_first_then_matches_by_name() -> None:
    """The list has the exact names in the order of the file, then the matching topics by name."""
    found = resolve(SHOP, ["shop.b", "shop.a", "shop.a.tmp", "other", "myshop.a"], ())
    assert ("audit", "shop.a", "shop.b") == found.topics


def test_pattern_is_for_the_whole_name() -> None:
    """A pattern that matches a part of a name does not take the topic."""
    assert not SHOP.takes("myshop.orders")
    assert not TopicRules((TopicRule("pattern", "orders"),)).takes("orders-2")


def test_exclusion_holds_wherever_it_stands() -> None:
    """An exclude item before the pattern leaves the topic out too, but it does not apply to exact names."""
    first = TopicRules((TopicRule("exclude", ".*b"), TopicRule("pattern", "a.*")))
    assert ("ac",) == resolve(first, ["ab", "ac"], ()).topics


def test_topics_of_kafka_and_other_tools_are_named_and_not_taken() -> None:
    """A pattern such as .* does not take internal topics; each is left out with its reason."""
    everything = TopicRules((TopicRule("pattern", ".*"),))
    found = resolve(everything, ["orders", "__consumer_offsets", "_schemas", "connect-configs"], ())
    assert ("orders",) == found.topics
    assert {"__consumer_offsets", "_schemas", "connect-configs"} == found.left_out.keys()
    assert all(found.left_out.values())


def test_new_topics_are_those_that_no_run_has_copied() -> None:
    """The first run has no new topics; later runs name the matches that are not in the ledger."""
    assert () == resolve(SHOP, ["shop.a"], ()).new
    assert ("shop.b",) == resolve(SHOP, ["shop.a", "shop.b"], {"shop.a"}).new


def test_vanished_topic_is_named_while_it_matches() -> None:
    """A copied topic that the source no longer has is named as long as a pattern takes it and none excludes it."""
    assert ("shop.b",) == resolve(SHOP, ["shop.a"], {"shop.a", "shop.b", "shop.x.tmp", "elsewhere"}).vanished


def test_only_topic_of_a_pattern_may_vanish() -> None:
    """A pattern whose only topic has vanished is not reported as one that matches nothing."""
    assert () == resolve(SHOP, ["audit"], {"shop.a"}).unmatched
    assert (r"shop\..*",) == resolve(SHOP, ["audit"], ()).unmatched


def test_pattern_may_match_only_a_name_of_the_file() -> None:
    """A pattern that so far matches only an exact name of the file is not refused."""
    rules = TopicRules((TopicRule("name", "shop"), TopicRule("pattern", "shop.*")))

    assert () == resolve(rules, ["shop"], ()).unmatched


def test_no_new_topics_after_the_last_cutover() -> None:
    """After the last cutover a pattern takes only topics that were copied before."""
    assert ("audit", "shop.a") == resolve(SHOP, ["shop.a", "shop.b"], {"shop.a"}, takes_new=False).topics


def test_settings_are_those_of_the_first_item_that_applies() -> None:
    """A name before a pattern wins with its own settings, even if it has none; later items do not add to them."""
    two, three = TopicSettings(replication_factor=2), TopicSettings(replication_factor=3)
    rules = TopicRules(
        (TopicRule("name", "a1"), TopicRule("pattern", "a.*", two), TopicRule("name", "a2", three)),
    )
    assert AS_USUAL == rules.settings_of("a1")
    assert two == rules.settings_of("a2")
    assert AS_USUAL == rules.settings_of("b")


def test_unmatched_and_too_many_are_refused(migration: Migration) -> None:
    """A pattern without a topic and more topics than a run can copy are findings in each mode."""
    found = TopicList(tuple(f"t{n}" for n in range(MOST_TOPICS + 1)), unmatched=("x.*",))
    for mode in (Mode.SYNC, Mode.CUTOVER):
        codes = [finding.code for finding in topic_list_findings(migration, found, mode)]
        assert ["PATTERN_MATCHES_NOTHING", "TOPICS_TOO_MANY"] == codes


def test_vanished_topic_warns_a_sync_and_refuses_a_cutover(migration: Migration) -> None:
    """A vanished topic is a warning while copying, and refuses a rehearsal and a cutover."""
    found = TopicList(("a",), vanished=("b",))
    assert [] == list(topic_list_findings(migration, found, Mode.SYNC))
    assert ["SOURCE_TOPIC_VANISHED"] == [f.code for f in topic_list_warnings(migration, found, Mode.SYNC)]
    for mode in (Mode.REHEARSE, Mode.CUTOVER):
        assert ["SOURCE_TOPIC_VANISHED"] == [f.code for f in topic_list_findings(migration, found, mode)]
        assert [] == list(topic_list_warnings(migration, found, mode))


@given(names=st.sets(NAMES, max_size=20), copied=st.sets(NAMES, max_size=10), prefix=NAMES)
def test_every_listed_topic_is_taken_left_out_or_unmatched(names: set[str], copied: set[str], prefix: str) -> None:
    """No matching topic gets lost: it is in the list or left out with a reason; and no other topic is in the list."""
    pattern = re.escape(prefix) + ".*"
    rules = TopicRules((TopicRule("pattern", pattern), TopicRule("exclude", ".*9")))
    found = resolve(rules, names, copied)
    fitting = {name for name in names if name.startswith(prefix) and not name.endswith("9")}
    assert fitting == {*found.topics, *found.left_out}
    assert not set(found.topics) & found.left_out.keys()
    assert set(found.vanished).isdisjoint(names)


IMPOSSIBLE = ["", ".", "..", "x" * 250, "<img src=x>", "a\nb", "a/b", "ä", "orders\n", "a\x1b[2J", " ", "x" * 100_000]


def test_names_that_kafka_forbids_reach_no_plan(migration: Migration) -> None:
    """A name that no topic can have is left out and warned of, quoted and bounded; the other topics are taken."""
    everything = TopicRules((TopicRule("pattern", ".*"),))
    found = resolve(everything, ["orders", *IMPOSSIBLE], ())

    assert (("orders",), ()) == (found.topics, found.unmatched)
    (warning,) = topic_list_warnings(migration, found, Mode.SYNC)
    assert "TOPIC_NAME_IMPOSSIBLE" == warning.code
    assert all(name.startswith('"') and name.isprintable() and len(name) < 300 for name in found.left_out)
    assert len(warning.found) < 2_000


def test_flood_of_forbidden_names_is_counted() -> None:
    """A source that lists very many forbidden names fills no evidence, and all of them are counted."""
    found = resolve(TopicRules((TopicRule("pattern", ".*"),)), ["orders", *(f"a/{n}" for n in range(100_000))], ())

    assert 21 == len(found.left_out)
    assert "99,980 more names" in found.left_out
