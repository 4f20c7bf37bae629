"""The jars that the sandbox runs, fetched once into `.cache/jars/<set>/libs`.

`jars.json` declares them. `jars.lock.json` holds every jar with its SHA-512, including dependencies. Exactly these are
fetched, and checked before each use. `make lock-jars` (`python -m sandbox.jars`) writes it.

Maven fetches them if it is on the PATH; otherwise the Ivy in pyspark does, which is slower.
Standard library only: the bootstrap runs this before the virtual environment is complete.
"""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

PROJECT = Path(__file__).resolve().parents[1]
JARS_FOLDER = PROJECT / ".cache" / "jars"
LOCK = PROJECT / "sandbox" / "jars.lock.json"
KAFKA_VERSION = "3.9.1"
KAFKA_SET = f"kafka-{KAFKA_VERSION}"
SPARK_SET = "spark-kafka-4.0.0-3.9.1"
FETCH_TIMEOUT_S = 1200
_NO_DEPENDENCIES = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"


class JarsError(Exception):
    """The jars could not be fetched or differ from the lock file; the text has the tool's last lines, or the jar."""


@dataclass(frozen=True)
class JarSet:
    """A named list of Maven coordinates `group:artifact:version[:classifier]`, with or without dependencies.

    A set on demand is fetched only by the first test that needs it.
    """

    name: str
    artifacts: tuple[str, ...]
    transitive: bool
    on_demand: bool = False

    @property
    def libs(self) -> Path:
        """The folder of the set's jars once it is complete."""
        return JARS_FOLDER / self.name / "libs"

    def locked(self) -> Mapping[str, str]:
        """Return {coordinates: SHA-512} of every jar of the set, including dependencies.

        Raises:
            JarsError: the lock file was made from another list.
        """
        found: dict[str, str] = json.loads(LOCK.read_text()).get(self.name, {})
        if not set(self.artifacts) <= set(found):
            raise JarsError(f"{LOCK.name} does not hold the jars of {self.name}; write it again: make lock-jars")
        return found

    def is_whole(self) -> bool:
        """True if the folder holds exactly the locked jars, each with its SHA-512."""
        return not self.problem(self.libs)

    def problem(self, libs: Path) -> str:
        """Return how a folder differs from the locked set; empty if it does not."""
        wanted = {_file_name(artifact): digest for artifact, digest in self.locked().items()}
        there = {jar.name for jar in libs.glob("*.jar")}
        for name in sorted(wanted.keys() | there):
            if name not in there:
                return f"{name} is missing"
            if name not in wanted:
                return f"{name} is not in {LOCK.name}"
            if sha512(libs / name) != wanted[name]:
                return f"{name} has not the SHA-512 of {LOCK.name}"
        return ""


def declared() -> tuple[JarSet, ...]:
    """Read the declared sets, in the order of the file."""
    document = json.loads((PROJECT / "sandbox" / "jars.json").read_text())
    return tuple(
        JarSet(name, tuple(entry["artifacts"]), entry["transitive"], entry.get("on_demand", False))
        for name, entry in document.items()
    )


def jar_set(name: str) -> JarSet:
    """Return the declared set of this name."""
    return next(jars for jars in declared() if jars.name == name)


def kafka_home(version: str = KAFKA_VERSION) -> Path:
    """The folder whose `libs/*.jar` are Kafka; from 3.9 on, Connect and MirrorMaker too."""
    return jar_set(f"kafka-{version}").libs.parent


@functools.cache
def fetched_kafka(version: str) -> Path:
    """Return `kafka_home` of this version and fetch its jars first if they are missing; raises `JarsError`."""
    ensure_kafka([version], print)
    return kafka_home(version)


def spark_jars() -> tuple[Path, ...]:
    """The Kafka connector's jars for Spark."""
    return tuple(sorted(jar_set(SPARK_SET).libs.glob("*.jar")))


def ensure(say: Callable[[str], None]) -> None:
    """Fetch every missing set that is not on demand; prints nothing if there is nothing to do.

    Raises:
        JarsError: neither Maven nor Ivy could fetch a set, or it differs from the lock file. No files of it are kept.
    """
    _ensure((jars for jars in declared() if not jars.on_demand), say)


def ensure_sets(names: Iterable[str], say: Callable[[str], None]) -> None:
    """Fetch those of these sets that are missing; raises `JarsError` like `ensure`."""
    _ensure(map(jar_set, names), say)


def ensure_kafka(versions: Iterable[str], say: Callable[[str], None]) -> None:
    """Fetch the missing sets of these Kafka versions; raises `JarsError` like `ensure`."""
    ensure_sets((f"kafka-{version}" for version in versions), say)


def _ensure(wanted: Iterable[JarSet], say: Callable[[str], None]) -> None:
    for jars in wanted:
        if jars.is_whole():
            continue
        started = time.monotonic()
        if jars.libs.exists():
            say(f"jars {jars.name}: {jars.problem(jars.libs)}")
        say(f"jars {jars.name}: fetching with {'Maven' if shutil.which('mvn') else 'Ivy, which takes minutes'}")
        fetch(jars)
        count = len(list(jars.libs.glob("*.jar")))
        say(f"jars {jars.name}: {count} files in {time.monotonic() - started:.0f} s")


def fetch(jars: JarSet) -> None:
    """Fetch one set into a temporary folder next to its path, check it, then rename the folder."""
    JARS_FOLDER.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{jars.name}-", dir=JARS_FOLDER))
    try:
        fresh = work / "set"
        (fresh / "libs").mkdir(parents=True)
        exact = JarSet(jars.name, tuple(jars.locked()), transitive=False)
        _run(_command(exact, work, fresh / "libs"), jars)
        problem = jars.problem(fresh / "libs")
        if problem:
            raise JarsError(f"{jars.name}: of what was fetched, {problem}")
        _move_into_place(fresh, jars)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _move_into_place(fresh: Path, jars: JarSet) -> None:
    place = jars.libs.parent
    if place.exists() and not jars.is_whole():
        shutil.rmtree(place)
    try:
        fresh.rename(place)
    except OSError:  # another process was faster; its set is equal
        if not jars.is_whole():
            raise


def lock() -> None:
    """Resolve the declared sets with Maven and write every jar with its SHA-512 into the lock file.

    Raises:
        JarsError: Maven is not installed, or failed.
    """
    found = {jars.name: dict(sorted(_resolved(jars))) for jars in declared()}
    LOCK.write_text(json.dumps(found, indent=2) + "\n")


def sha512(file: Path) -> str:
    """Return the SHA-512 of a file in hexadecimal digits."""
    return hashlib.sha512(file.read_bytes()).hexdigest()


def _resolved(jars: JarSet) -> Iterator[tuple[str, str]]:
    """Yield coordinates and SHA-512 of each jar that Maven finds to belong to the set."""
    if not shutil.which("mvn"):
        raise JarsError("the lock file is written with Maven, and mvn is not on the PATH")
    with tempfile.TemporaryDirectory() as folder:
        libs = Path(folder, "libs")
        # The repository path has the coordinates: group/as/folders/artifact/version/artifact-version[-classifier].jar.
        _run([*_command(jars, Path(folder), libs), "-Dmdep.useRepositoryLayout=true"], jars)
        for jar in libs.rglob("*.jar"):
            *group, name, version = jar.relative_to(libs).parts[:-1]
            classifier = jar.stem.removeprefix(f"{name}-{version}").removeprefix("-")
            yield ":".join(filter(None, (".".join(group), name, version, classifier))), sha512(jar)


def _file_name(artifact: str) -> str:
    return f"{'-'.join(artifact.split(':')[1:])}.jar"


def _command(jars: JarSet, work: Path, libs: Path) -> list[str]:
    if shutil.which("mvn"):
        (work / "pom.xml").write_text(maven_pom(jars))
        return [
            *("mvn", "-q", "-B", "-f", str(work / "pom.xml"), "dependency:copy-dependencies"),
            *(f"-DoutputDirectory={libs}", "-DincludeScope=runtime"),
        ]
    (work / "ivy.xml").write_text(ivy_module(jars))
    return [
        *("java", "-jar", str(ivy_jar()), "-warn", "-cache", str(JARS_FOLDER.parent / "ivy")),
        *("-ivy", str(work / "ivy.xml"), "-retrieve", f"{libs}/[artifact]-[revision](-[classifier]).[ext]"),
        *("-types", "jar", "bundle"),
    ]


def ivy_jar() -> Path:
    """Return the Ivy in pyspark. Raises `JarsError` if pyspark is not installed."""
    found = sorted(PROJECT.glob(".venv/lib/python*/site-packages/pyspark/jars/ivy-*.jar"))
    if not found:
        raise JarsError("neither mvn is on the PATH nor pyspark with its Ivy in .venv; run: make up")
    return found[-1]


def maven_pom(jars: JarSet) -> str:
    """Render the project file whose dependencies are the set."""
    dependencies = "\n".join(_maven_dependency(artifact, jars.transitive) for artifact in jars.artifacts)
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>\n'
        f"<groupId>sandbox</groupId><artifactId>{jars.name}</artifactId><version>1</version>\n"
        f"<packaging>pom</packaging><dependencies>\n{dependencies}\n</dependencies></project>\n"
    )


def _maven_dependency(artifact: str, transitive: bool) -> str:
    """Without dependencies, Maven must not look for them either: a published one may name some that are not."""
    named = zip(("groupId", "artifactId", "version", "classifier"), artifact.split(":"), strict=False)
    tags = "".join(f"<{tag}>{value}</{tag}>" for tag, value in named)
    return f"<dependency>{tags}{'' if transitive else _NO_DEPENDENCIES}</dependency>"


def ivy_module(jars: JarSet) -> str:
    """Render the Ivy module whose dependencies are the set."""
    dependencies = "\n".join(_ivy_dependency(artifact, jars.transitive) for artifact in jars.artifacts)
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="sandbox" module="jars"/>\n'
        f'<configurations><conf name="default"/></configurations>\n<dependencies>\n{dependencies}\n'
        "</dependencies></ivy-module>\n"
    )


def _ivy_dependency(artifact: str, transitive: bool) -> str:
    group, name, version, *classifier = map(quoteattr, artifact.split(":"))
    chosen = "".join(f'<artifact name={name} type="jar" ext="jar" m:classifier={each}/>' for each in classifier)
    return (
        f'<dependency org={group} name={name} rev={version} transitive="{str(transitive).lower()}"'
        f' conf="default->default">{chosen}</dependency>'
    )


def _run(command: list[str], jars: JarSet) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise JarsError(f"{jars.name}: {command[0]} ended with {done.returncode}:\n{tail}")


if __name__ == "__main__":
    try:
        lock()
    except JarsError as error:
        sys.exit(f"JarsError: {error}")
