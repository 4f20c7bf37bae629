"""The real mirrorctl keeps the contract, in every shell that a host may have as `sh`."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.core.mirror.host import MirrorLaunch
from tests.contract.host_contract import HostContract
from tests.contract.local_host import SHELLS, ForcedTransport, LocalTransport, Machine
from tests.waiting import wait_until

pytestmark = pytest.mark.live

dash, *others = SHELLS
FORCED = "forced command"


class TestMirrorctl(HostContract):
    """The contract, run by the script on this machine."""

    @pytest.fixture(
        autouse=True,
        params=[dash, *(pytest.param(variation, marks=pytest.mark.campaign) for variation in (*others, FORCED))],
    )
    def machine(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
        """A machine of its own per test, left without a process."""
        forced = request.param == FORCED
        self.here = Machine.build(tmp_path, dash if forced else request.param)
        transport = (ForcedTransport if forced else LocalTransport)(self.here)
        self.host = ScriptMirrorHost("shop", transport, str(self.here.home))
        self.has_getent = self.here.has_getent
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

    def log_alarm(self, line: str) -> None:
        """Write it into the log of generation 1."""
        self.here.log(line)
