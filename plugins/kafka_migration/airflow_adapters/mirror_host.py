"""The MirrorMaker host behind an Airflow connection."""

from __future__ import annotations

from kafka_migration.adapters.mirror_host import ScriptMirrorHost
from kafka_migration.airflow_adapters.ssh import SshTransport


class SshMirrorHost(ScriptMirrorHost):
    """The MirrorMaker host behind an Airflow connection of type `ssh`.

    The connection's details are resolved here, so that a trigger can build it on the event loop and call it in
    a thread; nothing is connected before the first call. For one caller at a time.

    Raises `Refused` (`CONNECTION_MISSING`, `CONNECTION_INVALID`).
    """

    def __init__(self, migration: str, ssh_conn_id: str, home: str | None = None) -> None:
        super().__init__(migration, SshTransport(ssh_conn_id), home)
