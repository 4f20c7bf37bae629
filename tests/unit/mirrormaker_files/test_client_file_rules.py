"""The files that a command of MirrorMaker 1 gives to its clients."""

from __future__ import annotations

import pytest

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint

pytestmark = pytest.mark.unit

OLD, NEW = "bootstrap.servers=old:9092\n", "bootstrap.servers=new:9092\n"
READ, WRITE = f"{OLD}group.id=g\nauto.offset.reset=earliest\n", f"{NEW}acks=all\n"
CODES = {LintCode.LOOP, LintCode.CLIENT_FILES_EXCHANGED, LintCode.CLIENT_FILE_OF_OTHER, LintCode.OPTION_MISSING}


def found(files: dict[str, str]) -> list[str]:
    """Return the findings on files that are judged together."""
    read = [each for name, text in files.items() for each in read_mirror_files(name, text)]
    return [f"{each.file}:{each.line} {each.code}" for each in lint(read, kafka_keys()) if each.code in CODES]


def run(consumer: str, producer: str) -> str:
    return f"kafka-mirror-maker.sh --consumer.config {consumer} \\\n --producer.config {producer} --whitelist a\n"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (run("/etc/c.cfg", "/etc/p.cfg"), []),
        (run("/etc/p.cfg", "/etc/c.cfg"), ["run.sh:1 CLIENT_FILES_EXCHANGED"]),
        (run("/etc/c.cfg", "/etc/c.cfg"), ["run.sh:2 LOOP"]),
        (run("$C", "$C"), ["run.sh:2 LOOP"]),
        (run("/etc/producer.cfg", "/etc/consumer.cfg"), ["run.sh:1 CLIENT_FILES_EXCHANGED"]),
        (run("/etc/consumer-producer.cfg", "/etc/x.cfg"), []),
        (run("/etc/x.cfg", "/etc/c.cfg"), ["run.sh:2 CLIENT_FILE_OF_OTHER"]),
        (run("/etc/x.cfg", "consumers/y.cfg"), []),
    ],
)
def test_each_client_gets_its_own_file(command: str, expected: list[str]) -> None:
    """The keys of a file that is given decide for which client it is, else its name."""
    assert found({"c.cfg": READ, "p.cfg": WRITE, "run.sh": command}) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("", []),
        (run("old/consumer.cfg", "new/producer.cfg"), []),
        (run("old/consumer.cfg", "old/producer.cfg"), ["old/producer.cfg:1 LOOP"]),
        (run("other/consumer.cfg", "other/producer.cfg"), []),
    ],
)
def test_only_files_of_one_command_make_a_loop(command: str, expected: list[str]) -> None:
    """Files of both directions may be given together; a command says which of them belong together."""
    files = {"old/consumer.cfg": READ, "new/consumer.cfg": READ.replace("old", "new")}
    files |= {"new/producer.cfg": WRITE, "old/producer.cfg": WRITE.replace("new", "old")}

    assert found(files | ({"run.sh": command} if command else {})) == expected


def test_resources_of_both_directions_are_no_loop() -> None:
    """The consumer and the producer of one resource belong together."""
    resource = "kind: KafkaMirrorMaker\nspec:\n  whitelist: a\n  consumer: {{bootstrapServers: '{0}:1', groupId: g}}\n"
    resource += "  producer: {{bootstrapServers: '{1}:1'}}\n"
    both = resource.format("a", "b") + "---\n" + resource.format("b", "a")

    assert found({"m.yaml": both}) == []
    assert found({"m.yaml": f"{both}---\n{resource.format('c', 'c')}"}) == ["m.yaml:17 LOOP"]


@pytest.mark.parametrize("option", ["whitelists", "white.list", "whitelis"])
def test_a_misspelt_option_is_not_missing_too(option: str) -> None:
    """One mistake has one finding, with the option that was meant."""
    command = run("c.cfg", "p.cfg").replace("whitelist", option)

    assert found({"run.sh": command}) == []
    (finding,) = [e for e in lint(read_mirror_files("a", command), kafka_keys()) if e.code is LintCode.OPTION_UNKNOWN]
    assert finding.fix.startswith("Write --whitelist.")
