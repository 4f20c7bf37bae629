"""mirrorctl as an OpenSSH forced command: the same requests, of which nothing is run that came in."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost, mirrorctl_text
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.mirror.mirrorctl_protocol import HostRequest, parse_reply, render_request
from tests.contract.local_host import ForcedTransport, Machine
from tests.contract.process_contract import GRACE_S, ME, codes
from tests.contract.test_mirrorctl_faults import HOSTILE, generation_dir

pytestmark = pytest.mark.live

RESERVE = HostRequest("reserve", "shop", (), {"HOLDER": ME})


def refusal(machine: Machine, command: str, stdin: str = "") -> str:
    """The message with which a call is refused."""
    reply = parse_reply(ForcedTransport(machine)(command, stdin, 30)[1])
    assert Code.HOST_REFUSED == reply.code
    assert not (machine.home / "shop").exists()
    assert [] == list(machine.home.rglob("HACKED"))
    return reply.message


def test_whole_cycle(any_machine: Machine) -> None:
    """The requests of the adapter do the same as without an installation, and hostile texts arrive as they are."""
    host = ScriptMirrorHost("shop", ForcedTransport(any_machine))
    holder = HOSTILE.replace("\n", " ").strip()
    launch = any_machine.launch()
    launch = replace(launch, arguments=(*launch.arguments, HOSTILE), files={**launch.files, "secrets/x.y": HOSTILE})

    assert holder == host.reserve(holder).holder
    started = host.start(holder, 1, launch)
    assert started.pid == host.renew(holder, 1).pid
    assert HOSTILE.encode() == (generation_dir(any_machine) / "secrets" / "x.y").read_bytes()
    assert f"argument <{HOSTILE}>\n" in (generation_dir(any_machine) / "console.log").read_text()
    assert "3.9.1" == host.fingerprint(None, None).facts["kafka"]
    assert not host.stop(holder, 1, GRACE_S).is_running
    assert [] == any_machine.alive()


@pytest.mark.parametrize(
    "command",
    [
        "",
        "id",
        "sh",
        "sh -c id",
        "sh -s -- status shop; touch HACKED",
        "sh -s -- status $(touch HACKED)",
        "sh -s -- status shop\ntouch HACKED",
        "sh -s --status shop",
        "sh -s status shop",
        "mirrorctl forced",
        "mirrorctl mirrorctl status shop",
        "mirrorctl status ../shop",
        "mirrorctl",
        "  ",
        "scp -t .",
        "internal-sftp",
    ],
)
def test_other_commands_are_refused(any_machine: Machine, command: str) -> None:
    """Whatever is no verb with plain words is refused by a reply, and not run."""
    assert refusal(any_machine, command)


@pytest.mark.parametrize("blank", [" ", "  ", "\t", " \t", "\n", "\r"], ids=repr)
@pytest.mark.parametrize("verb", ["supervise", "watch", "guard"])
def test_own_verbs_are_refused(any_machine: Machine, verb: str, blank: str) -> None:
    """mirrorctl's own verbs run words as a command, so nobody calls them from outside, however it is written."""
    prefixes = (f"sh -s --{blank}", f"mirrorctl{blank}", f"{blank}mirrorctl ", f"{blank}sh{blank}-s{blank}--{blank}")
    words = ("shop 9 1 touch HACKED", "shop 1 touch HACKED", "shop 1")

    assert all(
        refusal(any_machine, f"{prefix}{verb}{blank}{rest}") for prefix, rest in itertools.product(prefixes, words)
    )


def test_blanks_do_not_matter(any_machine: Machine) -> None:
    """A command is its words, as for a shell."""
    reply = parse_reply(ForcedTransport(any_machine)("  sh  -s --   status  shop ", "", 30)[1])

    assert (True, "status") == (reply.ok, reply.verb)


@pytest.mark.parametrize(
    "line",
    [
        "MIRRORCTL_HOLDER=$(touch HACKED)",
        "MIRRORCTL_X=$(touch HACKED)",
        "MIRRORCTL_X='a'",
        "MIRRORCTL_HOLDER='a'; touch HACKED; 'b'",
        "MIRRORCTL_HOLDER='a'$(touch HACKED)''",
        "MIRRORCTL_FILE_TEXT_x='a'",
        "MIRRORCTL_FILE_TEXT_='a'",
        "MIRRORCTL_FILE_TEXT_01='a'",
        "MIRRORCTL_FILE_TEXT_A_1='a'",
        "MIRRORCTL_FILE_1='a'",
        "MIRRORCTL_='a'",
        "MIRRORCTL_FILE_NAME_;touch HACKED;X_1='a'",
        "MIRRORCTL_FILE_NAME_;touch${IFS}HACKED;X_1='a'",
        "MIRRORCTL_FILE_TEXT_$(touch HACKED)_1='a'",
        "MIRRORCTL_JAVA_OPTION_`touch HACKED`_1='a'",
        "MIRRORCTL_ARGUMENT_|touch HACKED|X_1='a'",
        "MIRRORCTL_ALARM_&touch HACKED&_1='a'",
        "MIRRORCTL_ALARM_[$(touch HACKED)]_1='a'",
        "MIRRORCTL_ALARM_*_1='a'",
        "MIRRORCTL_FILES HOLDER='a'",
        "MIRRORCTL_holder='a'",
        "MIRRORCTL_FILE_TEXT_1[$(touch HACKED)]='a'",
        "MIRRORCTL_HOLDER;touch HACKED;='a'",
        "MIRRORCTL_SELF='touch HACKED'",
        "MIRRORCTL_HOLDER='ü'",
        "PATH='/tmp'",
        "touch HACKED",
    ],
)
def test_injected_line_is_refused(any_machine: Machine, line: str) -> None:
    """A line that is no assignment of an encoded text to a known variable ends the request, and is not run."""
    command, stdin = render_request(RESERVE, mirrorctl_text())
    first, rest = stdin.split("\n", 1)

    assert refusal(any_machine, command, f"{first}\n{line}\n{rest}")


def test_texts_are_not_run(machine: Machine) -> None:
    """A text that a shell would expand stays a text, through all decoding."""
    holder = r"$(touch HACKED) `touch HACKED` \0044(touch HACKED) \c ${HOME}"
    host = ScriptMirrorHost("shop", ForcedTransport(machine))

    assert holder == host.reserve(holder).holder
    assert [] == list(machine.home.rglob("HACKED"))


@pytest.mark.parametrize("share", [0.2, 0.9, 0.999])
def test_request_cut_short_does_nothing(machine: Machine, share: float) -> None:
    """Without the line that ends its variables a request is not carried out."""
    command, stdin = render_request(RESERVE, "")
    variables = stdin.split("MIRRORCTL_SELF")[0]

    assert refusal(machine, command, variables[: int(len(variables) * share)])


@pytest.mark.parametrize("asked", ["kafka_home", "java_home"])
def test_host_names_its_own_folders(machine: Machine, asked: str) -> None:
    """A caller may name the folder that the host uses, and no other."""
    host = ScriptMirrorHost("shop", ForcedTransport(machine))
    host.reserve(ME)
    homes = {"kafka_home": str(machine.kafka_home), "java_home": None}

    with pytest.raises(Refused, match="/elsewhere") as error:
        host.fingerprint(**{**homes, asked: "/elsewhere"})
    assert {Code.HOST_REFUSED} == codes(error)
    assert host.fingerprint(**homes).ok
    with pytest.raises(Refused, match="base folder"):
        ScriptMirrorHost("shop", ForcedTransport(machine), "/elsewhere").status()


def test_person_may_ask_without_a_request(machine: Machine) -> None:
    """A person with the key reads the status; nothing on stdin means no variables."""
    status = parse_reply(ForcedTransport(machine)("mirrorctl status shop", "", 30)[1])
    reserve = parse_reply(ForcedTransport(machine)("mirrorctl reserve shop", "", 30)[1])

    assert (True, False) == (status.ok, reserve.ok)
