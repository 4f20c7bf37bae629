"""The tests' Kafka Connect workers do what the contract says."""

from __future__ import annotations

import pytest

from tests.contract.connect_tools_contract import ConnectToolsContract
from tests.contract.fake_connect_tools import FakeConnectTools, FakeWorker

pytestmark = pytest.mark.unit


class TestFakeConnectTools(ConnectToolsContract):
    """Two workers in memory."""

    second = "http://127.0.0.1:8084/"
    cluster_id = "target"

    @pytest.fixture(autouse=True)
    def _workers(self) -> None:
        self.tools = FakeConnectTools(workers={f"http://127.0.0.1:{port}": FakeWorker() for port in (8083, 8084)})
