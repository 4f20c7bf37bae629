"""What one generation copied of a partition, as offsets of both sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """The offset ranges of one partition that one comparison covers, `[start, end)` on either side."""

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
        """Whether neither side has offsets to read."""
        return self.source_start == self.source_end and self.target_start == self.target_end

    @property
    def has_no_holes(self) -> bool:
        """Whether both sides span equally many offsets, so that every offset is a record of its own."""
        return self.source_end - self.source_start == self.target_end - self.target_start

    def to_document(self) -> dict[str, Any]:
        """Return the window's fields."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Window:
        """Read a window out of a document that may hold more than its fields."""
        return cls(**{each.name: document[each.name] for each in fields(cls)})
