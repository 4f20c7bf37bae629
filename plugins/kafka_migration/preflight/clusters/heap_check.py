"""The check of MirrorMaker's heap."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import MirrorSettings
from kafka_migration.core.mirror.client_sizes import heap_for
from kafka_migration.preflight.clusters.limits_check import largest_request
from kafka_migration.preflight.scene.check import BOTH, Findings, check, without_mirrormaker
from kafka_migration.preflight.scene.scene import Scene, topics_of


def _without_heap(scene: Scene) -> str:
    return without_mirrormaker(scene) or scene.migration.mirror.abilities.needs_host.why_not


@check("mirror heap", asks=BOTH, needs=("limits",), unless=_without_heap, warns=True)
def mirror_heap(scene: Scene) -> Findings:
    """MirrorMaker's heap holds the buffers of its clients."""
    return heap_findings(scene.migration.mirror, partition_count(scene), largest_request(scene))


def partition_count(scene: Scene) -> int:
    """Return how many partitions the topics of the migration have on the source."""
    return sum(topic.partitions for topic in topics_of(scene, "source").values())


def heap_findings(mirror: MirrorSettings, partitions: int, largest: int) -> Findings:
    """Yield the advice about a heap that is too small for its buffers."""
    heap_mb = heap_for(mirror, partitions, largest)
    if heap_mb > mirror.heap_mb:
        yield Finding(
            Code.MIRROR_HEAP_SMALL,
            "mirror.heap_mb",
            f"{mirror.heap_mb:,} MiB for {partitions:,} partition(s) and {mirror.tasks:,} task(s)",
            f"{heap_mb:,} MiB, which hold the clients' buffers when they are full",
            f"Set mirror.heap_mb to {heap_mb}, if the host has the memory. Or lower mirror.tasks, divide the topics "
            "among several migration files, or lower the sizes in mirror.properties.",
            happened=f"The buffers of MirrorMaker's clients take up to {heap_mb:,} MiB of heap for {partitions:,} "
            f"partition(s), {mirror.tasks:,} task(s) and requests of up to {largest:,} bytes, but mirror.heap_mb is "
            f"{mirror.heap_mb:,}.",
            matters="MirrorMaker may end for lack of memory while the target is slow. A restart copies up to 5 s of "
            "records again.",
        )
