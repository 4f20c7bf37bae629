"""Rendering requests to mirrorctl and reading its replies."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import MirrorFailed, Refused, TransientError
from kafka_migration.core.mirror.host import HostReply, MirrorLaunch
from kafka_migration.core.mirror.mirror_process import ProcessState
from kafka_migration.core.mirror.mirrorctl_protocol import (
    HostRequest,
    UnreadableReply,
    checked,
    encode,
    launch_variables,
    parse_reply,
    render_request,
)

REPLY = {
    **HostReply(
        ok=True,
        code="",
        message="",
        verb="status",
        migration="shop",
        generation=3,
        state=ProcessState.DEAD,
        exit_code=1,
    ).to_document(),
    "holder": "dag/run#1",
    "log": "last line\n",
    "field_of_the_future": 1,
}

# Every field that takes any text, so that a new one is covered.
TEXTS = [each.name for each in fields(HostReply) if each.type in {"str", str}]
FACTS = ["facts.kafka", "facts.output", "facts.errors", "facts.names", "facts.of_the_future"]
# mirrorctl's own limits, which docs/reference/mirrorctl.md names, and the marks of cut lines.
MOST = {"log": 140_000, "facts.errors": 4_200, "facts.output": 4_194_304, "facts.names": 131_072}

WRONG_TYPES: tuple[dict[str, object], ...] = (
    {"ok": 1},
    {"code": None},
    {"message": ["because"]},
    {"verb": 5},
    {"migration": {}},
    {"generation": True},
    {"generation": "3"},
    {"generation": -1},
    {"generation": None},
    {"state": ["dead"]},
    {"pid": "7"},
    {"pid": True},
    {"exit_code": 1.5},
    {"uptime_s": float("nan")},
    {"holder": None},
    {"adopted": "no"},
    {"log": ["last line"]},
    {"alarm": 0},
    {"facts": []},
    {"facts": {"kafka": 3.9}},
)


def framed(document: object) -> str:
    """A reply line as mirrorctl prints it."""
    return f"\n@@mirrorctl {json.dumps(document)}@@\n"


def refused(code: str) -> HostReply:
    """A reply that is not ok."""
    return HostReply(ok=False, code=code, message="because", verb="start", migration="shop", log="the end")


def test_command_line_shows_only_plain_words() -> None:
    """Holder and files travel on stdin; the command line has the verb, the migration and numbers."""
    command, stdin = render_request(HostRequest("start", "shop", ("3", "300"), {"HOLDER": "dag/it's#1"}), "echo script")

    assert "sh -s -- start shop 3 300" == command
    assert "MIRRORCTL_HOLDER='dag/it\\0047s#1'\n" in stdin
    assert stdin.startswith("unset ")
    assert stdin.endswith("MIRRORCTL_SELF='echo script'\neval \"$MIRRORCTL_SELF\"\n")


@pytest.mark.parametrize(
    ("verb", "migration", "words"),
    [
        ("start", "Shop", ("1",)),
        ("start", "-shop", ("1",)),
        ("start", "s" * 64, ("1",)),
        ("start", "shop\n", ("1",)),
        ("start", "shop", ("1; rm",)),
        ("start", "shop", ("-1",)),
        ("start", "shop", ("007",)),
        ("start;", "shop", ()),
    ],
)
def test_word_that_must_not_stand_on_a_command_line(verb: str, migration: str, words: tuple[str, ...]) -> None:
    """Names and numbers are checked before they are sent."""
    with pytest.raises(ValueError, match=r"must be plain|no name"):
        render_request(HostRequest(verb, migration, words), "")


def test_zero_byte_is_refused() -> None:
    """No shell variable can hold a zero byte, so none is sent to be cut off silently."""
    with pytest.raises(ValueError, match="zero byte"):
        encode("a\0b")


def test_texts_travel_in_plain_ascii() -> None:
    """Characters that a shell or a line could misread are sent as backslash escapes, on one line."""
    assert r"a b\nc\0011\0047$(x)\0047 \0134 \0303\0274\0177" == encode("a b\nc\t'$(x)' \\ ü\x7f")


@pytest.mark.parametrize("name", ["", "/etc/x", "../x", "a/../x", "a//b", "a b", "a/", "./a", "a\n"])
def test_file_name_that_leaves_the_directory(name: str) -> None:
    """Files are written below the generation's directory only."""
    launch = MirrorLaunch("Main", (), {name: ""}, (), None, None, 60)

    with pytest.raises(ValueError, match="file name"):
        launch_variables(launch)


def test_launch_is_numbered() -> None:
    """Lists travel as counted variables."""
    launch = MirrorLaunch("Main", ("a", "b"), {"secrets/x": "text"}, ("-Xmx1g",), "/kafka", None, 60, ("bad",), True)

    assert {
        "MAIN_CLASS": "Main",
        "KAFKA_HOME": "/kafka",
        "JAVA_HOME": "",
        "FILES": "1",
        "JAVA_OPTIONS": "1",
        "ARGUMENTS": "2",
        "ALARMS": "1",
        "ALARM_1": "bad",
        "PRIVATE_ARGUMENTS": "1",
        "JAVA_OPTION_1": "-Xmx1g",
        "ARGUMENT_1": "a",
        "ARGUMENT_2": "b",
        "FILE_NAME_1": "secrets/x",
        "FILE_TEXT_1": "text",
    } == launch_variables(launch)


def test_reply_is_found_between_login_messages() -> None:
    """Whatever a login prints before and after, the reply is read, and unknown fields are left out."""
    reply = parse_reply(f"Welcome! @@mirrorctl\nno newline{framed(REPLY)}Bye {{}}@@\n")

    assert (3, ProcessState.DEAD, 1) == (reply.generation, reply.state, reply.exit_code)
    assert ("dag/run#1", "last line\n") == (reply.holder, reply.log)


@pytest.mark.parametrize(
    "stdout",
    [
        "",
        "This account is currently not available.\n",
        framed(REPLY) + framed(REPLY),
        "\n@@mirrorctl {broken}@@\n",
        framed({**REPLY, "state": "asleep"}),
        framed({key: value for key, value in REPLY.items() if key != "ok"}),
        framed({**REPLY, "ok": "yes"}),
        framed(REPLY)[:-20],
        *(framed({**REPLY, **wrong}) for wrong in WRONG_TYPES),
        f"\n@@mirrorctl {{{'[' * 30_000}{']' * 30_000}}}@@\n",
        f'\n@@mirrorctl {{"log":{"[" * 30_000}{"]" * 30_000}}}@@\n',
        f'\n@@mirrorctl {{"pid":{"9" * 9_000}}}@@\n',
    ],
    ids=range(31),
)
def test_unreadable_reply_is_no_reply(stdout: str) -> None:
    """No reply, two replies and a broken reply are errors with a short reason."""
    with pytest.raises(UnreadableReply) as error:
        parse_reply(stdout)
    assert len(str(error.value)) <= 1_100


def test_long_texts_of_a_host_are_cut() -> None:
    """A host's long texts are shortened, so that its findings stay readable."""
    long = "x" * 1_000_000

    with pytest.raises(Refused) as refusal:
        checked(replace(refused("JAVA_MISSING"), message=long, migration=long))
    with pytest.raises(MirrorFailed) as failure:
        checked(replace(refused("MIRROR_DEAD"), message=long, log=f"{long}the end"))
    assert len(str(refusal.value)) < 2_000
    assert len(str(failure.value)) < 20_000
    assert "the end" in str(failure.value)


@pytest.mark.parametrize("name", [*TEXTS, *FACTS])
@pytest.mark.parametrize("text", ["x" * 7_000_000, "\n" * 3_000_000, "x\n" * 2_000_000, "é" * 1_000_000], ids=range(4))
def test_no_text_of_a_host_is_longer_than_mirrorctl_sends(name: str, text: str) -> None:
    """Whatever a host puts into any field, no reply holds more of it than mirrorctl sends."""
    field, _, fact = name.partition(".")
    reply = parse_reply(framed({**REPLY, field: {fact: text} if fact else text}))

    kept = reply.facts[fact] if fact else getattr(reply, field)
    assert len(kept) <= MOST.get(name, 1_000)
    if name in {"log", "facts.errors"}:
        assert max(map(len, kept.split("\n"))) <= 1_010
        assert kept.count("\n") < 2_000


def test_too_large_output_of_a_tool_is_no_output() -> None:
    """An output that mirrorctl would not send counts as one that is too large, and no part of it is read."""
    reply = parse_reply(framed({**REPLY, "facts": {"tool": "T", "exit": "0", "output": "x" * 5_000_000}}))

    assert {"tool": "T", "exit": "large", "output": ""} == reply.facts


def test_number_of_facts_is_bounded() -> None:
    """A host that sends very many facts, or very long names of facts, fills no memory."""
    reply = parse_reply(framed({**REPLY, "facts": {f"{number}{'x' * 2_000}": "y" for number in range(1_000)}}))

    assert 32 == len(reply.facts)
    assert max(map(len, reply.facts)) <= 1_000


def test_end_of_a_log_is_kept() -> None:
    """Of a log that is too long, the newest lines are kept, and the cut of a long line is shown."""
    reply = parse_reply(framed({**REPLY, "log": f"{'old' * 100_000}\n{'new ' * 300}\nthe end\n"}))

    *_, long, end, _ = reply.log.split("\n")
    assert (True, "the end") == (long.endswith("new … (cut)"), end)


def test_refusal_names_code_object_and_remedy() -> None:
    """A refusal carries mirrorctl's code and message, and what to do."""
    with pytest.raises(Refused) as error:
        checked(refused("JAVA_MISSING"))

    (finding,) = error.value.findings
    assert (Code.JAVA_MISSING, "because") == (finding.code, finding.found)
    assert "shop" in finding.subject
    assert finding.remedy


@pytest.mark.parametrize(
    ("code", "error", "text"),
    [
        pytest.param("HOST_LOCKED", TransientError, "HOST_LOCKED", id="a lock is temporary"),
        pytest.param("MIRROR_DEAD", MirrorFailed, "the end", id="a dead process has a log"),
        pytest.param("NEW_CODE", Refused, "NEW_CODE: because", id="a newer mirrorctl has other codes"),
    ],
)
def test_code_decides_on_the_error(code: str, error: type[Exception], text: str) -> None:
    """A lock may be asked again, a dead process is a failure with its log, and an unknown code is a refusal."""
    with pytest.raises(error, match=text):
        checked(refused(code))
