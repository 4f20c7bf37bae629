"""Documents of Spark jobs that another version of this package, or of the job, may have written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, ValidationFailed

T = TypeVar("T")


def understood(read: Callable[[Mapping[str, Any]], T], document: Mapping[str, Any], task_id: str) -> T:
    """Read a document that a task's Spark job wrote or was asked by.

    Raises `ValidationFailed` (`VALIDATION_RESULT_MISSING`) where it is not understood: what it says is not known.
    """
    try:
        return read(document)
    except (KeyError, ValueError) as error:
        found = str(error) if isinstance(error, ValueError) else f"no field {error}"
        finding = Finding(
            Code.VALIDATION_RESULT_MISSING,
            f"the newest document of {task_id}",
            found,
            "one that this version writes",
            f"Another version wrote it. Clear {task_id} with downstream.",
        )
        raise ValidationFailed([finding]) from error
