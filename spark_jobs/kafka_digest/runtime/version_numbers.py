"""The versions with which the jobs run. An older Python can read this file too, and is then named in one line."""

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

MISMATCH = "SPARK_VERSION_MISMATCH"
# For each Spark the oldest and the newest tested Python; also in `kafka_migration/core/spark/spark_versions.py`.
PYTHONS = {(3, 5): ((3, 9), (3, 11)), (4, 0): ((3, 9), (3, 13)), (4, 1): ((3, 10), (3, 13))}
# PySpark itself asks for pandas before it sends batches of Arrow.
_LIBRARIES = ("numpy", "pandas", "pyarrow")
_CONNECTOR = re.compile(r"spark-sql-kafka-0-10_(\d{1,4}\.\d{1,4})-(\d{1,4})\.(\d{1,4})\.[^/,]{0,100}\.jar")


def end_unless_python_fits() -> None:
    """End the process with one coded line if this Python cannot run the jobs: too old, or without their libraries."""
    problem = _python_problem()
    if problem:
        python = f"Python {_text(sys.version_info[:2])} ({sys.executable})"
        remedy = "set PYSPARK_PYTHON or spark.pyspark.python"
        sys.exit(f"{Path(sys.argv[0]).stem}: {MISMATCH}: {python} {problem}; {remedy}")


def _python_problem() -> str:
    oldest = min(oldest for oldest, _ in PYTHONS.values())
    if sys.version_info[:2] < oldest:
        return f"is too old; expected {_text(oldest)} or newer"
    lacking = [name for name in _LIBRARIES if find_spec(name) is None]
    if lacking:
        return f"has no {', no '.join(lacking)}; expected {', '.join(_LIBRARIES)}"
    try:
        import_module("pyspark.sql")
    except Exception as error:
        return f"cannot import pyspark ({type(error).__name__}: {error}); expected a Python of this Spark"
    return ""


def version_problem(spark: str, scala: str, jars: str) -> str:
    """Return which versions do not fit together, with what was expected; empty if they do.

    :param scala: the version of Spark's Scala library
    :param jars: paths, separated by commas
    """
    release, of_scala = tuple(map(int, re.findall(r"\d+", spark)[:2])), scala.rpartition(".")[0]
    if release not in PYTHONS:
        return f"Spark {spark} runs the job; expected {', '.join(map(_text, PYTHONS))}"
    for connector in _CONNECTOR.finditer(jars):
        if (connector[1], (int(connector[2]), int(connector[3]))) != (of_scala, release):
            return f"the Kafka connector is {connector[0]}; expected one for Spark {spark} with Scala {of_scala}"
    oldest, newest = PYTHONS[release]
    if not oldest <= sys.version_info[:2] <= newest:
        expected = f"expected {_text(oldest)} to {_text(newest)} with Spark {spark}"
        return f"Python {_text(sys.version_info[:2])} ({sys.executable}) runs the driver; {expected}"
    return ""


def _text(version: "tuple[int, ...]") -> str:
    return ".".join(map(str, version))
