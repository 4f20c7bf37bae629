"""The trigger of the sensors that wait for consumer groups."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import Any

from airflow.triggers.base import TriggerEvent
from asgiref.sync import sync_to_async

from kafka_migration.adapters.system.this_machine import SystemClock
from kafka_migration.core.cutover.lag_policy import STALL_AFTER_S, UNREACHABLE_AFTER_S, LagPolicy
from kafka_migration.core.findings.errors import FindingsError
from kafka_migration.core.migration.settings import POLL_GRACE_S
from kafka_migration.core.text.terminal_text import moment
from kafka_migration.core.watching.unreachable import Party, Silence, SilenceWatch
from kafka_migration.orchestration.task.context import cluster_at, run_from
from kafka_migration.orchestration.triggers.patient import PatientTrigger, tell
from kafka_migration.steps.groups.group_lag_reading import GroupLagReader, GroupLagWatcher, LagEnded, LagOutcome
from kafka_migration.steps.run.alert_sending import unreachable_alert


class ConsumerGroupLagTrigger(PatientTrigger):
    """Wait until all groups have caught up, in one trigger, or until the deadline has passed.

    :param groups: the topics per group; `None`: all topics with committed offsets of the group.
    :param run: that of a migration, whose source is read and which gets alerts; `None` for a sensor without one.

    The other arguments are those of `ConsumerGroupLagSensor`. The event is
    `{"outcome": "caught_up" | "timed_out" | "failed", "progress", "behind": {group: text}, "findings"}`. It only reads.
    """

    def __init__(
        self,
        *,
        kafka_conn_id: str,
        groups: dict[str, list[str] | None],
        limit_offsets: int,
        samples: int,
        freshness_s: float,
        poll_interval_s: float,
        deadline: str,
        stall_after_s: float = STALL_AFTER_S,
        unreachable_after_s: float = UNREACHABLE_AFTER_S,
        run: dict[str, Any] | None = None,
        insecure: Sequence[str] = (),
    ) -> None:
        super().__init__(
            kafka_conn_id=kafka_conn_id,
            groups=groups,
            limit_offsets=limit_offsets,
            samples=samples,
            freshness_s=freshness_s,
            poll_interval_s=poll_interval_s,
            deadline=deadline,
            stall_after_s=stall_after_s,
            unreachable_after_s=unreachable_after_s,
            run=run,
            insecure=list(insecure),
        )
        self.kafka_conn_id = kafka_conn_id
        self.groups = groups
        self.limit_offsets = limit_offsets
        self.samples = samples
        self.freshness_s = freshness_s
        self.poll_interval_s = poll_interval_s
        self.deadline = deadline
        self.stall_after_s = stall_after_s
        self.unreachable_after_s = unreachable_after_s
        self.run_arguments = run
        self.insecure = list(insecure)

    async def events(self) -> AsyncGenerator[TriggerEvent]:
        """Poll until the wait is over; yield its one event."""
        # Airflow's connections can only be read through its bridge between threads and the event loop.
        try:
            watcher = await sync_to_async(self._watcher)()
        except FindingsError as error:
            yield TriggerEvent(LagEnded(LagOutcome.FAILED, findings=error.findings).to_document())
            return
        while True:
            ended = await asyncio.to_thread(watcher.poll)
            self.log.info("%s", watcher.progress)
            for silence in watcher.silence.take_untold(watcher.clock.now()):
                self._tell(silence, watcher.silence.gives_up_at(silence))
            if ended is not None:
                yield TriggerEvent(ended.to_document())
                return
            await asyncio.sleep(self.poll_interval_s)

    def _tell(self, silence: Silence, gives_up_at: datetime) -> None:
        self.log.warning("%s", f"{silence}. The wait fails at {moment(gives_up_at)} unless an answer arrives.")
        if self.run_arguments is not None:
            run = run_from(self.run_arguments)
            tell(run, unreachable_alert(run, silence, gives_up_at))

    def _watcher(self) -> GroupLagWatcher:
        clock = SystemClock()
        policy = LagPolicy(self.limit_offsets, self.samples, self.freshness_s)
        reader = GroupLagReader(cluster_at(self.kafka_conn_id, self.insecure), self.groups, policy, clock)
        act = "Nothing was moved. Then trigger the cutover again." if self.run_arguments else "Then try again."
        setting = "watch.unreachable_after" if self.run_arguments else "unreachable_after_s"
        silence = SilenceWatch(self.stall_after_s, self.unreachable_after_s, setting=setting, act=act)
        party = Party.SOURCE if self.run_arguments else Party.CLUSTER
        deadline = datetime.fromisoformat(self.deadline)
        return GroupLagWatcher(reader, clock, deadline, self.poll_interval_s + POLL_GRACE_S, silence, party)
