"""The environment of every part: only a short list of the caller's variables."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.processes import MARKER

_KEPT = (
    *("HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "PYTHONDONTWRITEBYTECODE"),
    *("JAVA_HOME", "JAVA_TOOL_OPTIONS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
    *("KRB5_CONFIG", "KRB5_CLIENT_KTNAME", "KRB5CCNAME"),
)
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


def base_environment(sandbox_id: str) -> dict[str, str]:
    """Return the common environment: PATH with this Python's folder first, the marker, no proxies.

    The parts only connect to 127.0.0.1, which a proxy from the caller's environment cannot reach.
    """
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("LC_")}
    return {**kept, "PATH": search_path(), "NO_PROXY": "*", "no_proxy": "*", MARKER: sandbox_id}


def search_path() -> str:
    """Return the caller's PATH between the virtual environment's folder and the system's folders."""
    own = str(Path(sys.executable).parent)
    folders = [own, *os.environ.get("PATH", "").split(os.pathsep), *SYSTEM_FOLDERS]
    return os.pathsep.join(dict.fromkeys(folder for folder in folders if folder))


def program(name: str) -> str:
    """Return the absolute path of a program.

    Raises:
        SandboxError: it is not installed.
    """
    found = shutil.which(name, path=search_path())
    if not found:
        raise SandboxError(f"{name} was not found; `make up` checks what is needed and says how to install it")
    return found


def java(environment: Mapping[str, str]) -> str:
    """Return the `java` program: from JAVA_HOME if it is set, else from the PATH."""
    home = environment.get("JAVA_HOME")
    own = Path(home) / "bin" / "java" if home else None
    return str(own) if own and own.is_file() else program("java")
