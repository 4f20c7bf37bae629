"""Running the steps of a migration in the small world, and doing what MirrorMaker and Spark do between them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, BaseOperator, chain

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.validation.contract import KEY_DIGEST, TopicResult, empty_result
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from kafka_migration.orchestration.operators.create_topics import CreateTopicsOperator
from kafka_migration.orchestration.operators.finish import FinishOperator
from kafka_migration.orchestration.operators.plan import PlanOperator
from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.reserve import ReserveOperator
from tests.airflow.conftest import World
from tests.contract.fake_mirrormaker import FakeMirrorMaker, fake_mirror

P0 = TopicPartition("orders", 0)
BEFORE_START = (PreflightOperator, ReserveOperator, PlanOperator, CreateTopicsOperator)


def do(world: World, *operators: type[BaseOperator]) -> dict[str, Any]:
    """Run operators in order and return the last one's summary."""
    summary: dict[str, Any] = {}
    for operator in operators:
        world.context()
        world.task_instance.begin(operator.__name__)
        summary = operator(task_id=operator.__name__, migration="shop").execute(world.context())
    return summary


def mirror(world: World, copied: dict[TopicPartition, int]) -> None:
    """Let the MirrorMaker that was started last copy so many records per partition, and store its positions."""
    running = assign(world)
    for partition, count in copied.items():
        running.copy(partition, count)
    running.flush()


def assign(world: World) -> FakeMirrorMaker:
    """Let the MirrorMaker of the launch that the host got last come up, and return it."""
    return fake_mirror(world.host.processes[world.host.last].launch, world.source, world.target)


def watch_event(world: World, outcome: str, **more: Any) -> dict[str, Any]:
    """Return the event with which this attempt's watch ends."""
    told = {"outcome": outcome, "progress": "Copy: 1/2", "findings": [], "generation": 1}
    return {**told, "holder": world.run.identity.holder, **more}


def validated(world: World, equal: bool = True, submitted: Sequence[str] = ()) -> None:
    """Write request and result as `validate_topics` and Spark do, with all windows equal or none.

    `submitted` are the arguments of a job that `validate_topics` has submitted: then only its result is written.
    """
    from kafka_migration.steps.validation.request import request_of

    request = request_of(world.run)
    empty = replace(request, windows=())
    result = empty_result(empty, "t").to_document()
    side = {"records": 1, "key_value_bytes": 2, "first_offset": 0, "last_offset": 0}
    result["partitions"] = [
        {
            "window": window.to_document(),
            "source": side,
            "target": side,
            "equal": equal,
            "blocks": 1,
            "differing_blocks": int(not equal),
            "source_unreadable": None,
            "target_unreadable": None,
            "source_digest": "0a",
            "target_digest": "0a" if equal else "0b",
            "first_difference": None,
            "differences": None,
            "rest_in_order": None,
        }
        for window in request.windows
    ]
    result |= {"source_records": len(request.windows), "target_records": len(request.windows)}
    if request.digest == KEY_DIGEST:
        result["topics"] = [
            _topic_result(*unit, equal=equal) for unit in {(w.generation, w.topic) for w in request.windows}
        ]
    if submitted:
        spark_writes(world, submitted, result)
        return
    world.run.evidence.write(Kind.VALIDATION_REQUEST, request.to_document())
    world.run.evidence.write(Kind.VALIDATION_RESULT, result)


def spark_writes(world: World, submitted: Sequence[str], result: Mapping[str, Any]) -> None:
    """Write the result of a job where its arguments say, however Spark spells the evidence root."""
    name = submitted[list(submitted).index("--result") + 1].rpartition("/")[2]
    (world.run.evidence.folder / name).write_text(json.dumps(result))


def _topic_result(generation: int, topic: str, *, equal: bool) -> dict[str, Any]:
    found = TopicResult(generation, topic, topic, equal, int(not equal), 1, 1, "00", "00" if equal else "01")
    return found.to_document()


def _dag(*task_ids: str) -> DAG:
    """Return a DAG of these tasks, one after the other."""
    with DAG("any", schedule=None) as dag:
        chain(*(EmptyOperator(task_id=task_id) for task_id in task_ids))
    return dag


def finish(world: World, **states: str | None) -> dict[str, Any]:
    """Run finish after tasks that ended in these states."""
    world.task_instance.task_states = states
    world.context()
    world.task_instance.begin("finish")
    # What these tasks put down is theirs by other ids.
    dag = SimpleNamespace(topological_sort=_dag(*states, "finish").topological_sort, tasks=world.dag.tasks)
    context = {**world.context(), "dag": dag}
    return FinishOperator(task_id="finish", migration="shop").execute(context)


def refusal_codes(world: World) -> list[str]:
    """Return the codes of all that this attempt refused."""
    return [f["code"] for r in world.run.evidence.of_attempt(Kind.REFUSAL) for f in r["findings"]]


def store_position(world: World, last_copied: int, partition: TopicPartition = P0) -> None:
    """Do what MirrorMaker 2 does, or somebody in its name: store the offset of the last record copied."""
    offsets = InternalTopics.of(world.run.name, 1).offsets
    world.target.create_topics([NewTopic(offsets, 1, 1, {})])
    source = {"cluster": "shop-source", "partition": partition.partition, "topic": partition.topic}
    key = json.dumps(["MirrorSourceConnector", source]).encode()
    world.target.produce(offsets, 0, (key, json.dumps({"offset": last_copied}).encode()))


def next_run(world: World, number: int = 2) -> None:
    """Let the run be over, and the next one begin."""
    world.task_instance.run_states[world.dag_run.run_id] = "success"
    world.dag_run.run_id, world.dag_run.clear_number = f"manual__{number}", 0
