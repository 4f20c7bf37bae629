"""Documents that Spark jobs read or write, possibly from another version of this package or of the job."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnfit, Finding, ValidationFailed
from kafka_migration.core.text.shortened import sentence

T = TypeVar("T")


def understood(read: Callable[[], T], task_id: str) -> T:
    """Read the request or the result of a task's Spark job.

    Raises `ValidationFailed` (`VALIDATION_RESULT_MISSING`) for a document that this version cannot read.
    """
    try:
        return read()
    except (EvidenceUnfit, ValueError) as error:
        found = error.reason if isinstance(error, EvidenceUnfit) else str(error)
        finding = Finding(
            Code.VALIDATION_RESULT_MISSING,
            f"the newest document of {task_id}",
            found,
            "a document of this package version",
            f"Clear {task_id} and its downstream tasks.",
            happened=sentence(f"The newest document of {task_id} cannot be read: {found}"),
            matters="Another version of the package wrote it, so its values prove nothing for this run.",
        )
        raise ValidationFailed([finding]) from error
