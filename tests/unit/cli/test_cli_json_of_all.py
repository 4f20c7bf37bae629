"""`-o json` is an option of each verb, and the fields of each answer are documented."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.system.this_machine import SystemClock
from kafka_migration.cli.main import main, parser
from kafka_migration.cli.shell.airflow_server import PASSWORD, SERVER, USER
from kafka_migration.cli.shell.verb_table import VERBS
from tests.conftest import MIGRATION_TEXT
from tests.contract import airflow_server
from tests.contract.airflow_server import DAG_ID, AirflowServer
from tests.json_fields import undocumented
from tests.unit.cli.test_cli import kafka_migration, mirrored_twice
from tests.unit.cli.test_cli_json import lived

ROOT = Path(__file__).parents[3]
MM2 = "clusters = a, b\na.bootstrap.servers = h:9092\nb.bootstrap.servers = i:9092\na->b.enabled = true\n"
# Commands that need neither Airflow nor a cluster. The answer of `schema` is a JSON Schema, without fields of ours.
ALONE = {
    "acls": ["acls", "shop", "--migrations", "."],
    "check": ["check", "shop.yaml"],
    "completion": ["completion", "bash"],
    "decommission": ["decommission", "new", "--evidence-root", "evidence"],
    "discover": ["discover", "--bootstrap", "h", "--preset", "msk"],
    "explain": ["explain", "GAP"],
    "import": ["import", "mm2.properties", "--name", "orders"],
    "lint": ["lint", "mm2.properties"],
    "lint --effective": ["lint", "--effective", "mm2.properties"],
    "ready": ["ready", "shop", "--evidence-root", "evidence"],
    "schema": ["schema"],
    "status": ["status", "shop", "--evidence-root", "evidence"],
    "status of all": ["status", "--evidence-root", "evidence"],
    "status --check": ["status", "--check", "--evidence-root", "evidence"],
    "verdict": ["verdict", "shop", "--evidence-root", "evidence"],
}
# Tests of the verbs that need more; each asks for the fields too.
ELSEWHERE = {
    "plan": "tests/airflow/test_plan_verb.py",
    "preflight": "tests/airflow/test_preflight_verb.py",
    "report": "tests/steps/test_report_verb.py",
    "source-acls": "tests/airflow/test_source_acls_verb.py",
    "spark-archive": "tests/airflow/test_spark_archive.py",
    "stop": "tests/unit/cli/test_cli_json_of_all.py",
    "trigger": "tests/unit/cli/test_cli_json_of_all.py",
    "waves": "tests/airflow/test_wave_verb.py",
}


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_json(verb: str) -> None:
    """A program that reads answers gives `-o json` to any verb."""
    verbs = next(action for action in parser([verb])._actions if isinstance(action, argparse._SubParsersAction))
    (output,) = (action for action in verbs.choices[verb]._actions if "-o" in action.option_strings)

    assert "json" in (output.choices or ())


def test_the_fields_of_each_verb_are_asked_for() -> None:
    """A new verb has a command here, or a test elsewhere that asks for its fields."""
    assert set(VERBS) == {words[0] for words in ALONE.values()} | set(ELSEWHERE)
    for verb, path in ELSEWHERE.items():
        assert f'undocumented("{verb}"' in (ROOT / path).read_text(), verb


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with evidence, a migration file and a file of MirrorMaker."""
    monkeypatch.chdir(tmp_path)
    lived(tmp_path / "evidence")
    (tmp_path / "evidence" / "new" / "ledger").mkdir(parents=True)
    (tmp_path / "shop.yaml").write_text(MIGRATION_TEXT)
    (tmp_path / "mm2.properties").write_text(MM2)
    return tmp_path


def answered(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("words", ALONE.values(), ids=ALONE)
def test_answer_is_an_object_with_documented_fields(
    place: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """Standard output is one JSON object, and the section of the verb names each field."""
    main([*words, "-o", "json"])
    document = answered(capsys)

    if words != ["schema"]:
        assert set() == undocumented(words[0], document)
        assert isinstance(document["schema"], int)


def test_answer_of_trigger(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its fields are documented too."""
    with AirflowServer({DAG_ID: False}) as server:
        for name, value in ((SERVER, server.url), (USER, airflow_server.USER), (PASSWORD, airflow_server.PASSWORD)):
            monkeypatch.setenv(name, value)
        assert 0 == main(["trigger", "shop", "-o", "json"])

    assert set() == undocumented("trigger", answered(capsys))


def test_answer_of_stop_has_the_request_and_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The document says who asked, whether the request is new, and with `--wait` what became of it."""
    mirrored_twice(tmp_path)
    assert 0 == kafka_migration(tmp_path, "stop", "shop", "--reason", "lunch", "-o", "json")
    asked = answered(capsys)
    assert set() == undocumented("stop", asked)
    assert ("asked", True, 2, "lunch") == (
        asked["state"],
        asked["is_new"],
        asked["request"]["generation"],
        asked["request"]["reason"],
    )

    moments = iter([0.0, 0.0, 1000.0])
    monkeypatch.setattr(SystemClock, "monotonic_s", lambda _: next(moments))
    assert 5 == kafka_migration(tmp_path, "stop", "shop", "--wait", "--timeout", "1s", "-o", "json")
    waited = answered(capsys)
    assert ("not_stopped", False, None) == (waited["state"], waited["is_new"], waited["certificate"])
