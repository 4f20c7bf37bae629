"""The records of a partition that one generation copied, as offsets on both clusters."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_migration.core.documents.codec import Document


@dataclass(frozen=True, slots=True, order=True)
class Window(Document):
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
