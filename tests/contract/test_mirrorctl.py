"""The real mirrorctl keeps the contract, in every shell that a host may have as `sh`."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_migration.adapters.mirror_host import ScriptMirrorHost
from kafka_migration.core.host import MirrorLaunch
from tests.contract.host_contract import HostContract
from tests.contract.local_host import SHELLS, LocalTransport, Machine
from tests.waiting import wait_until

pytestmark = pytest.mark.live

dash, *others = SHELLS


class TestMirrorctl(HostContract):
    """The contract, run by the script on this machine."""

    @pytest.fixture(autouse=True, params=[dash, *(pytest.param(shell, marks=pytest.mark.campaign) for shell in others)])
    def machine(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
        """A machine of its own per test, left without a process."""
        self.here = Machine.build(tmp_path, request.param)
        self.host = ScriptMirrorHost("shop", LocalTransport(self.here), str(self.here.home))
        yield
        self.here.end_all()

    def launch(self, behaviour: str = "serve") -> MirrorLaunch:
        """The stand-in for Java."""
        return self.here.launch(behaviour)

    def kill_process(self) -> None:
        """Kill it as the kernel would, and wait until its end is on record."""
        pid = self.host.status().pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: self.host.status().exit_code is not None, what="the record of the end")
