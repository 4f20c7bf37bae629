"""A Spark and a Java on the disk, without programs that run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def placed_spark(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str, archives: Path) -> Path:
    """Make both in a folder, name them and the folder of archives in the environment; return `spark-submit`."""
    for name in ("java/release", "java/lib/modules", "java/lib/server/libjvm.so", "java/bin/java", "spark/jars/a.jar"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    submit = folder / "spark" / "bin" / "spark-submit"
    submit.parent.mkdir()
    submit.write_text(script)
    submit.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(folder / "spark"))
    monkeypatch.setenv("JAVA_HOME", str(folder / "java"))
    monkeypatch.setenv("PATH", f"{submit.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__CLASS_ARCHIVES", str(archives))
    return submit
