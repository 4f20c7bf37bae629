"""The addresses of host names, as this machine finds them."""

from __future__ import annotations

import socket


def addresses_of(name: str) -> tuple[str, ...]:
    """Return the addresses of a host name, sorted; none if this machine finds none."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return ()
    # IPv4 first: an address with colons is rarely meant for /etc/hosts.
    return tuple(sorted({str(entry[4][0]) for entry in found}, key=lambda address: (":" in address, address)))
