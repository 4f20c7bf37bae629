"""Letters between a driver in a cluster and the task that waits for it, beside the result in the evidence root.

Driver and task may reach nothing else of each other. The driver's letter has what the job says and a key; the task's
letter has Kafka's logins, sealed for this key, and a number that grows while the task waits. A word that was shipped
with the application proves who wrote a letter; it is worth nothing afterwards (docs/adr/0072).

The form is that of `kafka_migration/core/spark/letter_forms.py`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from kafka_digest.runtime.job_documents import parsed_clients, read_document, remove, write_document
from kafka_digest.runtime.job_errors import SPARK_FAILED, JobError, heard_by, naming, tell
from kafka_digest.runtime.sealing import KeyPair
from kafka_digest.runtime.waiting import Ending

OF_DRIVER, OF_TASK = "driver", "task"
MOST_LINES = 200


def place_of(result: str, writer: str) -> str:
    """Return where the letter of a writer is, beside the result."""
    return f"{result.removesuffix('.json')}.{writer}.letter"


def enclosed(word: str, writer: str, body: Mapping[str, Any]) -> dict[str, str]:
    """Return a letter that proves that its writer knows the word."""
    text = json.dumps(body, sort_keys=True)
    return {"body": text, "proof": _proof(word, writer, text)}


def opened(word: str, writer: str, letter: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a letter says; `None` if someone wrote it who does not know the word."""
    text, proof = (str(letter.get(name, "")) for name in ("body", "proof"))
    if not hmac.compare_digest(_proof(word, writer, text).encode(), proof.encode()):
        return None
    body = json.loads(text)
    return body if isinstance(body, dict) else None


def _proof(word: str, writer: str, text: str) -> str:
    return hmac.new(word.encode(), f"{writer}\n{text}".encode(), hashlib.sha256).hexdigest()


@dataclass
class Waiting:
    """Whether the task still waits: its number must grow within the time that its letter names."""

    clock: Callable[[], float] = time.monotonic
    lease_s: float = 300.0
    _beat: int = -1
    _since: float | None = None

    def over(self, letter: Mapping[str, Any] | None) -> str:
        """Note what was read, nothing if there is no letter; return why no one waits, else an empty text."""
        now = self.clock()
        self._since = now if self._since is None else self._since
        if letter is not None and letter["beat"] != self._beat:
            self._beat, self._since, self.lease_s = letter["beat"], now, letter["lease_s"]
        if letter is not None and letter["is_over"]:
            return "the task in Airflow was stopped"
        if now - self._since > self.lease_s:
            return f"the task in Airflow has not been seen for {self.lease_s:.0f} s"
        return ""


@dataclass
class Letters:
    """The driver's side; without a word there is no task that reads or writes letters."""

    session: SparkSession
    result: str
    word: str
    waiting: Waiting = field(default_factory=Waiting)
    _lines: list[str] = field(default_factory=list)
    _told: int = 0
    _posted: Any = None
    _key: KeyPair | None = None
    _sealed: str = ""
    # Why no one waits; it stays so, also after another has removed the letter that said so.
    _over: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _has_logins: threading.Event = field(default_factory=threading.Event)

    def say(self, line: str) -> None:
        """Add a line of the job to the next letter."""
        with self._lock:
            self._told += 1
            self._lines = [*self._lines, line][-MOST_LINES:]

    def clients(self) -> dict[str, dict[str, str]]:
        """Return Kafka's options of both sides, which the task seals for this driver alone."""
        with naming("making the key for Kafka's logins"):
            self._key = KeyPair(self.session._jvm)
        self._has_logins.wait(self.waiting.lease_s)
        with naming("opening Kafka's logins"):
            if not self._sealed:
                raise JobError("the task in Airflow has sent no Kafka connections")
            text = self._key.opened(self._sealed)
        self._key, self._sealed = None, ""
        return parsed_clients(text, "the task's letter")

    @contextmanager
    def exchanged(self) -> Iterator[None]:
        """Exchange letters during the body, and send a last one; end the job if no one waits for it any more.

        The letters are removed by the task, or by the driver if the task is gone.
        """
        with heard_by(self.say):
            try:
                with Ending(self._exchange, self.session, self._remove).watched():
                    yield
            except Exception as error:
                if not isinstance(error, JobError):
                    tell(f"{SPARK_FAILED}: {type(error).__name__}; the log of the application's driver has the cause")
                raise
            finally:
                if self._exchange():
                    self._remove()

    def _exchange(self) -> str:
        """Send what is new, and read the task's letter; return why no one waits. A store that fails is asked again."""
        try:
            self._post()
            letter = self._read()
        except (Py4JError, JobError, ValueError):
            letter = None
        if letter is not None and letter["logins"] and self._key is not None:
            self._sealed = letter["logins"]
            self._has_logins.set()
        self._over = self._over or self.waiting.over(letter)
        if self._over:
            self._has_logins.set()
        return self._over

    def _remove(self) -> None:
        """Remove the letters in the place of a task that is gone; a store that fails keeps them."""
        with suppress(Py4JError):
            for writer in (OF_DRIVER, OF_TASK):
                remove(self.session, place_of(self.result, writer))

    def _post(self) -> None:
        with self._lock:
            body = {"told": self._told, "lines": list(self._lines), "key": self._key.public if self._key else ""}
        if body != self._posted:
            write_document(self.session, place_of(self.result, OF_DRIVER), enclosed(self.word, OF_DRIVER, body))
            self._posted = body

    def _read(self) -> dict[str, Any] | None:
        return opened(self.word, OF_TASK, read_document(self.session, place_of(self.result, OF_TASK)))


def taken_word(file: str) -> str:
    """Return the word that was shipped with the application, and remove its file from the container's folder."""
    place = Path(file)
    try:
        word = place.read_text().strip()
        place.unlink()
    except OSError as error:
        raise JobError(f"{file}: {error.strerror}") from None
    return word
