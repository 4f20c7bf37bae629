"""What a script does to the lines of its commands and to variables before MirrorMaker starts."""

from __future__ import annotations

import pytest

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.ground.given_variables import unused
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint

pytestmark = pytest.mark.unit

FIRST = "kafka-mirror-maker.sh --consumer.config c --producer.config p"
RUN = f"{FIRST} --whitelist a\n"
CUT = {LintCode.COMMAND_CUT, LintCode.OPTION_MISSING, LintCode.START_WRONG, LintCode.OPTION_WITHOUT_EFFECT} | {
    LintCode.VALUE_TYPE
}
VARIABLES = {LintCode.VARIABLE_NOT_LISTED, LintCode.VARIABLE_NOT_SET, LintCode.VARIABLE_NOT_REPLACED}
VARIABLES |= {LintCode.TEMPLATE, LintCode.HERE_DOCUMENT_QUOTED, LintCode.PATTERN_UNQUOTED}
IMAGE = "FROM x\nENV OLD a:1\nENV NEW=b:1\nENV LIST a.*\n"
TEMPLATE = (
    "clusters=a,b\na.bootstrap.servers=${OLD}\nb.bootstrap.servers=$NEW\na->b.enabled=true\na->b.topics=${LIST}\n"
)
START = "connect-mirror-maker.sh /run/mm2.properties\n"


def found(files: dict[str, str], *codes: LintCode) -> list[str]:
    """Return the findings of the codes on files that are given together."""
    read = [each for name, text in files.items() for each in read_mirror_files(name, text)]
    return [f"{each.file}:{each.line} {each.code}" for each in lint(read, kafka_keys()) if each.code in codes]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{FIRST} \\\n  --whitelist a", []),
        (f"{FIRST}\n  --whitelist a", [1]),
        (f"{FIRST} \\ \n  --whitelist a", [1]),
        (f"{FIRST} --whitelist \\ \n  a", [1]),
        (f"{FIRST} # no \\\n  --whitelist a", [1]),
        (f"{FIRST} \\\n  # --num.streams 2 \\\n  --whitelist a", [2]),
        (f"{FIRST} \\\n\n  --whitelist a", [2]),
        (f"{FIRST}\n\n# list\n  --whitelist a", [1]),
        (f"{FIRST}\n  --num.streams 2\n  --whitelist a", [1, 2]),
        (f"{FIRST} \\\r\n  --whitelist a\r\n  --num.streams 2\r\n", [2]),
        (f"bash -c '{FIRST}\n  --whitelist a'", [1]),
        ("connect-mirror-maker.sh f.properties\n  --clusters a", [1]),
        (f"FROM x\nCMD {FIRST} \\\n# list\n\n  --whitelist a", []),
        (f"FROM x\nCMD {FIRST} \\ \n  --whitelist a", []),
        (f"FROM x\nCMD {FIRST}\n  --whitelist a", [2]),
        (f"{FIRST} --whitelist a\necho --num.streams", []),
        (f"{FIRST} --whitelist a &\n--help", []),
    ],
)
def test_a_command_that_ends_before_its_options_is_one_finding(text: str, expected: list[int]) -> None:
    """The line on which the command ends is named, and the options after it are judged as they are meant."""
    assert found({"run.sh": text}, *CUT) == [f"run.sh:{line} COMMAND_CUT" for line in expected]


def test_a_command_of_cmd_exe_is_continued_by_its_own_sign() -> None:
    """`cmd.exe` continues a line that ends with `^`."""
    batch = FIRST.replace(".sh", ".bat")

    assert found({"run.bat": f"@echo off\n{batch} ^\n  --whitelist a"}, *CUT) == []
    assert found({"run.bat": f"@echo off\n{batch}\n  --whitelist a"}, *CUT) == ["run.bat:2 COMMAND_CUT"]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("envsubst < t.properties > /run/mm2.properties", []),
        ("envsubst '$OLD ${NEW},$LIST' < t.properties > /run/mm2.properties", []),
        ("envsubst '$OLD $NEW' < t.properties > /run/mm2.properties", ["run.sh:1 VARIABLE_NOT_LISTED"]),
        ("envsubst '$OLD' < t.properties > /run/mm2.properties", ["run.sh:1 VARIABLE_NOT_LISTED"]),
        ("envsubst 'OLD NEW LIST' < t.properties > /run/mm2.properties", ["run.sh:1 VARIABLE_NOT_LISTED"]),
        ("cat t.properties | envsubst '$OLD $NEW' > /run/mm2.properties", ["run.sh:1 VARIABLE_NOT_LISTED"]),
        ("envsubst '$OLD $NEW' < t.properties | sed 's/${LIST}/x/' > /run/mm2.properties", []),
        ("envsubst '$OLD' < t.properties > u\nenvsubst '$NEW $LIST' < t.properties > u", []),
        ("ALL='$OLD $NEW $LIST'\nenvsubst \"$ALL\" < t.properties > /run/mm2.properties", []),
        ("envsubst \"$(printf '$%s ' OLD NEW LIST)\" < t.properties > /run/mm2.properties", []),
    ],
)
def test_variables_that_envsubst_leaves_are_named(script: str, expected: list[str]) -> None:
    """A list of `envsubst` that lacks variables of the file is found, and the values of the others are judged."""
    assert (
        found({"t.properties": TEMPLATE, "run.sh": f"{script}\n{START}", "Dockerfile": IMAGE}, *VARIABLES) == expected
    )


def test_a_listed_variable_has_the_value_that_is_given() -> None:
    """A value of the container that reaches the file through a list is judged where it stands."""
    image = IMAGE.replace("a:1", "a:x")
    files = {"t.properties": TEMPLATE, "Dockerfile": image}
    line = ["Dockerfile:2 ADDRESS_REFUSED"]

    assert (
        found({**files, "run.sh": f"envsubst '$OLD $NEW $LIST' < t.properties > u\n{START}"}, LintCode.ADDRESS_REFUSED)
        == line
    )
    assert (
        found({**files, "run.sh": f"envsubst '$NEW $LIST' < t.properties > u\n{START}"}, LintCode.ADDRESS_REFUSED) == []
    )


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (("${OLD}", "${OLDS}"), ["t.properties:2 VARIABLE_NOT_SET"]),
        (("$NEW", "$NEWW"), ["t.properties:3 VARIABLE_NOT_SET"]),
        (("${OLD}", "${PASSPHRASE}"), []),
        (("${OLD}", "${OLDS:-a:1}"), []),
        (("${OLD}", "${NEW}"), []),
    ],
)
def test_a_variable_that_only_a_similar_one_is_set_for_is_found(changed: tuple[str, str], expected: list[str]) -> None:
    """A variable that no file sets is misspelt if one of a similar name is set and has no use."""
    files = {"t.properties": TEMPLATE.replace(*changed), "Dockerfile": IMAGE}
    script = f"envsubst < t.properties > /run/mm2.properties\n{START}"

    assert found({**files, "run.sh": script}, *VARIABLES) == expected
    assert found({**files, "run.sh": f"OLDS=a:1\nNEWW=b:1\n{script}"}, *VARIABLES) == []


def test_a_misspelt_variable_of_a_command_is_found() -> None:
    """The options of a command use the variables of the container, too."""
    files = {"run.sh": f'{FIRST} --whitelist "$LISTS"\n', "Dockerfile": IMAGE}

    assert found(files, *VARIABLES) == ["run.sh:1 VARIABLE_NOT_SET"]


def test_a_pattern_of_the_container_needs_quotes_in_the_script() -> None:
    """The shell replaces the signs of a pattern that a variable without quotes brings."""
    assert found({"run.sh": f"{FIRST} --whitelist $LIST\n", "Dockerfile": IMAGE}, *VARIABLES) == [
        "run.sh:1 PATTERN_UNQUOTED"
    ]
    assert found({"run.sh": f'{FIRST} --whitelist "$LIST"\n', "Dockerfile": IMAGE}, *VARIABLES) == []
    assert found({"run.sh": f"{FIRST} --whitelist $LIST\n"}, *VARIABLES) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat > c <<EOF\nbootstrap.servers=$OLD\ngroup.id=${G}\nEOF\n", []),
        ("cat > c <<'EOF'\nbootstrap.servers=$OLD\ngroup.id=${G}\nEOF\n", [1]),
        ('cat > c <<"EOF"\ngroup.id=g\nbootstrap.servers=${OLD}\nEOF\n', [1]),
        ("cat > c <<\\EOF\ngroup.id=g\nbootstrap.servers=${OLD}\nEOF\n", [1]),
        ("tee c <<'EOF' > /dev/null\ngroup.id=g\nbootstrap.servers=${OLD}\nEOF\n", [1]),
        ("cat > c <<'EOF'\n# $OLD\ngroup.id=a$1\nbootstrap.servers=${file:/x:y}\nEOF\n", []),
        ("cat > c <<'EOF'\ngroup.id=g\nsasl.jaas.config=x required password=\"a$b\";\nEOF\n", []),
        ("cat > c <<'EOF'\ngroup.id=g\nssl.key.password=$PASSWORD\nEOF\n", [1]),
        ("cat > c <<'EOF'\ngroup.id=g\nbootstrap.servers=$OLD\nEOF\nenvsubst < c > d\n", []),
        ("cat > c <<'EOF'\ngroup.id=g\nbootstrap.servers=$OLD\nEOF\nsed -i s/.OLD/a/ c\n", []),
        ("cat > c <<'EOF'\ngroup.id=g\nbootstrap.servers=$OLD\nEOF\n./fill.py c\n", []),
        ("cat > c <<'EOF'\ngroup.id=g\nbootstrap.servers=$OLD\nEOF\nchmod 600 c\n", [1]),
    ],
)
def test_a_here_document_with_quotes_keeps_its_variables(text: str, expected: list[int]) -> None:
    """A shell replaces no variable in it, unless another program does so later."""
    assert found({"run.sh": text + RUN}, *VARIABLES) == [f"run.sh:{line} HERE_DOCUMENT_QUOTED" for line in expected]


def test_a_script_may_only_fill_the_file() -> None:
    """An image starts MirrorMaker, and its entry point puts the variables in before."""
    image = f"{IMAGE}CMD {START}"
    script = "#!/bin/sh\nenvsubst '$OLD $NEW' < t.properties > /run/mm2.properties\nexec \"$@\"\n"
    files = {"t.properties": TEMPLATE, "Dockerfile": image, "entry.sh": script}

    assert found(files, *VARIABLES) == ["entry.sh:2 VARIABLE_NOT_LISTED"]
    assert found({**files, "entry.sh": script.replace("$NEW", "$NEW $LIST")}, *VARIABLES) == []


def test_a_script_that_fills_no_given_file_is_not_used() -> None:
    """A script without MirrorMaker is of no use beside files that it does not fill."""
    (script,) = read_mirror_files("a.sh", "#!/bin/sh\nsed -i s/a/b/ t.properties\n")
    template = read_mirror_files("t.properties", TEMPLATE)

    assert [*unused([script])] == [*unused([script, *read_mirror_files("u.properties", TEMPLATE)])] == [script]
    assert [*unused([script, *template])] == []
