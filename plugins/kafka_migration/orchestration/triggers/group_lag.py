"""The trigger behind the sensors that wait for consumer groups."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from kafka_migration.adapters.clock import SystemClock
from kafka_migration.core.group_lag import LagPolicy
from kafka_migration.orchestration.group_lag import GroupLagReader, GroupLagWatcher
from kafka_migration.orchestration.run import cluster_at


class ConsumerGroupLagTrigger(BaseTrigger):
    """Wait until every group has caught up, all in one trigger, or the deadline is over.

    :param kafka_conn_id: the Airflow connection (type `kafka`) of the cluster.
    :param groups: the topics to look at per group; `None`: all in which the group committed anything.
    :param deadline: ISO 8601; absolute, so that a restarted triggerer does not start the time anew.

    The further arguments are those of `core.group_lag.LagPolicy`, and the time between two samples. The event is
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
    ) -> None:
        super().__init__()
        self.kafka_conn_id = kafka_conn_id
        self.groups = groups
        self.limit_offsets = limit_offsets
        self.samples = samples
        self.freshness_s = freshness_s
        self.poll_interval_s = poll_interval_s
        self.deadline = deadline

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return class path and arguments."""
        return (
            f"{type(self).__module__}.{type(self).__qualname__}",
            {
                "kafka_conn_id": self.kafka_conn_id,
                "groups": self.groups,
                "limit_offsets": self.limit_offsets,
                "samples": self.samples,
                "freshness_s": self.freshness_s,
                "poll_interval_s": self.poll_interval_s,
                "deadline": self.deadline,
            },
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Poll until the wait is over; yield its one event."""
        # Airflow's connections are readable only through its bridge between threads and the event loop.
        watcher = await sync_to_async(self._watcher)()
        while True:
            event = await asyncio.to_thread(watcher.poll)
            self.log.info("%s", watcher.progress)
            if event is not None:
                yield TriggerEvent(event)
                return
            await asyncio.sleep(self.poll_interval_s)

    def _watcher(self) -> GroupLagWatcher:
        clock = SystemClock()
        policy = LagPolicy(self.limit_offsets, self.samples, self.freshness_s)
        reader = GroupLagReader(cluster_at(self.kafka_conn_id), self.groups, policy, clock)
        return GroupLagWatcher(reader, clock, datetime.fromisoformat(self.deadline))
