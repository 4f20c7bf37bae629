"""Findings about an SSH connection, and what Paramiko's errors mean."""

from __future__ import annotations

import base64
import hashlib
import re

import paramiko
from paramiko.ssh_exception import NoValidConnectionsError

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.shortened import brief, sentence

_ERROR_NUMBER = re.compile(r"\s{0,3}\[Errno [-\w]{1,10}\]\s{0,3}")


def reason_of(error: Exception) -> str:
    """Return the reason in words, without numbers of errors."""
    if isinstance(error, NoValidConnectionsError):
        return "; ".join(f"{address[0]} port {address[1]}: {reason_of(each)}" for address, each in error.errors.items())
    if isinstance(error, OSError) and error.strerror:
        return str(error.strerror)
    if isinstance(error, EOFError) and not str(error):
        return "the other side closed the connection"
    return brief(_ERROR_NUMBER.sub(": ", str(error)).removeprefix(": ")) or type(error).__name__


def unreachable(host: str, connection: str, found: str) -> Finding:
    """Return the finding of a host that does not answer."""
    return Finding(
        Code.SSH_UNREACHABLE,
        host,
        found,
        "an SSH server that answers",
        f"Check the address in {connection}, the network path, and that sshd runs on the host. Then clear the task "
        "with its downstream tasks.",
        happened=sentence(f"{host} did not answer by SSH: {found}"),
        matters="The request was not sent to this host, and the state of MirrorMaker there is unknown.",
    )


def unknown_key(host: str, connection: str, key: paramiko.PKey | None) -> Finding:
    """Return the finding of a host whose key, as it shows it now, is not pinned."""
    shown = f"{key.get_name()} {_fingerprint(key)}" if key else "a key that could not be read"
    line = f"{key.get_name()} {key.get_base64()}" if key else "<type> <key>"
    return Finding(
        Code.SSH_HOST_KEY_UNKNOWN,
        host,
        shown,
        "a host key pinned in the Airflow connection",
        "Read the fingerprint on the host itself (`ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub`). If it is the same, "
        f'set in the extra of {connection}: "host_key": "{line}".',
        happened=f"{host} showed {shown}, which {connection} does not pin.",
        matters="Without a pinned key, any machine at this address could receive the logins of both clusters, so "
        "Airflow did not log in.",
    )


def changed_key(host: str, error: paramiko.BadHostKeyException) -> Finding:
    """Return the finding of a host that shows another key than the pinned one."""
    shown, pinned = (f"{key.get_name()} {_fingerprint(key)}" for key in (error.key, error.expected_key))
    return Finding(
        Code.SSH_HOST_KEY_CHANGED,
        host,
        shown,
        f"the pinned {pinned}",
        "Ask the administrator whether the host was reinstalled. Pin the new key in the Airflow connection only after "
        "you have compared its fingerprint on the host itself.",
        happened=f"{host} showed the host key {shown}; the Airflow connection pins {pinned}.",
        matters="Another machine may answer at this address. Airflow did not log in, so it has sent no login.",
    )


def not_let_in(host: str, name: str) -> Finding:
    """Return the finding of a host that refuses the login."""
    return Finding(
        Code.SSH_AUTH_FAILED,
        host,
        "the login was refused",
        "a user and a key or password that the host accepts",
        f"Correct the user, key or password in {name}. Then clear the task with its downstream tasks.",
        happened=f"{host} refused the login of {name}.",
        matters="Airflow can neither start nor stop MirrorMaker there. It tried the login only once, so that the host "
        "does not lock the account.",
    )


def missing_connection(name: str) -> Finding:
    """Return the finding of a connection that does not exist."""
    return Finding(
        Code.CONNECTION_MISSING,
        name,
        "no such Airflow connection",
        "a connection of type ssh to the MirrorMaker host",
        "Create it (Admin > Connections), or set `mirror.connection` to an existing connection.",
        happened=f"{name} does not exist in Airflow.",
        matters="Without it, Airflow cannot reach the MirrorMaker host.",
    )


def invalid_connection(name: str, found: str) -> Finding:
    """Return the finding of a connection that cannot be used."""
    return Finding(
        Code.CONNECTION_INVALID,
        name,
        found,
        "host, user, key or password, and the host's key as `host_key` in the extra",
        "Correct in this connection what the message names. Its extra needs the key of the host as `host_key`, because "
        "host keys are always verified.",
        happened=sentence(f"{name} cannot be used: {found}"),
        matters="Airflow cannot log in to the MirrorMaker host.",
    )


def _fingerprint(key: paramiko.PKey) -> str:
    return "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")
