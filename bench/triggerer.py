"""Measures how long one event loop with a hundred waiting migrations is blocked.

The triggers, the clusters and their clients, and the evidence are real. The MirrorMaker host is an in-memory fake,
because a hundred MirrorMakers do not fit on one machine; only the waiting for SSH, in threads, is left out. Airflow's
variables and XCom are fakes too, because no Airflow runs.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast
from unittest import mock

from airflow.triggers.base import TriggerEvent

from bench.results import Arm, Row, compared
from bench.sizes import Triggerer as Size
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import GenerationStart
from kafka_migration.core.mirror.host import OpenedMirror
from kafka_migration.core.mirror.mirror_process import AnyProcess, ProcessReply, ProcessState
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.stored.stored_documents import PlanDocument, Stored
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from kafka_migration.orchestration.task import context as context_module
from kafka_migration.orchestration.task import digest_store as keeping_module
from kafka_migration.orchestration.task.context import run_from
from kafka_migration.orchestration.triggers.mirror_lag import MirrorLagTrigger
from kafka_migration.steps.run.deployment import Deployment
from kafka_migration.steps.run.migration_run import MigrationRun
from sandbox.sandbox import Sandbox
from tests.airflow.conftest import FakeXCom
from tests.steps.kept import FakeAnchor, KeptValues
from tests.stored_examples import checked

TICK_S = 0.01
LONGEST_BLOCK_S = 0.2
_FILE = """\
version: 1
name: {name}
source:
  connection: bench_source
target:
  connection: bench_target
  replication_factor: 1
topics: [{name}]
mirror:
  connection: bench_host
watch:
  poll_interval: 15s
  stall_after: 1h
validation:
  spark_connection: bench_spark
"""


class LivingProcess:
    """A MirrorMaker of which generation 1 is running; it only has the methods that a watch calls."""

    def renew(self, holder: str, generation: int) -> ProcessReply:
        """Return that it runs."""
        return ProcessReply(1, ProcessState.RUNNING, holder=holder)

    def close(self) -> None:
        """Do nothing: there is no connection."""


def rows(size: Size) -> Iterator[Row]:
    """Let the migrations wait for a while; yield the longest block divided by its upper bound."""
    with (
        tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder,
        Sandbox(Path(folder) / "sandbox", airflow=False, java_options=()) as sandbox,
    ):
        sides = {"SOURCE": sandbox.state.source_bootstrap, "TARGET": sandbox.state.target_bootstrap}
        connections = {
            f"AIRFLOW_CONN_BENCH_{side}": json.dumps({"conn_type": "kafka", "extra": {"bootstrap.servers": address}})
            for side, address in sides.items()
        }
        with (
            mock.patch.dict("os.environ", connections),
            mock.patch.object(context_module, "deployment", return_value=_deployment(Path(folder) / "evidence")),
            mock.patch.object(keeping_module, "XCom", FakeXCom(KeptValues())),
        ):
            triggers = [_waiting(f"bench-{number}") for number in range(size.migrations)]
            longest_s = asyncio.run(_longest_block(triggers, size.watched_s))
    name = "triggerer with 100 waiting migrations, longest block of its loop ÷ 0.2 s"
    yield compared(name, Arm("longest block", longest_s), Arm("upper bound", LONGEST_BLOCK_S))


def _deployment(evidence_root: Path) -> Deployment:
    """Return this machine's, with a host on which MirrorMaker lives and without Airflow's variables."""
    made = context_module.deployment()
    return replace(
        made,
        evidence_root=evidence_root,
        open_mirror=lambda _: OpenedMirror(cast("AnyProcess", LivingProcess())),
        anchor=FakeAnchor().of,
    )


def _waiting(name: str) -> MirrorLagTrigger:
    """Return the trigger of a run that waits for a record that is never copied."""
    new = MigrationRun(
        name, RunIdentity(f"kafka_migration__{name}", "manual__1", 1), {"mode": "sync"}, context_module.deployment()
    )
    # Only evidence whose digest Airflow keeps is accepted.
    run = run_from({**new.to_arguments(), "tasks": ["preflight"]})
    run.evidence.freeze_migration(_FILE.format(name=name))
    partition = TopicPartition(name, 0)
    nothing = {partition: 0}
    run.evidence.write(Stored.PREFLIGHT, checked(run.request.mode))
    run.evidence.write(Stored.PLAN, PlanDocument(at=run.now(), positions=nothing, goals={partition: 1}))
    run.ledger.append(GenerationStart(1, run.identity.holder, run.now(), nothing, nothing).to_document())
    run.source.create_topics([NewTopic(name, 1, 1, {})])
    internal = InternalTopics.of(name, 1)
    own = (internal.offsets, internal.configs, internal.status)
    run.target.create_topics([NewTopic(topic, 1, 1, {}) for topic in own])
    deadline = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    return MirrorLagTrigger(run=run.to_arguments(), generation=1, deadline=deadline)


async def _longest_block(triggers: list[MirrorLagTrigger], watched_s: float) -> float:
    """Run all triggers; return the maximum delay of the loop in seconds.

    A failing trigger raises its error; a trigger that sends an event raises an `AssertionError`.
    """
    waiting: list[asyncio.Future[TriggerEvent]] = []
    longest_s, end = 0.0, time.monotonic() + watched_s
    try:
        while time.monotonic() < end and not any(task.done() for task in waiting):
            before = time.monotonic()
            # One per loop iteration, as Airflow's triggerer starts them.
            waiting += [asyncio.ensure_future(anext(aiter(t.run()))) for t in triggers[len(waiting) :][:1]]
            await asyncio.sleep(TICK_S)
            longest_s = max(longest_s, time.monotonic() - before - TICK_S)
        events = [task.result() for task in waiting if task.done()]
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    assert not events, f"{len(events)} triggers stopped waiting: {events[0]}"
    return longest_s
