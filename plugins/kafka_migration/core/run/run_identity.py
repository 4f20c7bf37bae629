"""Which run of which migration: DAG ids, run ids and attempts; and the DAG that people trigger."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kafka_migration.core.migration.settings import Mode

# The prefixes of the DAG ids; the name of the migration follows.
NIGHTLY_DAG_PREFIX = "kafka_nightly_sync__"
ROLLBACK_DAG_PREFIX = "kafka_rollback__"
MANUAL_DAG_PREFIX = "kafka_migration__"
DAG_PREFIXES = (MANUAL_DAG_PREFIX, NIGHTLY_DAG_PREFIX, ROLLBACK_DAG_PREFIX)
# Airflow's limit for DAG ids and run ids.
LONGEST_ID = 250
_ATTEMPT = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def migration_of(dag_id: str) -> str | None:
    """Return the name of the migration that a DAG belongs to; `None` for a DAG of another package."""
    for prefix in DAG_PREFIXES:
        name = dag_id.removeprefix(prefix)
        if name != dag_id and is_migration_name(name):
            return name
    return None


def is_migration_name(name: str) -> bool:
    """Return whether a migration may have this name."""
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """A run: Airflow's DAG and run id, and the attempt (1 + how often the run was cleared)."""

    dag_id: str
    run_id: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.dag_id} / {self.run_id} (attempt {self.attempt})"

    @property
    def holder(self) -> str:
        """The run's name in the reservation on the MirrorMaker host: `dag_id/run_id#attempt`."""
        return f"{self.dag_id}/{self.run_id}#{self.attempt}"

    @classmethod
    def from_holder(cls, holder: str) -> RunIdentity | None:
        """Parse a `holder`; `None` for a stranger: a text that names no run, as of a person who reserved by hand.

        A run id may contain `/` and `#`, so the first `/` and the last `#` are the separators.
        """
        dag_id, _, rest = holder.partition("/")
        run_id, _, attempt = rest.rpartition("#")
        is_name = all(0 < len(each) <= LONGEST_ID and each.isprintable() for each in (dag_id, run_id))
        return cls(dag_id, run_id, int(attempt)) if is_name and _ATTEMPT.fullmatch(attempt) else None

    def has_attempt(self, holder: str) -> bool:
        """Return whether a holder is this or another attempt of this run."""
        other = RunIdentity.from_holder(holder)
        return other is not None and other.is_same_run(self)

    def follows(self, holder: str) -> bool:
        """Return whether a holder is an earlier attempt of this run."""
        other = RunIdentity.from_holder(holder)
        return other is not None and other.is_earlier_attempt_of(self)

    def is_same_run(self, other: RunIdentity) -> bool:
        """Return whether both are attempts of one DAG run."""
        return (self.dag_id, self.run_id) == (other.dag_id, other.run_id)

    def is_earlier_attempt_of(self, other: RunIdentity) -> bool:
        """Return whether this is an earlier attempt of the same run."""
        return self.is_same_run(other) and self.attempt < other.attempt

    @property
    def is_nightly(self) -> bool:
        """Whether the run belongs to the nightly DAG, which also runs backfills."""
        return self.dag_id.startswith(NIGHTLY_DAG_PREFIX)

    @property
    def is_rollback(self) -> bool:
        """Whether the run belongs to the rollback DAG."""
        return self.dag_id.startswith(ROLLBACK_DAG_PREFIX)


def triggered_dag_id(name: str, mode: Mode) -> str:
    """Return the id of the DAG that has this mode in its form: the rollback DAG, or else the manual DAG."""
    return f"{ROLLBACK_DAG_PREFIX if mode.rolls_back else MANUAL_DAG_PREFIX}{name}"
