"""The sandbox's ports: two sandboxes that start at once never choose the same one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import parts
from sandbox.jars import PROJECT


@pytest.fixture(autouse=True)
def few_ports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ten ports, and claims that no other sandbox of this machine sees."""
    monkeypatch.setattr(parts, "PORTS", range(31900, 31910))
    monkeypatch.setattr(parts, "is_free", lambda _: True)
    monkeypatch.setattr("sandbox.parts.tempfile.gettempdir", lambda: str(tmp_path))


def test_ports_of_one_process_are_different() -> None:
    """A port is given once, also over several calls."""
    given = [port for _ in range(5) for port in parts.free_ports(2)]

    assert sorted(given) == list(range(31900, 31910))
    assert parts.free_ports(1) == []


def test_a_port_that_another_process_was_given_is_not_given_again(tmp_path: Path) -> None:
    """A port without a listener is claimed until its process ends."""
    code = (
        "from sandbox import parts; parts.PORTS = range(31900, 31909); parts.is_free = lambda _: True; "
        "print(*parts.free_ports(9), flush=True); input()"
    )
    other = subprocess.Popen(
        (sys.executable, "-c", code),
        cwd=PROJECT,
        env={"TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout is not None
    theirs = [int(port) for port in other.stdout.readline().split()]

    assert [31909] == parts.free_ports(2)

    other.communicate(b"\n")
    assert sorted(theirs) == sorted(parts.free_ports(9))
