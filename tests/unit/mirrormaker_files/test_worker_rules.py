"""The standalone worker of Kafka Connect."""

from __future__ import annotations

import pytest

from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from tests.unit.mirrormaker_files.reading import found

pytestmark = pytest.mark.unit

CODES = LintCode.KEY_MISSPELLED, LintCode.WORKER_FILE_MISSING, LintCode.KEY_OF_DISTRIBUTED
PLUGINS = "plugin.path=/opt\n"
FILE = "offset.storage.file.filename=/tmp/o\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a", f"{FILE}{PLUGINS}", []),
        ("a", f"offset.storage.filename=/tmp/o\n{PLUGINS}", ["1 KEY_MISSPELLED"]),
        ("a", f"{PLUGINS}offset.storage.file=/tmp/o\n", ["2 KEY_MISSPELLED"]),
        ("connect-standalone.properties", PLUGINS, ["0 WORKER_FILE_MISSING"]),
        ("connect-standalone.properties", f"{PLUGINS}offset.storage.topic=o\n", [
            "0 WORKER_FILE_MISSING", "2 KEY_OF_DISTRIBUTED"]),
        ("a", f"{FILE}exactly.once.source.support=enabled\ngroup.id=g\n", [
            "2 KEY_OF_DISTRIBUTED", "3 KEY_OF_DISTRIBUTED"]),
        ("a", f"{FILE}producer.client.id=a\nconsumer.group.id=a\n", []),
        ("a", f"{FILE}config.storage.topic=c\ngroup.id=g\n", []),
        ("a", "config.storage.topic=c\nexactly.once.source.support=enabled\n", []),
        ("standalone.yaml", "kind: KafkaConnect\nspec:\n  config: {group.id: g}\n", []),
    ],
)  # fmt: skip
def test_a_standalone_worker_has_keys_of_its_own(name: str, text: str, expected: list[str]) -> None:
    """It requires a file for its offsets, and ignores what only distributed workers read."""
    assert found(name, text, *CODES) == expected
