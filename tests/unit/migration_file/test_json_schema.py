"""The JSON Schema for editors says what the models say, as far as JSON Schema can say it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from kafka_migration.cli.main import main
from kafka_migration.core.migration.migration_text import SCHEMA_LINE
from kafka_migration.migration_file.json_schema import migration_schema
from kafka_migration.migration_file.loading import load_migration
from tests.conftest import MIGRATION_TEXT
from tests.documents import blocks
from tests.unit.migration_file.bad_files import FULL

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "include").glob("*/*.yaml"))
SCHEMA = Draft202012Validator(migration_schema())
# What JSON Schema cannot say: relations of values, lists that are known elsewhere, and the grammar of a text. The test
# that uses it reads the same bad files as `test_bad_families.py`, and stands there.
NOT_SAID = {
    "alerts/notifiers/0/arguments",
    "cutover/fence_quiet",
    "cutover/groups/0",
    "mirror/lease",
    "mirror/properties",
    "mirror/stop_grace",
    "nightly/cron",
    "nightly/timezone",
    "nightly/until",
    "schema_registry/parts",
    "source/alias",
    "topics",
    "topics/0",
    "topics/2/pattern",
    "topics/3/exclude",
    "validation/max_bytes_per_s",
    "version",
    "watch/unreachable_after",
}


def whole_files() -> Iterator[str]:
    """Yield every migration file of the repository: the examples, those on pages, and those of tests."""
    yield from (path.read_text() for path in EXAMPLES)
    yield from (MIGRATION_TEXT, FULL)
    pages = (path.read_text() for path in sorted((ROOT / "docs").rglob("*.md")))
    yield from (
        text for page in pages for text in blocks(page, "yaml") if re.search("^validation:", text, re.MULTILINE)
    )


def problems(text: str) -> list[str]:
    """Return what the schema finds in a file."""
    return [f"{error.json_path}: {error.message}" for error in SCHEMA.iter_errors(yaml.safe_load(text))]


def edited(old: str, new: str) -> str:
    """Return the small file with another text."""
    assert old in MIGRATION_TEXT
    return MIGRATION_TEXT.replace(old, new)


def test_schema_is_valid() -> None:
    """The schema follows the draft of JSON Schema that it names."""
    Draft202012Validator.check_schema(SCHEMA.schema)


def test_valid_files_are_accepted() -> None:
    """Each file of the repository that loads is accepted."""
    files = list(whole_files())
    assert len(files) >= 5

    for text in files:
        load_migration(text, where="a file")
        assert [] == problems(text)


GOOD = {
    "a mapping with a name": edited(
        "[orders, audit]", "[orders, {name: audit, compacted: true, configs: {a.b: null}}]"
    ),
    "patterns": edited("[orders, audit]", "[{pattern: 'o.*', name: null}, {exclude: 'o1', pattern: null}]"),
    "two equal patterns": edited("[orders, audit]", "[{pattern: 'o.*'}, {pattern: 'o.*'}]"),
    "partitions of MirrorMaker 1": edited("tasks: 2", "engine: mirrormaker1").replace(
        "[orders, audit]", "[{name: orders, partitions: 3}]"
    ),
    "sections without a value": f"{MIGRATION_TEXT}nightly: null\nalerts:\nschema_registry:\n",
    "own names": edited("tasks: 2", "topic_names: {naming: custom, policy_class: a.B, pattern: 'x.{topic}'}"),
    "a hook": f"{MIGRATION_TEXT}cutover: {{hooks: {{stop_producers: {{dag: stop, callable: null}}}}}}\n",
    "an alert without a deadline": f"{MIGRATION_TEXT}alerts: {{notifiers: [], too_long_after: null}}\n",
    "tuning": edited("tasks: 2", "properties: {producer.compression.type: zstd, consumer.client.rack: 'a-1'}"),
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_every_valid_form_is_accepted(text: str) -> None:
    """What the models accept is accepted, also forms that few files use."""
    load_migration(text, where="shop.yaml")

    assert [] == problems(text)


@pytest.mark.parametrize(
    "text",
    [
        edited("[orders, audit]", "[{exclude: 'o1'}]"),
        edited("[orders, audit]", "[{name: orders, pattern: 'o.*'}]"),
        edited("[orders, audit]", "[{pattern: 'o.*'}, {exclude: 'o1', compacted: null}]"),
        edited("[orders, audit]", "[{name: orders, partitions: 3}]"),
        edited("tasks: 2", "exactly_once: true\n  isolation_level: read_uncommitted"),
        edited("tasks: 2", "engine: mirrormaker1\n  topic_names: {naming: prefixed}"),
        edited("tasks: 2", "topic_names: {naming: custom}"),
        edited("tasks: 2", "topic_names: {policy_class: a.B}"),
        edited("tasks: 2", "properties: {producer.acks: all}"),
        edited("poll_interval: 1s", "poll_interval: 0s"),
        f"{MIGRATION_TEXT}alerts: {{too_long_after: 1h}}\n",
        f"{MIGRATION_TEXT}cutover: {{hooks: {{stop_producers: {{}}}}}}\n",
    ],
)
def test_rules_between_fields_are_in_the_schema(text: str) -> None:
    """A file that breaks a rule between fields is refused by the schema too, if JSON Schema can say it."""
    assert problems(text)


def test_examples_name_the_schema() -> None:
    """The first line of each example leads to the schema."""
    for path in EXAMPLES:
        line = path.read_text().partition("\n")[0]
        assert (path.parent / line.removeprefix("# yaml-language-server: $schema=")).is_file()
    page = (ROOT / "docs" / "reference" / "cli.md").read_text()
    assert SCHEMA_LINE in page


def test_the_command_prints_the_published_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """`kafka-migration schema` prints what the documentation has."""
    assert 0 == main(["schema"])
    printed = json.loads(capsys.readouterr().out)

    assert json.loads((ROOT / "docs" / "migration-file.schema.json").read_text()) == printed
