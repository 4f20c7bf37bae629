"""The transport that runs a command on a host and returns its output."""

from __future__ import annotations

from typing import Protocol


class ReplyLost(Exception):
    """The command may have run on the host, but its output was lost."""


class ReplyTimedOut(ReplyLost):
    """The command's timeout was reached; a repeated call would wait as long."""


class ReplyTooLong(ReplyLost):
    """The command's output exceeds the limit; a repeated call would return as much."""


class Transport(Protocol):
    """Runs one command at a time on one host."""

    def __call__(self, command: str, stdin: str, timeout_s: float) -> tuple[int, str, str]:
        """Run a command with a text on its standard input; return (exit status, stdout, stderr).

        Raises `TransientError` if the command was certainly not sent, `ReplyLost` if it may have been,
        and `Refused` if the host must not be trusted or refuses the login. Bytes that are not UTF-8 are
        replaced.
        """

    def close(self) -> None:
        """Close the connection; the next call opens a new one."""
