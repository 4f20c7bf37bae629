"""The program of a probe is compiled from its source, and runs with Java 8."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.for_tests import COMPILER
from sandbox.jars import KAFKA_VERSION, kafka_home
from sandbox.probe_jar import SECTION, SOURCE, classes_of, compiled, section_of
from tests.programs import run_java

pytestmark = pytest.mark.live

# The form of class files of Java 8.
JAVA_8 = 52


def test_jar_is_its_source() -> None:
    """The classes in mirrorctl are those of the source, byte by byte; `make probe-jar` writes them."""
    carried = classes_of(SECTION.read_text())

    assert compiled() == carried
    assert ["ClusterProbe.class"] == list(carried)
    assert carried == classes_of(section_of(carried))


def test_program_needs_no_newer_java() -> None:
    """The class has the form of Java 8."""
    assert [JAVA_8] == [code[7] for code in classes_of(SECTION.read_text()).values()]


def test_program_uses_only_the_library_of_java_8(tmp_path: Path) -> None:
    """The source compiles with the library of Java 8, which lacks newer methods."""
    clients = kafka_home() / "libs" / f"kafka-clients-{KAFKA_VERSION}.jar"
    main = ("-m", f"{COMPILER}/com.sun.tools.javac.Main")
    run_java(*main, "--release", "8", "-proc:none", "-cp", clients, "-d", tmp_path, SOURCE)

    assert ["ClusterProbe.class"] == [path.name for path in tmp_path.iterdir()]
