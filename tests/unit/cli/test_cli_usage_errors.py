"""Rules of usage errors: they name options, and show no value, which may be a password."""

from __future__ import annotations

import re

import pytest

from kafka_migration.cli.main import main, parser
from kafka_migration.cli.shell.output import ExitCode
from kafka_migration.cli.shell.verb_table import VERBS, Group

CANARY = "canary-5d0e77aa"
MISTYPED = (
    ["--password", CANARY],
    [f"--password={CANARY}"],
    [f"--passwrd.x={CANARY}"],
    [f"-p{CANARY}"],
    [f"--{CANARY}1"],
    [f"--json={CANARY}"],
    ["-o", CANARY],
    [f"-o{CANARY} (choose from {CANARY}"],
    ["--timeout", CANARY],
    ["--mode", CANARY],
    ["--", f"--password={CANARY}", CANARY],
    ["shop", CANARY, CANARY],
)


@pytest.mark.parametrize("verb", [None, *VERBS])
@pytest.mark.parametrize("words", MISTYPED, ids=range(len(MISTYPED)))
def test_usage_error_shows_no_value(capsys: pytest.CaptureFixture[str], verb: str | None, words: list[str]) -> None:
    """What stands where an option is unknown or mistyped may be a password: no verb shows it in its usage error."""
    with pytest.raises(SystemExit) as exited:
        parser().parse_args([*([verb] if verb else []), "--nonsense", *words])

    output = "".join(capsys.readouterr())
    assert exited.value.code == ExitCode.USAGE
    assert CANARY not in output


# One command line per kind of wrong usage, with what the finding names. `verdict` takes one name.
KINDS = {
    "unknown option": (["--wat"], "unknown option --wat"),
    "unknown option with a value": (["shop", "--wat=1"], "unknown option --wat"),
    "missing argument": ([], "the following arguments are required: NAME"),
    "missing value": (["shop", "-o"], "argument -o/--output: expected one argument"),
    "wrong choice": (["shop", "-o", "yaml"], "argument -o/--output: invalid choice (choose from 'table', 'json')"),
    "wrong value": (["shop", "--evidence-root", " "], "argument --evidence-root: an empty value"),
    "superfluous argument": (["shop", "more"], "1 argument too many (not shown)"),
    "old name": (["shop", "--json"], "--json is now -o json"),
}


@pytest.mark.parametrize(("words", "named"), KINDS.values(), ids=KINDS)
def test_usage_error_names_itself_and_the_help_of_the_verb(
    capsys: pytest.CaptureFixture[str], words: list[str], named: str
) -> None:
    """Each kind of wrong usage is one finding that names what is wrong and the help of the verb."""
    with pytest.raises(SystemExit) as exited:
        main(["verdict", *words])
    head, happened, _, remedy = capsys.readouterr().err.splitlines()

    assert ExitCode.USAGE == exited.value.code
    assert "COMMAND_INVALID · kafka-migration verdict" == head
    assert f"The command line is not valid: {named}" in happened
    assert "  See kafka-migration verdict --help." == remedy


@pytest.mark.parametrize("verb", VERBS)
def test_unknown_option_is_named_by_each_verb(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    """Also where an argument is missing, the unknown option is what the finding names first."""
    with pytest.raises(SystemExit) as exited:
        main([verb, "--wat"])
    error = capsys.readouterr().err

    assert ExitCode.USAGE == exited.value.code
    assert "The command line is not valid: unknown option --wat" in error
    assert f"  See kafka-migration {verb} --help.\n" in error


OLD = {
    ("waves", "--topic", "orders.*"): "--topic is now --topic-pattern PATTERN",
    ("decommission", "shop", "--quiet=24h"): "--quiet is now --quiet-for DURATION",
    ("status", "--json"): "--json is now -o json",
}


@pytest.mark.parametrize(("words", "named"), OLD.items(), ids=" ".join)
def test_old_name_of_an_option_leads_to_the_new_one(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], named: str
) -> None:
    """An option that was renamed is refused with its new name, whatever else is missing, and no help lists it."""
    with pytest.raises(SystemExit) as exited:
        main(words)
    error = capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([words[0], "--help"])

    assert (ExitCode.USAGE, True) == (exited.value.code, f": {named}.\n" in error)
    assert f"{named.split()[0]} " not in capsys.readouterr().out


def test_usage_that_only_the_verb_can_judge_ends_alike(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong usage ends with 2, also if the parser takes it: here no address of Airflow is given."""
    monkeypatch.delenv("KAFKA_MIGRATION_AIRFLOW_SERVER", raising=False)

    assert ExitCode.USAGE == main(["trigger", "shop"])
    assert capsys.readouterr().err.startswith("COMMAND_INVALID · ")


def test_usage_error_names_unknown_options(capsys: pytest.CaptureFixture[str]) -> None:
    """Names of unknown options are shown, each once; of other words only the number is."""
    with pytest.raises(SystemExit):
        parser().parse_args(["verdict", "shop", "--tok", "a", "--tok=b", "-x1", "c"])

    assert ": unknown option --tok, unknown option -x, 2 arguments too many (not shown).\n" in capsys.readouterr().err


def test_no_arguments_give_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """The help goes to standard error with the code of wrong usage: a script must not take it for an answer."""
    assert ExitCode.USAGE == main([])
    asked = capsys.readouterr()
    with pytest.raises(SystemExit) as exited:
        main(["--help"])

    assert ("", capsys.readouterr().out, 0) == (asked.out, asked.err, exited.value.code)


def test_help_has_each_verb_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    """The groups stand in the order of a migration, and each verb with its text in the group of its row."""
    main([])
    sections = re.split(r"^(\w+):$", capsys.readouterr().err, flags=re.MULTILINE)
    groups = dict(zip(sections[1::2], sections[2::2], strict=True))

    assert list(Group) == [name for name in groups if name in set(Group)]
    for name, row in VERBS.items():
        (line,) = [line for line in groups[row.group].splitlines() if line.startswith(f"  {name} ")]
        assert line.endswith(f"  {row.text}")
