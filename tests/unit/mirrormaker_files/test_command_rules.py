"""The rules on the command line of MirrorMaker 1."""

from __future__ import annotations

import pytest

from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from tests.unit.mirrormaker_files.reading import found, judged

pytestmark = pytest.mark.unit

RUN = "kafka-mirror-maker.sh"
START = f"{RUN} --consumer.config c --producer.config p"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{START} --whitelist 'a|b' --num.streams 4 --offset.commit.interval.ms 60000", []),
        (f"{START} --whitelist 'a|b' --abort.on.send.failure true", []),
        (f"{START} --include 'a'", []),
        (f"{START} -whitelist 'a' -num.streams=2", []),
        (f"{START} --help", []),
        (f"{START} --whitelist $WL --num.streams ${{N:-2}} --abort.on.send.failure $A", []),
        (f"{RUN} $OPTIONS", []),
        (f"{RUN} --whitelist 'a' $OPTIONS", []),
        (f"{START} \\\n --whitelist 'a' \\\n --whitelist 'b'", ["2 OPTION_REPEATED"]),
        (f"{START} --whitelist 'a' -whitelist 'b'", ["1 OPTION_REPEATED"]),
        (f"{START} --whitelist 'a' --include 'b'", ["1 OPTION_WITHOUT_EFFECT"]),
        (f"{START} --new.consumer --whitelist 'a'", ["1 OPTION_WITHOUT_EFFECT"]),
        (f"{START} --abort.on.send.failure true \\\n new.consumer --whitelist a", ["2 OPTION_WITHOUT_EFFECT"]),
        (f"{START} --blacklist 'a'", ["1 OPTION_OF_ANOTHER_VERSION"]),
        (f"{START} --whitelist 'a' --queue.size 5", ["1 OPTION_UNKNOWN"]),
        (f"{START} --whitelist 'a' --con c", ["1 OPTION_UNKNOWN"]),
        (f"{START} --whitelist 'a' --num 2", ["1 OPTION_UNKNOWN"]),
        (f"{START} --whitelist= a", ["1 OPTION_WITHOUT_EFFECT", "1 VALUE_TYPE"]),
        (f"{RUN} --consumer.config c \\\n --whitelist 'a'", ["1 OPTION_MISSING"]),
        (f"# x\n{RUN} --producer.config c", ["2 OPTION_MISSING", "2 OPTION_MISSING"]),
        (f"{START} --whitelist 'a'\n{START}\n", ["2 OPTION_MISSING"]),
        (f"{START} --whitelist 'a' --num.streams x", ["1 VALUE_TYPE"]),
        (f"{START} --whitelist 'a' --num.streams 0", ["1 VALUE_TYPE"]),
        (f"{START} --whitelist 'a' --num.streams 99999999999", ["1 VALUE_TYPE"]),
        (f"{START} --whitelist 'a' --abort.on.send.failure no", ["1 VALUE_TYPE"]),
        (f"{START} --whitelist 'a' --abort.on.send.failure FALSE", ["1 FAILURE_IGNORED"]),
        (f"{START} --whitelist 'a' --num.streams", ["1 VALUE_TYPE"]),
        (f"{START} --whitelist --num.streams 4", ["1 VALUE_TYPE", "1 OPTION_WITHOUT_EFFECT"]),
        (f"{START} --whitelist 'a' --message.handler com.acme.Rename", ["1 MESSAGE_HANDLER"]),
        (f"{START} --whitelist orders|payments", ["1 PATTERN_PIPED"]),
        (f"{START} --whitelist orders | tee log", []),
        (f"{START} --whitelist .*", ["1 PATTERN_UNQUOTED"]),
        (f"{START} --whitelist \".*\"", []),
        (f"export KAFKA_OPTS=-Djava.security.auth.login.config=/j\n{START} --whitelist 'a'", ["1 LOGIN_ELSEWHERE"]),
    ],
)  # fmt: skip
def test_options_are_judged_as_kafkas_parser_takes_them(text: str, expected: list[str]) -> None:
    """Each mistake has its line; single dashes and unknown values of variables are none."""
    assert sorted(found("start.sh", text)) == sorted(expected)


@pytest.mark.parametrize(
    ("version", "text", "expected"),
    [
        ("2.8", f"{START} --include 'a'", ["1 OPTION_OF_ANOTHER_VERSION"]),
        ("3.0", f"{START} --include 'a'", []),
        ("4.0", f"# x\n{START} --include 'a'", ["2 MIRRORMAKER1_REMOVED"]),
    ],
)
def test_a_named_version_decides(version: str, text: str, expected: list[str]) -> None:
    """An option of another version is an error, and so is MirrorMaker 1 from Kafka 4.0 on."""
    assert found("start.sh", text, version=version) == expected


def test_a_value_is_shown_only_if_it_is_no_secret() -> None:
    """A word without an option may be anything."""
    text = f"{START} --whitelist 'a' --message.handler.args planted-secret --password hunter2 Basic-c2VjcmV0c2VjcmV0\n"

    assert not {"planted-secret", "hunter2"} & set(
        " ".join(map(str, judged("start.sh", text))).replace("'", " ").split()
    )


def test_a_shortened_option_is_refused_with_the_whole_one() -> None:
    """Kafka's parser does not take the beginning of an option."""
    (finding,) = judged("start.sh", f"{START} --white 'a' --include 'b'")

    assert (finding.code, finding.fix) == (
        LintCode.OPTION_UNKNOWN,
        "Write --whitelist. MirrorMaker 1 takes no shortened options.",
    )
