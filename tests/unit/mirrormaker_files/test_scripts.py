"""The commands of scripts that start MirrorMaker 1."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind
from kafka_migration.mirrormaker_files.model.remarks import OpenQuote
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.scripts.shell_words import Splitter, Syntax
from tests.unit.mirrormaker_files.reading import lines_of, read, refused

pytestmark = pytest.mark.unit

RUN = "kafka-mirror-maker.sh"
LONG = "a" * 2_000


def options(text: str, name: str = "start.sh") -> list[list[str]]:
    """Return the settings of each command."""
    return [lines_of(each) for each in read_mirror_files(name, text) if each.kind is FileKind.COMMAND]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{RUN} \\\n  --whitelist 'a|b' \\\n  --num.streams 2\n", [["2 --whitelist=a|b", "3 --num.streams=2"]]),
        (f"{RUN} --whitelist a\n{RUN} --whitelist b\n", [["1 --whitelist=a"], ["2 --whitelist=b"]]),
        (f"{RUN} --whitelist=a &\n{RUN} --include b > log 2>&1 &", [["1 --whitelist=a"], ["2 --include=b"]]),
        (f"exec nohup ./bin/{RUN} --whitelist a | tee log", [["1 --whitelist=a"]]),
        (f"su - kafka -c \"{RUN} --whitelist 'a b'\"", [["1 --whitelist=a b"]]),
        (f"bash -lc '\nset -e\nexec {RUN} --whitelist a\n'", [["3 --whitelist=a"]]),
        ("kafka-run-class.sh kafka.tools.MirrorMaker --whitelist a", [["1 --whitelist=a"]]),
        ("java -Dx=y -cp '/opt/*' kafka.tools.MirrorMaker --whitelist a", [["1 --whitelist=a", "1 -Dx=y"]]),
        (f"{RUN} -whitelist a -num.streams 3", [["1 -whitelist=a", "1 -num.streams=3"]]),
        (f"{RUN} --whitelist --num.streams 3", [["1 --whitelist=--num.streams", "1 a word=3"]]),
        (f"{RUN} --whitelist= a", [["1 --whitelist=", "1 a word=a"]]),
        (f"{RUN} --new.consumer --whitelist a", [["1 --new.consumer=", "1 --whitelist=a"]]),
        (f"{RUN} --whitelist a new.consumer", [["1 --whitelist=a", "1 new.consumer=new.consumer"]]),
        (f"WL='a|b'\n{RUN} --whitelist $WL", [["2 --whitelist=a|b"]]),
        (f"export WL='a b'\n{RUN} --whitelist \"${{WL}}\"", [["2 --whitelist=a b"]]),
        (f"OPTS='--whitelist a --num.streams 2'\n{RUN} $OPTS", [["2 --whitelist=a", "2 --num.streams=2"]]),
        (f"WL=a\nWL=b\n{RUN} --whitelist $WL", [["3 --whitelist=$WL"]]),
        (f'if [ -z "$WL" ]; then\n WL=a\nfi\n{RUN} --whitelist $WL', [["4 --whitelist=$WL"]]),
        (f"[ -n x ] && WL=a\n{RUN} --whitelist $WL", [["2 --whitelist=$WL"]]),
        (f"WL=$OTHER\n{RUN} --whitelist $WL", [["2 --whitelist=$WL"]]),
        (f"{RUN} --whitelist '$WL'", [["1 --whitelist=$WL"]]),
        (f"{RUN} --whitelist ${{WL:-.*}} --num.streams $(nproc)", [
            ["1 --whitelist=${WL:-.*}", "1 --num.streams=$(nproc)"]]),
        (f"export KAFKA_OPTS=\"-Da=b -Xmx1g\"\n{RUN} --whitelist a", [
            ["2 --whitelist=a", "1 -Da=b", "1 KAFKA_OPTS=-Xmx1g"]]),
        (f"KAFKA_OPTS=-Dx={{}} {RUN} --whitelist a", [["1 --whitelist=a", "1 -Dx={}"]]),
        (f"echo '{RUN} --whitelist x'\n# {RUN} --whitelist y\npkill -f {RUN}\n{RUN} --whitelist a\n", [
            ["4 --whitelist=a"]]),
        (f"{RUN} --whitelist 'a\n|b' --num.streams 1", [["1 --whitelist=a\n|b", "2 --num.streams=1"]]),
        (f"# it's\n{RUN} --whitelist a\n", [["2 --whitelist=a"]]),
        (f"echo it's\n{RUN} --whitelist a\n", [["2 --whitelist=a"]]),
        ("kafka-mirror-maker.sh --whitelist a\r\n", [["1 --whitelist=a"]]),
    ],
)  # fmt: skip
def test_commands_of_a_shell(text: str, expected: list[list[str]]) -> None:
    """Each command is one configuration; each option has its own line, and only variables with one value are known."""
    assert options(text) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Dockerfile", f'FROM x\nCMD ["{RUN}", \\\n  "--whitelist", "a[|]b"]\n', [["3 --whitelist=a[|]b"]]),
        ("Dockerfile", f'FROM x\nENTRYPOINT ["/opt/{RUN}"]\nCMD ["--whitelist","a"]\n', [["3 --whitelist=a"]]),
        ("Dockerfile", f'CMD ["{RUN}", "--whitelist", "{LONG}"]\n', [[f"1 --whitelist={LONG}"]]),
        ("Dockerfile", f"FROM x\nCMD {RUN} --whitelist a\n", [["2 --whitelist=a"]]),
        ("x.service", f"[Unit]\nA=b\n[Service]\nExecStart=/opt/{RUN} \\\n  --whitelist a|b\n", [["5 --whitelist=a|b"]]),
        ("x.service", f'[Service]\nEnvironment="WL=a"\nExecStart=/opt/{RUN} --whitelist ${{WL}}\n', [
            ["3 --whitelist=a"]]),
        ("x.conf", f"[program:mirror]\ncommand=/opt/{RUN} --whitelist a\n", [["2 --whitelist=a"]]),
        ("x.bat", "@echo off\r\nset WL=a\r\nkafka-mirror-maker.bat ^\r\n --whitelist \"%WL%\" --include %N%\r\n", [
            ["4 --whitelist=a", "4 --include=%N%"]]),
        ("x.bat", "kafka-mirror-maker.bat --whitelist 'a'\n", [["1 --whitelist='a'"]]),
    ],
)  # fmt: skip
def test_commands_of_other_scripts(name: str, text: str, expected: list[list[str]]) -> None:
    """Images, units of systemd and supervisord, and cmd.exe split words by rules of their own."""
    assert options(text, name) == expected


def test_here_documents_are_read_as_the_files_that_they_become() -> None:
    """A script that writes its client files has their settings, with the lines of the script."""
    text = (
        "#!/bin/sh\nGROUP=mirror\ncat <<EOF > /tmp/consumer.properties\nbootstrap.servers=$OLD\ngroup.id=$GROUP\nEOF\n"
        f"cat > producer.properties <<-'END'\n\tacks=all\n\tEND\n{RUN} --whitelist a\n"
    )

    assert read("start.sh", text) == [
        ("mirrormaker1-command", 10, ["10 --whitelist=a"]),
        ("mirrormaker1-consumer", 4, ["4 bootstrap.servers=${OLD}", "5 group.id=mirror"]),
        ("mirrormaker1-producer", 8, ["8 acks=all"]),
    ]


def test_an_open_quote_is_refused_with_its_line() -> None:
    """A command that no shell could run is refused."""
    text = refused("start.sh", f"#!/bin/sh\n{RUN} --whitelist 'a\n")

    assert "start.sh:2: Instead of" in text
    assert "the file has: No closing quotation" in text


def test_a_script_without_mirrormaker_is_refused() -> None:
    """A script that starts something else has no settings."""
    assert "no command that starts MirrorMaker" in refused("start.sh", "#!/bin/sh\nkafka-topics.sh --list\n")


@pytest.mark.parametrize("size", [20_001, pytest.param(99_997, marks=pytest.mark.campaign)])
@pytest.mark.parametrize(
    ("head", "part"),
    [(f"A={'x ' * 400}\n", "echo $A $A $A\n"), ("", "$($( "), ("", "cat <<X\n"), ("", '"a\n')],
    ids=["variables", "expressions", "here-documents", "quotes"],
)
def test_large_scripts_are_read(head: str, part: str, size: int) -> None:
    """Variables, expressions, here-documents and quotes of a large script take a bounded time and space."""
    text = f"#!/bin/sh\n{head}{RUN} --whitelist a\n{part * min(size, 900_000 // len(part))}"
    assert options(text) in ([["2 --whitelist=a"]], [["3 --whitelist=a"]])


def test_many_commands_are_refused() -> None:
    """A script with more commands than one person starts is refused."""
    assert "Instead of at most 100, the file has: 101 commands." in refused("start.sh", f"{RUN} --whitelist a\n" * 101)


WORDS = st.lists(
    st.sampled_from(
        ["a", "b c", "'d e'", '"f g"', '"h\\"i"', "j\\ k", "'l\"m'", '"n\'o"', "p#q", '""', "''", "r'st'u"]
    ),
    max_size=8,
).map(" ".join)


@given(text=WORDS)
@settings(max_examples=60, deadline=None)
def test_a_shell_splits_the_same_words(text: str) -> None:
    """The words of a command are those that the shell itself gives to a program."""
    command = f"printf '%s\\n' {text}"
    printed = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, timeout=60).stdout
    (found,) = Splitter(command, 1, Syntax.SHELL, {}).commands()

    assert [word.text for word in found.words[2:]] == (printed.split("\n")[:-1] if text else [])


@given(text=st.text(alphabet="a b'\"\\$`{}()<>|&;#\n=^%*[]", max_size=80), syntax=st.sampled_from(Syntax))
@settings(max_examples=500, deadline=None)
def test_any_text_is_split_or_has_an_open_quote(text: str, syntax: Syntax) -> None:
    """Each word has the number of a line of the text."""
    try:
        commands = Splitter(text, 1, syntax, {"a": "x y"}).commands()
    except OpenQuote:
        return
    assert all(1 <= word.line <= text.count("\n") + 1 for command in commands for word in command.words)


def test_the_line_of_an_option_is_right_after_other_text() -> None:
    """The line of an option is right after comments, here-documents and quotes over several lines."""
    text = f"#!/bin/sh\n# it's\ncat <<X\n'\nX\necho 'a\nb' \"c\nd\"\n{RUN} \\\n\\\n  --whitelist a\n"

    assert options(text) == [["11 --whitelist=a"]]
