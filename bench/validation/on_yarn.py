"""The same validation on YARN and on the worker, with as many cores, and what the start of an application costs.

A few records stand for the start: what both places need before and after the reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.measuring import Cost, interleaved
from bench.results import Arm, Row, compared
from bench.sizes import Yarn as Size
from bench.validation.data import fill, keyed
from bench.validation.scene import two_clusters
from bench.validation.submitting import AS_JAVA_DOES, LOCAL, PARTITIONS, Place, submit
from kafka_migration.core.validation.validation_contract import POSITION_DIGEST
from sandbox.yarn import running_yarn

KEYS = 10_000
HEAP = {"spark.driver.memory": "1g"}
EXECUTOR = {"spark.executor.memory": "1g", "spark.executor.instances": "1", "spark.executor.cores": "2"}
MANY, FEW = "many", "few"


def rows(size: Size) -> Iterator[Row]:
    """Time many and few records in both places, in turn."""
    topics = {MANY: keyed(MANY, size.records, KEYS, PARTITIONS), FEW: keyed(FEW, size.few, KEYS, PARTITIONS)}
    with two_clusters() as (folder, sides):
        fill(sides, list(topics.values()))
        with _yarn(folder / "yarn") as yarn:
            places = {"YARN": yarn, LOCAL.master: Place(LOCAL.master, HEAP)}
            arms = {
                (where, many): partial(submit, folder, sides, [topic], POSITION_DIGEST, AS_JAVA_DOES, place)
                for many, topic in topics.items()
                for where, place in places.items()
            }
            named = {" ".join(name): arm for name, arm in arms.items()}
            costs = interleaved(named, size.runs)
    yield compared(
        "validation of 2 × 5 M records, YARN in client mode ÷ local[2], without the start",
        *(_reading(costs, where, 2 * size.records) for where in places),
    )
    yield compared(
        "start of an application, YARN in client mode ÷ local[2]",
        *(Arm(where, costs[f"{where} {FEW}"].wall_s) for where in places),
    )


def _reading(costs: dict[str, Cost], where: str, records: int) -> Arm:
    """Return the elapsed time of many records beyond that of few."""
    return Arm(where, costs[f"{where} {MANY}"].wall_s - costs[f"{where} {FEW}"].wall_s, records=records)


@contextmanager
def _yarn(folder: Path) -> Iterator[Place]:
    """Run a YARN of one node, whose JVMs choose their own compiler."""
    folder.mkdir()
    with running_yarn(folder) as yarn:
        given = {**yarn.cluster.spark_settings, **HEAP, **EXECUTOR}
        conf = {name: value for name, value in given.items() if not name.endswith("extraJavaOptions")}
        yield Place("yarn", conf, {"HADOOP_CONF_DIR": str(yarn.cluster.conf)})
