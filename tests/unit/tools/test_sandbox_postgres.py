"""The sandbox's PostgreSQL on a copied data folder."""

from __future__ import annotations

import os
from pathlib import Path

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
