"""`kafka-migration explain` answers for every name that a user can see, also where only the package is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.cli.files.explanations import Explanation, explanations
from kafka_migration.cli.main import main, parser
from kafka_migration.core.findings.codes import ACCEPTABLE, Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from tests.shown_codes import shown_codes

PLUGINS = Path(__file__).parents[3] / "plugins"
KINDS = {
    "error code": Code,
    "lint code": LintCode,
    "alert": AlertKind,
    "label": DifferenceKind,
    "verdict": Verdict,
}
KNOWN = explanations()
# What texts write like a code.
NO_CODES = {
    *Verdict,
    *("AIRFLOW_HOME", "KAFKA_MIGRATION_HOME", "KRB5_CLIENT_KTNAME"),
    *("GSSAPI", "OAUTHBEARER", "PLAIN", "SASL_SSL"),
}


def kind_of(each: Explanation | dict[str, Any]) -> str:
    return str(each["kind"] if isinstance(each, dict) else each.kind).partition(",")[0]


def answered(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    """Return what the command explains, as JSON."""
    assert 0 == main(["explain", *words, "-o", "json"])
    explained: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["explained"]
    return explained


def test_every_name_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """Each code, lint code, kind of alert, label and verdict is explained under its name, also without a name."""
    everything = {(kind, str(member)) for kind, members in KINDS.items() for member in members}
    names = sorted({name for _, name in everything})

    assert everything == {(kind_of(each), each["name"]) for each in answered(capsys, *names)}
    assert everything == {(kind_of(each), each["name"]) for each in answered(capsys)}


def test_explanations_are_whole() -> None:
    """Each says in sentences what the name means and what to do, and a code that it names exists."""
    for each in KNOWN:
        texts = [each.meaning, each.act, *filter(None, (each.cause, each.more, each.accepted))]
        for text in texts:
            assert text == text.strip(), each.name
            assert text[0].isupper() or text.startswith(("`", "mirrorctl")), each.name
            assert text[-1] in ".:", each.name
        named = set(re.findall(r"`(?:kafka-migration explain )?([A-Z][A-Z0-9_]{3,})`", " ".join(texts)))
        assert set() == named - set(Code) - NO_CODES - {"LABEL", "CODE"}, each.name


def test_commands_of_an_explanation_can_be_called() -> None:
    """Each explanation has a command, and the program understands all of them."""
    program = parser()
    assert [] == [each.name for each in KNOWN if not each.commands]
    for command in {command for each in KNOWN for command in each.commands}:
        name, *words = command.split()
        assert "kafka-migration" == name
        if words[-1] in {"--help", "--version"}:
            # They end the program.
            with pytest.raises(SystemExit, match=r"^0$"):
                program.parse_args(words)
        else:
            program.parse_args(words)


def test_what_a_file_says_with_a_code_is_explained() -> None:
    """The explanation of an acceptable code, and of no other, has what a migration file says with it."""
    assert set(ACCEPTABLE) == {each.name for each in KNOWN if each.accepted and each.kind == "error code"}


@pytest.mark.parametrize("word", ["copy_differs", "Copy-Differs", "copy differs", "`COPY_DIFFERS`", "COPY_DIFFERS:"])
def test_a_name_is_found_however_it_is_written(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Case, hyphens, and what stands around a name in a text do not matter."""
    assert ["COPY_DIFFERS"] == [each["name"] for each in answered(capsys, word)]


def test_a_name_of_several_things_explains_all(capsys: pytest.CaptureFixture[str]) -> None:
    """A code of a finding, a lint code and a kind of alert may share a name; a repeated name is explained once."""
    assert ["error code", "lint code"] == [kind_of(each) for each in answered(capsys, "LOGIN_REFUSED", "login_refused")]
    assert ["error code", "alert"] == [kind_of(each) for each in answered(capsys, "behind")]


def test_an_unknown_name_is_one_clear_error(capsys: pytest.CaptureFixture[str]) -> None:
    """The error names the nearest names and how to list all; the other names are explained, and the exit code is 2."""
    assert 2 == main(["explain", "GAPP", "GAP"])
    told = capsys.readouterr()

    assert told.out.startswith("GAP · error code\n")
    assert ["COMMAND_INVALID"] == shown_codes(told.err)
    assert "Use GAP if you mean it." in told.err
    assert "`kafka-migration explain` without a name lists all." in told.err


@pytest.mark.parametrize("word", ["", "\x1b[31mred", "x" * 10_000, "päyments", "--", "%s{0}"])
def test_an_odd_name_is_an_error(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the name is, it is shown on a short line without control characters."""
    assert 2 == main(["explain", "--", word])
    told = capsys.readouterr()

    assert ["COMMAND_INVALID"] == shown_codes(told.err)
    assert "\x1b" not in told.err
    assert all(len(line) < 200 for line in told.err.splitlines())


def test_the_list_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a name each name has one line with its meaning, below the heading of its group."""
    assert 0 == main(["explain"])
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split(maxsplit=1) for line in lines if line.startswith("  ")]

    assert [[each.name, each.meaning] for each in KNOWN] == rows
    assert {each.heading for each in KNOWN} < set(lines)


def test_a_shell_completes_names() -> None:
    """A shell is offered the names in the case of what was typed."""
    verbs = next(action for action in parser()._actions if action.choices and "explain" in action.choices)
    choices: Any = verbs.choices
    (argument,) = (action for action in choices["explain"]._actions if action.dest == "names")
    completer: Any = argument.completer

    assert "COPY_DIFFERS" in completer(prefix="")
    assert "COPY_DIFFERS" in completer(prefix="COPY")
    assert "copy_differs" in completer(prefix="copy")


# Without the packages of the environment, and without the folder in which it is started.
ALONE = "import sys; sys.path.insert(0, sys.argv.pop(1)); from kafka_migration.cli.main import main; sys.exit(main())"
REPOSITORY = re.compile(r"\b(docs|include|tests|plugins|spark_jobs|sandbox|bench)/|\b(?!report\.)\w+\.md\b")


def test_the_package_alone_explains_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A copy of the package without the repository and without any library says the same, and names no file of it."""
    shutil.copytree(PLUGINS, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-ISc", ALONE, str(tmp_path / "copy"), "explain", *sorted({e.name for e in KNOWN})]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)

    main(["explain", *sorted({each.name for each in KNOWN})])
    assert capsys.readouterr().out == told.stdout
    assert [] == [line for line in told.stdout.splitlines() if REPOSITORY.search(line)]
