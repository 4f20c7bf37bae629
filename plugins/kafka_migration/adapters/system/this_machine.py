"""The clock, the login and the name service of the machine on which this process runs, and its number there."""

from __future__ import annotations

import os
import pwd
import socket
import time
from datetime import UTC, datetime
from pathlib import Path


def service_login() -> str:
    """Return the operating system login of Airflow; the user id if it has no name."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def own_process() -> str:
    """Return `PID:START` of this process, as in `/proc/PID/stat`; no other process of this machine has the same.

    Empty if `/proc` cannot be read.
    """
    try:
        fields = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return f"{os.getpid()}:{fields[19]}"


def addresses_of(name: str) -> tuple[str, ...]:
    """Return the addresses of a host name, sorted; none if this machine finds none."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return ()
    # IPv4 first: an address with colons is rarely meant for /etc/hosts.
    return tuple(sorted({str(entry[4][0]) for entry in found}, key=lambda address: (":" in address, address)))


class SystemClock:
    """Real time (`core.clock.Clock`)."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()
