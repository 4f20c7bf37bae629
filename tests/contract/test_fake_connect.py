"""A process on the Kafka Connect cluster in memory keeps the contract of real ones."""

from __future__ import annotations

import pytest

from kafka_migration.core.connect.connect_config import ConnectLaunch, copier_name, reservation_name
from tests.contract.connect_process_contract import ConnectProcessContract
from tests.contract.fake_connect import FakeConnect, connect_in_memory

pytestmark = pytest.mark.unit


class TestFakeConnect(ConnectProcessContract):
    """Two workers in memory."""

    @pytest.fixture(autouse=True)
    def _setup(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.connect: FakeConnect = connect_in_memory(monkeypatch)
        self.process = self.connect.process("shop")

    def launch(self, behaviour: str = "serve") -> ConnectLaunch:
        """A connector of two tasks."""
        self.connect.fails_with = "ConfigException: no number" if behaviour == "exit" else ""
        return ConnectLaunch({"topics": "orders", "tasks.max": "2"})

    def kill_process(self) -> None:
        """Let a task start again."""
        self.connect.restart_task(copier_name("shop"), 0)

    def free(self) -> None:
        """Delete the reservation."""
        del self.connect.connectors[reservation_name("shop")]
