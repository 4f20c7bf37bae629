"""Records in MirrorMaker's own topics that MirrorMaker did not write: each is reported once, up to a limit."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

log = logging.getLogger(__name__)

FOREIGN_RECORD = (
    "Topic %s on the target has a record that MirrorMaker did not write, with the key %r. It is ignored. Find out who "
    "else writes to this topic."
)
MAX_WARNINGS = 20
LONGEST_KEY = 200


@dataclass(frozen=True, slots=True)
class ForeignRows:
    """Warns of each foreign record once."""

    _warned: set[tuple[str, bytes | None]] = field(default_factory=set)

    def of(self, topic: str) -> Callable[[bytes | None], None]:
        """Return a function that warns of the record with a key in a topic."""

        def warn(key: bytes | None) -> None:
            if (topic, key) not in self._warned and len(self._warned) < MAX_WARNINGS:
                self._warned.add((topic, key))
                log.warning(FOREIGN_RECORD, topic, (key or b"")[:LONGEST_KEY])

        return warn
