"""`check` shows the mistakes of migration files without a cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_migration.cli.main import main
from tests.conftest import MIGRATION_TEXT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two migration files that copy different topics."""
    (tmp_path / "shop.yaml").write_text(MIGRATION_TEXT)
    (tmp_path / "bank.yaml").write_text(MIGRATION_TEXT.replace("shop", "bank").replace("orders, audit", "accounts"))
    return tmp_path


def checked(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> tuple[int, list[str], list[str]]:
    """Return the exit code, and the lines of both outputs."""
    code = main(["check", *arguments, "--migrations", str(folder)])
    shown = capsys.readouterr()
    return code, shown.out.splitlines(), shown.err.splitlines()


def test_valid_files_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each valid file is one line, and the exit code is 0."""
    assert (0, ["bank: valid", "shop: valid"], []) == checked(capsys, folder)


def test_mistakes_of_all_files_are_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One call shows every mistake of every file, and the exit code is 3."""
    (folder / "shop.yaml").write_text(MIGRATION_TEXT.replace("tasks: 2", "tasks: 0").replace("1s", "soon"))
    (folder / "bank.yaml").write_text("name: bank")
    code, out, err = checked(capsys, folder)

    assert (3, ["bank: 6 mistakes", "shop: 2 mistakes"]) == (code, out)
    assert ["MIGRATION_FILE_INVALID"] * 8 == [line.split(" · ")[0] for line in err if not line.startswith(" ")]


def test_overlap_is_a_mistake_of_each_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A topic that two files copy is found in both, also if only one of them is named."""
    (folder / "bank.yaml").write_text(MIGRATION_TEXT.replace("shop", "bank").replace("orders, ", ""))
    code, out, _ = checked(capsys, folder)

    assert (3, ["bank: 1 mistake", "shop: 1 mistake"]) == (code, out)
    code, out, err = checked(capsys, folder, "shop")
    assert (3, ["shop: 1 mistake"]) == (code, out)
    assert err[0].startswith("MIGRATIONS_OVERLAP · shop.yaml: topics")


def test_name_without_a_file_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name without a file is a finding beside those of the others."""
    code, out, err = checked(capsys, folder, "shop", "mill")

    assert (3, ["shop: valid", "mill: 1 mistake"]) == (code, out)
    assert err[0].startswith("MIGRATION_FILE_MISSING · ")


def test_folder_without_files_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty folder is not a folder without mistakes, and a file with another ending is named."""
    (tmp_path / "shop.yml").write_text(MIGRATION_TEXT)
    code, out, err = checked(capsys, tmp_path)

    assert (3, []) == (code, out)
    assert "has no migration file (*.yaml), but shop.yml." in err[1]


def test_json_has_the_findings_of_each_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The document has all files, and the findings with their parts."""
    (folder / "shop.yaml").write_text(MIGRATION_TEXT.replace("tasks: 2", "tasks: 0"))
    code, out, err = checked(capsys, folder, "-o", "json")
    document = json.loads("\n".join(out))

    assert (3, [], 1, False) == (code, err, document["schema"], document["is_valid"])
    assert [("bank", 0), ("shop", 1)] == [(each["migration"], len(each["findings"])) for each in document["files"]]
    finding = document["files"][1]["findings"][0]
    assert ("MIGRATION_FILE_INVALID", "shop.yaml: mirror.tasks") == (finding["code"], finding["subject"])
