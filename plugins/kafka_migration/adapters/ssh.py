"""SSH to one host through Airflow's connection: strict host keys, patient connecting, no command in the log."""

from __future__ import annotations

import base64
import hashlib
import random
import socket
import time

import paramiko
from airflow.providers.ssh.hooks.ssh import SSHHook
from airflow.sdk.exceptions import AirflowNotFoundException

from kafka_migration.adapters.transport import ReplyLost, ReplyTimedOut
from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding, Refused, TransientError

CONNECT_TRIES = 3
# Three tries and two pauses stay within about 30 s; a connection's own `conn_timeout` is respected.
CONNECT_TIMEOUT_S = 8
BACK_OFF_S = (1.0, 3.0)
OPEN_CHANNEL_TIMEOUT_S = 10.0
# How often a waiting read looks at its deadline.
READ_SLICE_S = 1.0
CHUNK_BYTES = 65_536
# Paramiko's word for an exit status that never came.
NO_EXIT_STATUS = -1


class SshTransport:
    """A `Transport` over the `ssh` connection of Airflow; one SSH connection is kept for several calls.

    Raises `Refused` (`CONNECTION_MISSING`, `CONNECTION_INVALID`) when built from a connection that does not
    exist, does not make sense, or does not verify host keys.
    """

    def __init__(self, ssh_conn_id: str) -> None:
        self._name = f"SSH connection {ssh_conn_id}"
        self._hook = _hook(ssh_conn_id, self._name)
        self._host = f"{self._hook.username}@{self._hook.remote_host}:{self._hook.port}"

    def __call__(self, command: str, stdin: str, timeout_s: float) -> tuple[int, str, str]:
        """See `Transport`."""
        deadline = time.monotonic() + timeout_s
        channel = self._open_channel()
        try:
            channel.settimeout(READ_SLICE_S)
            channel.exec_command(command)
            _send(channel, stdin.encode(), deadline)
            stdout, stderr = _receive(channel, deadline)
            if not channel.status_event.wait(max(1.0, deadline - time.monotonic())):
                raise TimeoutError("the command's exit status did not come")
            # Without a status the connection broke, or the command was killed; it then may be at an end or not.
            if channel.recv_exit_status() == NO_EXIT_STATUS:
                raise EOFError("the command's exit status did not come")
            return channel.recv_exit_status(), stdout, stderr
        except TimeoutError as error:
            self.close()
            raise ReplyTimedOut(f"{self._host}: {_text(error)}") from error
        except (paramiko.SSHException, OSError, EOFError) as error:
            self.close()
            raise ReplyLost(f"{self._host}: {_text(error)}") from error
        finally:
            channel.close()

    def close(self) -> None:
        """Close the connection."""
        client, self._hook.client = self._hook.client, None
        if client is not None:
            client.close()

    def _open_channel(self) -> paramiko.Channel:
        """Open a channel, on a new connection where the kept one turns out to be broken."""
        if self._hook.client is not None:
            try:
                return self._channel_of(self._hook.client)
            except (paramiko.SSHException, OSError, EOFError):
                self.close()
        client = self._connect()
        try:
            return self._channel_of(client)
        except (paramiko.SSHException, OSError, EOFError) as error:
            self.close()
            raise TransientError(f"{Code.SSH_UNREACHABLE}: {self._host} opened no session: {_text(error)}") from error

    @staticmethod
    def _channel_of(client: paramiko.SSHClient) -> paramiko.Channel:
        transport = client.get_transport()
        if transport is None or not transport.is_active():
            raise EOFError("the connection is closed")
        return transport.open_session(timeout=OPEN_CHANNEL_TIMEOUT_S)

    def _connect(self) -> paramiko.SSHClient:
        """Connect, trying again only where that can help."""
        for number in range(1, CONNECT_TRIES + 1):
            try:
                client: paramiko.SSHClient = self._hook.get_conn()
                return client
            except paramiko.BadHostKeyException as error:
                raise Refused([_changed(self._host, error)]) from None
            except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
                raise Refused([_invalid(self._name, f"key_file {error.filename}: {error.strerror}")]) from None
            except (paramiko.SSHException, OSError, EOFError) as error:
                self._refuse_what_stays(error)
                if number == CONNECT_TRIES:
                    text = f"{Code.SSH_UNREACHABLE}: {self._host}: {_text(error)} ({CONNECT_TRIES} tries)"
                    raise TransientError(text) from error
            time.sleep(BACK_OFF_S[number - 1] * random.uniform(0.7, 1.3))  # noqa: S311 - jitter is no secret
        raise AssertionError("unreachable")

    def _refuse_what_stays(self, error: Exception) -> None:
        """Raise `Refused` for what another try would not mend, least of all a login that counts as an attack."""
        text = str(error)
        if isinstance(error, paramiko.AuthenticationException) and "timeout" not in text.lower():
            raise Refused([_not_let_in(self._host, self._name)]) from None
        if "No authentication methods available" in text:
            raise Refused([_not_let_in(self._host, self._name)]) from None
        # The text of Paramiko's RejectPolicy, which the hook leaves in place.
        if "not found in known_hosts" in text:
            raise Refused([self._unknown()]) from None

    def _unknown(self) -> Finding:
        key = _key_shown_by(self._hook.remote_host, int(self._hook.port or 22))
        shown = f"{key.get_name()} {_fingerprint(key)}" if key else "a key that could not be read"
        line = f"{key.get_name()} {key.get_base64()}" if key else "<type> <key>"
        return Finding(
            Code.SSH_HOST_KEY_UNKNOWN,
            self._host,
            shown,
            "a host key pinned in the Airflow connection",
            "Compare the fingerprint on the host itself (`ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub`); if it is the "
            f'same, set the extra of {self._name}: "host_key": "{line}".',
        )


def _hook(ssh_conn_id: str, name: str) -> SSHHook:
    # One attempt: the hook would also repeat a refused login, and lock the account.
    try:
        hook = SSHHook(ssh_conn_id, conn_retry_attempts=1, banner_timeout=CONNECT_TIMEOUT_S)
    except AirflowNotFoundException:
        raise Refused([_missing(name)]) from None
    except Exception as error:
        # Airflow and Paramiko refuse a connection with many types; none of them holds the key itself.
        if "isn't defined" in str(error) or "NOT_FOUND" in str(error):
            raise Refused([_missing(name)]) from None
        raise Refused([_invalid(name, str(error))]) from None
    for setting in ("no_host_key_check", "allow_host_key_change"):
        if getattr(hook, setting):
            raise Refused([_invalid(name, f"{setting} is true, so any host would be believed")])
    hook.conn_timeout = hook.conn_timeout or CONNECT_TIMEOUT_S
    hook.auth_timeout = hook.auth_timeout or CONNECT_TIMEOUT_S
    return hook


def _send(channel: paramiko.Channel, data: bytes, deadline: float) -> None:
    """Send all; a command that reads no further may have said why, so that is no error here."""
    sent = 0
    while sent < len(data):
        try:
            sent += channel.send(data[sent : sent + CHUNK_BYTES])
        except TimeoutError:
            _check(deadline)
        except OSError:
            return
    channel.shutdown_write()


def _receive(channel: paramiko.Channel, deadline: float) -> tuple[str, str]:
    """Read to the end of the output. What goes to stderr is small; it is taken at the end."""
    chunks = []
    while True:
        try:
            chunk = channel.recv(CHUNK_BYTES)
        except TimeoutError:
            _check(deadline)
            continue
        if not chunk:
            break
        chunks.append(chunk)
    stderr = channel.recv_stderr(CHUNK_BYTES) if channel.recv_stderr_ready() else b""
    return b"".join(chunks).decode(errors="replace"), stderr.decode(errors="replace")


def _check(deadline: float) -> None:
    if time.monotonic() >= deadline:
        raise TimeoutError("no answer in time")


def _key_shown_by(host: str, port: int) -> paramiko.PKey | None:
    """Return the key that a host shows, without logging in."""
    try:
        with socket.create_connection((host, port), CONNECT_TIMEOUT_S) as connection:
            transport = paramiko.Transport(connection)
            try:
                transport.start_client(timeout=CONNECT_TIMEOUT_S)
                return transport.get_remote_server_key()
            finally:
                transport.close()
    except (paramiko.SSHException, OSError, EOFError):
        return None


def _fingerprint(key: paramiko.PKey) -> str:
    return "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")


def _text(error: Exception) -> str:
    return str(error) or type(error).__name__


def _changed(host: str, error: paramiko.BadHostKeyException) -> Finding:
    return Finding(
        Code.SSH_HOST_KEY_CHANGED,
        host,
        f"{error.key.get_name()} {_fingerprint(error.key)}",
        f"the pinned {error.expected_key.get_name()} {_fingerprint(error.expected_key)}",
        "Find out why: the host was set up anew, or something stands between. Only if the new fingerprint is seen on "
        "the host itself, pin the new key in the Airflow connection.",
    )


def _not_let_in(host: str, name: str) -> Finding:
    return Finding(
        Code.SSH_AUTH_FAILED,
        host,
        "the login was refused",
        "a user and a key or password that the host accepts",
        f"Correct the user, key or password in {name}. It was tried once, so that no account gets locked.",
    )


def _missing(name: str) -> Finding:
    return Finding(
        Code.CONNECTION_MISSING,
        name,
        "no such Airflow connection",
        "a connection of type ssh to the MirrorMaker host",
        "Create it (Admin > Connections), or name another one in `mirror.connection`.",
    )


def _invalid(name: str, found: str) -> Finding:
    return Finding(
        Code.CONNECTION_INVALID,
        name,
        found,
        "host, user, key or password, and the host's key as `host_key` in the extra",
        "Correct the connection; host keys are always verified.",
    )
