"""A running sandbox with Airflow for one module, with folders of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox.airflow import AirflowFolders
from sandbox.airflow_api import AirflowApi
from sandbox.sandbox import Sandbox
from tests.live.conftest import PARSING, ROOT, LiveWorld


@contextmanager
def own_world(root: Path, environment: dict[str, str] | None = None, **settings: Any) -> Iterator[LiveWorld]:
    """Run clusters, the MirrorMaker host and Airflow below a folder; `settings` are those of `Sandbox`.

    The clusters are secured unless the settings say otherwise.
    """
    migrations, dags = root / "migrations", root / "dags"
    migrations.mkdir()
    shutil.copy(ROOT / "include" / "migrations" / "demo.yaml", migrations)
    shutil.copytree(ROOT / "dags", dags, ignore=shutil.ignore_patterns("__pycache__"))
    folders = AirflowFolders(dags=dags, migrations=migrations)
    more = {**PARSING, **(environment or {})}
    with (
        Sandbox(root / "sandbox", folders=folders, extra_environment=more, **{"secured": True, **settings}) as sandbox,
        AirflowApi.of(sandbox.state) as api,
    ):
        yield LiveWorld(sandbox, api, migrations)
