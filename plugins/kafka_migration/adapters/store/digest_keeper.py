"""Keeps the digests of a run's evidence where each task of the run has a storage of its own, as in Airflow's XCom."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from kafka_migration.core.evidence.digests import Kept, joined

# The key of what a task stores.
KEY = "kafka_migration_evidence"
_EXTRA = ("migration_file", "answer", "refusal")


def digests_in(values: Iterable[Any], migration: str) -> dict[str, str]:
    """Return the digests in what the tasks of a run stored under `KEY`; a value of another form has none."""
    mine = (value for value in values if isinstance(value, Mapping) and value.get("migration") == migration)
    kept = (value["digests"] for value in mine if isinstance(value.get("digests"), Mapping))
    return joined(*({name: str(digest) for name, digest in each.items()} for each in kept))


class Shelf(Protocol):
    """The storage of one task (or its trigger) in Airflow's database, next to that of the run's other tasks."""

    def own(self) -> Mapping[str, Any]:
        """Return what earlier tries of this task stored; empty if nothing."""

    def for_tries(self) -> Mapping[str, Any]:
        """Return what this task stored for its later tries; empty if nothing."""

    def begun(self) -> Iterable[Any]:
        """Return what the tasks of the run have stored, without those that Airflow shows as not begun."""

    def all(self) -> Iterable[Any]:
        """Return what all tasks of the run have stored."""

    def put(self, value: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        """Store what later tries of this task need, then a value for all tasks."""

    def put_back(self, value: Mapping[str, Any]) -> None:
        """Store a value for all tasks only."""


class TaskKeeper:
    """Keeps the digests of a run's evidence outside the evidence root (`core.evidence.digests.Keeper`).

    `known` are the digests that a trigger was started with.
    """

    def __init__(self, shelf: Shelf, migration: str, known: Mapping[str, str] | None = None) -> None:
        self._shelf = shelf
        self._migration = migration
        self._known = dict(known or {})
        self._own: dict[str, str] = {}
        self._extra: dict[str, Any] = {}
        self._found: list[Mapping[str, Any]] | None = None
        self._current: Kept | None = None
        # A trigger sends alerts in parallel with its polls, and both write.
        self._lock = threading.RLock()

    def kept(self) -> Kept:
        """Return what all tasks of the run had stored at the last read."""
        with self._lock:
            return self._kept()

    def _kept(self) -> Kept:
        if self._current is None:
            if self._found is None:
                self._begin(self._shelf.begun())
            self._current = self._gathered()
        return self._current

    def _gathered(self) -> Kept:
        values = [*(self._found or ()), self._extra]
        answers = [value["answer"] for value in values if value.get("answer")]
        return Kept(
            joined(self._others(), self._own),
            next((value["migration_file"] for value in reversed(values) if value.get("migration_file")), None),
            max(answers, key=lambda answer: str(answer["asked_at"]), default=None),
            tuple(value["refusal"] for value in values if value.get("refusal")),
        )

    def look_again(self) -> Kept:
        """Read the storage of all tasks of the run again."""
        with self._lock:
            if self._found is None:
                self._begin(self._shelf.all())
            else:
                self._found = self._mine(self._shelf.all())
            self._current = None
            return self._kept()

    def keep(self, digests: Mapping[str, str]) -> None:
        """Keep the digests of documents that this task writes."""
        self._keep(digests, {})

    def keep_migration(self, text: str, digests: Mapping[str, str]) -> None:
        """Keep the text of the migration file, and the announcement of its copy."""
        self._keep(digests, {"migration_file": text})

    def keep_answer(self, answer: Mapping[str, Any]) -> None:
        """Keep the latest question and the user's answer."""
        self._keep({}, {"answer": dict(answer)})

    def keep_refusal(self, refusal: Mapping[str, Any]) -> None:
        """Keep why this task refused, because the evidence store did not take it."""
        self._keep({}, {"refusal": dict(refusal)})

    def put_back(self) -> None:
        """Store for all tasks what Airflow deleted when this process began, while another one makes the same try.

        That one may store more at the same time, first for its later tries and then for all. So what is read there
        after the last write here is not newer than what all tasks see.
        """
        stored: Mapping[str, Any] = {}
        while (found := self._shelf.for_tries()) != stored:
            stored = found
            self._shelf.put_back(found)

    def _keep(self, digests: Mapping[str, str], extra: Mapping[str, Any]) -> None:
        with self._lock:
            self._kept()
            self._own |= digests
            self._extra |= extra
            self._put()

    def _begin(self, values: Iterable[Any]) -> None:
        """Use the values of all tasks, and read those of earlier tries: Airflow cleared their XCom for this try."""
        self._found = self._mine(values)
        for value in self._mine([self._shelf.own()]):
            self._own = dict(value["digests"])
            self._extra = {name: value[name] for name in _EXTRA if name in value}
        if self._own.keys() - self._others().keys():
            self._put()

    def _mine(self, values: Iterable[Any]) -> list[Mapping[str, Any]]:
        """Return the values of this migration only: a mapped task has one per migration."""
        return [value for value in values if isinstance(value, Mapping) and value.get("migration") == self._migration]

    def _others(self) -> dict[str, str]:
        return joined(self._known, *(value["digests"] for value in self._found or ()))

    def _put(self) -> None:
        self._current = None
        mine = {"migration": self._migration, "digests": self._own}
        self._shelf.put({**mine, **self._extra, "digests": joined(self._others(), self._own)}, mine)
