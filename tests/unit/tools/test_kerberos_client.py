"""Rules of `make kerberos-client`: what it requires, and which client it accepts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandbox import kerberos_client
from sandbox.bootstrap import BootstrapError, run


def test_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a compiler is refused with Debian's name of the package."""
    monkeypatch.setattr("shutil.which", lambda program: None if program == "gcc" else program)

    assert ("the program gcc", "gcc") in [(each.text, each.package) for each in kerberos_client.find_missing()]


def test_folder_without_the_client_is_not_complete(tmp_path: Path) -> None:
    """The installed client does not pass for the built one."""
    assert "AssertionError" in kerberos_client.problem(tmp_path)


def test_changed_sources_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is unpacked or built from an archive with another digest."""
    monkeypatch.setattr(kerberos_client, "run", lambda *_, cwd, **__: (cwd / "client.tgz").write_bytes(b"other"))

    with pytest.raises(BootstrapError, match="SHA-512"):
        kerberos_client._sources(tmp_path)


def test_failed_step_shows_its_last_lines() -> None:
    """The error of a step names the command, its exit code and its output."""
    command: tuple[Any, ...] = ("sh", "-c", "echo no compiler >&2; exit 4")

    with pytest.raises(BootstrapError, match=r"ended with 4:\nno compiler"):
        run(*command)
