"""What the tests need besides the sandbox: `python3 -m sandbox.for_tests`, called by every target that runs tests.

As root on Debian or Ubuntu it installs what is missing. Elsewhere it prints what is missing and the command, and the
tests that need it fail. Standard library only, because it runs on the system's Python.

Exit codes: 0 ready, or said what is missing; 1 the installation failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from sandbox import prerequisites
from sandbox.bootstrap import missing

# Each program that a test calls by name: Debian's package, and what is tested with it.
PROGRAMS = {
    "bash": ("bash", "mirrorctl, completion and the commands of the documentation in bash"),
    "busybox": ("busybox", "mirrorctl on a host that has BusyBox only"),
    "chromedriver": ("chromium-driver", "the pages in Airflow's UI, in a real browser"),
    "dash": ("dash", "mirrorctl in dash"),
    "fish": ("fish", "completion in fish"),
    "git": ("git", "what a copy of this checkout contains"),
    "openssl": ("openssl", "the documented way from key stores to PEM"),
    "promtool": ("prometheus", "the alarm rules and the expressions of the dashboard"),
    "redis-cli": ("redis-tools", "CeleryExecutor, whose messages are delivered twice"),
    "redis-server": ("redis-server", "CeleryExecutor"),
    "shellcheck": ("shellcheck", "the shell scripts"),
    "ss": ("iproute2", "the addresses on which the sandbox listens"),
}
# Full disks and full memory are tested by root only.
OF_ROOT = {"mount": ("mount", "full disks")}
COMPILER = "jdk.compiler"


def main() -> int:
    """Install what the tests lack, or say it; return the exit code."""
    try:
        text = missing(lambda: list(find_missing()))
    except (prerequisites.AptError, subprocess.TimeoutExpired) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    if text:
        print(f"{text}\nUntil then the tests that need it fail.", file=sys.stderr)
    return 0


def find_missing() -> Iterator[prerequisites.Missing]:
    """Yield each program that the tests call and this machine lacks, and the Java compiler."""
    for name, (package, purpose) in {**PROGRAMS, **(OF_ROOT if os.geteuid() == 0 else {})}.items():
        if not prerequisites.find_program(name):
            yield prerequisites.Missing(f"{name}, to test {purpose}", package)
    java = prerequisites.find_java()
    if not java or not _compiles(java):
        text = f"a Java that compiles: {java or 'no java'} has no module {COMPILER}; set JAVA_HOME to a JDK"
        yield prerequisites.Missing(text)


def _compiles(java: str) -> bool:
    """True if this Java has the compiler; Debian's has it without a package of its own."""
    listed = subprocess.run((java, "--list-modules"), capture_output=True, text=True, check=False, timeout=60)
    return COMPILER in listed.stdout


if __name__ == "__main__":
    sys.exit(main())
