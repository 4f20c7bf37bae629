"""Letters between a task and a driver that runs in a cluster, beside the job's result in the evidence root.

The form is that of `spark_jobs/kafka_digest/runtime/letters.py`; ADR 0072 says why there are letters.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass

from kafka_migration.core.documents.codec import Document, DoesNotFit

OF_DRIVER, OF_TASK = "driver", "task"
_SUFFIX = ".letter"
# A driver ends its application if the task has not been seen for so long.
LEASE_S = 300.0


@dataclass(frozen=True, slots=True)
class Letter(Document):
    """A text, and the proof that its writer knows the word that was shipped with the application."""

    body: str
    proof: str


@dataclass(frozen=True, slots=True)
class DriverSays(Document):
    """How many lines the job has told, the newest of them, and the key for Kafka's logins while it waits for them."""

    told: int
    lines: tuple[str, ...]
    key: str

    def since(self, told: int) -> tuple[str, ...]:
        """Return the lines after this many; those before the oldest line of the letter are lost."""
        new = max(0, self.told - told)
        return self.lines[-new:] if new else ()


@dataclass(frozen=True, slots=True)
class TaskSays(Document):
    """A number that grows while the task waits, for how long it may stand still, and the sealed logins."""

    beat: int
    lease_s: float
    is_over: bool = False
    logins: str = ""


def place_of(result: str, writer: str) -> str:
    """Return the path of a writer's letter, beside the result."""
    return f"{result.removesuffix('.json')}.{writer}{_SUFFIX}"


def is_letter(file: str) -> bool:
    """Whether a file in the evidence is a letter, or one that was being written."""
    return _SUFFIX in file


def enclosed(word: str, writer: str, body: Document) -> Letter:
    """Return a letter."""
    text = json.dumps(body.to_document(), sort_keys=True)
    return Letter(text, _proof(word, writer, text))


def opened(word: str, letter: Letter) -> DriverSays | None:
    """Return what the driver says; `None` if another wrote the letter, who does not know the word."""
    if not hmac.compare_digest(_proof(word, OF_DRIVER, letter.body).encode(), letter.proof.encode()):
        return None
    try:
        return DriverSays.from_document(json.loads(letter.body))
    except (DoesNotFit, ValueError):
        return None


def _proof(word: str, writer: str, text: str) -> str:
    return hmac.new(word.encode(), f"{writer}\n{text}".encode(), hashlib.sha256).hexdigest()
