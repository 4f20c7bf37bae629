"""Apicurio Registry for tests: its release is fetched once into `.cache/registry`, and runs with its schemas in memory.

Its path `/apis/ccompat/v7` has the REST interface of Confluent's Schema Registry, which no Maven repository holds.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.environment import base_environment
from sandbox.jars import FETCH_TIMEOUT_S, PROJECT, JarsError, ivy_jar
from sandbox.kafka import SHORT_LIVED
from sandbox.parts import HOST, Part, PartSpec, free_ports, running

FOLDER = PROJECT / ".cache" / "registry"
NAME = "apicurio-registry-app"
# The newest release that runs on Java 17, and the SHA-512 of its archive.
VERSION = "2.6.13.Final"
SHA512 = (
    "11d36e7340ed8d6218755a66d3ff38fe6e9c9bd9c723eae9da131d0e1811d4d1"
    "205fd2c3da4ec052f1a1933e07d96a072ad2c620ab0854db75ef3cb5b62ee40f"
)
PATH = "/apis/ccompat/v7"
_MEMORY = "-Xmx512m"
_ANSWER_S = 5
_MODULE = f"""\
<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven"><info organisation="sandbox" module="registry"/>
<configurations><conf name="default"/></configurations>
<dependencies><dependency org="io.apicurio" name="{NAME}" rev="{VERSION}" transitive="false" conf="default->*">
<artifact name="{NAME}" type="tar.gz" ext="tar.gz" m:classifier="all"/></dependency></dependencies></ivy-module>
"""


@contextmanager
def schema_registry(folder: Path, marker: str) -> Iterator[str]:
    """Run a registry on a free port of loopback, and yield the URL of its Confluent interface.

    Raises:
        JarsError: the release could not be fetched, or has another SHA-512.
    """
    jar = _installed() / f"{NAME}-{VERSION}-runner.jar"
    (port,) = free_ports(1)
    url = f"http://{HOST}:{port}{PATH}"
    options = (*SHORT_LIVED, _MEMORY, f"-Dquarkus.http.host={HOST}", f"-Dquarkus.http.port={port}")
    command = ("java", *options, "-jar", str(jar))
    log = folder / f"registry-{port}.log"
    part = Part(PartSpec("schema registry", command, base_environment(marker), log, lambda _: _answers(url)))
    with running(part):
        yield url


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/subjects", timeout=_ANSWER_S) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False


def _installed() -> Path:
    """Return the folder of the release; fetch it if it is not there."""
    place = FOLDER / VERSION
    if not place.is_dir():
        FOLDER.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".registry-", dir=FOLDER))
        try:
            _fetch(work)
            (work / "release").rename(place)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return place


def _fetch(work: Path) -> None:
    (work / "ivy.xml").write_text(_MODULE)
    archive = work / f"{NAME}.tar.gz"
    command = [
        *("java", "-jar", str(ivy_jar()), "-warn", "-cache", str(work / "cache"), "-ivy", str(work / "ivy.xml")),
        *("-retrieve", f"{work}/[artifact].[ext]", "-types", "tar.gz"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False)
    if done.returncode != 0 or not archive.is_file():
        raise JarsError(f"{NAME} {VERSION} could not be fetched: {done.stderr[-500:]}")
    if hashlib.sha512(archive.read_bytes()).hexdigest() != SHA512:
        raise JarsError(f"{NAME} {VERSION} has not the SHA-512 of {Path(__file__).name}")
    with tarfile.open(archive) as release:
        release.extractall(work / "release", filter="data")
