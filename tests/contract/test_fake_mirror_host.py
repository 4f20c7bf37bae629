"""The fake MirrorMaker host keeps the contract of the real one."""

from __future__ import annotations

import pytest

from kafka_migration.core.mirror.host import MirrorLaunch
from tests.contract.fake_mirror_host import FakeMirrorHost
from tests.contract.host_contract import HostContract

pytestmark = pytest.mark.unit


class TestFakeMirrorHost(HostContract):
    """The contract, run by the fake."""

    def setup_method(self) -> None:
        """Begin with a host that knows nothing."""
        self.fake = self.host = FakeMirrorHost()

    def launch(self, behaviour: str = "serve") -> MirrorLaunch:
        """Tell the fake what its next process does."""
        self.fake.ignores_term = behaviour == "ignore-term"
        self.fake.dies_at_start = behaviour == "exit"
        return MirrorLaunch("kafka.tools.MirrorMaker", (), {}, (), None, None, lease_s=60)

    def kill_process(self) -> None:
        """End the process."""
        self.fake.die(137)

    def log_alarm(self, line: str) -> None:
        """Set it."""
        self.fake.alarm = line
