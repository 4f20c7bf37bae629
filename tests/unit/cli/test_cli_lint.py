"""The verbs `lint` and `import`."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from kafka_migration.cli.main import main
from kafka_migration.migration_file.loading import load_migration
from tests.unit.mirrormaker_files.planted import HEAD, PLANTED

pytestmark = pytest.mark.unit


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "code"),
    [(HEAD, 0), (f"{HEAD}refresh.topics.enabled = false\n", 1), (f"{HEAD}group = a\n", 2)],
)
def test_the_exit_code_is_that_of_the_worst_finding(tmp_path: Path, text: str, code: int) -> None:
    """0 is clean, 1 has warnings, 2 has errors."""
    assert main(["lint", write(tmp_path, "mm2.properties", text)]) == code


def test_the_table_names_line_and_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each finding is one line of the answer, and the last line has the numbers."""
    file = write(tmp_path, "mm2.properties", f"{HEAD}group = a\n")
    main(["lint", file, "--kafka-version", "3.9"])

    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("info ")]
    assert lines == [
        f"error KEY_MISSPELLED · {file}:6 · group: No version of Kafka has this key. "
        "It is ignored: the default '.*' stays. Write 'groups'.",
        "1 error and 0 warnings in 1 file, compared with Kafka 3.9",
    ]


def test_json_has_the_findings_of_all_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The document has each file with its kind, and each finding with severity, code and line."""
    files = [write(tmp_path, name, PLANTED[name][0]) for name in ("producer.properties", "start.sh")]
    main(["lint", *files, "-o", "json"])
    document = json.loads(capsys.readouterr().out)

    assert [each["kind"] for each in document["files"]] == ["mirrormaker1-producer", "mirrormaker1-command"]
    assert document["findings"][0]["code"] == "KEY_OF_ANOTHER_VERSION"
    assert document["findings"][0]["line"] == 1


def test_an_unreadable_file_hides_the_findings_of_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files that are missing, too large, binary or of no kind are refused, and the other files are judged."""
    names = [str(tmp_path / "missing"), write(tmp_path, "large", "a" * 1_000_001), write(tmp_path, "binary", "\0")]
    names += [write(tmp_path, "words", "hello\n"), write(tmp_path, "bad.properties", f"{HEAD}group = a\n")]
    os.mkfifo(tmp_path / "pipe")

    assert main(["lint", *names, str(tmp_path), str(tmp_path / "pipe"), "/dev/zero"]) == 3
    printed = capsys.readouterr()
    refusals = [line.split(" · ")[:2] for line in printed.err.splitlines() if not line.startswith(" ")]
    assert {code for code, _ in refusals} == {"MIRROR_FILE_UNREADABLE"}
    assert sum(len(named.partition(": ")[0].split(", ")) for _, named in refusals) == 7
    assert any("KEY_MISSPELLED" in line for line in printed.out.splitlines())
    assert "in 1 file, compared with" in printed.out.splitlines()[-1]


def test_json_has_the_refusals_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output is one document, also if no file can be read."""
    broken = write(tmp_path, "copy.json", '{"name": "a",\n "config" }')

    assert main(["lint", broken, "-o", "json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["files"], document["findings"]) == ([], [])
    assert [each["subject"] for each in document["refused"]] == [f"{broken}:2"]


def test_a_refusal_names_the_place_and_no_other_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the kind is clear, a comma that is missing is no question of the kind."""
    main(["lint", broken := write(tmp_path, "copy.json", '{"name": "a"\n "config": {}}')])

    assert capsys.readouterr().err.splitlines() == [
        f"MIRROR_FILE_UNREADABLE · {broken}:2",
        "  Instead of connectors of MirrorMaker 2 for Kafka Connect, there was: Expecting ',' delimiter, column 2.",
        "  Nothing in this file was judged or imported.",
        "  Correct it, or name its kind with --kind.",
    ]


def test_a_file_that_is_named_twice_is_judged_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The findings and the number of files are those of one file."""
    name = write(tmp_path, "mm2.properties", f"{HEAD}group = a\n")
    main(["lint", name, name])

    assert sum("KEY_MISSPELLED" in line for line in capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input_is_read(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A file may come through a pipe, with the same limit."""
    text = io.TextIOWrapper(io.BytesIO(f"{HEAD}group = a\n".encode()))
    monkeypatch.setattr("sys.stdin", text)
    main(["lint", name])
    assert f"KEY_MISSPELLED · {name}:6" in capsys.readouterr().out

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a" * 1_000_001)))
    assert main(["lint", name]) == 3


def test_each_command_of_a_script_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The document names where each of them starts, and the summary counts files."""
    command = "kafka-mirror-maker.sh --consumer.config c --producer.config p"
    name = write(tmp_path, "start.sh", f"{command} --whitelist 'a'\n{command}\n")
    main(["lint", name, "-o", "json"])
    document = json.loads(capsys.readouterr().out)

    assert [each["line"] for each in document["files"]] == [1, 2]
    assert [(each["code"], each["line"]) for each in document["findings"]] == [("OPTION_MISSING", 2)]
    main(["lint", name])
    assert "in 1 file, compared" in capsys.readouterr().out


def test_an_unknown_version_is_wrong_usage(tmp_path: Path) -> None:
    """A version that the tables lack is refused."""
    with pytest.raises(SystemExit) as ended:
        main(["lint", write(tmp_path, "mm2.properties", HEAD), "--kafka-version", "1.0"])

    assert ended.value.code == 2


def test_import_prints_a_file_that_loads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All lines except those of the migration file are comments, so the answer is a valid migration file."""
    assert main(["import", write(tmp_path, "mm2.properties", HEAD), "--name", "copied"]) == 0

    assert load_migration(capsys.readouterr().out, where="copied.yaml").topics == ("orders", "payments.eu")


def test_import_writes_a_file_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An existing file is refused and keeps its text."""
    command = ["import", write(tmp_path, "mm2.properties", HEAD), "--name", "copied", "--write", str(tmp_path)]
    assert main(command) == 0
    text = (tmp_path / "copied.yaml").read_text()
    assert main(command) == 3

    assert (tmp_path / "copied.yaml").read_text() == text
    said = capsys.readouterr().err.splitlines()
    assert ["MIGRATION_FILE_EXISTS"] == [line.split()[0] for line in said if not line.startswith(" ")]


def test_import_into_a_missing_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that cannot be written is a finding on that file, not on the evidence root."""
    folder = tmp_path / "missing"
    command = ["import", write(tmp_path, "mm2.properties", HEAD), "--name", "copied", "--write", str(folder)]

    assert main(command) == 3
    (line,) = (each for each in capsys.readouterr().err.splitlines() if not each.startswith(" "))
    assert line.startswith(f"MIGRATION_FILE_NOT_WRITTEN · {folder}/copied.yaml")


def test_import_answers_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The document has findings, keys, connections and the migration file."""
    path = write(tmp_path, "mm2.properties", f"{HEAD}group = a\n")
    assert main(["import", path, "--name", "copied", "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)

    assert [key["use"] for key in document["keys"]] == ["used"] * 5 + ["ignored"]
    assert [each["id"] for each in document["connections"]] == ["old_kafka", "new_kafka", "mirror_host"]
    assert document["migration_file"].startswith("# yaml-language-server")
    assert document["errors"] == [{"file": path, "code": "KEY_MISSPELLED", "lines": [6]}]
    assert "names on the target" in [each["about"] for each in document["checks"]]


def test_import_answers_whether_there_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Mistakes that `lint` finds do not change the exit code; they are named by their lines, before the file."""
    path = write(tmp_path, "mm2.properties", f"{HEAD}group = a\nreplication.factor = 1\n")
    assert main(["import", path, "--name", "copied"]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert [line for line in lines if "KEY_MISSPELLED" in line or "REPLICATION_TOO_LOW" in line] == lines[1:2]
    assert lines[1].endswith("line 6")
    assert lines[-1].startswith("# - what is already copied: ")
    assert lines[lines.index("# Check before the first run:") + 1].startswith("# - names on the target: orders becomes")


def test_import_without_a_flow_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The answer names the flows and the option, and nothing is written."""
    path = write(tmp_path, "mm2.properties", HEAD.replace("old->new.enabled = true", "old->new.enabled = false"))
    assert main(["import", path, "--name", "copied", "--write", str(tmp_path)]) == 3

    assert "old->new" in capsys.readouterr().err
    assert not (tmp_path / "copied.yaml").exists()
    assert main(["import", path, "--name", "copied", "--write", str(tmp_path), "--flow", "old->new"]) == 0


IMAGE, IMAGE_OF_VARIABLES = "FROM a\nRUN b\n", "FROM a\nENV C d\n"
POD = "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n        - image: a\n"
LOGIN = "KafkaClient {\n a.LoginModule required;\n};\n"
OTHERS = {
    "Dockerfile": IMAGE,
    "Dockerfile2": IMAGE_OF_VARIABLES,
    "pod.yaml": POD,
    "jaas.conf": LOGIN,
    "a.sh": "#!/bin/sh\nls\n",
}


@pytest.mark.parametrize("other", OTHERS)
def test_import_passes_over_what_is_not_of_mirrormaker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: str
) -> None:
    """A file that holds nothing of MirrorMaker is named, and the others are imported; alone it is refused."""
    right, path = write(tmp_path, "mm2.properties", HEAD), write(tmp_path, other, OTHERS[other])

    assert main(["import", right, path, "--name", "copied"]) == 0
    assert capsys.readouterr().out.startswith(f"# passed over: {path}, ")
    assert main(["import", right, path, "--name", "copied", "-o", "json"]) == 0
    assert [each["file"] for each in json.loads(capsys.readouterr().out)["passed_over"]] == [path]
    assert main(["import", path, "--name", "copied"]) == 3


def test_import_refuses_what_may_be_of_mirrormaker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of an unknown kind may be the one that counts, so the reader decides about it."""
    right, path = write(tmp_path, "mm2.properties", HEAD), write(tmp_path, "a.config", "bootstrap.servers=a:1\n")

    assert main(["import", right, path, "--name", "copied"]) == 3
    assert "Or leave it out." in capsys.readouterr().err
