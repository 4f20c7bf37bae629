"""The check of the round trip between the MirrorMaker host and the clusters."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kafka_migration.core.documents.codec import read
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.settings import MirrorSettings
from kafka_migration.core.mirror.client_sizes import heap_for, tasks_for
from kafka_migration.preflight.clusters.heap_check import partition_count
from kafka_migration.preflight.clusters.limits_check import largest_request
from kafka_migration.preflight.host.asking_clusters import Question, on_host, without_tools
from kafka_migration.preflight.scene.check import BOTH, Asked, Fact, Findings, check, warnings_of_sides
from kafka_migration.preflight.scene.scene import Scene, facts

# In microseconds.
_ROUND_TRIP = Question(
    "round_trip",
    Fact(
        "how long the host waits for an answer of the cluster",
        "With a long round trip, few tasks may copy more slowly than the network allows.",
    ),
    partial(read, int),
)


@check("mirror tasks", asks=BOTH | {Asked.TOOLS}, needs=("limits", "host"), unless=without_tools, warns=True)
def mirror_tasks(scene: Scene) -> Findings:
    """MirrorMaker has enough tasks for the round trip between its host and the clusters."""
    mirror, partitions, largest = scene.migration.mirror, partition_count(scene), largest_request(scene)

    def find(side: Side, round_trip_us: int) -> Findings:
        return task_findings(mirror, side, round_trip_us, partitions, facts(scene, side).brokers, largest)

    return warnings_of_sides(on_host(scene, _ROUND_TRIP), find)


def task_findings(
    mirror: MirrorSettings, side: Side, round_trip_us: int, partitions: int, brokers: int, largest: int
) -> Findings:
    """Yield the advice about too few tasks for the connections to a side to fill the network."""
    tasks = tasks_for(round_trip_us, partitions, brokers)
    # More tasks give the target no more connections if they share one producer.
    is_limit = side == "source" or mirror.abilities.producer_per_task
    if is_limit and tasks > mirror.tasks:
        heap_mb = heap_for(replace(mirror, tasks=tasks), partitions, largest)
        heap = f" and mirror.heap_mb to {heap_mb}" if heap_mb > mirror.heap_mb else ""
        yield Finding(
            Code.MIRROR_TASKS_FEW,
            "mirror.tasks",
            f"{mirror.tasks:,} task(s) at a round trip of {round_trip_us / 1000:.0f} ms to the {side}",
            f"{tasks:,} tasks, whose connections to {brokers:,} broker(s) fill a line of 1 Gbit/s",
            f"If the copy is too slow and the network is not full, set mirror.tasks to {tasks}{heap}.",
            happened=f"The MirrorMaker host waits {round_trip_us / 1000:.0f} ms for an answer of the {side}. With "
            f"mirror.tasks {mirror.tasks:,}, MirrorMaker has {mirror.tasks * brokers:,} connection(s) to its "
            f"{brokers:,} broker(s).",
            matters="A connection carries about 3 MiB per round trip, so the copy may be slower than the network "
            "allows.",
        )
