"""A copy of the project as after a clone, with secrets and the machine's own CA certificates."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from sandbox.compose.commands import run
from sandbox.jars import PROJECT

COPIED = (
    *(".dockerignore", "docker-compose.yaml", "requirements-bootstrap.txt", "requirements-build.txt"),
    *("dags", "docker", "include", "plugins", "sandbox", "spark_jobs"),
)
SYSTEM_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
SYSTEM_CERTIFICATES = Path("/usr/share/ca-certificates")
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


def make_checkout(folder: Path) -> dict[str, str]:
    """Fill the folder; return the variables of its new `.env`."""
    for name in COPIED:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    for number, text in enumerate(extra_certificates(SYSTEM_BUNDLE, SYSTEM_CERTIFICATES)):
        (folder / "docker" / "ca-certificates" / f"machine-{number}.crt").write_text(text + "\n")
    run((str(folder / "docker" / "make-env"),), 30)
    return read_env(folder / ".env")


def extra_certificates(bundle: Path, packaged: Path) -> list[str]:
    """Return the certificates that the machine trusts in addition to those of the package `ca-certificates`.

    Without that package they cannot be distinguished, and none are returned.
    """
    if not bundle.is_file() or not packaged.is_dir():
        return []
    known = {_plain(text) for file in packaged.rglob("*.crt") for text in _certificates(file)}
    return [text for text in _certificates(bundle) if _plain(text) not in known]


def read_env(file: Path) -> dict[str, str]:
    """Return {name: value} of a file that `docker/make-env` wrote."""
    lines = (line for line in file.read_text().splitlines() if line and not line.startswith("#"))
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def _certificates(file: Path) -> list[str]:
    return _CERTIFICATE.findall(file.read_text(errors="replace"))


def _plain(text: str) -> str:
    return "".join(text.split())
