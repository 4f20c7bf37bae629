"""What carries a command to a host and brings its output back."""

from __future__ import annotations

from typing import Protocol


class ReplyLost(Exception):
    """The command may have reached the host and run; what it said did not come back."""


class ReplyTimedOut(ReplyLost):
    """The time for the command was over; asking the same again would wait as long."""


class ReplyTooLong(ReplyLost):
    """The command printed more than is taken; asking the same again would bring as much."""


class Transport(Protocol):
    """Runs one command at a time on one host."""

    def __call__(self, command: str, stdin: str, timeout_s: float) -> tuple[int, str, str]:
        """Run a command with a text on its standard input; return (exit status, stdout, stderr).

        Raises `TransientError` when the command was certainly not sent, `ReplyLost` when it may have been,
        and `Refused` when the host must not be trusted or does not let us in. Bytes that are not UTF-8 come
        back replaced.
        """

    def close(self) -> None:
        """Close the connection; the next call opens a new one."""
