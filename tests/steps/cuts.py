"""Kills a task before or after each action that it performs on a cluster, the host, the ledger or the evidence."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from kafka_migration.adapters.store.evidence_store import New, RunEvidence
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.core.evidence.evidence_documents import Kind, StoredKind
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirror_host import FakeMirrorHost

Actions = tuple[tuple[type, tuple[str, ...]], ...]
Arguments = tuple[Any, ...]


def watch(
    monkeypatch: pytest.MonkeyPatch,
    actions: Iterable[tuple[Any, tuple[str, ...]]],
    reach: Callable[[str], None],
    details: Callable[[Arguments], Iterable[str]] = lambda _: (),
) -> None:
    """Call `reach` with the words of each moment before and after an action; `details` adds words of its arguments."""

    def watched(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any, **kwargs: Any) -> Any:
            what = " ".join([name, *details(args)])
            reach(f"before {what}")
            result = call(*args, **kwargs)
            reach(f"after {what}")
            return result

        return act

    for owner, names in actions:
        for name in names:
            where = f"{owner.__name__.rpartition('.')[2]}.{name}"
            monkeypatch.setattr(owner, name, watched(where, getattr(owner, name)))


def actions_on(cluster: type, host: type) -> Actions:
    """Return the actions of tasks that use these classes for the clusters and the host."""
    return (
        (
            cluster,
            ("create_topics", "create_partitions", "alter_configs", "delete_topics", "alter_offsets", "delete_group"),
        ),
        (host, ("reserve", "release", "start", "stop", "clean")),
        (LedgerStore, ("append",)),
        (RunEvidence, ("write", "write_together", "freeze_migration", "publish")),
    )


ACTIONS = actions_on(FakeCluster, FakeMirrorHost)


class Killed(BaseException):
    """The task was killed; no code of the package may handle this."""


class Cuts:
    """Kills at an action: by its number, before it for an even number, else after it; or by its name."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, actions: Actions = ACTIONS) -> None:
        self.last = ""
        self._is_due: Callable[[str], bool] | None = None
        watch(monkeypatch, actions, self._pass, _kinds)

    def _pass(self, where: str) -> None:
        # Python runs `finally` after the exception, a killed process does not: so nothing works from here on.
        if self._is_due is not None and (self.last or self._is_due(where)):
            self.last = self.last or where
            raise Killed(where)

    @contextmanager
    def at_action(self, number: int) -> Iterator[None]:
        """Kill at the action of this number, if there is one; `last` names it, else it is empty."""
        count = itertools.count()
        with self._cutting(lambda where: next(count) >= number):
            yield

    @contextmanager
    def at(self, moment: str) -> Iterator[None]:
        """Kill at a moment such as `after LedgerStore.append judged`, which must come."""
        with self._cutting(moment.__eq__):
            yield
        assert self.last == moment, f"there was no moment {moment}"

    @contextmanager
    def _cutting(self, is_due: Callable[[str], bool]) -> Iterator[None]:
        self._is_due, self.last = is_due, ""
        try:
            yield
        except Killed:
            pass
        finally:
            self._is_due = None


def _kinds(args: Arguments) -> Iterator[str]:
    """Yield the kind of the document or ledger entry that an action writes."""
    for arg in args:
        if isinstance(arg, Kind | StoredKind):
            yield str(arg)
        elif isinstance(arg, New):
            yield str(arg.kind)
        elif isinstance(arg, Mapping) and "kind" in arg:
            yield str(arg["kind"])
