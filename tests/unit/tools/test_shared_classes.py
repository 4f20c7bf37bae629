"""Rules of the sandbox's class archives: made once, ignored if anything is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_migration.adapters.system.archive_keys import key_of
from kafka_migration.adapters.system.class_archives import keep, new_archive
from sandbox import jars, shared_classes
from sandbox.shared_classes import ensure, kafka_options, merged, spark_options

PYTHON = """\
#!/bin/sh
echo "$@" >> {words}
echo no memory
exit {code}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for archives."""
    monkeypatch.setattr(shared_classes, "FOLDER", tmp_path / "class-archives")
    shared_classes._archive.cache_clear()
    return tmp_path / "class-archives"


def python(tmp_path: Path, code: int) -> Path:
    """Return a Python that keeps its words and ends with this code."""
    made = tmp_path / "python"
    made.write_text(PYTHON.format(words=tmp_path / "words", code=code))
    made.chmod(0o755)
    return made


@pytest.mark.parametrize(("code", "said"), [(0, "done"), (3, "no memory")])
def test_archives_are_made_once(folder: Path, tmp_path: Path, code: int, said: str) -> None:
    """The bootstrap makes both archives, says how it went, and tries again only after a change."""
    lines: list[str] = []
    ensure(lines.append, python(tmp_path, code), "3.11 abc")

    assert [f"class archives: {what}: {said}" for what in ("Kafka", "Spark")] == lines[1:]
    wanted = ["-m sandbox.shared_classes", "-m kafka_migration spark-archive sandbox_spark"]
    assert wanted == (tmp_path / "words").read_text().splitlines()

    ensure(lines.append, python(tmp_path, code), "3.11 abc")
    assert 3 == len(lines)
    ensure(lines.append, python(tmp_path, code), "3.12 abc")
    assert 6 == len(lines)


def test_missing_java_is_no_failure(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the files of a JVM that can have archives none is made, and the bootstrap continues."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    lines: list[str] = []
    ensure(lines.append, python(tmp_path, 0), "3.11 abc")

    assert ["none are made"] == [line.split(": ")[1] for line in lines]
    assert not folder.exists()


def test_without_archives_there_are_no_options(folder: Path) -> None:
    """Kafka and Spark start without archives, also if only a damaged one is there, and Kafka of another version."""
    assert ((), ()) == (kafka_options(), spark_options())
    folder.mkdir(mode=0o700)
    for key in (shared_classes._kafka_key(), key_of("spark", shared_classes._spark_home())):
        (folder / f"{key}-{'0' * 64}.jsa").write_text("damaged")

    assert ((), ()) == (kafka_options(), spark_options())


def test_archives_are_used(folder: Path) -> None:
    """Each JVM gets the archive for its class path, and prints no warning if the archive does not fit."""
    for key in (shared_classes._kafka_key(), key_of("spark", shared_classes._spark_home())):
        with new_archive(folder) as path:
            path.write_text(key)
            keep(path, key)
    silent = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")

    assert silent == kafka_options()[1:]
    assert kafka_options()[0].startswith(f"-XX:SharedArchiveFile={folder}/kafka-")
    assert spark_options()[0].startswith(f"-XX:SharedArchiveFile={folder}/spark-")
    assert () == kafka_options("3.9.0" if jars.KAFKA_VERSION != "3.9.0" else "3.8.1")


def test_path_that_is_no_word_has_no_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout whose path has a space no JVM gets an option, because variables would split it."""
    monkeypatch.setattr(shared_classes, "FOLDER", tmp_path / "a b")
    shared_classes._archive.cache_clear()
    with new_archive(tmp_path / "a b") as path:
        path.touch()
        keep(path, shared_classes._kafka_key())

    assert () == kafka_options()


def test_unsafe_folder_gets_no_archive(folder: Path) -> None:
    """If other users could replace the archives, Kafka's classes are not even listed."""
    folder.mkdir(mode=0o755)

    with pytest.raises(SystemExit, match="has mode 0755"):
        shared_classes.make_kafka_archive()


def test_lists_of_classes_are_merged() -> None:
    """Each class is listed once, without its number, and those of a program's own class loader are left out."""
    old = "# NOTE\njava/lang/Object\nkafka/Kafka$\n@lambda-proxy kafka/Kafka$ run ()V\n"
    new = "java/lang/Object id: 0\na/B id: 7\nc/D id: 8 super: 0 source: /x.jar\n"

    assert "java/lang/Object\nkafka/Kafka$\n@lambda-proxy kafka/Kafka$ run ()V\na/B\n" == merged([old, new])
