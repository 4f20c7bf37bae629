"""`check` shows the mistakes of migration files without a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kafka_migration.cli.files import check_verb
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

    assert (3, [], 2, False) == (code, err, document["schema"], document["is_valid"])
    assert [("bank", 0), ("shop", 1)] == [(each["migration"], len(each["findings"])) for each in document["files"]]
    assert [str(folder / "bank.yaml"), str(folder / "shop.yaml")] == [each["file"] for each in document["files"]]
    finding = document["files"][1]["findings"][0]
    assert ("MIGRATION_FILE_INVALID", "shop.yaml: mirror.tasks") == (finding["code"], finding["subject"])


def of_paths(capsys: pytest.CaptureFixture[str], *paths: Path | str) -> tuple[int, list[str], list[str]]:
    """Return the exit code and both outputs of a call that names paths, and no folder."""
    code = main(["check", *map(str, paths)])
    shown = capsys.readouterr()
    return code, shown.out.splitlines(), shown.err.splitlines()


def test_paths_need_no_folder_and_no_airflow(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths of files and folders are checked where they are, and the answer has them as they were given."""
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(check_verb, "migrations_folder_of", lambda _: pytest.fail("Airflow was asked"))
    inside = f"{folder.name}/shop.yaml"

    assert (0, [f"{inside}: valid"], []) == of_paths(capsys, inside)
    assert (0, [f"{folder.name}/{name}.yaml: valid" for name in ("bank", "shop")], []) == of_paths(
        capsys, f"./{folder.name}"
    )
    monkeypatch.chdir(folder)
    assert (0, ["shop.yaml: valid"], []) == of_paths(capsys, "shop.yaml")


def test_findings_on_a_path_begin_with_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files of one name in several folders are told apart."""
    (folder / "more").mkdir()
    wrong = MIGRATION_TEXT.replace("tasks: 2", "tasks: 0")
    paths = [folder / "shop.yaml", folder / "more" / "shop.yaml"]
    for path in paths:
        path.write_text(wrong)
    code, out, err = of_paths(capsys, *paths)

    assert (3, [f"{path}: 1 mistake" for path in paths]) == (code, out)
    assert [f"MIGRATION_FILE_INVALID · {path}: mirror.tasks" for path in paths] == [
        line for line in err if " · " in line
    ]


def test_overlap_is_looked_for_in_the_folder_of_the_path(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file beside it that is not named counts; one of another folder or ending is none of this Airflow's."""
    (folder / "more").mkdir()
    (folder / "more" / "shop.yaml").write_text(MIGRATION_TEXT)
    (folder / "shop.yml").write_text(MIGRATION_TEXT)
    assert 0 == of_paths(capsys, folder / "shop.yaml", folder / "more" / "shop.yaml")[0]
    (folder / "bank.yaml").write_text(MIGRATION_TEXT.replace("shop", "bank").replace("orders, ", ""))
    code, _, err = of_paths(capsys, folder / "shop.yaml", folder / "more" / "shop.yaml")

    assert 3 == code
    assert [f"MIGRATIONS_OVERLAP · {folder / 'shop.yaml'}: topics"] == [line for line in err if " · " in line]


ODD_PATHS = {
    "deleted.yaml": "MIGRATION_FILE_MISSING · {path}",
    "shop.yml": "MIGRATION_FILE_INVALID · {path}",
    "notes.txt": "MIGRATION_FILE_INVALID · {path}",
    "other.yaml": "MIGRATION_FILE_INVALID · {path}: name",
    "binary.yaml": "MIGRATION_FILE_INVALID · {path}",
    "empty": "MIGRATION_FILE_MISSING · {path}",
    "loop.yaml": "MIGRATION_FILE_MISSING · {path}",
    f"{'x' * 300}.yaml": "MIGRATION_FILE_MISSING · {path}",
}


@pytest.mark.parametrize(("name", "found"), ODD_PATHS.items())
def test_path_that_is_no_migration_file_is_a_finding(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, found: str
) -> None:
    """A file that is gone, is no YAML, has another ending or another name, and an empty folder, are findings."""
    for other in ("shop.yml", "other.yaml"):
        (folder / other).write_text(MIGRATION_TEXT)
    (folder / "notes.txt").write_text("- a note: [")
    (folder / "binary.yaml").write_bytes(b"\xff\x00")
    (folder / "empty").mkdir()
    (folder / "loop.yaml").symlink_to(folder / "loop.yaml")
    code, _, err = of_paths(capsys, folder / name)

    assert (3, found.format(path=folder / name)) == (code, err[0])


def test_junit_has_a_case_for_each_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A valid file is a case that passed; one with mistakes fails with the sentences of all of them."""
    (folder / "shop.yaml").write_text(MIGRATION_TEXT.replace("tasks: 2", "tasks: 0").replace("1s", "soon"))
    assert 3 == main(["check", "-o", "junit", "--migrations", str(folder)])
    found = list(ElementTree.fromstring(capsys.readouterr().out).iter("testcase"))

    assert [("bank", []), ("shop", ["failure"])] == [(case.get("name"), [each.tag for each in case]) for case in found]
    assert 2 == (found[1][0].text or "").count("MIGRATION_FILE_INVALID")
