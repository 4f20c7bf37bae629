"""Records which parties answered in one poll of a running MirrorMaker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kafka_migration.core.findings.errors import OutcomeUnknown, TransientError
from kafka_migration.core.watching.unreachable import Party, party_of

T = TypeVar("T")
# Errors that mean that a party did not answer; an `OSError` comes from the evidence store.
NO_ANSWER = (TransientError, OutcomeUnknown, OSError)


class RollCall:
    """The parties that answered in one poll, and the errors of those that did not."""

    def __init__(self) -> None:
        self.heard: set[Party] = set()
        self.silent: dict[Party, str] = {}

    def ask(self, party: Party, call: Callable[[], T]) -> T | None:
        """Return the answer; `None` if the party did not answer."""
        try:
            answer = call()
        except NO_ANSWER as error:
            self.missed(error, party)
            return None
        self.heard.add(party)
        return answer

    def missed(self, error: Exception, asked: Party | None = None) -> None:
        """Record the party that did not answer, if the error identifies it."""
        if (party := party_of(error, asked)) is not None:
            self.silent.setdefault(party, str(error))
