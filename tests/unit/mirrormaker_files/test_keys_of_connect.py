"""What Connect itself reads of a source connector is known to `lint`, `import` and the effective configuration."""

from __future__ import annotations

import json

import pytest

from kafka_migration.engines.kafka_connect import profile
from kafka_migration.kafka_tables.kafka_keys import KafkaKey, kafka_keys
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_import.import_rules import Use
from kafka_migration.mirrormaker_import.imported_flow import ImportChoices
from kafka_migration.mirrormaker_import.proposal import import_files
from tests.connect_files import CONNECT_TEXT
from tests.unit.mirrormaker_files.planted import HEAD
from tests.unit.mirrormaker_files.planted_flows import connector
from tests.unit.mirrormaker_files.reading import judged, read_mirror_file

pytestmark = pytest.mark.unit

CONNECT = "connect_source"
KEYS = sorted(kafka_keys().of(CONNECT))
NAMES = [key.name for key in KEYS]
# `topic.creation.` belongs to a family whose keys contain names that a user chooses.
JUDGED = [name for name in NAMES if not name.startswith("topic.creation.")]


def right_value(key: KafkaKey) -> str:
    """Return a value that every version with the key accepts."""
    return key.default() or ("60000" if key.type == "LONG" else "positions")


def of_keys(name: str, text: str, key: str, version: str = "") -> list[tuple[LintCode, str]]:
    """Return the findings on one key, with what to do."""
    return [(each.code, each.fix) for each in judged(name, text, version) if each.key.endswith(key)]


@pytest.mark.parametrize("key", KEYS, ids=NAMES)
@pytest.mark.parametrize("kind", ["source", "checkpoint", "heartbeat"])
def test_each_key_of_connect_is_known_in_a_connector(key: KafkaKey, kind: str) -> None:
    """A connector on Connect may have each key that Connect reads of a source connector."""
    config = connector(kind, **{key.name: right_value(key)})

    assert of_keys("copy.json", json.dumps(config, indent=1), key.name) == []


def test_the_connector_of_engine_connect_has_no_unknown_key() -> None:
    """What the package itself gives a connector, also for a copy in transactions, has no finding on a key."""
    text = CONNECT_TEXT.replace("  engine: connect\n", "  engine: connect\n  exactly_once: true\n")
    own = profile(load_migration(text, where="shop.yaml"))
    found = judged("copy.json", json.dumps({**connector("source"), **own}, indent=1), "3.9")

    assert own["exactly.once.support"] == "required"
    assert [each.key for each in found if each.code.name.startswith("KEY_")] == []


@pytest.mark.parametrize("key", KEYS, ids=NAMES)
def test_each_key_of_connect_is_known_in_a_flow(key: KafkaKey) -> None:
    """The dedicated MirrorMaker hands these keys on from a flow."""
    assert of_keys("mm2.properties", f"{HEAD}old->new.{key.name} = {right_value(key)}\n", key.name) == []


@pytest.mark.parametrize("name", JUDGED)
def test_the_dedicated_mirrormaker_hands_no_key_of_connect_on_from_its_top_level(name: str) -> None:
    """At the top level such a key is misplaced, because MirrorMaker hands on those of its own connectors only."""
    found = of_keys("mm2.properties", f"{HEAD}{name} = connector\n", name)

    assert [code for code, _ in found] == [LintCode.KEY_MISPLACED]


@pytest.mark.parametrize("version", ["3.2", "3.3"])
def test_versions_before_the_key_ignore_it(version: str) -> None:
    """Connect has exactly-once for source connectors from Kafka 3.3 on."""
    found = of_keys("copy.json", json.dumps(connector("source", exactly_once_support="required")), "support", version)

    assert [code for code, _ in found] == ([LintCode.KEY_OF_ANOTHER_VERSION] if version == "3.2" else [])


@pytest.mark.parametrize(
    ("name", "value"),
    [("exactly.once.support", "enabled"), ("transaction.boundary", "record"), ("offsets.storage.topic", "")],
)
def test_a_value_that_connect_refuses_is_an_error(name: str, value: str) -> None:
    """Connect does not create a connector with such a value."""
    found = of_keys("copy.json", json.dumps(connector("source", **{name: value}), indent=1), name)

    assert [code for code, _ in found] == [LintCode.VALUE_REFUSED]


@pytest.mark.parametrize("name", JUDGED)
def test_an_import_says_what_counts_instead_of_a_key_of_connect(name: str) -> None:
    """The package sets transactions and positions itself, so the line of a flow is replaced."""
    file = read_mirror_file("mm2.properties", f"{HEAD}old->new.topics = orders\nold->new.{name} = connector\n")
    uses = import_files([file], "copied", choices=ImportChoices()).uses

    assert [each.use for each in uses if each.key.endswith(name)] == [Use.REPLACED]
