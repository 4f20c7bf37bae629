"""The base of a migration's sensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow.sdk import BaseSensorOperator

from kafka_migration.orchestration.task.failures import never_again


class MigrationSensor(BaseSensorOperator):
    """A sensor of a migration's run, always deferred.

    :param migration: name of the migration. (templated)
    """

    template_fields: Sequence[str] = ("migration",)

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.migration = migration
        never_again(self)
