"""The fake MirrorMaker host keeps the contract of the real one."""

from __future__ import annotations

import pytest

from kafka_migration.core.mirror.host import PROBE_CLASS, HostProbe, MirrorLaunch
from tests.contract.fake_mirror_host import FakeMirrorHost
from tests.contract.host_contract import HostContract

pytestmark = pytest.mark.unit


class TestFakeMirrorHost(HostContract):
    """The contract, run by the fake."""

    def setup_method(self) -> None:
        """Begin with a host that knows nothing."""
        self.fake = self.host = FakeMirrorHost(probe_output="a tool's complaint\n", probe_exit_code=3)

    def launch(self, behaviour: str = "serve") -> MirrorLaunch:
        """Tell the fake what its next process does."""
        self.fake.ignores_term = behaviour == "ignore-term"
        self.fake.dies_at_start = behaviour == "exit"
        return MirrorLaunch("kafka.tools.MirrorMaker", (), {}, (), None, None, lease_s=60)

    def kill_process(self) -> None:
        """End the process."""
        self.fake.die(137)

    def probe(self) -> HostProbe:
        """A tool."""
        return HostProbe(PROBE_CLASS, (), {}, 10, None, None)

    def log_alarm(self, line: str) -> None:
        """Set it."""
        self.fake.alarm = line
