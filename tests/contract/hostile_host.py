"""An SSH server inside the test, whose commands answer as badly as a test wants."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import paramiko
from paramiko.common import AUTH_FAILED, AUTH_SUCCESSFUL, OPEN_SUCCEEDED

from kafka_migration.core.mirror.host import HostReply

_GOOD = HostReply(ok=True, code="", message="", verb="status", migration="shop")
GOOD_REPLY = f"\n@@mirrorctl {json.dumps(_GOOD.to_document())}@@\n".encode()
# How long, or how much, a bad answer goes on before the good reply, which nobody may wait for.
PATIENCE_S = 20.0
FLOOD_BYTES = 64 * 1024 * 1024
BLOCK = 32_768 * b"x"

Answer = Callable[["HostileHost", paramiko.Channel], None]


class HostileHost(paramiko.ServerInterface):
    """Lets everybody in and answers each command with `answer`, then with a good reply."""

    def __init__(self, answer: Answer, answers_exec: bool = True) -> None:
        self.answer = answer
        self.answers_exec = answers_exec
        self.key = paramiko.ECDSAKey.generate()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.has_ended = threading.Event()
        self.logins: list[str] = []
        self.commands = 0
        self._transports: list[paramiko.Transport] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """End it with all its connections."""
        self.has_ended.set()
        self.listening.close()
        for transport in self._transports:
            transport.close()

    def connection(self, **fields: object) -> str:
        """The Airflow connection to it, with its key pinned."""
        extra = {"host_key": f"{self.key.get_name()} {self.key.get_base64()}", "compress": "true", **fields}
        known = {"conn_type": "ssh", "host": "127.0.0.1", "port": self.port, "login": "mirror", "password": "secret"}
        return json.dumps({**known, "extra": {name: value for name, value in extra.items() if value is not None}})

    def check_auth_password(self, username: str, password: str) -> int:
        """Take the one password."""
        self.logins.append("password")
        return AUTH_SUCCESSFUL if password == "secret" else AUTH_FAILED

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        """Take no key."""
        self.logins.append("publickey")
        return AUTH_FAILED

    def get_allowed_auths(self, username: str) -> str:
        """Offer both ways."""
        return "password,publickey"

    def check_channel_request(self, kind: str, chanid: int) -> int:
        """Open every channel."""
        return OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        """Answer it, where a command is answered at all."""
        self.commands += 1
        if not self.answers_exec:
            self.has_ended.wait(PATIENCE_S)
        threading.Thread(target=self._answer, args=(channel,), daemon=True).start()
        return True

    def _serve(self) -> None:
        while not self.has_ended.is_set():
            try:
                sock, _ = self.listening.accept()
            except OSError:
                return
            transport = paramiko.Transport(sock)
            self._transports.append(transport)
            transport.use_compression(True)
            transport.add_server_key(self.key)
            transport.start_server(event=threading.Event(), server=self)

    def _answer(self, channel: paramiko.Channel) -> None:
        try:
            # The request ends with the end of its standard input.
            while channel.recv(len(BLOCK)):
                pass
            self.answer(self, channel)
            channel.sendall(GOOD_REPLY)
            channel.send_exit_status(0)
            channel.close()
        except (paramiko.SSHException, OSError, EOFError):
            return


def flood(_: HostileHost, channel: paramiko.Channel) -> None:
    """Print without a pause."""
    for _number in range(FLOOD_BYTES // len(BLOCK)):
        channel.sendall(BLOCK)


def flood_stderr(_: HostileHost, channel: paramiko.Channel) -> None:
    """Complain without a pause."""
    for _number in range(FLOOD_BYTES // len(BLOCK)):
        channel.sendall_stderr(BLOCK)


def flood_below(_: HostileHost, channel: paramiko.Channel) -> None:
    """Send what SSH itself ignores, which no channel's window holds back."""
    for _number in range(FLOOD_BYTES // 30_000):
        channel.get_transport().send_ignore(30_000)


def drip(host: HostileHost, channel: paramiko.Channel) -> None:
    """Print a byte now and then."""
    for _number in range(int(PATIENCE_S * 10)):
        channel.sendall(b"x")
        if host.has_ended.wait(0.1):
            return


def break_off(_: HostileHost, channel: paramiko.Channel) -> None:
    """Close the connection in the middle of a reply."""
    channel.sendall(GOOD_REPLY[: len(GOOD_REPLY) // 2])
    channel.get_transport().close()


def answer_well(_: HostileHost, channel: paramiko.Channel) -> None:
    """Add nothing to the good reply."""


def say_and_leave(_: HostileHost, channel: paramiko.Channel) -> None:
    """Be another program, and end."""
    channel.sendall(b"hello\n")
    channel.sendall_stderr(b"This account is currently not available.\n")
    channel.send_exit_status(1)
    channel.close()


@contextmanager
def hanging_up(sent: bytes, *, resets: bool) -> Iterator[int]:
    """Serve a port that sends something to each client, reads what it says first, and closes or resets; its number."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            with client, suppress(OSError):
                client.sendall(sent)
                client.recv(1)
                if resets:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        # A close alone would not wake the thread.
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()
