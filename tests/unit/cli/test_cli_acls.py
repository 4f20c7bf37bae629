"""`acls` prints the rights of a migration file without a cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_migration.cli.main import main
from tests.conftest import MIGRATION_TEXT
from tests.connect_files import CONNECT_TEXT


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


def write_connect(folder: Path, more: str = "") -> None:
    """Write the file `shop` of engine `connect`, with further lines of `mirror`."""
    (folder / "shop.yaml").write_text(CONNECT_TEXT.replace("  tasks: 2\n", f"  tasks: 2\n{more}"))


def test_workers_have_a_part_of_their_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rights of the workers' login come last, with a principal of their own; the target's login lacks them."""
    write_connect(folder)
    assert 0 == main(["acls", "shop", "--migrations", str(folder), "--workers-principal", "User:connect"])
    _, target, workers = capsys.readouterr().out.split("# Target cluster, ")

    assert target.startswith("connection new_kafka\n")
    assert "--operation Write --topic orders" not in target
    assert workers == (
        "login of the Kafka Connect workers; they have their rights on their own topics already\n"
        "# For every run: workers of Kafka Connect\n"
        'kafka-acls.sh --bootstrap-server "$TARGET" --command-config admin.properties --add --allow-principal '
        "User:connect --operation Write --topic orders --topic audit\n"
        'kafka-acls.sh --bootstrap-server "$TARGET" --command-config admin.properties --add --allow-principal '
        "User:connect --operation Create --operation Read --operation Write --topic mm2-offsets.shop-source.internal\n"
    )


def test_unknown_ids_of_transactions_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If the file does not name the workers' group, a comment says which rights are missing."""
    said = "# Not covered: transactional ids, which contain the workers' group.id. Name it in mirror.connect.group."
    write_connect(folder, "  exactly_once: true\n")
    assert 0 == main(["acls", "shop", "--migrations", str(folder)])
    assert said in capsys.readouterr().out.splitlines()

    text = (folder / "shop.yaml").read_text()
    (folder / "shop.yaml").write_text(text.replace("    status_topic", "    group: workers\n    status_topic"))
    assert 0 == main(["acls", "shop", "--migrations", str(folder)])
    out = capsys.readouterr().out
    assert said not in out
    assert "--resource-pattern-type prefixed --transactional-id workers-kafka-migration.shop-" in out


def test_json_has_the_workers_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their rights are on the target, so they are left out with the source alone."""
    write_connect(folder)
    found = []
    for side in ("source", "target"):
        assert 0 == main(["acls", "shop", "--migrations", str(folder), "--side", side, "-o", "json"])
        found.append(json.loads(capsys.readouterr().out))

    assert [{"schema", "migration", "source"}, {"schema", "migration", "target", "workers"}] == [set(d) for d in found]
    assert "User:kafka-connect" == found[1]["workers"]["principal"]
    assert {"workers of Kafka Connect"} == {right["client"] for right in found[1]["workers"]["rights"]}


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
