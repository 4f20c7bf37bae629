"""What is done when the reply of the MirrorMaker host got lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from kafka_migration.adapters.mirror_host import ScriptMirrorHost
from kafka_migration.adapters.transport import ReplyLost, ReplyTimedOut
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


@pytest.mark.parametrize("answers", [(LOST, LOST), (LATE,), ("noise",), (LOST, "noise")])
def test_reading_call_without_answer_is_transient(answers: tuple[object, ...]) -> None:
    """A reading call changes nothing, so a lost reply is just no answer; a time-out is not waited for twice."""
    transport = ScriptedTransport(*answers)

    with pytest.raises(TransientError, match="HOST_REPLY_UNREADABLE"):
        ScriptMirrorHost("shop", transport).renew("me", 1)
    assert len(answers) == len(transport.verbs)


def test_reading_call_is_sent_again_where_the_connection_broke() -> None:
    """If the connection breaks during a reading call, the call is sent once more."""
    transport = ScriptedTransport(LOST, reply(log="output"))

    answer = ScriptMirrorHost("shop", transport).logs(1, 5)

    assert "output" == answer.log
    assert ["logs", "logs"] == transport.verbs
