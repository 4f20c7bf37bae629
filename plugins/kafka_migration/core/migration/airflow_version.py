"""Which versions of Airflow the package works with."""

from __future__ import annotations

import re

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding

OLDEST = (3, 2)
# What the package needs and Airflow 3.1 does not have; its Task SDK is 1.1.
_MISSING_BEFORE_3_2 = (
    "The Task SDK of Airflow 3.1 lacks configuration, metrics, callbacks of deadlines and allowed run types."
)


def release(version: str) -> tuple[int, int]:
    """Return the first two numbers of a version; zeros if it has none."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def airflow_findings(version: str) -> tuple[Finding, ...]:
    """Return a finding if the package cannot work with this version of Airflow."""
    if release(version) >= OLDEST:
        return ()
    remedy = "Upgrade Airflow on all components, or install a release of this package for it. Nothing was started."
    return (
        Finding(
            Code.AIRFLOW_TOO_OLD,
            "the installed Airflow",
            version or "no version",
            f"{OLDEST[0]}.{OLDEST[1]} or newer",
            f"{_MISSING_BEFORE_3_2} {remedy}",
        ),
    )
