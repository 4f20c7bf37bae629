"""Rules of what `status` says about a migration that has not run yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_migration.cli.main import main
from tests.unit.cli.test_cli import mirrored_twice

FILE = """\
version: 1
name: new
source: {connection: old_kafka}
target: {connection: new_kafka, replication_factor: 3}
topics: [orders, payments, {pattern: "audit.*"}]
mirror: {connection: mirror_host}
validation: {spark_connection: spark}
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """`status`, with a folder of files in which `new` is valid and `bad` is not, and evidence of `shop`."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "new.yaml").write_text(FILE)
    (tmp_path / "files" / "bad.yaml").write_text("version: 1\nname: bad\n")
    mirrored_twice(tmp_path / "evidence")
    return ["status", "--evidence-root", str(tmp_path / "evidence"), "--migrations", str(tmp_path / "files")]


def test_file_without_a_run_is_shown(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The lines say what the file moves and what to do first, instead of a refusal."""
    assert 0 == main([*command, "new"])
    lines = capsys.readouterr().out.splitlines()

    assert "File       2 topics and 1 pattern from old_kafka to new_kafka, with mirrormaker2" in lines
    assert "Now        no run yet" in lines
    assert lines[-1].startswith("Next       kafka-migration preflight new, then")


def test_file_without_a_run_is_a_document(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has the same fields as for any other migration; the topics of patterns are not known yet."""
    assert 0 == main([*command, "new", "-o", "json"])
    document = json.loads(capsys.readouterr().out)

    assert ("new", None, None, {"orders": None, "payments": None}) == tuple(
        document[name] for name in ("phase", "now", "last_run", "topics")
    )
    assert (2, 1) == (document["from_file"]["topics"], document["from_file"]["patterns"])


def test_invalid_file_is_refused_with_its_mistakes(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """An invalid file is refused with its mistakes."""
    assert 3 == main([*command, "bad"])

    assert "MIGRATION_FILE_INVALID" in capsys.readouterr().err


@pytest.mark.parametrize("files", [True, False])
def test_unknown_name_is_refused(command: list[str], capsys: pytest.CaptureFixture[str], files: bool) -> None:
    """Without evidence and without a file, the finding names the migrations with evidence."""
    assert 3 == main([*(command if files else command[:3]), "nothing"])

    err = capsys.readouterr().err
    assert "MIGRATION_UNKNOWN" in err
    assert "shop" in err


def test_list_has_the_files_that_have_not_run(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The list of all migrations names each file once, also if its text is wrong."""
    assert 0 == main(command)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]

    assert ["shop", "bad", "new"] == [row[0] for row in rows]
    assert all(["new", "no", "run", "yet"] == row[1:5] for row in rows[1:])


def test_files_are_listed_without_any_evidence(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Before the first run of all migrations, the list has the files."""
    command[2] += "-nowhere"

    assert 0 == main(command)
    assert ["bad", "new"] == [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
