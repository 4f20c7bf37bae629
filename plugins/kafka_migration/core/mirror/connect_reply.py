"""What a Connect cluster answers as the place of a migration's process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.mirror.mirror_process import ProcessReply


@dataclass(frozen=True, slots=True)
class RunningTask(Document):
    """One task of the copier: its number, and its assigned source partitions, as its configuration lists them."""

    number: int
    assigned: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectReply(ProcessReply):
    """A reply of a Connect cluster.

    `is_orderly`: each task of the generation ran once and has ended in order. `is_lost`: the worker of a task is gone.
    `resent`: a task was restarted within the generation, or that is unknown, so records may have been sent again
    before its end. `config` is what Connect has stored for the copier, without hidden values.
    """

    is_orderly: bool = False
    is_lost: bool = False
    resent: bool = False
    tasks: tuple[RunningTask, ...] | None = None
    config: Mapping[str, str] = field(default_factory=dict)

    @property
    def manner(self) -> str:
        """Why the generation ended; there is no exit code."""
        return self.exit_reason or "the end was not observed"

    @property
    def is_failure(self) -> bool:
        """Whether a task or the connector failed; a moved or restarted task did not."""
        return bool(self.log)
