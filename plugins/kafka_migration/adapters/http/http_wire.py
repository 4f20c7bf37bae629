"""The connections of one HTTP client: the bytes that they read are bounded, and any thread can end them at once."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import httpcore
from httpcore import SOCKET_OPTION

from kafka_migration.core.connections.http import is_loopback

# All that a server may send before its answer begins: headers, and answers in between such as `103 Early Hints`.
MAX_HEADER_BYTES = 64 * 1024


class TooLarge(Exception):
    """The server sent more than the wire may read; the text says how much of what."""


class Wire(httpcore.NetworkBackend):
    """Connects for a pool that has one connection and one request at a time.

    :param is_local: refuse each address that is not of this machine
    """

    def __init__(self, *, is_local: bool) -> None:
        self._backend = httpcore.SyncBackend()
        self._is_local = is_local
        self._socket: socket.socket | None = None
        self._is_cut = False
        self._left, self._limit = 0, ""

    def allow(self, count: int, limit: str) -> None:
        """Set how many bytes may be read from now on; `limit` names the bound in errors."""
        self._left, self._limit = count, limit

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect. Raises httpcore's errors, also if the wire was cut meanwhile."""
        stream = self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        peer = stream.get_extra_info("server_addr")[0]
        if self._is_local and not is_loopback(peer):
            stream.close()
            raise httpcore.ConnectError(f"{host} is {peer}, which is not this machine")
        self._keep(stream.get_extra_info("socket"))
        # `cut` sets its mark first and looks for a socket then: one of the two sees the other.
        if self._is_cut:
            stream.close()
            self.forget()
            raise httpcore.ConnectTimeout("the deadline has passed")
        return _Stream(stream, self)

    def cut(self) -> None:
        """End the connection, and each one that is still to come, whatever another thread waits for."""
        self._is_cut = True
        if self._socket:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def taken(self, stream: httpcore.NetworkStream, max_bytes: int, timeout: float | None) -> bytes:
        """Read from a stream as much as is allowed. Raises `TooLarge` if nothing more is."""
        if not self._left:
            raise TooLarge(self._limit)
        found = stream.read(min(max_bytes, self._left), timeout)
        self._left -= len(found)
        return found

    def forget(self) -> None:
        """Close the wire's own handle of the connection, so that the other side sees its end."""
        if self._socket:
            self._socket.close()

    def _keep(self, connected: socket.socket) -> None:
        """Keep a handle of our own: TLS takes the socket over, and its number may be used again after its end."""
        self.forget()
        self._socket = connected.dup()


class _Stream(httpcore.NetworkStream):
    """A connection whose wire counts what it reads."""

    def __init__(self, stream: httpcore.NetworkStream, wire: Wire) -> None:
        self._stream, self._wire = stream, wire

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._wire.taken(self._stream, max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()
        self._wire.forget()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        # A certificate has an IPv6 address without the brackets that a proxy needs.
        name = server_hostname and server_hostname.strip("[]")
        try:
            return _Stream(self._stream.start_tls(ssl_context, name, timeout), self._wire)
        except BaseException:
            self.close()
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
