"""The base of all models of migration files."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """No unknown keys, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
