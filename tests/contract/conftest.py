"""A machine for mirrorctl, and the host that it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_migration.adapters.mirror_host import ScriptMirrorHost
from tests.contract.local_host import LocalTransport, Machine


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine whose `sh` is dash, left without a process."""
    machine = Machine.build(tmp_path, "dash")
    yield machine
    machine.end_all()


@pytest.fixture
def host(machine: Machine) -> ScriptMirrorHost:
    """A new host on it."""
    return ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home))
