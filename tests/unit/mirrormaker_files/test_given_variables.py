"""Values that stand in the variables of a container, or are put in by a script."""

from __future__ import annotations

import pytest

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.ground.given_variables import unused
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint

pytestmark = pytest.mark.unit

IMAGE = 'FROM x\nENV WL *\nENV N=0 OLD="<host>:1" \\\n  GROUP=<group>\n'
POD = "kind: Pod\nspec:\n  containers:\n  - env:\n    - name: WL\n      value: '*'\n    - {name: N, value: '0'}\n"
COMPOSE = "services:\n  a:\n    image: b\n    environment:\n      WL: '*'\n      N: 0\n"
LISTED = "services:\n  a:\n    image: b\n    environment:\n      - WL=*\n      - N=0\n"
MAP = "kind: ConfigMap\ndata:\n  WL: '*'\n  N: '0'\n"
ENV = "WL=*\nN=0\n"
START = "kafka-mirror-maker.sh --consumer.config c --producer.config p"
RUN = f'{START} --whitelist "$WL" --num.streams ${{N:-4}}\n'
CLIENT = "bootstrap.servers=$OLD\ngroup.id=${GROUP}\nauto.offset.reset=earliest\n"
CODES = {LintCode.PATTERN_INVALID, LintCode.VALUE_TYPE, LintCode.ADDRESS_PLACEHOLDER, LintCode.VALUE_PLACEHOLDER}
CODES |= {LintCode.VARIABLE_NOT_REPLACED, LintCode.OPTION_OF_ANOTHER_VERSION, LintCode.PATTERN_UNQUOTED}
CODES |= {LintCode.GROUP_MISSING, LintCode.ADDRESS_REFUSED}


def found(files: dict[str, str]) -> list[str]:
    """Return the findings on files that are given together."""
    read = [each for name, text in files.items() for each in read_mirror_files(name, text)]
    return [f"{each.file}:{each.line} {each.code}" for each in lint(read, kafka_keys()) if each.code in CODES]


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("Dockerfile", IMAGE, (2, 3)),
        ("pod.yaml", POD, (6, 7)),
        ("compose.yml", COMPOSE, (5, 6)),
        ("compose.yml", LISTED, (5, 6)),
        ("map.yaml", MAP, (3, 4)),
        ("mirror.env", ENV, (1, 2)),
    ],
)
def test_a_value_is_judged_where_it_stands(name: str, text: str, lines: tuple[int, int]) -> None:
    """The command of a script uses what a container sets."""
    expected = [f"{name}:{lines[0]} PATTERN_INVALID", f"{name}:{lines[1]} VALUE_TYPE"]

    assert found({name: text, "run.sh": RUN}) == expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("WL=$1\n", ["Dockerfile:3 VALUE_TYPE"]),
        ("WL=a\nN=2\n", []),
        ("N=$(nproc)\n", ["Dockerfile:2 PATTERN_INVALID"]),
    ],
)
def test_what_the_script_sets_itself_counts(more: str, expected: list[str]) -> None:
    """A script replaces the variables of its container."""
    assert found({"Dockerfile": IMAGE, "run.sh": more + RUN}) == expected


def test_kubernetes_replaces_the_variables_of_an_image() -> None:
    """Of two resources with different values, none is known."""
    good = POD.replace("'*'", "a").replace("'0'", "'1'")

    assert found({"Dockerfile": IMAGE, "pod.yaml": good, "run.sh": RUN}) == []
    assert found({"pod.yaml": POD, "other.yaml": good, "run.sh": RUN}) == []


def test_a_finding_about_an_option_stays_at_the_option() -> None:
    """Only what is said about the value has the line of the value."""
    assert found({"pod.yaml": POD, "run.sh": f"{START} --whitelist a --blacklist \"$WL\"\n"}) == [
        "pod.yaml:6 PATTERN_INVALID", "run.sh:1 OPTION_OF_ANOTHER_VERSION"]  # fmt: skip


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("envsubst < /t/consumer.cfg > /etc/consumer.cfg", [
            "Dockerfile:3 ADDRESS_PLACEHOLDER", "Dockerfile:4 VALUE_PLACEHOLDER"]),
        ("cat consumer.cfg | envsubst '$OLD $GROUP' > c", [
            "Dockerfile:3 ADDRESS_PLACEHOLDER", "Dockerfile:4 VALUE_PLACEHOLDER"]),
        ("sed -i 's/$OLD/x:1/; s/[$]{GROUP}/x/' consumer.cfg", []),
        ("sed -e \"s|^bootstrap.servers=.*|bootstrap.servers=$X|\" consumer.cfg > c", []),
        ("envsubst < other > b", ["consumer.cfg:2 VARIABLE_NOT_REPLACED"]),
    ],
)  # fmt: skip
def test_what_a_script_puts_into_a_file_is_known_or_unknown(script: str, expected: list[str]) -> None:
    """`envsubst` replaces all variables, and `sed` the lines that it finds."""
    text = f"#!/bin/sh\n{script}\n{START} --whitelist a\n"

    assert found({"Dockerfile": IMAGE, "consumer.cfg": CLIENT, "run.sh": text}) == expected


def test_a_text_that_sed_replaces_is_no_placeholder() -> None:
    """What is written into the template is not what MirrorMaker reads."""
    text = "bootstrap.servers=<old>\ngroup.id=a\nauto.offset.reset=earliest\n"
    script = f"sed -i 's/<old>/{{}}/' consumer.cfg\n{START} --whitelist a\n"

    assert found({"consumer.cfg": text}) == ["consumer.cfg:1 ADDRESS_PLACEHOLDER"]
    assert found({"consumer.cfg": text, "run.sh": script}) == []


def test_variables_that_nothing_uses_are_named() -> None:
    """A file of variables alone has nothing to judge."""
    image = read_mirror_files("Dockerfile", IMAGE)

    assert list(unused(image)) == [*image]
    assert list(unused([*image, *read_mirror_files("run.sh", RUN)])) == []
    assert list(unused([*image, *read_mirror_files("run.sh", f"{START} --whitelist a")])) == [*image]


def test_a_variable_without_quotes_is_open_to_the_shell() -> None:
    """The shell looks for files that fit the known value."""
    assert found({"run.sh": f"WL='a.*'\n{START} --whitelist $WL"}) == ["run.sh:2 PATTERN_UNQUOTED"]
    assert found({"run.sh": f"WL='a|b'\n{START} --whitelist $WL"}) == []
