"""Other versions of Spark, Scala and Python, as a cluster's distribution would bring them.

They are made once, below `.cache/spark-matrix`: each Spark from its package of PyPI, each Python as an environment with
the jobs' libraries only. So the jobs run with the PySpark of `SPARK_HOME`, as on a cluster.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox import jars
from sandbox.jars import PROJECT

FOLDER = PROJECT / ".cache" / "spark-matrix"
# The oldest libraries that PySpark 4.0 and 4.1 take, on the oldest Python of each; the newest on the newest.
LIBRARIES = {
    "3.9": ("numpy==1.21.6", "pandas==2.0.0", "pyarrow==11.0.0"),
    "3.10": ("numpy==1.22.4", "pandas==2.2.0", "pyarrow==15.0.2"),
    "3.11": ("numpy==2.4.6", "pandas==2.3.3", "pyarrow==26.0.1"),
    "3.12": ("numpy==2.5.5", "pandas==2.3.3", "pyarrow==26.0.1"),
    "3.13": ("numpy==2.5.5", "pandas==2.3.3", "pyarrow==26.0.1"),
}


@dataclass(frozen=True)
class Cell:
    """One combination of the matrix."""

    spark: str
    scala: str
    python: str

    def __str__(self) -> str:
        return f"{self.spark}-{self.scala}-py{self.python}"

    @property
    def jars(self) -> Sequence[Path]:
        """The Kafka connector of this Spark, fetched if it is missing."""
        name = jars.SPARK_SET if self.spark == "4.0.0" else f"spark-kafka-{self.spark}-{self.scala}"
        jars.ensure_sets([name], print)
        return sorted(jars.jar_set(name).libs.glob("*.jar"))

    def environment(self) -> dict[str, str]:
        """Return what makes `spark-submit` use this Spark and this Python; both are installed if they are missing."""
        return {"SPARK_HOME": str(spark_home(self.spark, self.scala)), "PYSPARK_PYTHON": str(python(self.python))}


def spark_home(version: str, scala: str = "2.13") -> Path:
    """Return the folder of a Spark."""
    if (version, scala) == ("3.5.1", "2.13"):
        return _with_scala_213()
    with _made_once(f"spark-{version}") as fresh:
        if fresh:
            wanted = ("--no-deps", "--no-compile", "--target", str(fresh), f"pyspark=={version}")
            _run([sys.executable, "-m", "pip", "install", "-q", *wanted])
    return FOLDER / f"spark-{version}" / "pyspark"


def _with_scala_213() -> Path:
    """Return Spark 3.5.1 with Scala 2.13: PyPI's with the Scala parts replaced, since PyPI has it with 2.12 only."""
    ours = spark_home("3.5.1", "2.12")
    jars.ensure_sets(["spark-3.5.1-2.13"], print)
    with _made_once("spark-3.5.1-2.13") as fresh:
        if fresh:
            (fresh / "jars").mkdir()
            for part in ("bin", "python"):
                (fresh / part).symlink_to(ours / part)
            kept = (jar for jar in (ours / "jars").glob("*.jar") if "_2.12-" not in jar.name)
            for jar in (*kept, *jars.jar_set("spark-3.5.1-2.13").libs.glob("*.jar")):
                if not jar.name.startswith("scala-") or "2.12." not in jar.name:
                    (fresh / "jars" / jar.name).symlink_to(jar)
    return FOLDER / "spark-3.5.1-2.13"


def python(version: str) -> Path:
    """Return an interpreter of this version with the libraries that the jobs need; skips if the machine has none."""
    libraries = LIBRARIES[version]
    name = f"py{version}-{hashlib.sha256(' '.join(libraries).encode()).hexdigest()[:8]}"
    with _made_once(name) as fresh:
        if fresh:
            _run([str(_interpreter(version)), "-m", "venv", "--copies", str(fresh)])
            _run([str(fresh / "bin" / "python"), "-m", "pip", "install", "-q", *libraries])
    return FOLDER / name / "bin" / "python"


def _interpreter(version: str) -> Path:
    """Return an interpreter that starts: one on the PATH, or one of pyenv."""
    name = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for found in (shutil.which(name), *sorted(pyenv.glob(f"versions/{version}.*/bin/{name}"))):
        if found and subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0:
            return Path(found)
    pytest.skip(f"this machine has no Python {version}")


@contextmanager
def _made_once(name: str) -> Iterator[Path | None]:
    """Give a folder to fill, which gets this name afterwards; nothing if it is there already."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    place = FOLDER / name
    with (FOLDER / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if place.is_dir():
            yield None
            return
        shutil.rmtree(fresh := FOLDER / f".{name}.new", ignore_errors=True)
        fresh.mkdir()
        yield fresh
        fresh.rename(place)


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
