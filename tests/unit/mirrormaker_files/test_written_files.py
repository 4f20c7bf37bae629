"""The files that a script writes before it starts MirrorMaker."""

from __future__ import annotations

import pytest

from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from tests.unit.mirrormaker_files.reading import found, lines_of

pytestmark = pytest.mark.unit

RUN = "kafka-mirror-maker.sh --consumer.config f --producer.config p --whitelist a"
CODES = LintCode.FILE_OVERWRITTEN, LintCode.WORDS_UNQUOTED, LintCode.KEY_REPEATED


def written(text: str) -> list[str]:
    """Return the lines of the file that is the consumer's."""
    files = read_mirror_files("run.sh", f"{text}\n{RUN}\n")
    return [line for file in files if file.kind == "mirrormaker1-consumer" for line in lines_of(file)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo a=1 > f\necho 'b = 2' >> f", ["1 a=1", "2 b=2"]),
        ("echo a=1 >f; echo b=2 >>f", ["1 a=1", "1 b=2"]),
        ('echo -e "a=1\\nb=2" > f', ["1 a=1", "1 b=2"]),
        ('echo "a=1\nb=2" > f', ["1 a=1", "2 b=2"]),
        ("echo -n a= > f\necho 1 >> f", ["1 a=1"]),
        ("V='a=1\\nb=2'\necho -e $V > f", ["1 a=1", "1 b=2"]),
        ('V="a=1\nb=2"\necho "$V" > f', ["1 a=1", "2 b=2"]),
        ('V="a=1\nb=2"\necho $V > f', ["1 a=1 b=2"]),
        ("H=x\necho a=$H:1 > f", ["2 a=x:1"]),
        ("echo a=$H:1 > f", ["1 a=${H}:1"]),
        ("echo a=$(cat x) > f", ["1 a=${command}"]),
        ("echo a=${H:-b} > f", ["1 a=${H}"]),
        ("printf 'a=1\\nb=2\\n' > f", ["1 a=1", "1 b=2"]),
        ("printf '%s\\n' a=1 \\\n b=2 > f", ["1 a=1", "2 b=2"]),
        ('printf "a=%s\\n" $H > f', ["1 a=${H}"]),
        ("cat > f <<EOF\na=$H\n\nb=2\nEOF", ["2 a=${H}", "4 b=2"]),
        ("cat <<'EOF' > f\na=$H\nEOF\necho b=2 >> f", ["2 a=$H", "4 b=2"]),
        ("cat <<EOF | tee f\na=1\nEOF", ["2 a=1"]),
        ("echo a=1 | sudo tee -a f > /dev/null", ["1 a=1"]),
        ("cd x\n{\n echo a=1\n echo b=2\n} > f", ["3 a=1", "4 b=2"]),
        ("bash -c 'echo a=1 > f'", ["1 a=1"]),
        ("echo a=1 > f\nrm f\necho b=2 > f", ["3 b=2"]),
        ("if x; then echo a=1 >> f; else echo a=2 >> f; fi\necho b=1 >> f", ["1 a=2", "2 b=1"]),
        ("if x; then echo a=1 > f; else echo a=2 > f; fi", []),
        ("echo a=1 > f\nsed -i s/1/2/ f", []),
        ("echo a=1 > f\nenvsubst < g > f", []),
        ("echo a=1 > g", []),
        ("echo a=1 | grep a > f", []),
    ],
)
def test_a_file_has_what_its_script_writes(text: str, expected: list[str]) -> None:
    """Each setting has the line of the script on which its text stands; what another program writes is not known."""
    assert written(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo a=1 > f\necho b=2 > f", ["2 FILE_OVERWRITTEN"]),
        ("echo a=1 > f\necho b=2 >> f", []),
        ("echo '# head' > f\necho b=2 > f", []),
        ("echo a=1 > f\necho a=2 > f", []),
        ("echo a=1 > f\ncp f g\necho b=2 > f", []),
        ("echo a=1 > f\nif x; then echo b=2 > f; fi", []),
        ('V="a=1"\necho $V > f', ["2 WORDS_UNQUOTED"]),
        ('V="a=1"\necho "$V" > f', []),
        ("echo a=$V > f", []),
    ],
)
def test_what_the_shell_does_to_a_file_is_found(text: str, expected: list[str]) -> None:
    """A `>` that loses settings is an error, a variable without quotes a warning."""
    assert found("run.sh", f"{text}\n{RUN}\n", *CODES) == expected


def test_a_written_file_is_judged_as_a_file() -> None:
    """A mistake has the line of the script, and a variable that the shell puts in is no mistake."""
    text = "echo group.id=g > f\necho bootstrap.servers=$OLD >> f\necho enable.auto.commit=true >> f\n"
    findings = found("run.sh", f"{text}{RUN}\n")

    assert findings == ["1 RESET_TO_LATEST", "3 AUTO_COMMIT"]


@pytest.mark.parametrize("more", ["cat other >> f", 'if x; then echo "group.id=g" >> f; fi'])
def test_what_may_stand_in_a_file_is_not_missing(more: str) -> None:
    """A file to which more is written than is known lacks nothing."""
    assert found("run.sh", f"echo exclude.internal.topics=true > f\n{more}\n{RUN}\n") == []


def test_a_large_script_is_read() -> None:
    """Variables do not make a small script huge."""
    text = f"V='{'x' * 900}'\n" + 'echo "$V$V$V$V$V$V" >> f\n' * 3_000

    assert written(text) == []


def test_many_variables_and_commands_take_a_bounded_time() -> None:
    """A large script of variables, open lines and other commands is read."""
    text = "".join(f"V{number}=a\n" for number in range(10_000)) + "foo $V1\n" * 10_000 + "echo -n a >> f\n" * 10_000

    assert written(f"echo -n a= >> f\n{text}") == [f"1 a={'a' * 10_000}"]
