"""Lineage: which topics a task copied from where to where, for OpenLineage and for Airflow's assets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafka_migration.core.migration.settings import Cluster
from kafka_migration.steps.run import MigrationRun

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage


@dataclass(frozen=True, slots=True)
class CopiedTopics:
    """Topics by their names on both sides, and a bootstrap server (`host:port`) of each side."""

    source_server: str
    target_server: str
    names: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, run: MigrationRun, topics: Iterable[str]) -> CopiedTopics:
        """Return these of a run's topics."""
        migration = run.migration
        names = tuple((topic, migration.target_topic(topic)) for topic in topics)
        return cls(server_of(run, migration.source), server_of(run, migration.target), names)


class TellsLineage:
    """An operator that sets `copied` in its `execute` tells OpenLineage of it, where Airflow has its provider.

    Nothing is asked before OpenLineage asks, so that no task fails for its lineage.
    """

    copied: Callable[[], CopiedTopics] | None = None

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> OperatorLineage | None:
        """Return the topics read as inputs and those written as outputs; OpenLineage's listener asks in the task."""
        from airflow.providers.common.compat.openlineage.facet import Dataset
        from airflow.providers.openlineage.extractors import OperatorLineage

        if self.copied is None:
            return None
        copied = self.copied()
        return OperatorLineage(
            inputs=[Dataset(f"kafka://{copied.source_server}", name) for name, _ in copied.names],
            outputs=[Dataset(f"kafka://{copied.target_server}", name) for _, name in copied.names],
        )


def server_of(run: MigrationRun, cluster: Cluster) -> str:
    """Return the first bootstrap server of a side's Kafka connection, which names its cluster."""
    return str(run.deployment.client_settings(cluster)["bootstrap.servers"]).partition(",")[0].strip()
