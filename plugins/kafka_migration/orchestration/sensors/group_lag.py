"""A sensor for consumer groups on any cluster: waits, deferred, until they have caught up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseSensorOperator, Context
from airflow.sdk.exceptions import AirflowSensorTimeout

from kafka_migration.adapters.system.this_machine import SystemClock
from kafka_migration.core.cutover.lag_policy import STALL_AFTER_S, UNREACHABLE_AFTER_S, LagPolicy
from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some
from kafka_migration.core.watching.watch import TRIGGER_MARGIN
from kafka_migration.orchestration.task.failures import FailedForGood, never_again

if TYPE_CHECKING:
    from kafka_migration.steps.run.task_frame import Summary


class ConsumerGroupLagSensor(BaseSensorOperator):
    """Wait until consumer groups have caught up within a limit, proved per partition and never as a sum.

    :param kafka_conn_id: the Airflow connection (type `kafka`) of the cluster. (templated)
    :param group_ids: the groups, all of which must catch up. (templated)
    :param topics: only these topics; by default every topic with committed offsets of a group. (templated)
    :param limit_offsets: the maximum lag of each partition.
    :param samples: the number of consecutive samples that must be within the limit.
    :param freshness_s: seconds after which a sample is stale: slower samples do not count, and longer pauses restart
        the count.
    :param poll_interval_s: seconds between two samples; less than `freshness_s`.
    :param stall_after_s: seconds without an answer from the cluster after which the log warns.
    :param unreachable_after_s: seconds without an answer after which the sensor fails (`UNREACHABLE`).
    :param insecure: the protections that the connection may lack, as in `source.insecure` of a migration file.

    Always deferred: one trigger for all groups, no worker slot. `timeout` and `soft_fail` work as in every sensor. The
    end of a partition is its last stable offset. The lag of a partition without a committed offset is unknown, unless
    there is nothing to read; unknown never counts as zero. If a group stops before the end, a temporary consumer proves
    whether only transaction markers follow.

    It changes nothing, and does not check whether a group's consumers are running.

    Known limitation: without `topics`, a topic that a group subscribes to but never committed offsets on is ignored.
    """

    template_fields: Sequence[str] = ("kafka_conn_id", "group_ids", "topics")

    def __init__(
        self,
        *,
        kafka_conn_id: str,
        group_ids: Sequence[str],
        topics: Sequence[str] | None = None,
        limit_offsets: int = 0,
        samples: int = 3,
        freshness_s: float = 60.0,
        poll_interval_s: float = 15.0,
        stall_after_s: float = STALL_AFTER_S,
        unreachable_after_s: float = UNREACHABLE_AFTER_S,
        insecure: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        never_again(self)
        if not 0 < poll_interval_s < freshness_s:
            raise ValueError(f"0 < poll_interval_s < freshness_s is needed, got {poll_interval_s} and {freshness_s}")
        if not 0 < stall_after_s < unreachable_after_s:
            found = f"{stall_after_s} and {unreachable_after_s}"
            raise ValueError(f"0 < stall_after_s < unreachable_after_s is needed, got {found}")
        self.kafka_conn_id = kafka_conn_id
        self.group_ids = group_ids
        self.topics = topics
        self.policy = LagPolicy(limit_offsets, samples, freshness_s)
        self.poll_interval_s = poll_interval_s
        self.stall_after_s = stall_after_s
        self.unreachable_after_s = unreachable_after_s
        self.insecure = tuple(Insecurity(each) for each in insecure)

    def execute(self, context: Context) -> None:
        """Defer to the trigger."""
        from kafka_migration.orchestration.triggers.group_lag_trigger import ConsumerGroupLagTrigger

        if not self.group_ids:
            raise FailedForGood("group_ids is empty: there is no group to wait for")
        topics = None if self.topics is None else list(self.topics)
        limit = timedelta(seconds=self.timeout)
        self.defer(
            trigger=ConsumerGroupLagTrigger(
                kafka_conn_id=self.kafka_conn_id,
                groups=dict.fromkeys(self.group_ids, topics),
                **asdict(self.policy),
                poll_interval_s=self.poll_interval_s,
                deadline=(SystemClock().now() + limit).isoformat(),
                stall_after_s=self.stall_after_s,
                unreachable_after_s=self.unreachable_after_s,
                insecure=[str(each) for each in self.insecure],
            ),
            method_name="execute_complete",
            timeout=limit + TRIGGER_MARGIN,
        )

    def execute_complete(self, context: Context, event: Mapping[str, Any]) -> Summary:
        """Return the last progress line; raise unless all groups have caught up."""
        from kafka_migration.steps.groups.group_lag_reading import LagEnded, LagOutcome
        from kafka_migration.steps.run.task_frame import log_findings

        ended = LagEnded.from_document(event)
        self.log.info("%s", ended.progress)
        if ended.outcome is LagOutcome.FAILED:
            log_findings(ended.findings)
            raise FailedForGood("\n".join(map(str, ended.findings)))
        if ended.outcome is LagOutcome.TIMED_OUT:
            texts = [f"group {group}: {text}" for group, text in ended.behind.items()]
            behind = some(texts, separator="; ", longest=LONGEST_SENTENCE)
            raise AirflowSensorTimeout(f"not caught up within {self.timeout:,.0f} s: {behind or ended.progress}")
        return {"outcome": str(ended.outcome), "progress": ended.progress}
