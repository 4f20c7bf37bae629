"""Who answers in one poll of a running MirrorMaker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kafka_migration.core.findings.errors import OutcomeUnknown, TransientError
from kafka_migration.core.mirror.silence import Party, party_of

T = TypeVar("T")
# What means that somebody was asked and did not answer; an `OSError` is one of the evidence store.
NO_ANSWER = (TransientError, OutcomeUnknown, OSError)


class RollCall:
    """Who answered in one poll, and who did not, and what was said instead."""

    def __init__(self) -> None:
        self.heard: set[Party] = set()
        self.silent: dict[Party, str] = {}

    def ask(self, party: Party, call: Callable[[], T]) -> T | None:
        """Return the answer; `None` where there is none."""
        try:
            answer = call()
        except NO_ANSWER as error:
            self.missed(error, party)
            return None
        self.heard.add(party)
        return answer

    def missed(self, error: Exception, asked: Party | None = None) -> None:
        """Note who did not answer, as far as the error tells."""
        if (party := party_of(error, asked)) is not None:
            self.silent.setdefault(party, str(error))
