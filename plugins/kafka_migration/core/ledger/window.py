"""The records of a partition that one generation copied, as offsets on both clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kafka_migration.core.documents.codec import Document


class Piece(NamedTuple):
    """What MirrorMaker sent without interruption: source `[source_start, source_end)`, to the target from an offset on.

    It ends on the target where the next piece begins, and the last one at the end of the window. `generation` is its
    last generation; only that of a window's last piece may have ended gracefully.
    """

    generation: int
    source_start: int
    source_end: int
    target_start: int


@dataclass(frozen=True, slots=True, order=True)
class Window(Document):
    """The offset ranges of one partition that one comparison covers, `[start, end)` on each cluster.

    `pieces` say how it was copied, in order, if MirrorMaker was killed and started again within it; else there are
    none. A piece may begin at source offsets that an earlier one has sent already.
    """

    generation: int
    topic: str
    target_topic: str
    partition: int
    source_start: int
    source_end: int
    target_start: int
    target_end: int
    pieces: tuple[Piece, ...] = ()

    @property
    def replaying(self) -> tuple[int, ...]:
        """The generations that were killed within the window and followed by another one."""
        return tuple(piece.generation for piece in self.pieces[:-1])

    @property
    def is_empty(self) -> bool:
        """Whether neither cluster has offsets to read."""
        return self.source_start == self.source_end and self.target_start == self.target_end
