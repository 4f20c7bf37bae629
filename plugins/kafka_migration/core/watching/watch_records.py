"""The evidence documents of the watch: the announcement that producers must stop, the proved fence, and the end."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.watching.fence import FenceProof
from kafka_migration.core.watching.watch import WatchResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced(Document):
    """The watch announced that the producers must stop; `lag` is the copy's lag at that time, as text."""

    at: str
    generation: int
    announced_at: str
    lag: str
    stage: Literal["announced"] = "announced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fenced(FenceProof):
    """The fence is proved: the source receives no records any more, and its ends are the goals."""

    at: str
    generation: int
    stage: Literal["fenced"] = "fenced"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEnded(WatchResult):
    """The watch is over. `generation` is the last one of MirrorMaker; `None` if the run started none."""

    at: str
    generation: int | None

    @classmethod
    def of(cls, result: WatchResult, *, at: str, generation: int | None) -> WatchEnded:
        """Return the document of a result."""
        values = {each.name: getattr(result, each.name) for each in fields(result)}
        return cls(**values, at=at, generation=generation)


WatchRecord = Announced | Fenced | WatchEnded
