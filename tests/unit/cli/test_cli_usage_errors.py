"""Rules of usage errors: they name options, and show no value, which may be a password."""

from __future__ import annotations

import pytest

from kafka_migration.cli.main import parser
from kafka_migration.cli.shell.output import ExitCode

VERBS = tuple(parser()._subparsers._group_actions[0].choices)  # type: ignore[union-attr, arg-type]
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


def test_usage_error_leads_to_the_help_of_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    """The options of a verb are in the verb's help, not in that of the program."""
    with pytest.raises(SystemExit):
        parser().parse_args(["verdict", "shop", "--tok"])
    error = capsys.readouterr().err

    assert error.startswith("usage: kafka-migration verdict ")
    assert "  See `kafka-migration verdict --help`.\n" in error


def test_usage_error_names_unknown_options(capsys: pytest.CaptureFixture[str]) -> None:
    """Names of unknown options are shown, each once; of other words only the number is."""
    with pytest.raises(SystemExit):
        parser().parse_args(["verdict", "shop", "--tok", "a", "--tok=b", "-x1", "c"])

    assert ": unknown option --tok, unknown option -x, 2 unknown values (not shown).\n" in capsys.readouterr().err
