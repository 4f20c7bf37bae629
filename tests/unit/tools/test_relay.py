"""The relay that delays the traffic of benchmarks and tests."""

from __future__ import annotations

import socket

import pytest

from bench.relay import Relay
from sandbox.parts import HOST, free_ports


def test_a_port_is_free_as_soon_as_its_relay_has_ended() -> None:
    """Parts of a benchmark use one port after the other, with other delays; connections end with their relay."""
    (port,) = free_ports(1)
    with socket.create_server((HOST, 0)) as server:
        for _ in range(3):
            with Relay(port, server.getsockname()[1], one_way_s=0.001):
                client = socket.create_connection((HOST, port), 10)
                client.sendall(b"text")
                served = server.accept()[0]
                assert served.recv(4) == b"text"
            assert (client.recv(1), served.recv(1)) == (b"", b"")
            client.close()
            served.close()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((HOST, port), 10)
