"""What is wrong with a field of a run's conf."""

from __future__ import annotations

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding

_REMEDY = "Correct the field and trigger the run again; nothing was started."


def conf_finding(field: str, found: str, expected: str, remedy: str = _REMEDY) -> Finding:
    """Return the finding about one field that was given on the form or in `conf`."""
    return Finding(Code.RUN_CONF_INVALID, f"run conf field {field}", found, expected, remedy)
