"""A run on fakes, for use cases: an evidence store in a folder, two clusters and a host in memory, no Airflow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_migration.core.evidence.digests import Kept
from kafka_migration.core.mirror.host import OpenedMirror
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.steps.run.deployment import Deployment
from kafka_migration.steps.run.migration_run import MigrationRun
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirror_host import FakeMirrorHost
from tests.contract.memory_anchor import MemoryAnchor

NOW = datetime(2030, 1, 1, tzinfo=UTC)
DAG_ID = "kafka_migration__shop"


@dataclass
class StandingClock:
    """A `core.clock.Clock` that stands still."""

    def now(self) -> datetime:
        """Return the present time."""
        return NOW

    def monotonic_s(self) -> float:
        """Return the present second."""
        return 1000.0

    def sleep(self, seconds: float) -> None:
        """Return at once."""


@dataclass
class MemoryKeeper:
    """Keeps the digests of one run's evidence in memory (`Keeper`)."""

    has: Kept = field(default_factory=Kept)

    def kept(self) -> Kept:
        """Return what is kept."""
        return self.has

    look_again = kept

    def keep(self, digests: Mapping[str, str]) -> None:
        """Keep digests."""
        self.has = replace(self.has, digests={**self.has.digests, **digests})

    def keep_migration(self, text: str, digests: Mapping[str, str]) -> None:
        """Keep the migration file, and the announcement of its copy."""
        self.has = replace(self.has, migration=text)
        self.keep(digests)

    def keep_answer(self, answer: Mapping[str, Any]) -> None:
        """Keep an answer."""
        self.has = replace(self.has, answer=answer)

    def put_back(self) -> None:
        """Keep what is kept."""

    def keep_refusal(self, refusal: Mapping[str, Any]) -> None:
        """Keep a refusal that the store did not take."""
        self.has = replace(self.has, refusals=(*self.has.refusals, refusal))


@dataclass
class RunStage:
    """Where a run of the migration `shop` happens."""

    root: Path
    source: FakeCluster = field(default_factory=lambda: FakeCluster("old"))
    target: FakeCluster = field(default_factory=lambda: FakeCluster("new"))
    host: FakeMirrorHost = field(default_factory=lambda: FakeMirrorHost("shop"))
    keeper: MemoryKeeper = field(default_factory=MemoryKeeper)
    anchor: MemoryAnchor = field(default_factory=MemoryAnchor)
    params: dict[str, Any] = field(default_factory=lambda: {"mode": "sync", "topics": [], "note": ""})
    identity: RunIdentity = field(default_factory=lambda: RunIdentity(DAG_ID, "manual__1", 1))

    @property
    def run(self) -> MigrationRun:
        """The run as one of its tasks sees it."""
        deployment = Deployment(
            evidence_root=self.root,
            migrations_folder=self.root / "migrations",
            anchor=lambda migration: self.anchor,
            open_cluster=lambda side, cluster: self.source if side == "source" else self.target,
            open_mirror=lambda migration: OpenedMirror(self.host, self.host),
            open_registry=self._nothing,
            client_settings=self._nothing,
            run_link=lambda identity, task: f"http://airflow/{identity.run_id}/{task}",
            clock=StandingClock(),
        )
        return MigrationRun("shop", self.identity, self.params, deployment, keeper=self.keeper)

    @staticmethod
    def _nothing(*asked: object) -> Any:
        raise AssertionError(f"the use case asked for {asked}")
