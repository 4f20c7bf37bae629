"""Rules of which versions of Spark, Scala, the Kafka connector and Python work together."""

from __future__ import annotations

import re
import sys

import pytest

from kafka_digest.runtime import version_numbers as of_the_job
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.spark.spark_versions import (
    PACKAGES,
    PACKAGES_TESTED,
    PYTHONS,
    PythonVersions,
    SparkVersions,
    package_findings,
    parsed_versions,
    unknown_findings,
    version_findings,
)

SPARK_35, SPARK_40, SPARK_41 = (
    SparkVersions("spark-submit", version, scala)
    for version, scala in (("3.5.1", "2.12"), ("4.0.0", "2.13"), ("4.1.1", "2.13"))
)
BANNER = """26/11/24 22:31:40 WARN Utils: Your hostname, h resolves to a loopback address
Welcome to
      ____              __
   /___/ .__/\\_,_/_/ /_/\\_\\   version {}
      /_/

Using Scala version {}, OpenJDK 64-Bit Server VM, 17.0.15
Branch HEAD
"""


def connector(scala: str, spark: str) -> str:
    """Return a setting `spark_jars` with a connector of these versions."""
    return (
        f"/jars/kafka-clients-3.9.1.jar, /jars/spark-sql-kafka-0-10_{scala}-{spark}.jar,/jars/commons-pool2-2.12.0.jar"
    )


@pytest.mark.parametrize(
    ("spark", "scala", "release", "package"),
    [
        ("3.5.1", "2.12.18", (3, 5), "2.12:3.5.1"),
        ("4.1.1", "2.13.17", (4, 1), "2.13:4.1.1"),
        ("3.5.4.1.25.7190.0-24", "2.12.18", (3, 5), "2.12:3.5.4"),
    ],
)
def test_spark_submit_tells_its_versions(spark: str, scala: str, release: tuple[int, int], package: str) -> None:
    """The connector's package is that of the Spark and Scala that `spark-submit` names, without a vendor's suffix."""
    found = parsed_versions("spark-submit", BANNER.format(spark, scala))

    assert (spark, release, "") == (found.spark, found.release, found.unknown)
    assert f"org.apache.spark:spark-sql-kafka-0-10_{package},org.apache.kafka:kafka-clients:3.9.1" == found.packages


@pytest.mark.parametrize(
    "text", ["", "spark-submit: command not found", "Using Scala version 2.12.18", "version 3.5.1"]
)
def test_version_that_is_not_told_is_unknown(text: str) -> None:
    """Output without both versions gives no version, no package and no refusal, but a finding that says so."""
    found = parsed_versions("spark-submit --version", text)

    assert (None, ()) == (found.packages, version_findings(found, None, connector("2.11", "2.4.0")))
    (finding,) = unknown_findings(found, None)
    assert finding.found.startswith("unknown version: ")


@pytest.mark.parametrize("version", ["2.4.4", "3.1.3", "3.3.2.3.3.7190.0-91", "3.4.1", "4.2.0", "5.0.0"])
def test_other_spark_is_refused(version: str) -> None:
    """A release of Spark that was not tested is one finding, whatever else does not fit."""
    (finding,) = version_findings(SparkVersions("spark3-submit", version, "2.12"), None, connector("2.13", "4.0.0"))

    assert (Code.SPARK_VERSION_MISMATCH, f"Spark {version}") == (finding.code, finding.found)
    assert "Spark 3.5, 4.0 or 4.1" == finding.expected


@pytest.mark.parametrize(
    ("versions", "scala", "spark", "fits"),
    [
        (SPARK_35, "2.12", "3.5.1", True),
        (SPARK_35, "2.12", "3.5.7", True),
        (SPARK_35, "2.13", "3.5.1", False),
        (SPARK_35, "2.13", "4.0.0", False),
        (SPARK_40, "2.13", "4.0.0", True),
        (SPARK_40, "2.13", "4.1.1", False),
        (SPARK_41, "2.13", "4.1.1", True),
    ],
)
def test_connector_is_of_this_spark(versions: SparkVersions, scala: str, spark: str, fits: bool) -> None:
    """A connector in `spark_jars` for another Scala or another release of Spark is refused, by both versions."""
    findings = version_findings(versions, None, connector(scala, spark))

    assert fits == (not findings)
    if findings:
        assert f"spark-sql-kafka-0-10_{scala}-{spark}.jar" == findings[0].found
        assert f"Spark {versions.spark} with Scala {versions.scala}" in findings[0].expected


@pytest.mark.parametrize(
    ("versions", "python", "fits"),
    [
        (SPARK_35, (3, 8), False),
        (SPARK_35, (3, 9), True),
        (SPARK_35, (3, 11), True),
        (SPARK_35, (3, 12), False),
        (SPARK_40, (3, 13), True),
        (SPARK_41, (3, 9), False),
        (SPARK_41, (3, 10), True),
    ],
)
def test_python_is_one_of_this_spark(versions: SparkVersions, python: tuple[int, int], fits: bool) -> None:
    """A Python of the driver that this Spark was not tested with is refused."""
    findings = version_findings(versions, PythonVersions("/opt/python", python), None)

    assert fits == (not findings)


def test_libraries_are_needed() -> None:
    """A Python without the libraries of the jobs is refused; an unknown one is not."""
    (finding,) = version_findings(SPARK_40, PythonVersions("/opt/python", (3, 11), ("numpy", "pyarrow")), None)
    unknown = PythonVersions("/opt/python", unknown="exit code 1: x")

    assert "no numpy, no pyarrow" == finding.found
    assert () == version_findings(SPARK_40, unknown, None)
    assert ["unknown version: exit code 1: x"] == [finding.found for finding in unknown_findings(SPARK_40, unknown)]


@pytest.mark.parametrize(
    ("client", "found"),
    [("4.0.0", []), (None, []), ("4.1.1", ["pyspark 4.0.0, pyspark-client 4.1.1"])],
)
def test_packages_of_one_folder_have_one_version(client: str | None, found: list[str]) -> None:
    """Packages that overwrite each other's files are refused in different versions."""
    assert found == [each.found for each in package_findings({"pyspark": "4.0.0", "pyspark-client": client})]


def test_remedy_for_packages_is_a_command_with_one_version() -> None:
    """The finding about different versions has the command that installs both in one version."""
    (finding,) = package_findings({"pyspark": "4.1.4", "pyspark-client": "4.1.3"})

    wanted = " ".join(f"{package}=={PACKAGES_TESTED}" for package in PACKAGES)
    assert f"pip install --force-reinstall --no-deps {wanted}" in finding.remedy


def test_the_job_knows_the_same_versions() -> None:
    """The job's table, which Spark's driver reads without this package, is the table of preflight."""
    assert PYTHONS == of_the_job.PYTHONS


@pytest.mark.parametrize(
    ("spark", "scala", "jars", "problem"),
    [
        ("4.0.0", "2.13.16", f"spark://h:1/jars{connector('2.13', '4.0.0')}", ""),
        ("4.0.0", "2.13.16", "", ""),
        ("3.5.1", "2.12.18", connector("2.13", "3.5.1"), "expected one for Spark 3.5.1 with Scala 2.12"),
        ("3.5.1", "2.12.18", connector("2.12", "3.4.1"), "connector is spark-sql-kafka-0-10_2.12-3.4.1.jar"),
        ("3.4.1", "2.12.17", connector("2.12", "3.4.1"), "Spark 3.4.1 runs the job; expected 3.5, 4.0, 4.1"),
    ],
)
def test_the_job_checks_again(monkeypatch: pytest.MonkeyPatch, spark: str, scala: str, jars: str, problem: str) -> None:
    """The job names what does not fit, for a Spark that preflight could not ask."""
    monkeypatch.setattr(sys, "version_info", (3, 11, 1))
    found = of_the_job.version_problem(spark, scala, jars)

    assert re.search(re.escape(problem), found)
    assert bool(problem) == bool(found)


def test_the_job_names_a_python_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver's Python that this Spark was not tested with ends the job."""
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))

    assert "Python 3.13" in of_the_job.version_problem("3.5.1", "2.12.18", "")
    assert "expected 3.9 to 3.11 with Spark 3.5.1" in of_the_job.version_problem("3.5.1", "2.12.18", "")


@pytest.mark.parametrize(
    ("version", "without", "said"),
    [
        ((3, 8, 1), "", "Python 3.8 .* is too old; expected 3.9 or newer"),
        ((3, 11, 1), "numpy", "has no numpy; expected numpy, pandas, pyarrow"),
        ((3, 11, 1), "pyspark", r"cannot import pyspark \(ImportError: broken\)"),
    ],
)
def test_unfit_python_is_one_line(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, ...], without: str, said: str
) -> None:
    """A Python that cannot run the job ends it with one line with a code, before it imports what it cannot."""

    def broken(name: str) -> object:
        raise ImportError("broken")

    monkeypatch.setattr(sys, "argv", ["/jobs/validate_topics.py"])
    monkeypatch.setattr(sys, "version_info", version)
    monkeypatch.setattr(of_the_job, "find_spec", lambda name: None if name == without else name)
    if without == "pyspark":
        monkeypatch.setattr(of_the_job, "import_module", broken)

    with pytest.raises(SystemExit, match=f"^validate_topics: SPARK_VERSION_MISMATCH: .*{said}"):
        of_the_job.end_unless_python_fits()
