"""SSH to one host through Airflow's connection: strict host keys, connection retries, no commands in the log."""

from __future__ import annotations

import errno
import json
import logging
import math
import random
import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import paramiko
from airflow.providers.ssh.hooks.ssh import SSHHook
from airflow.sdk.exceptions import AirflowException, AirflowNotFoundException
from paramiko.config import SSH_PORT

from kafka_migration.adapters.host.mirrorctl_host import ReplyLost, ReplyTimedOut, ReplyTooLong, ScriptMirrorHost
from kafka_migration.adapters.system.deadlines import time_left
from kafka_migration.airflow_adapters.airflow_connections import mask
from kafka_migration.airflow_adapters.ssh_findings import (
    changed_key,
    invalid_connection,
    missing_connection,
    not_let_in,
    reason_of,
    unknown_key,
    unreachable,
)
from kafka_migration.airflow_adapters.task_thread import in_task_thread
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.host import OpenedMirror
from kafka_migration.core.text.shortened import brief, given

CONNECT_TRIES = 3
# Three tries and two pauses take at most about 30 s; a connection's own `conn_timeout` is used.
CONNECT_TIMEOUT_S = 8
BACK_OFF_S = (1.0, 3.0)
OPEN_CHANNEL_TIMEOUT_S = 10.0
# How often a waiting read checks the other stream.
READ_SLICE_S = 0.2
CHUNK_BYTES = 65_536
# The output limit of one command, stdout and stderr together.
MAX_OUTPUT_BYTES = 8 * 1024 * 1024
# The limit for all bytes received meanwhile, including the SSH protocol itself.
MAX_RECEIVED_BYTES = 2 * MAX_OUTPUT_BYTES
# Some of Paramiko's waits have no timeout, so the connection is closed this long after the deadline.
GUARD_DELAY_S = 1.0
# Paramiko logs each connection, and from its own thread a traceback of each error that its caller gets as well.
LOG_CHANNEL = "kafka_migration.paramiko"
NO_LEVEL = logging.CRITICAL + 1
# Paramiko's value for a missing exit status.
NO_EXIT_STATUS = -1


class SshTransport:
    """A `Transport` over the `ssh` connection of Airflow; one SSH connection is kept for several calls.

    The constructor raises `Refused` (`CONNECTION_MISSING`, `CONNECTION_INVALID`) if the connection does not
    exist, is invalid, or does not verify host keys.
    """

    def __init__(self, ssh_conn_id: str) -> None:
        self._name = f"SSH connection {ssh_conn_id}"
        self._hook, self._looks_for_keys = _hook(ssh_conn_id, self._name)
        self._host = f"{self._hook.username}@{self._hook.remote_host}:{self._hook.port}"
        self._client: paramiko.SSHClient | None = None
        self._line: _Line | None = None

    def __call__(self, command: str, stdin: str, timeout_s: float) -> tuple[int, str, str]:
        """See `Transport`."""
        deadline = time.monotonic() + timeout_s
        channel = self._open_channel()
        guard = threading.Timer(timeout_s + GUARD_DELAY_S, self.close)
        guard.daemon = True
        guard.start()
        try:
            return _run(channel, command, stdin.encode(), deadline)
        except (paramiko.SSHException, OSError, EOFError) as error:
            raise self._lost(error, deadline) from error
        finally:
            channel.close()
            guard.cancel()

    def close(self) -> None:
        """Close the connection."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _lost(self, error: Exception, deadline: float) -> ReplyLost:
        """Close the connection, which may still carry parts of the reply, and return why the reply was rejected."""
        self.close()
        if isinstance(error, _TooLong) or (self._line is not None and self._line.left < 0):
            return ReplyTooLong(f"{self._host}: the output is longer than {MAX_OUTPUT_BYTES:,} bytes")
        kind = ReplyTimedOut if isinstance(error, TimeoutError) or time.monotonic() >= deadline else ReplyLost
        return kind(f"{self._host}: {reason_of(error)}")

    def _open_channel(self) -> paramiko.Channel:
        """Open a channel, on a new connection if the kept one is broken."""
        if self._client is not None:
            try:
                return self._channel_of(self._client)
            except (paramiko.SSHException, OSError, EOFError):
                self.close()
        self._client = self._connect()
        try:
            return self._channel_of(self._client)
        except (paramiko.SSHException, OSError, EOFError) as error:
            self.close()
            raise self._no_answer(f"no session was opened: {reason_of(error)}") from error

    def _channel_of(self, client: paramiko.SSHClient) -> paramiko.Channel:
        if self._line is not None:
            self._line.left = MAX_RECEIVED_BYTES
        transport = client.get_transport()
        if transport is None or not transport.is_active():
            raise EOFError("the connection is closed")
        return transport.open_session(timeout=time_left(OPEN_CHANNEL_TIMEOUT_S))

    def _connect(self) -> paramiko.SSHClient:
        """Connect, and retry only if that can help."""
        login = self._login()
        for number in range(1, CONNECT_TRIES + 1):
            try:
                return self._client_of(self._hook, login)
            except Refused:
                raise
            except paramiko.BadHostKeyException as error:
                raise Refused([changed_key(self._host, error)]) from None
            except Exception as error:
                # What a host sends can raise any error in Paramiko.
                self._refuse_what_stays(error)
                # A caller with little time left retries at its next poll.
                if number == CONNECT_TRIES or time_left(math.inf) < BACK_OFF_S[number - 1] + CONNECT_TIMEOUT_S:
                    raise self._no_answer(f"{reason_of(error)} ({number} {_tries(number)})") from error
            time.sleep(BACK_OFF_S[number - 1] * random.uniform(0.7, 1.3))  # noqa: S311 - jitter is no secret
        raise AssertionError("unreachable")

    def _login(self) -> dict[str, Any]:
        """Return the login method; raises `Refused` (`CONNECTION_INVALID`) if the key cannot be used."""
        try:
            return _login(self._hook)
        except OSError as error:
            raise Refused([invalid_connection(self._name, f"key_file {error.filename}: {error.strerror}")]) from None
        except (AirflowException, ValueError, paramiko.SSHException) as error:
            where = f"key_file {self._hook.key_file}: " if self._hook.key_file else ""
            raise Refused([invalid_connection(self._name, f"{where}{error}")]) from None

    def _no_answer(self, found: str) -> TransientError:
        return TransientError.of(unreachable(self._host, self._name, found))

    def _client_of(self, hook: SSHHook, login: Mapping[str, Any]) -> paramiko.SSHClient:
        """Log in once, with only the credentials of the connection.

        The hook would check the system's known hosts before the connection's key, offer every key of this machine, and
        enable compression, with which a few received bytes could expand to many.
        """
        client = paramiko.SSHClient()
        client.set_log_channel(_silent_channel())
        if hook.host_key is None:
            client.load_system_host_keys()
        else:
            name = hook.remote_host if hook.port == SSH_PORT else f"[{hook.remote_host}]:{hook.port}"
            client.get_host_keys().add(name, hook.host_key.get_name(), hook.host_key)
        try:
            client.connect(
                hook.remote_host,
                int(hook.port or SSH_PORT),
                hook.username,
                sock=hook.host_proxy,
                timeout=time_left(hook.conn_timeout),
                banner_timeout=time_left(hook.banner_timeout),
                auth_timeout=time_left(hook.auth_timeout),
                compress=False,
                allow_agent=self._looks_for_keys,
                look_for_keys=self._looks_for_keys,
                disabled_algorithms=hook.disabled_algorithms,
                transport_factory=self._transport_of,
                **login,
            )
        except BaseException:
            client.close()
            raise
        return client

    def _transport_of(self, sock: Any, **options: Any) -> paramiko.Transport:
        self._line = _Line(sock)
        transport = paramiko.Transport(self._line, **options)  # type: ignore[arg-type]
        if self._hook.ciphers:
            try:
                transport.get_security_options().ciphers = tuple(self._hook.ciphers)
            except ValueError as error:
                raise Refused(
                    [invalid_connection(self._name, f"ciphers {given(self._hook.ciphers)}: {error}")]
                ) from None
        transport.set_keepalive(self._hook.keepalive_interval)
        return transport

    def _shown_key(self) -> paramiko.PKey | None:
        return _key_shown_by(self._hook.remote_host, int(self._hook.port or SSH_PORT))

    def _refuse_what_stays(self, error: Exception) -> None:
        """Raise `Refused` for errors that a retry cannot fix; repeated refused logins could look like an attack."""
        text = str(error)
        if isinstance(error, paramiko.AuthenticationException) and "timeout" not in text.lower():
            raise Refused([not_let_in(self._host, self._name)]) from None
        if "No authentication methods available" in text:
            raise Refused([not_let_in(self._host, self._name)]) from None
        # The text of Paramiko's RejectPolicy, which the hook uses.
        if "not found in known_hosts" in text:
            raise Refused([unknown_key(self._host, self._name, self._shown_key())]) from None


class _Line:
    """A socket with a limit for the bytes received from the host."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.left = MAX_RECEIVED_BYTES

    def recv(self, size: int) -> bytes:
        """Receive like a socket; exceeding the limit ends the connection."""
        data = self._sock.recv(min(size, CHUNK_BYTES))
        self.left -= len(data)
        if self.left < 0:
            raise OSError(errno.EMSGSIZE, "the host sent too much")
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)


class _TooLong(OSError):
    """The command's output exceeds the limit."""


class _Known(NamedTuple):
    hook: SSHHook
    looks_for_keys: bool


@in_task_thread
def _hook(ssh_conn_id: str, name: str) -> _Known:
    try:
        connection = SSHHook.get_connection(ssh_conn_id)
        # The hook ignores an extra that is not valid JSON.
        extra = json.loads(connection.extra or "{}")
        keys = {setting: extra.get(setting) for setting in ("private_key", "private_key_passphrase")}
        # Before the hook reads them, because its errors may quote its input.
        mask({"login": connection.login, "password": connection.password, **keys})
        hook = SSHHook(ssh_conn_id, conn_retry_attempts=1, banner_timeout=CONNECT_TIMEOUT_S)
    except AirflowNotFoundException:
        raise Refused([missing_connection(name)]) from None
    except Exception as error:
        # Airflow and Paramiko raise many error types; none of them contains the key itself.
        if "isn't defined" in str(error) or "NOT_FOUND" in str(error):
            raise Refused([missing_connection(name)]) from None
        raise Refused([invalid_connection(name, brief(str(error)))]) from None
    for setting in ("no_host_key_check", "allow_host_key_change"):
        if getattr(hook, setting):
            raise Refused([invalid_connection(name, f"{setting} is true, so any host would be trusted")])
    hook.conn_timeout = hook.conn_timeout or CONNECT_TIMEOUT_S
    hook.auth_timeout = hook.auth_timeout or CONNECT_TIMEOUT_S
    return _Known(hook, str(extra.get("look_for_keys")).lower() == "true")


def _login(hook: SSHHook) -> dict[str, Any]:
    """Return the login method; if there is a key, the password only decrypts it.

    Paramiko would try a key file as each key type in turn, and so report a refused login as an unreadable file.
    """
    password = hook.password.strip() if hook.password else None
    if hook.key_file and not hook.pkey:
        path = Path(hook.key_file).expanduser()
        # Airflow's own key parser, as for `private_key`.
        text = path.read_text(encoding="utf-8")
        mask({"private_key": text})
        key = hook._pkey_from_private_key(text, passphrase=password)
        certificate = path.with_name(f"{path.name}-cert.pub")
        if certificate.is_file():
            key.load_certificate(str(certificate))
        return {"pkey": key}
    return {"pkey": hook.pkey} if hook.pkey else {"password": password}


def _run(channel: paramiko.Channel, command: str, stdin: bytes, deadline: float) -> tuple[int, str, str]:
    """Run the command; return (exit status, stdout, stderr)."""
    channel.settimeout(READ_SLICE_S)
    channel.exec_command(command)
    _send(channel, stdin, deadline)
    stdout, stderr = _receive(channel, deadline)
    if not channel.status_event.wait(max(1.0, deadline - time.monotonic())):
        raise TimeoutError("the command's exit status did not arrive")
    # Without a status, the connection broke or the command was killed; the command may or may not have ended.
    if channel.recv_exit_status() == NO_EXIT_STATUS:
        raise EOFError("the command's exit status did not arrive")
    return channel.recv_exit_status(), stdout, stderr


def _send(channel: paramiko.Channel, data: bytes, deadline: float) -> None:
    """Send all data. If the command stops reading, its output may contain the reason, so this is not an error."""
    sent = 0
    while sent < len(data):
        _check(deadline)
        try:
            sent += channel.send(data[sent : sent + CHUNK_BYTES])
        except TimeoutError:
            continue
        except OSError:
            return
    channel.shutdown_write()


def _receive(channel: paramiko.Channel, deadline: float) -> tuple[str, str]:
    """Read both output streams to the end; raises if the output is too long or too late."""
    stdout, stderr = bytearray(), bytearray()
    is_open = True
    while is_open:
        try:
            chunk = channel.recv(CHUNK_BYTES)
            stdout += chunk
            is_open = bool(chunk)
        except TimeoutError:
            pass
        while channel.recv_stderr_ready() and len(stderr) <= MAX_OUTPUT_BYTES:
            stderr += channel.recv_stderr(CHUNK_BYTES)
        if len(stdout) + len(stderr) > MAX_OUTPUT_BYTES:
            raise _TooLong
        if is_open:
            _check(deadline)
    return stdout.decode(errors="replace"), stderr.decode(errors="replace")


def _check(deadline: float) -> None:
    if time.monotonic() >= deadline:
        raise TimeoutError("no answer in time")


def _key_shown_by(host: str, port: int) -> paramiko.PKey | None:
    """Return the key that a host shows, without logging in."""
    try:
        with socket.create_connection((host, port), CONNECT_TIMEOUT_S) as connection:
            transport = paramiko.Transport(_Line(connection))  # type: ignore[arg-type]
            transport.set_log_channel(_silent_channel())
            try:
                transport.start_client(timeout=CONNECT_TIMEOUT_S)
                return transport.get_remote_server_key()
            finally:
                transport.close()
    except Exception:
        # What a host sends can raise any error in Paramiko.
        return None


def _tries(number: int) -> str:
    return "try" if number == 1 else "tries"


def _silent_channel() -> str:
    """Return Paramiko's log channel, which writes nothing: each of its errors is raised as well."""
    logging.getLogger(LOG_CHANNEL).setLevel(NO_LEVEL)
    return LOG_CHANNEL


class SshMirrorHost(ScriptMirrorHost):
    """The MirrorMaker host of an Airflow connection of type `ssh`.

    The constructor resolves the connection's details, so that a trigger can create the object on the event loop and
    call it in a thread. It connects at the first call. Not thread-safe.

    Raises `Refused` (`CONNECTION_MISSING`, `CONNECTION_INVALID`).
    """

    def __init__(self, migration: str, ssh_conn_id: str, home: str | None = None) -> None:
        super().__init__(migration, SshTransport(ssh_conn_id), home)


def opened_mirror(migration: Migration) -> OpenedMirror:
    """Return the process of a migration, and the tools of its host, over one SSH connection that is not open yet.

    Raises `Refused` (`CONNECTION_MISSING`, `CONNECTION_INVALID`).
    """
    host = SshMirrorHost(migration.name, migration.mirror.connection)
    return OpenedMirror(host, host if migration.mirror.abilities.needs_host else None)
