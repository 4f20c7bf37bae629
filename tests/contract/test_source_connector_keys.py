"""`lint` knows the keys that Kafka Connect's own class has for a source connector."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from sandbox.jars import fetched_kafka
from tests.programs import run_java
from tests.unit.mirrormaker_files.planted_flows import connector
from tests.unit.mirrormaker_files.reading import judged

pytestmark = pytest.mark.live

PROGRAM = Path(__file__).with_name("SourceConnectorKeys.java")
EXPECTED = {"exactly.once.support", "offsets.storage.topic", "tasks.max.enforce", "transaction.boundary"}
UNKNOWN = {LintCode.KEY_UNKNOWN, LintCode.KEY_MISSPELLED, LintCode.KEY_MISPLACED, LintCode.KEY_NEVER_EXISTED}
UNKNOWN |= {LintCode.KEY_OF_ANOTHER_VERSION, LintCode.KEY_WITHOUT_EFFECT, LintCode.KEY_OF_OTHER_CONNECTOR}


@pytest.mark.parametrize("version", ["3.9.1", "4.2.0"])
def test_each_key_of_kafkas_own_class_is_known(version: str) -> None:
    """A connector may have each key of `SourceConnectorConfig`, and `lint` takes none for unknown or misplaced."""
    keys = run_java("-cp", f"{fetched_kafka(version)}/libs/*", PROGRAM).split()
    text = json.dumps({**dict.fromkeys(keys, "x"), **connector("source")}, indent=1)
    found = [(each.key, each.code) for each in judged("copy.json", text, version) if each.code in UNKNOWN]

    assert found == []
    assert EXPECTED <= set(keys)
