"""The records of a partition that one generation copied, as offsets on both clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """The offset ranges of one partition that one comparison covers, `[start, end)` on each cluster."""

    generation: int
    topic: str
    target_topic: str
    partition: int
    source_start: int
    source_end: int
    target_start: int
    target_end: int

    @property
    def is_empty(self) -> bool:
        """Whether neither cluster has offsets to read."""
        return self.source_start == self.source_end and self.target_start == self.target_end

    @property
    def has_no_holes(self) -> bool:
        """Whether both ranges have the same number of offsets, so that every offset is a record."""
        return self.source_end - self.source_start == self.target_end - self.target_start

    def to_document(self) -> dict[str, Any]:
        """Return the window's fields."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Window:
        """Read a window from a document that may have further fields."""
        return cls(**{each.name: document[each.name] for each in fields(cls)})
