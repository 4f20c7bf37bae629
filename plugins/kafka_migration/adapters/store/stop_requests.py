"""Requests to stop mirroring, as files below the evidence root."""

from __future__ import annotations

from typing import Any

from kafka_migration.adapters.store.document_files import Folder, naming, read_json, to_json, write_whole
from kafka_migration.core.run.stop_request import StopRequest

STOP_REQUESTS_FOLDER = "stop-requests"
# The triggerer parses a request at each poll, for which all its triggers wait.
MAX_BYTES = 64 * 1024


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
