"""Rules of the migration file."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.settings import Migration, SchemaRegistrySettings
from kafka_migration.migration_file.loading import (
    load_migration,
    load_migration_file,
    load_migrations,
    read_migration_text,
)

ROOT = Path(__file__).parents[3]
# Findings are kept in evidence, mails and pages, and must be short enough to read.
LONGEST_FINDING = 2_000


def test_valid_file_is_frozen(migration: Migration) -> None:
    """Defaults are filled in, durations are seconds, aliases come from the name."""
    assert ("shop-source", "shop-target") == (migration.source.alias, migration.target.alias)
    assert (600, 90, 60) == (migration.mirror.lease_s, migration.mirror.stop_grace_s, migration.watch.stall_after_s)
    assert len(migration.digest) == 64


cutover_values = attrgetter("near_offsets", "fence_quiet_s", "fence_wait_s", "drain_groups_s", "approvers", "four_eyes")


def test_cutover_has_defaults_and_is_frozen(migration_text: str, migration: Migration) -> None:
    """Without the section every usual group moves and nothing is drained first; given durations are read as seconds."""
    given = "cutover: {near: 0, fence_quiet: 5s, fence_wait: 2m, drain_groups: 1h, approvers: [ada], four_eyes: true}\n"
    usual, set_ = migration.cutover, load_migration(migration_text + given, where="shop.yaml").cutover

    assert (10_000, 60, 3600, None, (), False) == cutover_values(usual)
    assert 86_400 == usual.approval_time_limit_s
    assert (0, 5, 120, 3600, ("ada",), True) == cutover_values(set_)


@pytest.mark.parametrize("path", sorted((ROOT / "include").glob("*/*.yaml")), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_shipped_migration_files_are_valid(path: Path) -> None:
    """Every migration file in the repository loads, and its name is its file's."""
    assert path.stem == load_migration(read_migration_text(path), where=path.name).name


@pytest.mark.parametrize(
    ("old", "new", "subject", "part"),
    [
        ("stall_after", "stall_afer", "watch.stall_afer", "Write 'stall_after'"),
        ("name: shop", "name: Shop!", "name", "lower-case ASCII letters"),
        ("tasks: 2", "tasks: '2'", "mirror.tasks", "an integer"),
        ("tasks: 2", "tasks: 0", "mirror.tasks", "a number of at least 1"),
        ("poll_interval: 1s", "poll_interval: 1", "watch.poll_interval", "a duration"),
        ("topics: [orders, audit]", "topics: []", "topics", "1 or more"),
        ("topics: [orders, audit]", "topics: [orders, orders]", "topics", "only once: orders"),
        ("topics: [orders, audit]", "topics: [__consumer_offsets]", "topics", "internal topics"),
        ("topics: [orders, audit]", "topics: [..]", "topics.0.name", "not only one or two dots"),
        ("topics: [orders, audit]", "topics: [.]", "topics.0.name", "not only one or two dots"),
        ("topics: [orders, audit]", "topics: ['a b']", "topics.0.name", "the name of a topic"),
        ("version: 1", "version: 2", "version", "1"),
        ("name: shop", "name: shop\nname: other", "shop.yaml", "valid YAML"),
        ("version: 1", "version: 1\n\tx: y", "shop.yaml", "valid YAML"),
        ("name: shop", "name: !!python/object/apply:os.system [id]", "shop.yaml", "valid YAML"),
        (
            "connection: old_kafka",
            "connection: old kafka; rm -rf /",
            "source.connection",
            "the id of an Airflow connection",
        ),
        ("version: 1", "version: 1\ncutover: {groups: ['bill(']}", "cutover.groups.0", "a regular expression"),
        ("version: 1", "version: 1\ncutover: {groups: []}", "cutover.groups", "1 or more"),
        ("version: 1", "version: 1\ncutover: {drain_groups: soon}", "cutover.drain_groups", "a duration"),
        ("version: 1", "version: 1\ncutover: {four_eyes: 'yes'}", "cutover.four_eyes", "true or false"),
        ("tasks: 2", "tasks: 2\n  kafka_home: /opt/$(id)", "mirror.kafka_home", "an absolute path"),
        ("version: 1", "version: 1\nnightly: []", "nightly", "a mapping of the fields"),
        ("version: 1", "version: 1\nnightly: {cron: }", "nightly.cron", "Write a text"),
        ("version: 1", "version: 1\nnightly: {cron: '0 0 30 2 *'}", "nightly.cron", "with a date that occurs"),
        ("version: 1", "version: 1\nnightly: {cron: 'R R * * *'}", "nightly.cron", "five fields"),
        ("version: 1", "version: 1\nnightly: {cron: '@daily'}", "nightly.cron", "five fields"),
        ("version: 1", "version: 1\nnightly: {cron: '0 1 * * *', timezone: Europe/berlin}", "timezone", "a time zone"),
        ("version: 1", "version: 1\nnightly: {cron: '0 1 * * *', until: \"05:30\\n\"}", "until", "a local time"),
        ("version: 1", "version: 2020-13-45", "shop.yaml", "valid YAML"),
        ("version: 1", "version: 1\n? [a, b]\n: c", "shop.yaml", "valid YAML"),
        ("version: 1", "version: !!int abc", "shop.yaml", "valid YAML"),
        ("version: 1", "version: " + 3000 * "[", "shop.yaml", "nested too deeply"),
        (
            "version: 1",
            "version: 1\nnightly: {cron: '0 1 * * *', until: '05:30', validate_until: '05:30'}",
            "nightly.validate_until",
            "a time other than until",
        ),
    ],
)
def test_mistake_is_named_with_its_place(migration_text: str, old: str, new: str, subject: str, part: str) -> None:
    """A mistake is one short finding that names file and field and says what was expected."""
    with pytest.raises(Refused) as raised:
        load_migration(migration_text.replace(old, new, 1), where="shop.yaml")

    (finding,) = raised.value.findings
    assert finding.code is Code.MIGRATION_FILE_INVALID
    assert finding.found
    assert finding.remedy
    assert len(str(finding)) < LONGEST_FINDING
    assert finding.subject.endswith(subject)
    assert part in str(finding)


def test_all_mistakes_are_reported_together(migration_text: str) -> None:
    """Two mistakes are two findings of one refusal."""
    text = migration_text.replace("tasks: 2", "tasks: -1").replace("name: shop", "name: S")

    with pytest.raises(Refused) as raised:
        load_migration(text, where="shop.yaml")

    assert ["shop.yaml: name", "shop.yaml: mirror.tasks"] == [f.subject for f in raised.value.findings]


@pytest.mark.parametrize("text", ["", "just text", "- a\n- b"])
def test_file_without_a_mapping_is_refused(text: str) -> None:
    """An empty file, a text or a list is no migration."""
    with pytest.raises(Refused, match="The file has no fields at its top level"):
        load_migration(text, where="shop.yaml")


def test_digest_changes_with_the_text(migration_text: str, migration: Migration) -> None:
    """Any change of the file, a comment included, is another digest."""
    assert migration.digest != load_migration(migration_text + "# note\n", where="shop.yaml").digest


def test_limited_to_some_topics(migration: Migration) -> None:
    """A run may name some of the topics; none named means all."""
    assert ("audit",) == migration.limited_to(("audit", "unknown")).topics
    assert migration == migration.limited_to(())


def test_files_that_are_wrong_in_any_way_are_left_out_beside_good_ones(tmp_path: Path, migration_text: str) -> None:
    """Regression: a mistyped time zone in one file broke the preflight of every other migration."""
    (tmp_path / "shop.yaml").write_text(migration_text)
    nightly = "\nnightly: {cron: '0 1 * * *', timezone: Europe/berlin}\n"
    (tmp_path / "zone.yaml").write_text(migration_text.replace("name: shop", "name: zone") + nightly)
    (tmp_path / "broken.yaml").write_text("nonsense: [")
    (tmp_path / "folder.yaml").mkdir()

    assert ["shop"] == [migration.name for migration in load_migrations(tmp_path)]


@pytest.mark.parametrize("hook", ["{}", "{dag: a, callable: b.c}", "{callable: nodots}", "{dag: 'a b'}"])
def test_hook_is_a_dag_or_a_function(migration_text: str, hook: str) -> None:
    """Exactly one of the two, by a path that can be one."""
    with pytest.raises(Refused, match="stop_producers"):
        load_migration(f"{migration_text}cutover:\n  hooks:\n    stop_producers: {hook}\n", where="shop.yaml")


def test_insecure_is_frozen_and_a_closed_list(migration_text: str, migration: Migration) -> None:
    """The file names per cluster which protections a connection may give up; an unknown one is refused."""
    given = migration_text.replace("old_kafka", "old_kafka\n  insecure: [sasl_plaintext, no_host_name_check]")

    assert ((), ()) == (migration.source.insecure, migration.target.insecure)
    assert ("sasl_plaintext", "no_host_name_check") == load_migration(given, where="shop.yaml").source.insecure
    with pytest.raises(Refused, match=r"source\.insecure\.0"):
        load_migration(given.replace("sasl_plaintext", "unverified_certificate"), where="shop.yaml")


def test_accepted_codes_are_frozen(migration_text: str, migration: Migration) -> None:
    """Only the codes that the file names are accepted, each once."""
    text = f"{migration_text}accept: [TOPIC_CONFIG_DIFFERS, TOPIC_CONFIG_DIFFERS]\n"

    assert frozenset() == migration.accept
    assert {Code.TOPIC_CONFIG_DIFFERS} == load_migration(text, where="shop.yaml").accept


def test_registries_are_frozen(migration_text: str) -> None:
    """Parts that are named twice count once; without the section there are no registries."""
    section = "schema_registry: {source: old, target: new, parts: {orders: [value, value], audit: []}}\n"

    named = load_migration(migration_text + section, where="shop.yaml").schema_registry

    assert named == SchemaRegistrySettings("old", "new", {"orders": ("value",), "audit": ()})
    assert load_migration(migration_text, where="shop.yaml").schema_registry is None


@pytest.mark.parametrize(
    ("topic", "line"),
    [
        ("'eu[.].*'", '`- pattern: "eu[.].*"`'),
        ("{name: 'a|b'}", '`- pattern: "a|b"`'),
        ("'a b*'", ""),
        ("'.'", ""),
        ("'a,b'", ""),
        ("'(a'", ""),
        ("'(a+)+b'", ""),
    ],
)
def test_a_pattern_in_the_place_of_a_name_is_answered_with_its_line(migration_text: str, topic: str, line: str) -> None:
    """A usable regular expression that stands where a name belongs is repeated as the item that takes it."""
    with pytest.raises(Refused) as raised:
        load_migration(migration_text.replace("[orders, audit]", f"[orders, {topic}]"), where="shop.yaml")

    (finding,) = raised.value.findings
    assert bool(line) == ("pattern: " in finding.remedy)
    assert line in finding.remedy


def test_every_finding_of_a_migration_file_brings_its_own_sentences(migration_text: str, tmp_path: Path) -> None:
    """What happened and why it matters stand in each finding, whichever part of the reading refuses the file."""
    bad = ["", "[", "a: !!python/x y", "version: 1", migration_text.replace("60s", "1s"), "[" * 3000, "a: 1\na: 2"]
    for text in [*bad, migration_text.replace("orders", "0777"), migration_text]:
        path = tmp_path / "other.yaml"
        path.write_text(text)
        with pytest.raises(Refused) as raised:
            load_migration_file(path)
        assert [] == [each for each in raised.value.findings if not (each.happened and each.matters)]
