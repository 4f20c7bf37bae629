"""The lock file of CeleryExecutor, whose packages are put in front of those of all other tests."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def locked(file: str) -> set[str]:
    """Return the names of the packages of a lock file."""
    return set(re.findall(r"^([a-z0-9][a-z0-9._-]*)==", (ROOT / file).read_text(), re.MULTILINE))


def test_celery_replaces_no_package() -> None:
    """What CeleryExecutor adds is none of what is locked already, so Airflow and its parts stay the tested ones."""
    added = locked("requirements-celery.txt")

    assert {"apache-airflow-providers-celery", "celery", "redis", "s3fs", "moto"} <= added
    assert set() == added & locked("requirements.lock")
