"""A real JVM with a class archive: what fits is used, and whatever else there is changes nothing.

The JVM is one of Kafka's tools, which needs a second; Spark's driver gets the same options.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_migration.adapters.system.class_archives import keep, new_archive, usable_archive
from kafka_migration.core.spark.driver_java import DEFAULT_OPTIONS, driver_settings
from kafka_migration.core.spark.spark_target import SparkTarget
from sandbox import jars

pytestmark = pytest.mark.live

KEY = "spark-0123-4567"
TOOL = "org.apache.kafka.tools.TopicCommand"
LOADED = "shared objects file (top)"


def options(archive: Path) -> list[str]:
    """Return the options of a driver with an archive, without those about the compiler."""
    setting = driver_settings(SparkTarget("spark", "local"), {}, records=1 << 40, archive=str(archive))
    return setting[DEFAULT_OPTIONS].split()


def java(*words: str, libs: str = "") -> str:
    """Return what Kafka's tool prints, which is its version."""
    command = ("java", *words, "-cp", f"{libs}{jars.kafka_home() / 'libs'}/*", TOOL, "--version")
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive that the JVM of the tool has written."""
    with new_archive(tmp_path_factory.mktemp("made") / "archives") as path:
        java(f"-XX:ArchiveClassesAtExit={path}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")
        return keep(path, KEY)[0]


def test_fitting_archive_is_used(made: Path) -> None:
    """The JVM takes its classes from the archive, and says nothing else than without one."""
    assert LOADED in java(*options(made), "-Xlog:class+load")
    assert java() == java(*options(made))


@pytest.mark.parametrize(
    ("more", "libs"),
    [
        ((), "/nothing.jar:"),
        (("-XX:+UseSerialGC",), ""),
        (("-Xmx40g",), ""),
        (("-XX:-UseCompressedOops",), ""),
        (("-Xshare:off",), ""),
        (("-XX:TieredStopAtLevel=1",), ""),
    ],
)
def test_archive_that_does_not_fit_changes_nothing(made: Path, more: tuple[str, ...], libs: str) -> None:
    """With another class path, collector or heap, or with sharing turned off, the tool says the same."""
    assert java() == java(*options(made), *more, libs=libs)


def test_archive_of_other_jars_changes_nothing(made: Path, tmp_path: Path) -> None:
    """An old archive, made before a jar was replaced, is ignored."""
    changed = tmp_path / "changed.jar"
    shutil.copy(next((jars.kafka_home() / "libs").glob("slf4j-api-*.jar")), changed)

    assert java() == java(*options(made), libs=f"{changed}:")


def cut_off(path: Path) -> None:
    """Keep the first half, as a full disk or a killed JVM does."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def cut_off_early(path: Path) -> None:
    """Keep a part of the header."""
    path.write_bytes(path.read_bytes()[:100])


def zero(path: Path) -> None:
    """Have zeros instead of a part, as after a power loss."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 65_536] = bytes(65_536)
    path.write_bytes(content)


def empty(path: Path) -> None:
    """Have no content."""
    path.write_bytes(b"")


def be_foreign(path: Path) -> None:
    """Be a file of another program."""
    path.write_bytes(b"PK\x03\x04" * 100_000)


@pytest.mark.parametrize("change", [cut_off, cut_off_early, zero, empty, be_foreign, Path.unlink])
def test_damaged_archive_is_never_given_to_the_jvm(made: Path, tmp_path: Path, change: Callable[[Path], None]) -> None:
    """Some JVMs crash with a damaged archive, so a run does not name it; the same file undamaged is used."""
    folder = tmp_path / "archives"
    folder.mkdir(mode=0o700)
    archive = Path(shutil.copy2(made, folder))
    assert archive == usable_archive(folder, KEY)
    archive.chmod(0o600)
    change(archive)

    assert usable_archive(folder, KEY) is None


@pytest.mark.parametrize("change", [cut_off_early, empty, be_foreign, Path.unlink])
def test_archive_that_disappears_after_the_check_changes_nothing(
    made: Path, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    """If the archive is replaced between the check and the start of the JVM, the tool says the same."""
    archive = Path(shutil.copy2(made, tmp_path))
    archive.chmod(0o600)
    change(archive)

    assert java() == java(*options(archive))
