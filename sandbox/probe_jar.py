"""`python -m sandbox.probe_jar`: compiles the program of `mirrorctl probe` into its section of mirrorctl.

Eclipse's compiler gives the same bytes with every Java from 11, and its code runs with Java 8 and newer. It compiles
against the Kafka of the sandbox.
"""

from __future__ import annotations

import base64
import io
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sandbox.environment import java
from sandbox.jars import KAFKA_VERSION, PROJECT, ensure_sets, jar_set, kafka_home

COMPILER_SET = "ecj-3.35.0"
HOST = PROJECT / "plugins" / "kafka_migration" / "host"
SOURCE = HOST / "probe" / "ClusterProbe.java"
SECTION = HOST / "mirrorctl" / "82-probe-jar.sh"
_HEAD = """\
# ---------------------------------------------------------------- the program of a probe

# The jar of probe/ClusterProbe.java in base64; `make probe-jar` writes it.
PROBE_JAR='
"""


class ProbeJarError(Exception):
    """The program does not compile; the text is the compiler's."""


def compiled() -> dict[str, bytes]:
    """Return the classes of the program by their names in a jar. Raises `JarsError` and `ProbeJarError`."""
    ensure_sets([COMPILER_SET], print)
    (compiler,) = jar_set(COMPILER_SET).libs.glob("*.jar")
    clients = kafka_home() / "libs" / f"kafka-clients-{KAFKA_VERSION}.jar"
    with tempfile.TemporaryDirectory() as folder:
        options = ("-1.8", "-g:none", "-proc:none", "-cp", clients, "-d", folder)
        command = (java(os.environ), "-jar", compiler, *options, SOURCE)
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode != 0 or done.stderr:
            raise ProbeJarError(done.stdout + done.stderr)
        return {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.class"))}


def section_of(classes: dict[str, bytes]) -> str:
    """Return the section of mirrorctl with a jar of these classes."""
    jar = io.BytesIO()
    with ZipFile(jar, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for name, code in classes.items():
            archive.writestr(ZipInfo(name), code, ZIP_DEFLATED, 9)
    lines = textwrap.wrap(base64.b64encode(jar.getvalue()).decode(), 120)
    return _HEAD + "\n".join(lines) + "'\n\n"


def classes_of(section: str) -> dict[str, bytes]:
    """Return the classes in a section of mirrorctl."""
    with ZipFile(io.BytesIO(base64.b64decode(section.split("'")[1]))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


if __name__ == "__main__":
    try:
        SECTION.write_text(section_of(compiled()))
    except ProbeJarError as error:
        sys.exit(str(error))
