"""The sandbox's ports: two sandboxes that start at once never choose the same one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import parts
from sandbox.errors import ForeignFolder
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


def a_link(folder: Path, elsewhere: Path) -> None:
    folder.symlink_to(elsewhere)


def a_dangling_link(folder: Path, elsewhere: Path) -> None:
    folder.symlink_to(elsewhere / "missing")


def a_file(folder: Path, _: Path) -> None:
    folder.touch()


def an_open_folder(folder: Path, _: Path) -> None:
    folder.mkdir()
    folder.chmod(0o1777)


def a_folder_of_another_user(folder: Path, _: Path) -> None:
    folder.mkdir(mode=0o700)
    os.chown(folder, 65534, 65534)


@pytest.mark.parametrize(
    "occupy",
    [
        *(a_link, a_dangling_link, a_file, an_open_folder),
        pytest.param(
            a_folder_of_another_user, marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
        ),
    ],
)
def test_what_another_user_put_in_place_is_refused(tmp_path: Path, occupy: Callable[[Path, Path], None]) -> None:
    """A folder of claims that another user has created or can write to is refused, and no link is followed."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    occupy(tmp_path / f"kafka-migration-ports-{os.geteuid()}", elsewhere)

    with pytest.raises(ForeignFolder, match="set TMPDIR to a folder of your own"):
        parts.free_ports(1)
    assert [] == list(elsewhere.iterdir())


def test_a_link_below_the_folder_is_not_followed(tmp_path: Path) -> None:
    """A claim that is a link creates no file elsewhere."""
    folder = tmp_path / f"kafka-migration-ports-{os.geteuid()}"
    folder.mkdir(mode=0o700)
    for port in parts.PORTS:
        (folder / str(port)).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OSError, match="symbolic links"):
        parts.free_ports(1)
    assert not (tmp_path / "elsewhere").exists()
