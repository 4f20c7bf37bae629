"""The programs that commands start, and the files that they give to them."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.errors import Refused
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint
from kafka_migration.mirrormaker_import.proposal import import_files
from tests.unit.mirrormaker_files.planted import HEAD

pytestmark = pytest.mark.unit

PACKAGE = "org.apache.kafka.connect.mirror."
FILES = {
    "mm2.properties": HEAD,
    "copy.properties": f"source.cluster.alias=a\nconnector.class={PACKAGE}MirrorSourceConnector\n",
    "worker.properties": "config.storage.topic=c\nplugin.path=/opt\n",
    "consumer.properties": "group.id=g\nbootstrap.servers=a:1\n",
}
ONE, TWO = "kafka-mirror-maker.sh", "connect-mirror-maker.sh"
ALONE, MANY = "connect-standalone.sh", "connect-distributed.sh"
CODES = {
    LintCode.START_WRONG,
    LintCode.LOOP,
    LintCode.START_FILE_IGNORED,
    LintCode.OPTION_MISSING,
    LintCode.OPTION_WITHOUT_EFFECT,
}


def found(command: str, name: str = "run") -> list[str]:
    """Return the findings on a command that is given together with the files."""
    files = [each for file, text in {**FILES, name: command}.items() for each in read_mirror_files(file, text)]
    return [f"{each.line} {each.code}" for each in lint(files, kafka_keys()) if each.code in CODES]


WRONG, IGNORED = "1 START_WRONG", "1 START_FILE_IGNORED"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"/opt/{ONE} /etc/mm2.properties", [WRONG]),
        (f"{ONE} other.conf", [WRONG]),
        (f"{ONE} $OPTIONS", []),
        (f"{ONE} --consumer.config mm2.properties --producer.config mm2.properties --whitelist a", [WRONG]),
        (f"{ONE} --consumer.config worker.properties --producer.config p --whitelist a", [WRONG]),
        (f"{TWO} /etc/mm2.properties", []),
        (f"{TWO} -daemon mm2.properties --clusters a b", []),
        (f"{TWO} --clusters a b -- mm2.properties", []),
        (f"{TWO} $FILE", []),
        (f"{TWO} unknown.properties", []),
        (f"{TWO} --help", []),
        (f"{TWO} --clusters a", [WRONG]),
        (f"{TWO} mm2.properties --target a", [WRONG]),
        (f"{TWO} --consumer.config consumer.properties --whitelist a", [WRONG]),
        (f"{TWO} copy.properties", [WRONG]),
        (f"{TWO} worker.properties", [WRONG]),
        (f"{TWO} consumer.properties", [WRONG]),
        ("java -cp x org.apache.kafka.connect.mirror.MirrorMaker copy.properties", [WRONG]),
        (f"{ALONE} worker.properties copy.properties", []),
        (f"{ALONE} copy.properties worker.properties", [WRONG]),
        (f"{ALONE} worker.properties mm2.properties", [WRONG]),
        (f"{ALONE} mm2.properties", [WRONG]),
        (f"{MANY} worker.properties", []),
        (f"{MANY} mm2.properties", [WRONG]),
        (f"{MANY} worker.properties copy.properties", [IGNORED]),
    ],
)
def test_each_program_takes_its_own_file(command: str, expected: list[str]) -> None:
    """Options and files of another program are one finding, and nothing is said about files that are not given."""
    assert found(command) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("compose.yml", f'services:\n  m:\n    command: ["sh", "-c", "{TWO} copy.properties"]\n'),
        ("pod.yml", f"kind: Pod\nspec:\n  containers:\n  - command: [/opt/{TWO}, /etc/copy.properties]\n"),
        ("Dockerfile", f'FROM x\nENV A b\nCMD ["{TWO}", "copy.properties"]\n'),
        ("a.service", f"[Unit]\n[Service]\nExecStart=/opt/{TWO} \\\n  /etc/copy.properties\n"),
    ],
)
def test_commands_of_containers_and_units_are_judged(name: str, text: str) -> None:
    """A command is found wherever it stands."""
    assert [each.partition(" ")[2] for each in found(text, name)] == ["START_WRONG"]


def test_a_command_without_settings_is_not_imported() -> None:
    """The import names what is missing; beside settings the command is passed over."""
    command, settings = read_mirror_files("run", f"{TWO} mm2.properties"), read_mirror_files("mm2", HEAD)
    with pytest.raises(Refused, match="a command without settings"):
        import_files(command, "copied")

    assert import_files([*command, *settings], "copied").text == import_files(settings, "copied").text
