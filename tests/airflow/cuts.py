"""Kills a task before or after each action that it performs on a cluster, the host, the ledger or the evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kafka_migration.adapters.evidence import RunEvidence
from kafka_migration.adapters.ledger_store import LedgerStore
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirror_host import FakeMirrorHost

ACTIONS: tuple[tuple[type, tuple[str, ...]], ...] = (
    (
        FakeCluster,
        ("create_topics", "create_partitions", "alter_configs", "delete_topics", "alter_offsets", "delete_group"),
    ),
    (FakeMirrorHost, ("reserve", "release", "start", "stop", "clean")),
    (LedgerStore, ("append",)),
    (RunEvidence, ("write", "freeze_migration", "publish")),
)


class Killed(BaseException):
    """The task was killed; no code of the package may handle this."""


class Cuts:
    """Counts the actions, and kills at the one with number `at`: before it for an even number, else after it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at: int | None = None
        self.seen = 0
        self.last = ""
        for owner, names in ACTIONS:
            for name in names:
                monkeypatch.setattr(owner, name, self._cut(f"{owner.__name__}.{name}", getattr(owner, name)))

    def _cut(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def cut(*args: Any, **kwargs: Any) -> Any:
            self._pass(f"before {name}")
            result = call(*args, **kwargs)
            self._pass(f"after {name}")
            return result

        return cut

    def _pass(self, where: str) -> None:
        if self.at is None:
            return
        self.seen += 1
        if self.seen > self.at:
            # Python runs `finally` after the exception, a killed process does not: so nothing works from here on.
            self.last = self.last or where
            raise Killed(where)

    @contextmanager
    def at_action(self, number: int) -> Iterator[None]:
        """Kill at the action of this number, if there is one; `last` names it, else it is empty."""
        self.at, self.seen, self.last = number, 0, ""
        try:
            yield
        except Killed:
            pass
        finally:
            self.at = None
