"""Workers of a Kafka Connect cluster in memory, held to real ones by `connect_tools_contract.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_migration.core.connect.connect_tools import SOURCE_CONNECTOR, ConnectRoot
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError


@dataclass
class FakeWorker:
    """One worker; `refuses` are the problems that it finds in every configuration."""

    version: str = "3.9.1"
    cluster_id: str = "target"
    plugins: dict[str, str] = field(default_factory=lambda: {SOURCE_CONNECTOR: "3.9.1"})
    refuses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_down: bool = False
    validated: list[dict[str, str]] = field(default_factory=list)


@dataclass
class FakeConnectTools:
    """`core.connect.connect_tools.ConnectTools` in memory: the worker at an address, and the others by theirs.

    An address without a worker answers nothing; `refuses_login` names one that refuses the login.
    """

    address: str = "http://127.0.0.1:8083"
    workers: dict[str, FakeWorker] = field(default_factory=lambda: {"http://127.0.0.1:8083": FakeWorker()})
    refuses_login: str = ""
    calls: list[str] = field(default_factory=list)

    def root(self) -> ConnectRoot:
        """Return the version of the worker and the id of its cluster."""
        worker = self._worker("root")
        return ConnectRoot(worker.version, "f745dfdcee2b9851", worker.cluster_id)

    def plugins(self) -> Mapping[str, str]:
        """Return the versions of its connectors."""
        return self._worker("plugins").plugins

    def problems(self, config: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
        """Return what a test put there, and a number of tasks that is none."""
        worker = self._worker("problems")
        worker.validated.append(dict(config))
        tasks = {} if config.get("tasks.max", "1").isdecimal() else {"tasks.max": ("Not a number of type INT",)}
        return {**tasks, **worker.refuses}

    def at(self, address: str) -> FakeConnectTools:
        """Return the tools of another address."""
        if "://" not in address:
            raise Refused([Finding(Code.CONNECTION_INVALID, "connection", "no address of a service", "a URL", "Mend.")])
        return FakeConnectTools(address.rstrip("/"), self.workers, self.refuses_login, self.calls)

    def close(self) -> None:
        """Note that it was closed."""
        self.calls.append("close")

    def _worker(self, call: str) -> FakeWorker:
        self.calls.append(call)
        if self.address == self.refuses_login:
            raise Refused([Finding(Code.CONNECTION_INVALID, "connection", "a refused login", "an answer", "Mend it.")])
        worker = self.workers.get(self.address)
        if worker is None or worker.is_down:
            raise TransientError(f"Kafka Connect (shop_connect, {self.address}) did not answer")
        return worker
