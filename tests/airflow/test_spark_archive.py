"""`spark-archive` and the tasks that use its archive, with a `spark-submit` that writes what a JVM would write."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_migration.airflow_adapters.spark_archive import archive_key, archive_of
from kafka_migration.cli.main import main
from kafka_migration.core.spark.driver_java import DEFAULT_OPTIONS
from kafka_migration.core.spark.spark_target import SparkTarget
from tests.airflow.spark_places import placed_spark
from tests.json_fields import undocumented

# It keeps its words, and writes the archive that an option names; the second call is the check.
SUBMIT = """\
#!/bin/sh
printf '%s\\n' "$*" >> "$(dirname "$0")/words"
archive=$(printf '%s\\n' "$*" | sed -n 's/.*-XX:ArchiveClassesAtExit=\\([^ ]*\\).*/\\1/p')
[ -z "$archive" ] || printf classes > "$archive"
"""
CONNECTION = {"conn_type": "spark", "host": "spark://s:7077"}
TARGET = SparkTarget("spark", "spark://s:7077")


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Spark and a Java, without programs that run, and a folder for archives; returns the place of `spark-submit`."""
    monkeypatch.setenv("AIRFLOW_CONN_SPARK", json.dumps(CONNECTION))
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__SPARK_JARS", "/jars/a.jar")
    return placed_spark(tmp_path, monkeypatch, SUBMIT, tmp_path / "archives")


def found() -> str | None:
    """Return the archive that a task would use."""
    key = archive_key(TARGET)
    return archive_of(key) if key else None


def test_made_archive_is_used(spark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The verb rehearses the jobs with the connector, checks that the JVM uses the archive, and names it."""
    assert 0 == main(["spark-archive", "spark", "-o", "json"])
    answer = json.loads(capsys.readouterr().out)
    assert set() == undocumented("spark-archive", answer)
    rehearsal, check = (spark.parent / "words").read_text().splitlines()

    assert answer["archive"] == found()
    assert (7, [], "spark") == (answer["bytes"], answer["removed"], answer["connection"])
    assert "--master local[2] --deploy-mode client" in rehearsal
    assert "--jars /jars/a.jar" in rehearsal
    assert rehearsal.endswith("/spark_jobs/rehearse.py")
    assert "-Xshare:on -XX:SharedArchiveFile=" in check
    assert check.endswith("--version")
    assert [Path(answer["archive"])] == list((tmp_path / "archives").iterdir())


def test_second_archive_replaces_the_first(spark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After a change of the jars the verb makes another archive, and removes and names the old one."""
    assert 0 == main(["spark-archive", "spark"])
    old = found()
    (tmp_path / "spark" / "jars" / "b.jar").touch()
    assert found() is None

    assert 0 == main(["spark-archive", "spark"])
    assert f"Removed  {old}" in capsys.readouterr().out
    assert found() not in (None, old)


def replace_jar(root: Path) -> None:
    """Install another version of a jar."""
    (root / "spark" / "jars" / "a.jar").write_text("another version")


def touch_jar(root: Path) -> None:
    """Write the same jar again; a JVM compares the time."""
    os.utime(root / "spark" / "jars" / "a.jar", (1, 1))


def replace_java(root: Path) -> None:
    """Install another build of Java."""
    (root / "java" / "lib" / "server" / "libjvm.so").write_text("another build")


def remove_spark(root: Path) -> None:
    """Leave no jars."""
    (root / "spark" / "jars").rename(root / "spark" / "gone")


def open_folder(root: Path) -> None:
    """Let others enter the folder of archives."""
    (root / "archives").chmod(0o755)


@pytest.mark.parametrize("change", [replace_jar, touch_jar, replace_java, remove_spark, open_folder])
def test_archive_of_another_time_is_not_used(spark: Path, tmp_path: Path, change: Callable[[Path], None]) -> None:
    """An archive for other jars or another Java is not used, and none from a folder that others may enter."""
    assert 0 == main(["spark-archive", "spark"])
    assert found() is not None
    change(tmp_path)

    assert found() is None


@pytest.mark.parametrize("name", ["SPARK_DIST_CLASSPATH", "HADOOP_CONF_DIR", "SPARK_CONF_DIR"])
def test_other_class_path_is_another_archive(spark: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What Spark's scripts add to the class path belongs to the archive."""
    before = archive_key(TARGET)
    monkeypatch.setenv(name, "/etc/other")

    assert before != archive_key(TARGET)
    assert before != archive_key(SparkTarget("spark", "yarn", own={"spark.driver.extraClassPath": "/a.jar"}))


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    """Run the verb, which must refuse, and return what it says."""
    assert 3 == main(["spark-archive", "spark"])
    said = capsys.readouterr().err
    assert "CLASS_ARCHIVE_NOT_MADE" in said
    return " ".join(said.split())


def test_unsafe_folder_is_refused(spark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a folder that others may enter nothing is made, and Spark is not started."""
    (tmp_path / "archives").mkdir(mode=0o755)

    assert "has mode 0755, and 0700 is needed" in refusal(capsys)
    assert not (spark.parent / "words").exists()
    assert [] == list((tmp_path / "archives").iterdir())


def test_unwritable_folder_is_refused(spark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where no folder can be made there is a refusal, and tasks start without an archive."""
    (tmp_path / "archives").touch()

    assert "File exists" in refusal(capsys)
    assert found() is None


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo Cannot have non-empty directory in paths", "the JVM wrote none: Cannot have non-empty directory"),
        ("echo no memory; exit 3", "spark-submit ended with code 3: no memory"),
        (SUBMIT + '[ -n "$archive" ] || { echo mismatch; exit 1; }', "spark-submit ended with code 1: mismatch"),
    ],
)
def test_archive_that_the_jvm_does_not_write_or_use_is_refused(
    spark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], script: str, said: str
) -> None:
    """If the JVM writes no archive, or does not accept its own, nothing is kept, and the reason is shown."""
    spark.write_text(f"#!/bin/sh\n{script}\n")

    assert said in refusal(capsys)
    assert found() is None


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"deploy-mode": "cluster"}, "the driver runs in the cluster"),
        ({DEFAULT_OPTIONS: "-Da=b"}, f"{DEFAULT_OPTIONS} is set"),
        ({"spark.driver.extraJavaOptions": "-Xshare:off"}, "already decide about class sharing"),
    ],
)
def test_archive_that_no_driver_would_use_is_not_made(
    spark: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], extra: dict[str, str], said: str
) -> None:
    """If the driver would not use an archive, none is made."""
    monkeypatch.setenv("AIRFLOW_CONN_SPARK", json.dumps({**CONNECTION, "extra": extra}))

    assert said in refusal(capsys)


def test_unknown_java_is_refused(spark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the files of a JVM that can have archives none is made."""
    (tmp_path / "java" / "lib" / "modules").unlink()

    assert "of its Java are unknown" in refusal(capsys)


@pytest.mark.parametrize("folder", ["", "a:b"])
def test_folder_that_cannot_be_named_is_refused(
    spark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    """An empty setting means no archives, and a colon separates two of them."""
    place = str(tmp_path / folder) if folder else ""
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__CLASS_ARCHIVES", place)

    assert ("has a colon" if folder else "names no folder") in refusal(capsys)
    assert found() is None


def test_secrets_of_the_connection_are_on_no_command_line(spark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rehearsal gets the driver's settings in a file, and none of the cluster's secrets."""
    extra = {"spark.authenticate.secret": "canary-1", "spark.driver.extraJavaOptions": "-Dpassword=canary-2"}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK", json.dumps({**CONNECTION, "extra": extra}))
    properties = spark.with_name("properties")
    copy = f'while [ "$1" != --properties-file ]; do shift; done; cp "$2" {properties}\n'
    spark.write_text(SUBMIT + copy)

    assert 0 == main(["spark-archive", "spark"])
    assert "canary" not in (spark.parent / "words").read_text()
    assert "spark.driver.extraJavaOptions=-Dpassword\\=canary-2" in properties.read_text()
    assert "canary-1" not in properties.read_text()
