"""Findings about a MirrorMaker host that answered, but not with a reply of mirrorctl."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.mirror.mirrorctl_protocol import HostRequest, host_of
from kafka_migration.core.text.secret_forms import masked
from kafka_migration.core.text.shortened import brief, sentence
from kafka_migration.core.text.terminal_text import shown

LONGEST_QUOTE = 300
NOT_QUOTED = "text that is not shown, because the request carried secrets"


def quoted(text: str) -> str:
    """Return the begin of a host's output on one line, without what looks like a secret."""
    lines = " | ".join(line.strip() for line in text[: 10 * LONGEST_QUOTE].splitlines() if line.strip())
    return brief(shown(masked(lines)), LONGEST_QUOTE)


def printed(request: HostRequest, exit_status: int, stdout: str, stderr: str) -> str:
    """Return what a host printed in answer to a request, in words.

    The answer to a request with files is not quoted, because a host may send back what it was sent.
    """
    said = {"output": quoted(stdout), "standard error": quoted(stderr)}
    quotes = [f'{name} "{NOT_QUOTED if request.carries_files else text}"' for name, text in said.items() if text]
    return f"exit status {exit_status}, {' and '.join(quotes) or 'no output'}"


def foreign_output(request: HostRequest, what: str) -> Finding:
    """Return the finding of a host on which something else than mirrorctl answered a request."""
    return Finding(
        Code.HOST_ANSWERS_OTHERWISE,
        host_of(request.migration),
        f"an answer that is not mirrorctl's, to {request.verb}: {what}",
        "a reply of mirrorctl",
        "Correct the forced command of the key (`command=` in authorized_keys), the user's login shell, or the shell's "
        "start files (such as .bashrc), which must not print or exit.",
        happened=sentence(
            f"The host accepted the login and ran something else than mirrorctl as the answer to {request.verb}: {what}"
        ),
        matters="The state of MirrorMaker there is unknown.",
    )


def unreadable_reply(request: HostRequest, what: str) -> Finding:
    """Return the finding of a host whose reply was lost on its way, or is broken."""
    return Finding(
        Code.HOST_REPLY_UNREADABLE,
        host_of(request.migration),
        f"no readable reply to {request.verb}: {what}",
        "one whole reply of mirrorctl in time",
        "Check the network path, and the host's load and disk, then try again.",
        happened=sentence(f"The host sent no readable reply to {request.verb}: {what}"),
        matters="The request changed nothing, and the state of MirrorMaker there is unknown.",
    )
