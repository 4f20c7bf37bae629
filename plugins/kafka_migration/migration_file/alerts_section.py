"""The section `alerts` of a migration file, which may also be a separate file."""

from __future__ import annotations

import json

from pydantic import Field, JsonValue, ValidationInfo, field_validator

from kafka_migration.core.migration.alert_settings import AlertKind, AlertSettings, NotifierSettings
from kafka_migration.core.text.shortened import some
from kafka_migration.migration_file.scalars import ArgumentName, ClassName, Duration, Strict


class NotifierModel(Strict):
    """One of Airflow's notifiers."""

    notifier: ClassName = Field(description="Class path of the notifier, from any provider or your own.")
    arguments: dict[ArgumentName, JsonValue] = Field(
        {},
        description="Its arguments. Texts are templates with the variable `alert`. Do not put secrets here; use "
        "connections.",
    )

    @field_validator("arguments")
    @classmethod
    def _are_json(cls, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
        try:
            json.dumps(arguments, allow_nan=False)
        except ValueError:
            raise ValueError("numbers that JSON supports") from None
        return arguments

    kinds: list[str] = Field(
        [str(kind) for kind in AlertKind], min_length=1, validate_default=True, description="The alerts that it sends."
    )

    @field_validator("kinds")
    @classmethod
    def _are_known(cls, kinds: list[str]) -> list[str]:
        unknown = sorted(set(kinds) - set(AlertKind))
        if unknown:
            raise ValueError(f"some of {', '.join(AlertKind)}, not {some(unknown)}")
        return kinds


class AlertsModel(Strict):
    """The alerts of runs."""

    notifiers: list[NotifierModel] = Field([], max_length=20, description="Airflow notifiers, called in this order.")
    too_long_after: Duration | None = Field(
        None,
        description="Send an alert if the run is still active this long after it was queued. The run is not stopped.",
    )

    @field_validator("too_long_after")
    @classmethod
    def _has_notifiers(cls, limit: int | None, info: ValidationInfo) -> int | None:
        if limit is not None and info.data.get("notifiers") == []:
            raise ValueError("notifiers as well, which send this alert")
        return limit

    def frozen(self) -> AlertSettings:
        """Return the section as plain values."""
        notifiers = (
            NotifierSettings(n.notifier, n.arguments, frozenset(AlertKind(kind) for kind in n.kinds))
            for n in self.notifiers
        )
        return AlertSettings(tuple(notifiers), self.too_long_after)
