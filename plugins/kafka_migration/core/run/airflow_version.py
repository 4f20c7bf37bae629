"""Which versions of Airflow the package works with."""

from __future__ import annotations

import re

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding

# The first version of 3.2 that was tested.
OLDEST = (3, 2, 2)
_OLDEST = f"{'.'.join(map(str, OLDEST))} or newer"
# The Task SDK of Airflow 3.1 (1.1) lacks configuration, metrics, callbacks of deadlines and allowed run types.
_WHY = "Airflow 3.1 and older lack what this package needs; 3.2.0 and 3.2.1 were not tested. Nothing was started."


def release(version: str) -> tuple[int, ...]:
    """Return the first three numbers of a version, or those that it has."""
    found = re.match(r"\d+(\.\d+){0,2}", version)
    return tuple(int(number) for number in found[0].split(".")) if found else ()


def airflow_findings(version: str) -> tuple[Finding, ...]:
    """Return a finding if the package cannot work with this version of Airflow."""
    if release(version) >= OLDEST:
        return ()
    remedy = "Upgrade Airflow on all components, or install a release of this package for this Airflow."
    return (
        Finding(
            Code.AIRFLOW_TOO_OLD,
            "the installed Airflow",
            version or "no version",
            _OLDEST,
            remedy,
            happened=f"Airflow {version or 'without a version'} is installed, and this package needs {_OLDEST}.",
            matters=_WHY,
        ),
    )
