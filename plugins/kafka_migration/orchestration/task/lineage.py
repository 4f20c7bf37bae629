"""Lineage: the source and target topics of a task, for OpenLineage and for Airflow's assets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

    from kafka_migration.core.migration.settings import Cluster
    from kafka_migration.steps.run.migration_run import MigrationRun


@dataclass(frozen=True, slots=True)
class CopiedTopics:
    """Topics by their names on both sides, and a bootstrap server (`host:port`) of each side."""

    source_server: str
    target_server: str
    names: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, run: MigrationRun, topics: Iterable[str]) -> CopiedTopics:
        """Return the given topics of a run with their names on both sides."""
        migration = run.migration
        names = tuple((topic, migration.target_topic(topic)) for topic in topics)
        return cls(server_of(run, migration.source), server_of(run, migration.target), names)


class TellsLineage:
    """Reports the topics in `copied`, which an operator sets in `execute`, to OpenLineage if its provider is installed.

    `copied` is only evaluated when OpenLineage asks for it, so that no task fails because of its lineage.
    """

    copied: Callable[[], CopiedTopics] | None = None

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> OperatorLineage | None:
        """Return the source topics as inputs and the target topics as outputs; OpenLineage's listener calls this."""
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
    """Return the first bootstrap server of a side's Kafka connection, which identifies the cluster."""
    return str(run.deployment.client_settings(cluster)["bootstrap.servers"]).partition(",")[0].strip()
