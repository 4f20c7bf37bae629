"""Programs of this machine that only tests call. One that is missing fails the test; it never skips it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from sandbox.environment import java, search_path
from sandbox.for_tests import COMPILER, PROGRAMS


def installed(name: str) -> str:
    """Return the path of a program of `PROGRAMS`; fails the test if it is not installed."""
    _, purpose = PROGRAMS[name]
    found = shutil.which(name, path=search_path())
    if found is None:
        pytest.fail(
            f"{name} is not installed. Without it, {purpose} cannot be tested. "
            "`make bootstrap-tests` installs it, or names the command.",
            pytrace=False,
        )
    return found


def run_java(*arguments: str | Path) -> str:
    """Return what the machine's Java prints; it also runs a single source file. Fails with what it says otherwise."""
    done = subprocess.run([java(os.environ), *arguments], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def java_home() -> Path:
    """Return the home of the machine's Java."""
    return Path(java(os.environ)).resolve().parents[1]


def compile_jar(source: Path, jar: Path) -> None:
    """Compile a source file into a jar, with the compiler in Java itself: a runtime may have no program `javac`."""
    classes = source.parent / "classes"
    run_java("-m", f"{COMPILER}/com.sun.tools.javac.Main", "-d", classes, source)
    with ZipFile(jar, "w") as archive:
        for file in classes.rglob("*.class"):
            archive.write(file, file.relative_to(classes))
