"""`lint` and `import` take time in proportion to a file, and refuse what is larger than any real one."""

from __future__ import annotations

import cProfile
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_migration.cli.main import main
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.text.secret_forms import LONGEST_NAME
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.line_rules.key_rules import MOST_COMPARED
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_limits import (
    LONGEST_ALIAS,
    LONGEST_COMMAND,
    MOST_CLUSTERS,
    MOST_EXCLUSIONS,
    MOST_FLOWS,
    MOST_ITEMS,
    MOST_NODES,
    MOST_SETTINGS,
    MOST_SHELL_COMMANDS,
)
from kafka_migration.mirrormaker_files.rules.linter import lint
from kafka_migration.mirrormaker_import.proposal import import_files
from tests.unit.mirrormaker_files.large_files import KIND, NUMBERED, large_files
from tests.unit.mirrormaker_files.planted import HEAD, START
from tests.unit.mirrormaker_files.reading import read_mirror_file

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.campaign)])
def test_every_large_file_ends(tmp_path: Path, share: int) -> None:
    """Each file, of almost a megabyte or a quarter, is judged or refused; one that takes all of its time is named."""
    command = [sys.executable, "-m", "tests.unit.mirrormaker_files.large_files", str(tmp_path), str(share)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "plugins")}
    ended = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    lines = ended.stdout.splitlines()

    assert ended.returncode != -signal.SIGPROF, f"not ended: {lines[-1]}"
    assert [line.rpartition(": ")[0] for line in lines] == [name for name, _ in large_files()]
    assert {line.rpartition(": ")[2] for line in lines} <= {"0", "1", "2", "3"}


# A refusal costs about the same for every file.
_SLACK = 2_500


def calls(path: Path, text: str, verb: str) -> int:
    """Return how many functions one verb calls, those of C included."""
    path.write_text(text)
    profile = cProfile.Profile()
    profile.runcall(main, [verb, str(path), *(["--name", "copied"] if verb == "import" else [])])
    return sum(each.callcount for each in profile.getstats())


# Python keeps 512 compiled patterns; beyond them each use of a pattern costs its compilation.
@pytest.mark.parametrize("few", [100, pytest.param(250, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("verb", ["lint", "import"])
@pytest.mark.parametrize("name", NUMBERED)
def test_twice_the_file_is_twice_the_work(tmp_path: Path, name: str, verb: str, few: int) -> None:
    """Below the limits, a file with twice as much of one thing costs at most three times the calls."""
    make, _ = NUMBERED[name]
    few = 40 if "aliases" in name or name == "clusters in YAML" else few
    # The first call fills the caches of the package.
    _, empty, once, twice = (calls(tmp_path / "file", make(number), verb) for number in (1, 1, few, 2 * few))

    assert twice - empty < 3 * (once - empty) + _SLACK


def refusal(text: str) -> tuple[Code, str, str]:
    with pytest.raises(Refused) as refused:
        import_files([read_mirror_file("file", text)], "copied")
    (finding,) = refused.value.findings
    return finding.code, finding.found, finding.expected


def clusters(number: int) -> str:
    return f"clusters = {', '.join(f'a{each}' for each in range(number))}\n"


PAIRS = [(one, other) for one in range(MOST_CLUSTERS) for other in range(MOST_CLUSTERS) if one != other]
FLOWS = clusters(MOST_CLUSTERS) + "\n".join(f"a{x}->a{y}.enabled = true" for x, y in PAIRS[: MOST_FLOWS + 1])


@pytest.mark.parametrize(
    ("text", "found", "most"),
    [
        (clusters(MOST_CLUSTERS + 1), "clusters", MOST_CLUSTERS),
        (f"clusters = {'a' * (LONGEST_ALIAS + 1)}, b\n", "alias", LONGEST_ALIAS),
        ("clusters = a, b\n" + "x = 1\n" * MOST_SETTINGS, "settings", MOST_SETTINGS),
        (FLOWS, "flows", MOST_FLOWS),
        (f"{HEAD}groups = {','.join(['a'] * (MOST_ITEMS + 1))}\n", "items in one list, line 6", MOST_ITEMS),
        (f"{START} --whitelist {'a' * LONGEST_COMMAND}\n", "characters in one command, line 1", LONGEST_COMMAND),
        (f'{{"connector.class": "x", "{"a" * (LONGEST_NAME + 1)}": "1"}}', "name of a setting", LONGEST_NAME),
        (f"{HEAD}{'a' * (LONGEST_NAME + 1)} = 1\n", "name of a setting", LONGEST_NAME),
        (f"{KIND}x: [{', '.join('1' * MOST_NODES)}]\n", "names and values", MOST_NODES),
        (f"{START} --whitelist a\n" + "a;" * MOST_SHELL_COMMANDS, "commands in one script", MOST_SHELL_COMMANDS),
    ],
    ids=["clusters", "alias", "settings", "flows", "items", "command", "name", "name of properties", "nodes", "script"],
)
def test_a_limit_is_named(text: str, found: str, most: int) -> None:
    """A file beyond a limit is refused as a whole; the finding says of what it has too much, and the limit."""
    code, words, expected = refusal(text)

    assert (code, expected) == (Code.MIRROR_FILE_UNREADABLE, f"at most {most:,}")
    assert found in words


def test_exclusions_are_limited() -> None:
    """Each named topic is compared with each exclusion, so there are few of them."""
    excluded = ",".join(f"a{each}.*" for each in range(MOST_EXCLUSIONS + 1))

    code, found, expected = refusal(f"{HEAD}topics.exclude = {excluded}\n")
    assert (code, found, expected) == (Code.MIRROR_FILE_NOT_IMPORTED, "101 items", "at most 100")


def test_the_first_unknown_keys_are_compared() -> None:
    """A mistyped key after a hundred unknown ones is unknown, and its finding says why."""
    text = (
        HEAD + "".join(f"com.acme.x{each} = 1\n" for each in range(MOST_COMPARED - 1)) + "task.max = 1\ntasks.mx = 1\n"
    )
    *_, compared, other = lint([read_mirror_file("file", text)], kafka_keys())

    assert (compared.code, other.code) == (LintCode.KEY_MISSPELLED, LintCode.KEY_UNKNOWN)
    assert "first 100 unknown keys" in other.fix
