"""A machine for mirrorctl, and the host that it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from tests.contract.local_host import SHELLS, LocalTransport, Machine

dash, *others = SHELLS


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


@pytest.fixture(params=SHELLS)
def any_machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    """A machine of each kind of shell."""
    machine = Machine.build(tmp_path, request.param)
    yield machine
    machine.end_all()


@pytest.fixture(params=[dash, *(pytest.param(shell, marks=pytest.mark.campaign) for shell in others)])
def slow_machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    """The same, for tests that wait: the other shells have their turn in the campaign."""
    machine = Machine.build(tmp_path, request.param)
    yield machine
    machine.end_all()
