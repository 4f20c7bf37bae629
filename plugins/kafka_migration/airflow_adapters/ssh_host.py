"""The MirrorMaker host behind an Airflow connection."""

from __future__ import annotations

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.airflow_adapters.ssh import SshTransport
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.host import OpenedMirror


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
