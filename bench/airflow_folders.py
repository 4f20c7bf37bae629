"""The folders of an Airflow that a part of the benchmarks starts."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from sandbox.airflow import AirflowFolders
from sandbox.jars import PROJECT


def airflow_folders(folder: Path, files: Mapping[str, str]) -> AirflowFolders:
    """Make the folders with the project's DAGs, and with a migration file of each name and text."""
    folders = AirflowFolders(dags=folder / "dags", migrations=folder / "migrations")
    shutil.copytree(PROJECT / "dags", folders.dags)
    folders.migrations.mkdir()
    for name, text in files.items():
        (folders.migrations / f"{name}.yaml").write_text(text)
    return folders
