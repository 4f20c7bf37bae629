"""Rules of the Java options of Spark's driver: what is added, and when the user's options decide."""

from __future__ import annotations

import pytest

from kafka_migration.core.spark.driver_java import (
    DEFAULT_OPTIONS,
    FEW_RECORDS,
    OPTION_VARIABLES,
    driver_settings,
    quick_launcher,
)
from kafka_migration.core.spark.spark_target import SparkTarget

EXTRA = "spark.driver.extraJavaOptions"
ARCHIVE = "/home/airflow/.cache/a.jsa"
SHARED = f"-XX:SharedArchiveFile={ARCHIVE} -Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"
QUICK = "-XX:TieredStopAtLevel=1"


def options(
    target: SparkTarget, records: int = 1, archive: str | None = ARCHIVE, environment: dict[str, str] | None = None
) -> str | None:
    """Return the text of our options, `None` without the setting."""
    return driver_settings(target, environment or {}, records=records, archive=archive).get(DEFAULT_OPTIONS)


def local(**settings: str) -> SparkTarget:
    """Return a local Spark; names of settings have `_` for `.`."""
    return SparkTarget("spark", "local[2]", own={name.replace("_", "."): text for name, text in settings.items()})


@pytest.mark.parametrize("mode", [None, "client"])
def test_driver_of_few_records_gets_both(mode: str | None) -> None:
    """A driver on the worker gets the class archive, and the quick compiler for few records."""
    assert f"{SHARED} {QUICK}" == options(SparkTarget("spark", "yarn", mode))


def test_quick_compiler_is_for_few_records() -> None:
    """The quick compiler alone makes long jobs slower, so only a small job gets it; the archive fits all."""
    assert f"{SHARED} {QUICK}" == options(local(), FEW_RECORDS)
    assert SHARED == options(local(), FEW_RECORDS + 1)


def test_without_archive_only_the_compiler_is_set() -> None:
    """Without an archive there is no option about sharing, and for many records no setting at all."""
    assert QUICK == options(local(), 1, None)
    assert options(local(), FEW_RECORDS + 1, None) is None


def test_driver_in_the_cluster_gets_nothing() -> None:
    """The archive is on the worker, so a driver in the cluster gets no option."""
    assert options(SparkTarget("spark", "yarn", "cluster")) is None


@pytest.mark.parametrize("place", ["connection", "defaults"])
def test_setting_of_an_administrator_stays(place: str) -> None:
    """If the connection or spark-defaults.conf has the setting that we would set, nothing is set."""
    text = f"{DEFAULT_OPTIONS} -Dours=no"
    target = SparkTarget("spark", "yarn", own={DEFAULT_OPTIONS: ""}) if place == "connection" else None

    assert options(target or SparkTarget("spark", "yarn", defaults=text)) is None


@pytest.mark.parametrize(
    "own",
    [
        "-Xshare:off",
        "-XX:SharedArchiveFile=/x",
        "-XX:ArchiveClassesAtExit=/x",
        "-XX:+AutoCreateSharedArchive",
        "-XX:+RequireSharedSpaces",
    ],
)
def test_users_sharing_stays(own: str) -> None:
    """Options of the user about class sharing leave ours about it out, wherever they are set."""
    assert QUICK == options(local(**{EXTRA: own}))
    assert QUICK == options(SparkTarget("spark", "yarn", defaults=f"{EXTRA} {own}"))
    for variable in OPTION_VARIABLES:
        assert QUICK == options(local(), environment={variable: own}), variable


@pytest.mark.parametrize(
    "own",
    [
        "-XX:-TieredCompilation",
        "-XX:TieredStopAtLevel=4",
        "-XX:CICompilerCount=1",
        "-XX:NonProfiledCodeHeapSize=9m",
        "-Xint",
        "-Xcomp",
    ],
)
def test_users_compiler_stays(own: str) -> None:
    """Options of the user about the compiler leave ours about it out."""
    assert SHARED == options(local(**{EXTRA: f"-Da=b {own}"}))
    assert SHARED == options(local(), environment={"JAVA_TOOL_OPTIONS": own})


@pytest.mark.parametrize("own", ["@/etc/java-options", "-Da=b @x", "-XX:Flags=.hotspotrc", "-XX:VMOptionsFile=x"])
def test_file_of_options_decides_alone(own: str) -> None:
    """With a file of Java options, which may hold any, nothing is set."""
    assert options(local(), environment={"JDK_JAVA_OPTIONS": own}) is None


def test_other_options_of_the_user_change_nothing() -> None:
    """All other options of the user are next to ours: Spark puts ours before them."""
    own = "-Djava.security.krb5.conf=/etc/krb5.conf -Xss4m -Duser=a@REALM"

    assert f"{SHARED} {QUICK}" == options(local(**{EXTRA: own}))


def test_path_with_a_space_is_one_option() -> None:
    """A path is quoted as Spark splits options."""
    found = options(local(), archive='/a b/"c"\\d.jsa')

    assert found is not None
    assert found.startswith(r'"-XX:SharedArchiveFile=/a b/\"c\"\\d.jsa" -Xshare:auto ')


def test_version_is_asked_with_the_quick_compiler() -> None:
    """`spark-submit --version` gets the quick compiler before the user's options, unless they choose a compiler."""
    quick, variable = "-XX:TieredStopAtLevel=1", "SPARK_SUBMIT_OPTS"
    chosen = ({variable: "-XX:-TieredCompilation"}, {"JAVA_TOOL_OPTIONS": "-XX:Flags=file"}, {"_JAVA_OPTIONS": "-Xint"})

    assert {variable: quick} == quick_launcher({})
    assert {variable: f"{quick} -Da=b"} == quick_launcher({variable: "-Da=b"})
    assert not any(quick_launcher(environment) for environment in chosen)
