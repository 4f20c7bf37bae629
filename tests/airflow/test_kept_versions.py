"""What `spark-submit --version` said is kept for the same Spark and Java; the scripts here count how often they run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kafka_migration.airflow_adapters import kept_versions
from kafka_migration.airflow_adapters.kept_versions import spark_versions
from kafka_migration.core.spark.spark_versions import SparkVersions
from tests.airflow.spark_places import placed_spark

ANSWER = "version 4.0.0\nUsing Scala version 2.13.16, OpenJDK 64-Bit Server VM, 17.0.2\n"
# The script of a Spark: it counts its starts and says what is in the file `answer`.
SUBMIT = """\
#!/bin/sh
echo started >> "$SPARK_HOME/starts"
cat "$SPARK_HOME/answer" >&2
exit $(cat "$SPARK_HOME/code")
"""
KNOWN = SparkVersions("spark-submit --version", "4.0.0", "2.13")


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Spark and a Java without programs, and no folder for archives yet; returns the home of Spark."""
    home = placed_spark(tmp_path, monkeypatch, SUBMIT, tmp_path / "kept").parents[1]
    (home / "conf").mkdir()
    (home / "answer").write_text(ANSWER)
    (home / "code").write_text("0")
    return home


def starts(home: Path) -> int:
    """Return how often Spark was started."""
    file = home / "starts"
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_the_same_spark_is_asked_once(spark: Path, tmp_path: Path) -> None:
    """The second question starts nothing and has the same answer; the answer is in a folder of this user alone."""
    assert [KNOWN, KNOWN] == [spark_versions("spark-submit"), spark_versions("spark-submit")]
    assert starts(spark) == 1
    (kept,) = (tmp_path / "kept").iterdir()
    assert kept.read_text() == ANSWER
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700


CHANGES: dict[str, Callable[[Path], object]] = {
    "another jar": lambda home: (home / "jars" / "b.jar").touch(),
    "a jar that was replaced": lambda home: (home / "jars" / "a.jar").write_text("new"),
    "another Java": lambda home: (home.parent / "java" / "release").write_text("17.0.3"),
    "another script": lambda home: (home / "bin" / "spark-submit").write_text(f"{SUBMIT}\n"),
    "another script beside it": lambda home: (home / "bin" / "find-spark-home").touch(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_spark_is_asked_again(spark: Path, tmp_path: Path, change: str) -> None:
    """After any change of the files of Spark or Java, the command is asked again, and only its answer is kept."""
    spark_versions("spark-submit")
    (spark / "answer").write_text(ANSWER.replace("4.0.0", "4.0.1"))
    CHANGES[change](spark)

    assert spark_versions("spark-submit").spark == spark_versions("spark-submit").spark == "4.0.1"
    assert starts(spark) == 2
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_changed_variable_asks_again(spark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another `PATH` or Python may lead the scripts of Spark elsewhere."""
    spark_versions("spark-submit")
    monkeypatch.setenv("PYSPARK_PYTHON", "python3.12")
    spark_versions("spark-submit")

    assert starts(spark) == 2


def test_spark_that_fails_is_asked_each_time(spark: Path, tmp_path: Path) -> None:
    """An answer without a version is not kept, so a Spark that works again is known at once."""
    (spark / "code").write_text("3")
    assert "exit code 3" in spark_versions("spark-submit").unknown
    (spark / "code").write_text("0")

    assert spark_versions("spark-submit") == KNOWN
    assert starts(spark) == 2


def test_command_of_a_vendor_is_asked_each_time(spark: Path, tmp_path: Path) -> None:
    """A script that is not Spark's own may start any Spark, so nothing is kept."""
    own = spark.parent / "spark3-submit"
    own.write_text(f"{SUBMIT}# a vendor's\n")
    own.chmod(0o755)

    assert spark_versions(str(own)).spark == spark_versions(str(own)).spark == "4.0.0"
    assert starts(spark) == 2
    assert not (tmp_path / "kept").exists()


def test_spark_with_an_environment_is_asked_each_time(spark: Path, tmp_path: Path) -> None:
    """A `spark-env.sh` may lead to any Spark and any Java, also by other files."""
    (spark / "conf" / "spark-env.sh").touch()
    spark_versions("spark-submit")
    spark_versions("spark-submit")

    assert starts(spark) == 2
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(("python", "asked"), [(sys.executable, 1), ("other/python3", 2), ("no-such-python", 2)])
def test_place_of_spark_by_another_python_is_unknown(
    spark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str, asked: int
) -> None:
    """The script of a Spark from pip asks a Python for its place, which must be the one that this process knows."""
    other = tmp_path / "other" / "python3"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    (spark / "bin" / "find_spark_home.py").touch()
    text = SUBMIT.replace("$SPARK_HOME", str(spark))
    (spark / "bin" / "spark-submit").write_text(text)
    monkeypatch.setattr(kept_versions, "spark_home", lambda _: str(spark))
    monkeypatch.delenv("SPARK_HOME")
    monkeypatch.setenv("PYSPARK_PYTHON", str(tmp_path / python) if "/" in python and python[0] != "/" else python)

    assert [KNOWN] * 2 == [spark_versions("spark-submit") for _ in range(2)]
    assert starts(spark) == asked


def spoil(folder: Path, how: str) -> None:
    """Make the folder of the kept answers unusable, or its files rubbish."""
    (kept,) = folder.iterdir()
    if how == "a folder of others":
        folder.chmod(0o777)
    elif how == "rubbish":
        kept.chmod(0o600)
        kept.write_bytes(b"\xff\x00")
    elif how == "empty":
        kept.chmod(0o600)
        kept.write_text("")
    elif how == "writable by others":
        kept.chmod(0o666)
        kept.write_text(ANSWER.replace("4.0.0", "3.3.0"))
    elif how == "a link":
        (kept.parent.parent / "planted").write_text(ANSWER.replace("4.0.0", "3.3.0"))
        kept.unlink()
        kept.symlink_to(kept.parent.parent / "planted")
    elif how == "a pipe":
        kept.unlink()
        os.mkfifo(kept)
    elif how == "endless":
        kept.chmod(0o600)
        kept.write_text(ANSWER + " " * 70_000)
    else:
        kept.unlink()
        kept.mkdir()


@pytest.mark.parametrize(
    "how", ["a folder of others", "rubbish", "empty", "writable by others", "a link", "a pipe", "endless", "a folder"]
)
def test_answer_that_cannot_be_trusted_is_not_used(spark: Path, tmp_path: Path, how: str) -> None:
    """If others could have written the answer, or it names no version, Spark is asked, and no error ends the run."""
    spark_versions("spark-submit")
    spoil(tmp_path / "kept", how)

    assert spark_versions("spark-submit") == KNOWN
    assert starts(spark) == 2


def test_without_a_folder_nothing_is_kept(spark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an empty `class_archives`, or a place that cannot be made, Spark is asked each time."""
    for named in ("", str(spark / "answer" / "below-a-file")):
        monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__CLASS_ARCHIVES", named)
        assert spark_versions("spark-submit") == KNOWN
    assert starts(spark) == 2


def test_writers_at_the_same_time_keep_one_whole_answer(spark: Path, tmp_path: Path) -> None:
    """Tasks that ask at the same time get the answer, and leave one."""
    with ThreadPoolExecutor(4) as tasks:
        assert {KNOWN} == set(tasks.map(spark_versions, ["spark-submit"] * 8))

    (kept,) = (tmp_path / "kept").iterdir()
    assert kept.read_text() == ANSWER
