"""The versions with which the Spark jobs run: Spark, its Scala, its Kafka connector, and the driver's Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, TransientError

Version = tuple[int, ...]
# The same values are in `spark_jobs/kafka_digest/runtime/version_numbers.py`, which a test compares.
PYTHONS: dict[Version, tuple[Version, Version]] = {
    (3, 5): ((3, 9), (3, 11)),
    (4, 0): ((3, 9), (3, 13)),
    (4, 1): ((3, 10), (3, 13)),
}
PACKAGES = ("pyspark", "pyspark-client")
# The version of both in `requirements.lock`, which a test compares.
PACKAGES_TESTED = "4.0.0"
LIBRARIES = ("numpy", "pandas", "pyarrow")
# Replaces the older Kafka client that the connector depends on.
KAFKA_CLIENTS = "org.apache.kafka:kafka-clients:3.9.1"
_CONNECTOR = re.compile(
    r"spark-sql-kafka-0-10_(?P<scala>\d{1,4}\.\d{1,4})-(?P<spark>\d{1,4}\.\d{1,4}\.\d{1,4})[^/,]{0,100}\.jar"
)


@dataclass(frozen=True, slots=True)
class SparkVersions:
    """What `spark-submit --version` says, or why that is unknown.

    :param spark: as it says it; a vendor's has more numbers
    :param scala: the first two numbers
    """

    command: str
    spark: str = ""
    scala: str = ""
    unknown: str = ""

    @property
    def numbers(self) -> Version:
        """The first three numbers of Spark's version; empty if it is unknown."""
        return () if self.unknown else numbers_of(self.spark)[:3]

    @property
    def release(self) -> Version:
        """The first two numbers of Spark's version."""
        return numbers_of(self.spark)[:2]

    @property
    def packages(self) -> str | None:
        """The Maven packages with the Kafka connector of this Spark; `None` if the version is unknown."""
        if self.unknown:
            return None
        version = _text(self.numbers)
        return f"org.apache.spark:spark-sql-kafka-0-10_{self.scala}:{version},{KAFKA_CLIENTS}"


@dataclass(frozen=True, slots=True)
class PythonVersions:
    """The driver's Python and which libraries of the jobs it lacks, or why that is unknown."""

    command: str
    python: Version = ()
    lacking: tuple[str, ...] = ()
    unknown: str = ""


def parsed_versions(command: str, text: str) -> SparkVersions:
    """Return the versions in the output of `spark-submit --version`."""
    spark, scala = (
        re.search(r"(?<!Scala )version (\d{1,4}\.\d{1,4}\.\d{1,4}[^\s,]*)", text),
        re.search(r"Scala version (\d{1,4}\.\d{1,4})", text),
    )
    if spark is None or scala is None:
        return SparkVersions(command, unknown="its output names no version of Spark and Scala")
    return SparkVersions(command, spark[1], scala[1])


def version_findings(versions: SparkVersions, python: PythonVersions | None, jars: str | None) -> tuple[Finding, ...]:
    """Return what cannot work together; nothing about versions that are unknown.

    :param python: the driver's, if it runs on this machine
    :param jars: `[kafka_migration] spark_jars`
    """
    if versions.unknown:
        return ()
    if versions.release not in PYTHONS:
        return (_unsupported(versions),)
    return (*_connector_findings(versions, jars or ""), *_python_findings(versions, python))


def package_findings(installed: Mapping[str, str | None]) -> tuple[Finding, ...]:
    """Return the finding about Airflow's packages of Spark, which share a folder, if their versions differ.

    :param installed: the version by package; `None` if it is not installed
    """
    found = {name: version for name, version in installed.items() if version}
    if len(set(found.values())) < 2:
        return ()
    said = ", ".join(f"{name} {version}" for name, version in found.items())
    wanted = " ".join(f"{name}=={PACKAGES_TESTED}" for name in PACKAGES)
    remedy = f"Install both in one version: pip install --force-reinstall --no-deps {wanted}."
    happened = f"Airflow's environment has {said}, which share a folder."
    return (_mismatch("Airflow's environment", said, "one version of both: they share a folder", remedy, happened),)


def known_numbers(versions: SparkVersions) -> Version:
    """Return the first three numbers of Spark's version; raises `TransientError` if it is unknown."""
    if versions.unknown:
        raise TransientError(f"the version of Spark is unknown, because {versions.command} failed: {versions.unknown}")
    return versions.numbers


def unknown_findings(versions: SparkVersions, python: PythonVersions | None) -> tuple[Finding, ...]:
    """Return which versions are unknown, and why; the job then checks them when it starts."""
    return tuple(
        _mismatch(
            each.command,
            f"unknown version: {each.unknown}",
            expected,
            "Run the command on the worker to see why it fails there.",
            f"The version that {each.command} has is unknown: {each.unknown}.",
            "Whether the versions work together is known only when the job checks them at its start.",
        )
        for each, expected in ((versions, f"Spark {_releases()}"), (python, "a Python for Spark's driver"))
        if each is not None and each.unknown
    )


def _unsupported(versions: SparkVersions) -> Finding:
    return _mismatch(
        versions.command,
        f"Spark {versions.spark}",
        f"Spark {_releases()}",
        "Let the Spark connection use a supported Spark, by SPARK_HOME or spark-binary. If the cluster has none, use "
        "master local[4] with the package pyspark.",
        f"The command {versions.command} is Spark {versions.spark}, and the jobs support Spark {_releases()}.",
    )


def _connector_findings(versions: SparkVersions, jars: str) -> Iterator[Finding]:
    wanted = (versions.scala, versions.release)
    for found in _CONNECTOR.finditer(jars):
        if (found["scala"], numbers_of(found["spark"])[:2]) != wanted:
            fitting = f"spark-sql-kafka-0-10_{versions.scala}, version {'.'.join(map(str, versions.release))}"
            yield _mismatch(
                "[kafka_migration] spark_jars",
                found[0],
                f"{fitting}, because {versions.command} is Spark {versions.spark} with Scala {versions.scala}",
                f"Name the Kafka connector and its token provider of this Spark in spark_jars: {fitting}.",
                f"The setting spark_jars names {found[0]}, and {versions.command} is Spark {versions.spark} with Scala "
                f"{versions.scala}.",
            )


def _python_findings(versions: SparkVersions, python: PythonVersions | None) -> Iterator[Finding]:
    if python is None or python.unknown:
        return
    oldest, newest = PYTHONS[versions.release]
    if not oldest <= python.python <= newest:
        yield _mismatch(
            f"{python.command}, the Python of Spark's driver",
            f"Python {_text(python.python)}",
            f"Python {_text(oldest)} to {_text(newest)}, because Spark is {versions.spark}",
            "Name another Python in PYSPARK_PYTHON, or in spark.pyspark.python of the Spark connection's extra.",
            f"The Python of Spark's driver, {python.command}, is Python {_text(python.python)}, and Spark "
            f"{versions.spark} supports Python {_text(oldest)} to {_text(newest)}.",
        )
    if python.lacking:
        yield _mismatch(
            f"{python.command}, the Python of Spark's driver",
            f"no {', no '.join(python.lacking)}",
            ", ".join(LIBRARIES),
            "Install them there, or name another Python in PYSPARK_PYTHON.",
            f"The Python of Spark's driver, {python.command}, lacks {', '.join(python.lacking)}.",
        )


_NOT_READ = "The Spark job would fail or read records wrongly, so the copy would not be proved."


def _mismatch(where: str, found: str, expected: str, remedy: str, happened: str, matters: str = _NOT_READ) -> Finding:
    return Finding(Code.SPARK_VERSION_MISMATCH, where, found, expected, remedy, happened=happened, matters=matters)


def _releases() -> str:
    *others, last = (_text(release) for release in PYTHONS)
    return f"{', '.join(others)} or {last}"


def numbers_of(text: str) -> Version:
    """Return all numbers in the text of a version."""
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _text(version: Iterable[int]) -> str:
    return ".".join(map(str, version))
