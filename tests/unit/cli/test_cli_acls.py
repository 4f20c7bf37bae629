"""`acls` prints the rights of a migration file without a cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_migration.cli.main import main
from tests.conftest import MIGRATION_TEXT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the migration file `shop`."""
    (tmp_path / "shop.yaml").write_text(MIGRATION_TEXT)
    return tmp_path


def test_commands_are_for_the_principal_of_each_side(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every line is a comment or a command, the source's before the target's, each with its own principal."""
    principals = ["--source-principal", "User:reader", "--target-principal", "User:CN=my writer"]

    assert 0 == main(["acls", "shop", "--migrations", str(folder), *principals])
    source, target = capsys.readouterr().out.split("# Target cluster")
    assert source.startswith("# Source cluster, connection ")
    for side, principal, text in (("SOURCE", "User:reader", source), ("TARGET", "'User:CN=my writer'", target)):
        commands = [line for line in text.splitlines()[1:] if not line.startswith("#")]
        start = f'kafka-acls.sh --bootstrap-server "${side}" --command-config admin.properties --add '
        assert commands
        assert all(line.startswith(f"{start}--allow-principal {principal} --operation ") for line in commands)


@pytest.mark.parametrize(("side", "other"), [("source", "target"), ("target", "source")])
def test_one_side(folder: Path, capsys: pytest.CaptureFixture[str], side: str, other: str) -> None:
    """A cluster without access control lists is left out on request, in both forms of the answer."""
    assert 0 == main(["acls", "shop", "--migrations", str(folder), "--side", side])
    text = capsys.readouterr().out
    assert 0 == main(["acls", "shop", "--migrations", str(folder), "--side", side, "-o", "json"])
    document = json.loads(capsys.readouterr().out)

    assert f'"${side.upper()}"' in text
    assert f'"${other.upper()}"' not in text
    assert {"schema", "migration", side} == set(document)


def test_json_has_each_right(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The document has one entry for each operation, with its client and what it is for."""
    assert 0 == main(["acls", "shop", "--migrations", str(folder), "-o", "json"])
    document = json.loads(capsys.readouterr().out)

    assert (1, "shop", "User:kafka-migration") == (
        document["schema"],
        document["migration"],
        document["source"]["principal"],
    )
    assert {
        "resource": "topic",
        "name": "orders",
        "pattern": "literal",
        "operation": "Write",
        "client": "MirrorMaker",
        "for": "every run",
    } in document["target"]["rights"]


@pytest.mark.parametrize(
    ("name", "code", "exit_code"), [("none", "MIGRATION_FILE_MISSING", 3), ("../shop", "COMMAND_INVALID", 2)]
)
def test_wrong_names_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, code: str, exit_code: int
) -> None:
    """A migration without a file is refused, and a name that leads out of the folder."""
    try:
        found = main(["acls", name, "--migrations", str(folder)])
    except SystemExit as ended:
        found = int(str(ended.code))

    assert exit_code == found
    assert code in capsys.readouterr().err
