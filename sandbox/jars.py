"""The jars that the sandbox runs: one declared list (`jars.json`), fetched once into `.cache/jars/<set>/libs`.

Maven fetches them where it is on the PATH; otherwise the Ivy that ships inside pyspark does, more slowly.
Standard library only: the bootstrap runs this before the virtual environment is complete.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

PROJECT = Path(__file__).resolve().parents[1]
JARS_FOLDER = PROJECT / ".cache" / "jars"
KAFKA_SET = "kafka-3.9.1"
SPARK_SET = "spark-kafka-4.0.0"
FETCH_TIMEOUT_S = 1200


class JarsError(Exception):
    """The jars could not be fetched; the text holds the tool's last lines."""


@dataclass(frozen=True)
class JarSet:
    """A named list of Maven coordinates `group:artifact:version`, with or without what they depend on."""

    name: str
    artifacts: tuple[str, ...]
    transitive: bool

    @property
    def libs(self) -> Path:
        """The folder that holds the set's jars once it is whole."""
        return JARS_FOLDER / self.name / "libs"

    def is_whole(self) -> bool:
        """True when every declared jar is there; a set appears by one rename, so a part of one never does."""
        return all(self._jar(artifact).is_file() for artifact in self.artifacts)

    def _jar(self, artifact: str) -> Path:
        _, name, version = artifact.split(":")
        return self.libs / f"{name}-{version}.jar"


def declared() -> tuple[JarSet, ...]:
    """Read the declared sets, in the order of the file."""
    document = json.loads((PROJECT / "sandbox" / "jars.json").read_text())
    return tuple(JarSet(name, tuple(entry["artifacts"]), entry["transitive"]) for name, entry in document.items())


def jar_set(name: str) -> JarSet:
    """Return the declared set of this name."""
    return next(jars for jars in declared() if jars.name == name)


def kafka_home() -> Path:
    """The folder whose `libs/*.jar` are Kafka, Connect and MirrorMaker 3.9.1."""
    return jar_set(KAFKA_SET).libs.parent


def spark_jars() -> tuple[Path, ...]:
    """The Kafka connector's jars for Spark."""
    return tuple(sorted(jar_set(SPARK_SET).libs.glob("*.jar")))


def ensure(say: Callable[[str], None]) -> None:
    """Fetch every declared set that is not there yet; silent when there is nothing to do.

    Raises:
        JarsError: neither Maven nor Ivy could fetch a set; nothing half-done stays behind.
    """
    for jars in declared():
        if jars.is_whole():
            continue
        started = time.monotonic()
        say(f"jars {jars.name}: fetching with {'Maven' if shutil.which('mvn') else 'Ivy, which takes minutes'}")
        fetch(jars)
        count = len(list(jars.libs.glob("*.jar")))
        say(f"jars {jars.name}: {count} files in {time.monotonic() - started:.0f} s")


def fetch(jars: JarSet) -> None:
    """Fetch one set into a temporary folder beside its place, then rename it there."""
    JARS_FOLDER.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{jars.name}-", dir=JARS_FOLDER))
    try:
        fresh = work / "set"
        (fresh / "libs").mkdir(parents=True)
        _run(_command(jars, work, fresh / "libs"), jars)
        _move_into_place(fresh, jars)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _move_into_place(fresh: Path, jars: JarSet) -> None:
    place = jars.libs.parent
    if place.exists() and not jars.is_whole():
        shutil.rmtree(place)
    try:
        fresh.rename(place)
    except OSError:  # another process was faster: its set is as good as ours
        if not jars.is_whole():
            raise
    if not jars.is_whole():
        raise JarsError(f"{jars.name}: the fetched set lacks declared jars; see {place}")


def _command(jars: JarSet, work: Path, libs: Path) -> list[str]:
    if shutil.which("mvn"):
        (work / "pom.xml").write_text(maven_pom(jars))
        scope = "false" if jars.transitive else "true"
        return [
            *("mvn", "-q", "-B", "-f", str(work / "pom.xml"), "dependency:copy-dependencies"),
            *(f"-DoutputDirectory={libs}", f"-DexcludeTransitive={scope}", "-DincludeScope=runtime"),
        ]
    (work / "ivy.xml").write_text(ivy_module(jars))
    return [
        *("java", "-jar", str(_ivy_jar()), "-warn", "-cache", str(JARS_FOLDER.parent / "ivy")),
        *("-ivy", str(work / "ivy.xml"), "-retrieve", f"{libs}/[artifact]-[revision](-[classifier]).[ext]"),
        *("-types", "jar", "bundle"),
    ]


def _ivy_jar() -> Path:
    found = sorted(PROJECT.glob(".venv/lib/python*/site-packages/pyspark/jars/ivy-*.jar"))
    if not found:
        raise JarsError("neither mvn is on the PATH nor pyspark with its Ivy in .venv; run: make up")
    return found[-1]


def maven_pom(jars: JarSet) -> str:
    """Render the project file whose dependencies are the set."""
    dependencies = "\n".join(_maven_dependency(artifact) for artifact in jars.artifacts)
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>\n'
        f"<groupId>sandbox</groupId><artifactId>{jars.name}</artifactId><version>1</version>\n"
        f"<packaging>pom</packaging><dependencies>\n{dependencies}\n</dependencies></project>\n"
    )


def _maven_dependency(artifact: str) -> str:
    group, name, version = artifact.split(":")
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        f"<version>{version}</version></dependency>"
    )


def ivy_module(jars: JarSet) -> str:
    """Render the Ivy module whose dependencies are the set."""
    transitive = str(jars.transitive).lower()
    dependencies = "\n".join(
        f"<dependency org={quoteattr(group)} name={quoteattr(name)} rev={quoteattr(version)}"
        f' transitive="{transitive}" conf="default->default"/>'
        for group, name, version in (artifact.split(":") for artifact in jars.artifacts)
    )
    return (
        '<ivy-module version="2.0"><info organisation="sandbox" module="jars"/>\n'
        f'<configurations><conf name="default"/></configurations>\n<dependencies>\n{dependencies}\n'
        "</dependencies></ivy-module>\n"
    )


def _run(command: list[str], jars: JarSet) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise JarsError(f"{jars.name}: {command[0]} ended with {done.returncode}:\n{tail}")
