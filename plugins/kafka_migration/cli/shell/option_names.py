"""The names of migrations, for a shell that completes a command."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

FOLDER_VARIABLE = "AIRFLOW__KAFKA_MIGRATION__MIGRATIONS_FOLDER"


def complete_names(argument: argparse.Action) -> None:
    """Let a shell complete an argument to the names of the migration files."""
    # The attribute is the interface of argcomplete.
    argument.completer = _names  # type: ignore[attr-defined]


def _names(parsed_args: argparse.Namespace, **_: object) -> list[str]:
    return sorted(path.stem for path in _folder(getattr(parsed_args, "migrations", None)).glob("*.yaml"))


def _folder(given: Path | None) -> Path:
    """Return the folder of the option, of the environment, or of Airflow's configuration, which takes seconds."""
    if named := given or os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    from kafka_migration.airflow_adapters.airflow_settings import migrations_folder

    return migrations_folder()
