"""Builds confluent-kafka with Kerberos into `.cache/kerberos-client`: `python -m sandbox.kerberos_client`.

The packages on PyPI have no Kerberos (GSSAPI). librdkafka's sources come from the npm package of Confluent's
JavaScript client, which contains them complete. The folder is complete in itself: a process that has it first on its
`PYTHONPATH` uses the built client instead of the installed one.

Exit codes: 0 built or already there, 1 failed, 3 refused: the machine lacks something.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sandbox import prerequisites
from sandbox.bootstrap import PROJECT, VENV, BootstrapError, missing, run

FOLDER = PROJECT / ".cache" / "kerberos-client"
REQUIREMENTS = PROJECT / "requirements-kerberos.txt"
# The release of the JavaScript client that contains librdkafka 2.15.1, and the SHA-512 of its archive.
SOURCE = "@confluentinc/kafka-javascript@1.10.1"
SOURCE_SHA512 = (
    "29578f5019f6d44a8254ff667f1cc4b8cdd26091c7105ed7fa2882d9ee374108"
    "034b211a92c2279821a8a13df0e6af9c340764482acaef58f42027eaa12a992f"
)
SOURCE_FOLDER = "package/deps/librdkafka"
# What the built client must have, by librdkafka's names: with the rest of what the packages on PyPI have.
FEATURES = "sasl_gssapi,ssl,gzip,snappy,lz4,zstd,sasl_scram,sasl_plain,sasl_oauthbearer,oidc"
OPTIONS = ("--enable-gssapi", "--enable-curl", "--enable-zstd", "--disable-debug-symbols")
LIBRARY = "librdkafka.so.1"
# Beside the package, where the dynamic linker looks.
LIBRARIES = "confluent_kafka.libs"
HEADERS = {
    "sasl/sasl.h": "libsasl2-dev",
    "openssl/ssl.h": "libssl-dev",
    "curl/curl.h": "libcurl4-openssl-dev",
    "zstd.h": "libzstd-dev",
    "zlib.h": "zlib1g-dev",
}
PROGRAMS = {"gcc": "gcc", "g++": "g++", "make": "make", "pkg-config": "pkg-config", "npm": "npm"}
# The library by which SASL speaks Kerberos; it is loaded when a client connects.
SASL_MODULE = ("libgssapiv2.so", "libsasl2-modules-gssapi-mit")


def main() -> int:
    """Build the client unless it is there; return the exit code."""
    try:
        if text := missing(lambda: list(find_missing())):
            print(text, file=sys.stderr)
            return 3
        ensure()
    except (BootstrapError, prerequisites.AptError, subprocess.TimeoutExpired) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def find_missing() -> Iterator[prerequisites.Missing]:
    """Return each program and header that the machine lacks."""
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            yield prerequisites.Missing(f"the program {program}", package)
    for header, package in HEADERS.items():
        if not any(Path("/usr/include").glob(f"**/{header}")):
            yield prerequisites.Missing(f"the header {header}", package)
    if not Path(sysconfig.get_paths()["include"], "Python.h").is_file():
        yield prerequisites.Missing("the header Python.h", "python3-dev")
    library, package = SASL_MODULE
    if not any(Path("/usr/lib").glob(f"**/sasl2/{library}")):
        yield prerequisites.Missing(f"the SASL module {library}", package)


def ensure() -> None:
    """Build the client, unless a complete one is there. Raises `BootstrapError`."""
    if not problem(FOLDER):
        return
    print("kerberos-client: building librdkafka and confluent-kafka (takes some minutes)", flush=True)
    FOLDER.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".kerberos-client-", dir=FOLDER.parent) as folder:
        work = Path(folder)
        built = _package(_library(_sources(work), work / "librdkafka"), work / "client")
        if text := problem(built):
            raise BootstrapError(text)
        shutil.rmtree(FOLDER, ignore_errors=True)
        built.rename(FOLDER)
    print(f"kerberos-client: {FOLDER.relative_to(PROJECT)} is ready")


def problem(folder: Path) -> str:
    """Return why a folder has no client with all features; empty if it has one."""
    code = (
        "import confluent_kafka as client; from confluent_kafka.admin import AdminClient;"
        f"assert client.__file__.startswith({str(folder)!r}), client.__file__;"
        f"AdminClient({{'builtin.features': {FEATURES!r}}})"
    )
    try:
        run(str(VENV / "bin" / "python"), "-c", code, environment={"PYTHONPATH": str(folder)})
    except BootstrapError as error:
        return str(error)
    return ""


def _sources(work: Path) -> Path:
    """Fetch librdkafka's sources with npm, and check their digest."""
    run("npm", "pack", "--silent", SOURCE, cwd=work)
    (archive,) = work.glob("*.tgz")
    if hashlib.sha512(archive.read_bytes()).hexdigest() != SOURCE_SHA512:
        raise BootstrapError(f"{SOURCE}: the archive has not the expected SHA-512")
    with tarfile.open(archive) as packed:
        packed.extractall(work, filter="data")
    return work / SOURCE_FOLDER


def _library(sources: Path, prefix: Path) -> Path:
    """Build and install librdkafka; return where it is installed."""
    run("./configure", f"--prefix={prefix}", *OPTIONS, cwd=sources)
    run("make", "-C", "src", f"-j{os.cpu_count() or 1}", cwd=sources)
    run("make", "-C", "src", "install", cwd=sources)
    return prefix


def _package(library: Path, target: Path) -> Path:
    """Build confluent-kafka against a librdkafka, with the library inside; return the folder."""
    environment = {
        "C_INCLUDE_PATH": str(library / "include"),
        "LIBRARY_PATH": str(library / "lib"),
        "LDFLAGS": f"-Wl,-rpath,$ORIGIN/../{LIBRARIES}",
    }
    build = ("--no-binary", "confluent-kafka", "--build-constraints", str(PROJECT / "requirements-build.txt"))
    uv = (str(VENV / "bin" / "uv"), "pip", "install", "--quiet", "--python", str(VENV / "bin" / "python"))
    options = ("--no-deps", "--no-cache", "--require-hashes", "--target", str(target))
    run(*uv, *options, *build, "-r", str(REQUIREMENTS), environment=environment)
    (target / LIBRARIES).mkdir()
    shutil.copy(library / "lib" / LIBRARY, target / LIBRARIES)
    return target


if __name__ == "__main__":
    sys.exit(main())
