"""The job's error class, its conversion from Java errors to one line, and the job's log lines."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException, PythonException

from kafka_digest.runtime.version_numbers import MISMATCH

_SECRET_WORDS = ("password", "secret", "jaas", "token", "credential", "certificate", "keystore.key")

# The codes of errors, as in `kafka_migration/core/findings/codes.py`.
SPARK_FAILED = "SPARK_FAILED"
CLUSTER_UNREACHABLE = "CLUSTER_UNREACHABLE"
RECORDS_DELETED = "RECORDS_DELETED_MEANWHILE"
RECORD_UNREADABLE = "RECORD_UNREADABLE"
NO_RESOURCES = "SPARK_NO_RESOURCES"
_CODES = {
    MISMATCH: re.compile(r"PYTHON_VERSION_MISMATCH|^\w{0,100}(ModuleNotFound|Import)Error\b"),
    RECORDS_DELETED: re.compile(r"\bOffsetOutOfRangeException|data may have been lost|are out of range"),
    CLUSTER_UNREACHABLE: re.compile(
        r"\b(Timeout|Disconnect|Network|BrokerNotAvailable|LeaderNotAvailable)Exception|No resolvable bootstrap urls"
    ),
    RECORD_UNREADABLE: re.compile(
        r"ArithmeticException: long overflow|[Rr]ecord batch for partition|fetching the next record|"
        r"\b(CorruptRecord|InvalidRecord|RecordTooLarge|RecordDeserialization)Exception"
    ),
}
_NAMES_PLACE = re.compile(r"\w*Exception: (Record batch for partition|Received exception when fetching)")
# These errors are the same for all topics, so that reading fewer of them cannot help.
_OF_ALL = frozenset({MISMATCH, CLUSTER_UNREACHABLE, NO_RESOURCES})
_WAS_ENDED = re.compile(
    r"\bJob \d{1,10} cancelled\b|SparkContext (was|has been) (shut|stop)|stopped SparkContext"
    r"|\bInterrupt\w{0,100}Exception"
)


class JobError(Exception):
    """The job, or a part of it, cannot give a result; the text is one line for the log."""

    def __init__(self, text: str, code: str = SPARK_FAILED) -> None:
        super().__init__(text)
        self.code = code

    @property
    def is_of_all(self) -> bool:
        """Whether reading fewer topics cannot help."""
        return self.code in _OF_ALL or bool(_WAS_ENDED.search(str(self)))


_hearers: list[Callable[[str], None]] = []


def tell(text: str) -> None:
    """Write a line to the log; it begins with the name of the job."""
    sys.stderr.write(f"{Path(sys.argv[0]).stem}: {text}\n")
    sys.stderr.flush()
    for hear in _hearers:
        hear(text)


@contextmanager
def heard_by(hear: Callable[[str], None]) -> Iterator[None]:
    """Pass each line that the job logs during the body to a function too, without the name of the job."""
    _hearers.append(hear)
    try:
        yield
    finally:
        _hearers.remove(hear)


@contextmanager
def naming(act: str) -> Iterator[None]:
    """Turn an error of Spark, Kafka or Hadoop into a `JobError` that names the current operation and the root cause."""
    try:
        yield
    except (Py4JError, PySparkException, ImportError) as error:
        cause = root_cause(error)
        code = next((code for code, words in _CODES.items() if words.search(cause)), None)
        raise JobError(f"{act}: {_with_place(error, cause)}", code or _code_of_record(error)) from error


def _code_of_record(error: Exception) -> str:
    """Return the code of an error whose root cause has none; Kafka's client names the record in an outer exception."""
    return RECORD_UNREADABLE if any(map(_CODES[RECORD_UNREADABLE].search, _causes(error))) else SPARK_FAILED


def _with_place(error: Exception, cause: str) -> str:
    """Return the root cause, after the text of Kafka's client that names the partition, if there is one."""
    named = next((text for text in _causes(error) if _NAMES_PLACE.match(text)), None)
    return cause if named in (None, cause) else f"{named} ({cause})"


def _causes(error: Exception) -> Iterator[str]:
    """Yield class and message of each Java exception in the chain of causes, outermost first, each on one line."""
    cause = error.java_exception if isinstance(error, Py4JJavaError) else None
    while cause is not None:
        yield _one_line(f"{cause.getClass().getSimpleName()}: {cause.getMessage()}")
        cause = cause.getCause()


def root_cause(error: Exception) -> str:
    """Return class and message of the innermost Java exception, on one line."""
    if isinstance(error, Py4JJavaError):
        return list(_causes(error))[-1]
    if isinstance(error, PythonException):
        return _one_line(_last_of_traceback(str(error)))
    return _one_line(f"{type(error).__name__}: {error}")


def _last_of_traceback(text: str) -> str:
    """Return the error line of a Python worker's traceback, with advice if a module is missing."""
    lines = [line for line in text.splitlines() if re.match(r"[\w.]*(Error|Exception)\b.*", line)]
    found = lines[0] if lines else text
    needs = " (Spark's Python workers need numpy, pandas and pyarrow: install them, or set spark.pyspark.python)"
    return f"{found}{needs if found.startswith('ModuleNotFoundError') else ''}"


def is_caused_by(error: Py4JJavaError, simple_name: str) -> bool:
    """Return whether a Java exception of this class is in the chain of causes."""
    return any(text.partition(":")[0] == simple_name for text in _causes(error))


def _one_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[0] if lines else "no message")[:500]


def masked(text: str, clients: Mapping[str, Mapping[str, str]]) -> str:
    """Return the text with the values of all secret-looking client options replaced."""
    for options in clients.values():
        for name, value in options.items():
            if value and any(word in name.lower() for word in _SECRET_WORDS):
                text = text.replace(value, "***")
    return text
