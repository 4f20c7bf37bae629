"""What goes on now, and how the last run ended: two small documents per migration, for whoever looks from outside.

They are replaced as a whole, and nothing in a run relies on them, so one that cannot be written changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from kafka_migration.adapters.documents import Folder, is_there, read_json, to_json, write_whole

PROGRESS_FILE = "progress.json"
LAST_RUN_FILE = "last-run.json"

log = logging.getLogger(__name__)


class NewsStore:
    """The news of one migration."""

    def __init__(self, root: Folder, migration: str) -> None:
        self.folder = root / migration
        self._is_complained_of = False

    def progress(self) -> dict[str, Any] | None:
        """Return what goes on now; `None` before anything did. Raises what the store raises."""
        return self._read(PROGRESS_FILE)

    def last_run(self) -> dict[str, Any] | None:
        """Return how the last run ended; `None` before one has. Raises what the store raises."""
        return self._read(LAST_RUN_FILE)

    def tell_progress(self, document: Mapping[str, Any]) -> None:
        """Replace what goes on now, if that can be done."""
        self._tell(PROGRESS_FILE, document)

    def tell_step(self, run: str, step: str, at: str) -> None:
        """Note which step a run has come to; what its watch told last stays."""
        known = self.known_progress(run)
        self.tell_progress({**known, "schema": 1, "run": run, "step": step, "at": at, "step_at": at})

    def tell_stopped(self, run: str, generation: int, at: str) -> None:
        """Note that a generation of MirrorMaker lives no more, whether or not it has its certificate."""
        known = self.known_progress(run)
        self.tell_progress(
            {**known, "schema": 1, "run": run, "at": at, "stopped": {"generation": generation, "at": at}}
        )

    def tell_ended(self, run: str, at: str) -> None:
        """Note that a run goes on no more, if it is the one that was told of."""
        if known := self.known_progress(run):
            self.tell_progress({**known, "ended_at": at})

    def known_progress(self, run: str) -> dict[str, Any]:
        """Return what was told of this run last; nothing where that cannot be read."""
        try:
            known = self.progress() or {}
        except Exception:
            # Whatever a store raises: it is only news.
            return {}
        return known if known.get("run") == run else {}

    def tell_last_run(self, document: Mapping[str, Any]) -> None:
        """Replace how the last run ended, if that can be done."""
        self._tell(LAST_RUN_FILE, document)

    def _read(self, name: str) -> dict[str, Any] | None:
        return read_json(self.folder / name) if is_there(self.folder / name) else None

    def _tell(self, name: str, document: Mapping[str, Any]) -> None:
        try:
            write_whole(self.folder / name, to_json(document))
            self._is_complained_of = False
        except Exception as error:
            # A run must not end because nobody can be told how it goes.
            if not self._is_complained_of:
                log.warning("%s was not written: %s: %s", self.folder / name, type(error).__name__, error)
            self._is_complained_of = True
