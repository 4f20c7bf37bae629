"""What is done when the reply of the MirrorMaker host got lost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ReplyLost, ReplyTimedOut, ScriptMirrorHost
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import MirrorFailed, OutcomeUnknown, TransientError
from kafka_migration.core.mirror.host import HostReply, MirrorLaunch

LOST = ReplyLost("connection reset")
LATE = ReplyTimedOut("no answer in time")
LAUNCH = MirrorLaunch("Main", (), {}, (), None, None, 60)


class ScriptedTransport:
    """Answers each command with the next of its answers; notes the verbs and how long each command may take."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.verbs: list[str] = []
        self.timeouts_s: list[float] = []

    def __call__(self, command: str, stdin: str, timeout_s: float) -> tuple[int, str, str]:
        """See `Transport`."""
        self.verbs.append(command.split()[3])
        self.timeouts_s.append(timeout_s)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return 0, str(answer), ""

    def close(self) -> None:
        """Nothing is kept open."""


def reply(**fields: Any) -> str:
    """A good reply."""
    made = HostReply(**{"ok": True, "code": "", "message": "", "verb": "x", "migration": "shop", **fields})
    return f"@@mirrorctl {json.dumps(made.to_document())}@@\n"


@pytest.mark.parametrize(
    ("verb", "act"), [("reserve", lambda host: host.reserve("me")), ("clean", lambda host: host.clean("me", 1))]
)
def test_acting_call_looks_and_then_acts_again(verb: str, act: Callable[[ScriptMirrorHost], HostReply]) -> None:
    """After a lost reply, an acting call asks for the status and is then sent again, because it is idempotent."""
    transport = ScriptedTransport(LOST, reply(), reply(message="done"))

    assert "done" == act(ScriptMirrorHost("shop", transport)).message
    assert [verb, "status", verb] == transport.verbs


def test_noise_instead_of_a_reply_is_treated_as_lost() -> None:
    """An output without a reply does not show what was done."""
    transport = ScriptedTransport("sh: not found", reply(), reply(state="stopped", generation=1))

    assert 1 == ScriptMirrorHost("shop", transport).stop("me", 1, 5).generation


@pytest.mark.parametrize(
    "answers", [(LOST, TransientError("down")), (LOST, LOST, LOST), (LATE, LATE), (LOST, reply(), LOST)]
)
def test_unknown_outcome_is_said(answers: tuple[object, ...]) -> None:
    """If neither the status nor a second call is answered, the outcome is unknown."""
    with pytest.raises(OutcomeUnknown, match="start of migration shop"):
        ScriptMirrorHost("shop", ScriptedTransport(*answers)).start("me", 1, LAUNCH)


def test_start_that_died_meanwhile_is_not_repeated() -> None:
    """If the process started and died while the reply was lost, the start fails and is not repeated."""
    transport = ScriptedTransport(LOST, reply(state="dead", generation=1, exit_code=1))

    with pytest.raises(MirrorFailed, match="exit code 1"):
        ScriptMirrorHost("shop", transport).start("me", 1, LAUNCH)
    assert ["start", "status"] == transport.verbs


def test_unsent_call_is_transient() -> None:
    """What was certainly not sent may be tried again by the caller."""
    transport = ScriptedTransport(TransientError("refused"))

    with pytest.raises(TransientError):
        ScriptMirrorHost("shop", transport).start("me", 1, LAUNCH)
    assert ["start"] == transport.verbs


@pytest.mark.parametrize("answers", [(LOST, LOST), (LATE,), ("@@mirrorctl {",), (LOST, reply() + reply())])
def test_reading_call_without_answer_is_transient(answers: tuple[object, ...]) -> None:
    """A reading call changes nothing, so a lost reply is just no answer; a time-out is not waited for twice."""
    transport = ScriptedTransport(*answers)

    with pytest.raises(TransientError, match="HOST_REPLY_UNREADABLE"):
        ScriptMirrorHost("shop", transport).renew("me", 1)
    assert len(answers) == len(transport.verbs)


@pytest.mark.parametrize("answers", [("noise",), (LOST, "noise"), ("",)])
def test_host_that_answers_something_else_is_named_with_its_words(answers: tuple[object, ...]) -> None:
    """An output without the begin of a reply is not a lost reply: something else answers, and its words are quoted."""
    with pytest.raises(TransientError) as error:
        ScriptMirrorHost("shop", ScriptedTransport(*answers)).renew("me", 1)

    finding = error.value.finding
    assert finding is not None
    assert Code.HOST_ANSWERS_OTHERWISE == finding.code
    assert ('output "noise"' if answers[-1] else "no output") in finding.found
    assert "forced command" in finding.remedy


@pytest.mark.parametrize(
    ("stdout", "shown", "hidden"),
    [
        ("one\n\n  two\t\n", 'output "one | two"', "\n"),
        ("\x1b[31mred\x07", 'output "\\u001b[31mred\\u0007"', "\x1b"),
        ("Welcome\npassword=hunter2 is yours", 'output "Welcome | ***"', "hunter2"),
        ("x" * 5_000_000, "x" * 299 + "…", "x" * 301),
    ],
)
def test_hosts_words_are_bounded_masked_and_escaped(stdout: str, shown: str, hidden: str) -> None:
    """Whatever a host prints is quoted on one line, without control characters, secrets and most of its length."""
    with pytest.raises(TransientError) as error:
        ScriptMirrorHost("shop", ScriptedTransport(stdout)).status()

    assert shown in str(error.value)
    assert hidden not in str(error.value)
    assert "5,000,000" in str(error.value) or len(stdout) < 5_000_000


def test_host_that_sends_secrets_back_is_not_quoted() -> None:
    """A command such as `cat` returns a launch with its secrets, in whatever form; no word of it is quoted."""
    launch = replace(LAUNCH, files={"secrets/a.password": "hunter2"})

    class Echo(ScriptedTransport):
        def __call__(self, command: str, stdin: str, timeout_s: float) -> tuple[int, str, str]:
            super().__call__(command, stdin, timeout_s)
            return 0, stdin, stdin[::-1]

    with pytest.raises(OutcomeUnknown) as error:
        ScriptMirrorHost("shop", Echo("", "")).start("me", 1, launch)

    assert "text that is not shown" in str(error.value)
    assert not {"hunter2", "2retnuh"} & set(re.findall(r"\w+", str(error.value)))


def test_reading_call_is_sent_again_where_the_connection_broke() -> None:
    """If the connection breaks during a reading call, the call is sent once more."""
    transport = ScriptedTransport(LOST, reply(log="output"))

    answer = ScriptMirrorHost("shop", transport).logs(1, 5)

    assert "output" == answer.log
    assert ["logs", "logs"] == transport.verbs
