"""What the machine must have before anything is installed: Linux, Python 3.11 to 3.13, Java 17 or 21, OpenSSH.

Standard library only, and no syntax that an older Python 3 could not read: it is the one that says so.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SUPPORTED_PYTHONS = ((3, 11), (3, 12), (3, 13))
SUPPORTED_JAVAS = (17, 21)
SSH_PROGRAMS = ("sshd", "ssh", "ssh-keygen")
SYSTEM_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/sbin")
POLICY_FILE = Path("/usr/sbin/policy-rc.d")
POLICY_MARK = "# Of kafka-migration's sandbox, while it installs packages; process "
# The services of packages of which only the programs are needed.
UNITS = {
    "openssh-server": ("ssh.service", "ssh.socket"),
    "prometheus": ("prometheus.service",),
    "redis-server": ("redis-server.service",),
}
APT_TIMEOUT_S = 900


class AptError(Exception):
    """`apt-get` failed; the text is the end of its output."""


@dataclass(frozen=True)
class Missing:
    """One thing the machine lacks; `package` is Debian's name of what brings it, empty when no package can."""

    text: str
    package: str = ""


def find_missing() -> list[Missing]:
    """Return everything that is missing, in a fixed order; empty when the machine is ready."""
    found = (_platform(), _python(), _venv(), _java(), _ssh(), _setpriv())
    return [item for item in found if item]


def refusal(missing: Sequence[Missing]) -> str:
    """Return the text that names all that is missing and the exact command that helps on this machine."""
    lines = ["This machine is not ready; nothing was installed:", *(f"  - {item.text}" for item in missing)]
    packages = " ".join(item.package for item in missing if item.package)
    if packages and shutil.which("apt-get"):
        sudo = "" if os.geteuid() == 0 else "sudo "
        lines += ["Install it with:", f"  {sudo}apt-get update && {sudo}apt-get install -y {packages}"]
    elif packages:
        lines.append(f"Install what Debian calls {packages}; your system may name it differently.")
    return "\n".join([*lines, "Then run the same command again."])


def can_install(missing: Sequence[Missing]) -> bool:
    """True if we are root on Debian or Ubuntu, packages bring all that is missing, and INSTALL=0 does not forbid it."""
    return may_install() and bool(shutil.which("apt-get")) and all(item.package for item in missing)


def may_install() -> bool:
    """True if we are root, and INSTALL=0 does not forbid to change the machine."""
    return os.geteuid() == 0 and os.environ.get("INSTALL") != "0"


def install(missing: Sequence[Missing], say: Callable[[str], None]) -> None:
    """Say what is missing, and install just that, without letting it start a service of the machine.

    Raises:
        AptError: apt-get failed.
    """
    say("\n".join(["This machine lacks:", *(f"  - {item.text}" for item in missing)]))
    _apt("update")
    # Which Java there is, is known only after the update.
    packages = [java_package() if item.package.startswith("openjdk") else item.package for item in missing]
    say(f"Installing {', '.join(packages)} with apt-get, as root (INSTALL=0 would only print the command)")
    with _no_service_starts(packages):
        try:
            _apt("install", "-y", "--no-upgrade", "--no-install-recommends", *packages)
        finally:
            _disable_services(packages)


def recover(say: Callable[[str], None]) -> None:
    """Clean up after an installation that was killed: set its packages up, without their services, remove the rule.

    A rule that is not ours, or whose process still runs, is left alone.
    """
    packages = _interrupted_packages() if os.geteuid() == 0 else []
    if not packages:
        return
    say(f"An installation was interrupted: its packages are set up now, and {POLICY_FILE} is removed")
    subprocess.run(("dpkg", "--configure", "-a"), capture_output=True, check=False, timeout=APT_TIMEOUT_S)
    _disable_services(packages)
    POLICY_FILE.unlink(missing_ok=True)


def _interrupted_packages() -> list[str]:
    """Return what an installation of ours, whose process is gone, was about to install."""
    text = POLICY_FILE.read_text(errors="replace") if POLICY_FILE.is_file() else ""
    found = re.search(rf"^{re.escape(POLICY_MARK)}(\d+): (.+)$", text, re.MULTILINE)
    if not found:
        return []
    command = Path("/proc", found[1], "cmdline")
    is_under_way = command.exists() and b"\0sandbox." in command.read_bytes()
    return [] if is_under_way else found[2].split()


def _disable_services(packages: Sequence[str]) -> None:
    """Keep services off whose packages have just come; one that the machine had before is not touched."""
    units = [unit for package in packages for unit in UNITS.get(package, ())]
    if units and shutil.which("systemctl"):
        subprocess.run(("systemctl", "disable", "--now", *units), capture_output=True, check=False, timeout=60)


def python_refusal(version: tuple[int, int]) -> str:
    """Return why this Python will not do, or an empty text when it will."""
    if version in SUPPORTED_PYTHONS:
        return ""
    names = ", ".join(f"{major}.{minor}" for major, minor in SUPPORTED_PYTHONS)
    return f"Python {version[0]}.{version[1]} ({sys.executable}) is not one of {names}; name one: make PYTHON=…"


def java_version(text: str) -> int | None:
    """Return the feature release that `java -version` prints: 17 for "17.0.15", 8 for "1.8.0_392"."""
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None


def java_package() -> str:
    """Return the first supported Java that apt knows here; Debian 13, for one, has no 17."""
    packages = [f"openjdk-{release}-jre-headless" for release in SUPPORTED_JAVAS]
    return next((package for package in packages if _apt_knows(package)), packages[0])


def find_program(name: str) -> str | None:
    """Return the path of a program on the PATH or in the folders that an ordinary user's PATH may lack."""
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), *SYSTEM_FOLDERS)))


def find_java() -> str | None:
    """Return the `java` of JAVA_HOME where that has one, else the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    own = Path(home, "bin", "java") if home else None
    return str(own) if own and own.is_file() else shutil.which("java")


def _platform() -> Missing | None:
    if sys.platform == "linux" and Path("/proc/self/environ").exists():
        return None
    return Missing(f"Linux with /proc, by which the sandbox finds its processes; this is {sys.platform}")


def _python() -> Missing | None:
    text = python_refusal(sys.version_info[:2])
    return Missing(text) if text else None


def _venv() -> Missing | None:
    if all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
        return None
    text = f"the Python module venv, which {sys.executable} lacks"
    is_of_the_system = sys.executable.startswith("/usr/bin/")
    return Missing(text, "python3-venv" if is_of_the_system else "")


def _java() -> Missing | None:
    wanted = " or ".join(str(release) for release in SUPPORTED_JAVAS)
    program = find_java()
    if not program:
        return Missing(f"Java {wanted}: no java on the PATH", java_package())
    done = subprocess.run((program, "-version"), capture_output=True, text=True, check=False, timeout=60)
    found = java_version(done.stderr + done.stdout)
    if found in SUPPORTED_JAVAS:
        return None
    text = f"Java {wanted}: {program} is {found or 'not a working Java'}; where you have one, set JAVA_HOME to it"
    return Missing(text, java_package())


def _ssh() -> Missing | None:
    absent = [name for name in SSH_PROGRAMS if not find_program(name)]
    return Missing(f"OpenSSH: no {', '.join(absent)}", "openssh-server") if absent else None


def _setpriv() -> Missing | None:
    if os.geteuid() != 0 or shutil.which("setpriv"):
        return None
    return Missing("setpriv, by which root runs PostgreSQL as another user", "util-linux")


def _apt_knows(package: str) -> bool:
    if not shutil.which("apt-cache"):
        return False
    command = ("apt-cache", "--quiet=0", "show", "--no-all-versions", package)
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    return done.returncode == 0 and bool(done.stdout.strip())


def _apt(*arguments: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ("apt-get", "-q", *arguments)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=APT_TIMEOUT_S)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise AptError(f"{' '.join(command)} ended with {done.returncode}:\n{tail}")


@contextmanager
def _no_service_starts(packages: Sequence[str]) -> Iterator[None]:
    """Deny package scripts the start of services (Debian Policy 9.3.3.2), unless the machine has a rule already."""
    if POLICY_FILE.exists():
        yield
        return
    POLICY_FILE.write_text(f"#!/bin/sh\n{POLICY_MARK}{os.getpid()}: {' '.join(packages)}\nexit 101\n")
    POLICY_FILE.chmod(0o755)
    try:
        yield
    finally:
        POLICY_FILE.unlink(missing_ok=True)
