"""This Airflow and its worker, as the checks of a run see them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from kafka_migration.adapters.system.dns import addresses_of
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.checked_connections import AirflowConnections
from kafka_migration.airflow_adapters.notifiers import notifier_problem
from kafka_migration.core.evidence.root import EvidencePlace
from kafka_migration.core.migration.alert_settings import NotifierSettings


class ThisAirflow:
    """What the checks ask of Airflow (`preflight.scene.scene.CheckedAirflow`)."""

    @cached_property
    def connections(self) -> AirflowConnections:
        """Airflow's connections."""
        return AirflowConnections()

    @property
    def spark(self) -> AirflowConnections:
        """Spark on this worker, with the settings of Airflow's connection."""
        return self.connections

    @property
    def evidence_place(self) -> EvidencePlace:
        """The evidence root, as Airflow and Spark spell it."""
        return settings.evidence_place()

    @property
    def alerts_file(self) -> Path | None:
        """The file with the alert settings of all migrations; `None` without one."""
        return settings.alerts_file()

    @property
    def asks_tools(self) -> bool:
        """Whether Kafka's tools on the MirrorMaker host may be asked."""
        return settings.host_tools()

    def notifier_problem(self, notifier: NotifierSettings) -> str:
        """Return why a notifier cannot be created; empty if it can."""
        return notifier_problem(notifier)

    def look_up(self, name: str) -> Sequence[str]:
        """Return the addresses of a host name on this worker; empty if it has none."""
        return addresses_of(name)
