"""The small documents of a migration beside its evidence: progress, its course over several nights, result of the last
run, requests to stop mirroring.

They are replaced as a whole.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kafka_migration.adapters.store.document_files import Folder, is_there, naming, read_json, to_json, write_whole
from kafka_migration.core.documents.codec import DoesNotFit
from kafka_migration.core.findings.errors import EvidenceUnreadable
from kafka_migration.core.report.progress_series import ProgressSeries, SeriesPoint, with_point
from kafka_migration.core.run.stop_request import StopRequest

PROGRESS_FILE = "progress.json"
SERIES_FILE = "progress-series.json"
LAST_RUN_FILE = "last-run.json"
# The triggerer parses the progress, for which all its triggers wait. The last run may have findings on 5,000 topics.
_MOST_BYTES = {PROGRESS_FILE: 1024 * 1024, SERIES_FILE: 128 * 1024, LAST_RUN_FILE: 16 * 1024 * 1024}

STOP_REQUESTS_FOLDER = "stop-requests"
# The triggerer parses a request at each poll, for which all its triggers wait.
MAX_BYTES = 64 * 1024

log = logging.getLogger(__name__)


class NewsStore:
    """The news of one migration: the progress of the active run, its course over several nights, and the last result.

    Runs do not depend on them, so a failed write has no effect on a run.
    """

    def __init__(self, root: Folder, migration: str) -> None:
        self.folder = root / migration
        self._complained_of: set[str] = set()

    def progress(self) -> dict[str, Any] | None:
        """Return the latest progress; `None` if there is none. Errors of the store are passed on."""
        return self._read(PROGRESS_FILE)

    def series(self) -> dict[str, Any] | None:
        """Return the course over several nights; `None` if there is none. Errors of the store are passed on."""
        return self._read(SERIES_FILE)

    def last_run(self) -> dict[str, Any] | None:
        """Return the result of the last run; `None` if none has ended. Errors of the store are passed on."""
        return self._read(LAST_RUN_FILE)

    def tell_progress(self, document: Mapping[str, Any]) -> None:
        """Replace the progress by that of a poll; errors are only logged."""
        self._tell(PROGRESS_FILE, document)
        with self._only_complaining(SERIES_FILE):
            self._add_point(document["run"], SeriesPoint.polled(document))

    def tell_step(self, run: str, step: str, at: str, timezone: str = "UTC") -> None:
        """Record the current step of a run, and its time zone; the last values of its watch are kept."""
        own = {"schema": 1, "run": run, "step": step, "at": at, "step_at": at, "reading": None, "timezone": timezone}
        self._tell_change({**self.known_progress(run), **own}, event=step)

    def tell_reading(self, run: str, reading: Mapping[str, Any]) -> None:
        """Record how far the Spark job of the current step has read, and when."""
        if known := self.known_progress(run):
            read = {name: reading[name] for name in ("read", "at_most")}
            self._tell_change({**known, "at": reading["at"], "reading": reading}, **read)

    def tell_stopped(self, run: str, generation: int, at: str) -> None:
        """Record that a generation of MirrorMaker has ended, with or without a stop certificate."""
        own = {"schema": 1, "run": run, "at": at, "stopped": {"generation": generation, "at": at}}
        self._tell_change({**self.known_progress(run), **own}, event=f"generation {generation} stopped")

    def tell_ended(self, run: str, at: str) -> None:
        """Record that a run has ended, if the progress is of this run."""
        if known := self.known_progress(run):
            self._tell_change({**known, "ended_at": at}, at=at, event="run ended")

    def known_progress(self, run: str) -> dict[str, Any]:
        """Return the latest progress of this run; empty if it cannot be read."""
        try:
            known = self.progress() or {}
        except Exception:
            # Any error of the store: the progress is not essential.
            return {}
        return known if known.get("run") == run else {}

    def tell_last_run(self, document: Mapping[str, Any]) -> None:
        """Replace the result of the last run; errors are only logged."""
        self._tell(LAST_RUN_FILE, document)

    def _read(self, name: str) -> dict[str, Any] | None:
        return read_json(self.folder / name, _MOST_BYTES[name]) if is_there(self.folder / name) else None

    def _tell_change(self, document: Mapping[str, Any], **point: Any) -> None:
        """Replace the progress, and add a point with these values besides time and step."""
        self._tell(PROGRESS_FILE, document)
        with self._only_complaining(SERIES_FILE):
            own = {"at": document["at"], "step": document.get("step", ""), "event": "", **point}
            self._add_point(document["run"], SeriesPoint.from_document(own))

    def _add_point(self, run: str, point: SeriesPoint) -> None:
        before = self._known_series()
        if (after := with_point(before, run, point)) is not before:
            write_whole(self.folder / SERIES_FILE, to_json(after.to_document(), indent=None))

    def _known_series(self) -> ProgressSeries:
        """Return the stored series, or a new one if it cannot be read as one; `StoreFailed` is passed on."""
        try:
            return ProgressSeries.from_document(self.series() or ProgressSeries().to_document())
        except (EvidenceUnreadable, DoesNotFit):
            return ProgressSeries()

    def _tell(self, name: str, document: Mapping[str, Any]) -> None:
        with self._only_complaining(name):
            write_whole(self.folder / name, to_json(document))

    @contextmanager
    def _only_complaining(self, name: str) -> Iterator[None]:
        """Log an error in writing a document, and only the first one in a row: no run must fail because of it."""
        try:
            yield
            self._complained_of.discard(name)
        except Exception as error:
            if name not in self._complained_of:
                log.warning("%s was not written: %s: %s", self.folder / name, type(error).__name__, error)
            self._complained_of.add(name)


class StopRequestStore:
    """The requests to stop mirroring, at most one per generation. Any user with write access here may ask."""

    def __init__(self, root: Folder, migration: str) -> None:
        self.folder = root / migration / STOP_REQUESTS_FOLDER

    def request(self, request: StopRequest) -> StopRequest:
        """Write the request, unless its generation already has one; return the valid request."""
        standing = self.find(request.generation)
        if standing is None:
            write_whole(self._path(request.generation), to_json(request.to_document()))
        return standing or request

    def find(self, generation: int) -> StopRequest | None:
        """Return the request for this generation, `None` if there is none; errors of the store are passed on."""
        try:
            with naming(self._path(generation)):
                return StopRequest.from_document(read_json(self._path(generation), MAX_BYTES))
        except FileNotFoundError:
            return None

    def _path(self, generation: int) -> Any:
        return self.folder / f"{generation}.json"
