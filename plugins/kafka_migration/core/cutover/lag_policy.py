"""When have consumer groups caught up? The rule, and the state between samples.

lag of a partition   offsets between the group's committed offset and the end; it can be unknown
behind               a partition whose lag is unknown or above the limit
caught up            no partition behind, in several fresh samples in a row
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_migration.core.kafka.cluster import Probe
from kafka_migration.core.kafka.offsets import Known, Lag, TopicPartition, Unknown, total
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some
from kafka_migration.core.watching.progress import fitted

# The defaults of a migration file, for a sensor without one.
STALL_AFTER_S = 600.0
UNREACHABLE_AFTER_S = 1800.0

GroupLags = Mapping[str, Mapping[TopicPartition, Lag]]
"""Lag per group and partition. A group without partitions committed nothing: that is not "caught up"."""


def partition_lag(committed: int | None, log_start: int | None, end: int | None, probe: Probe | None = None) -> Lag:
    """Return a group's lag on one partition.

    `end` is the last stable offset. `probe` is what a reader found from `next_to_read` on: maybe only transaction
    markers and compaction holes are left. Without a committed offset the lag is unknown unless there is no record.
    """
    if log_start is None or end is None:
        return Unknown("the partition's ends cannot be read")
    if committed is not None and committed > end:
        return Unknown(f"committed offset {committed:,} is beyond the end {end:,}")
    position = next_to_read(committed, log_start)
    if position == end or (probe is not None and probe.proves(end)):
        return Known(0)
    return Unknown("nothing committed") if committed is None else Known(end - position)


def next_to_read(committed: int | None, log_start: int) -> int:
    """Return the first offset that can still be read, after the records that retention deleted."""
    return log_start if committed is None else max(committed, log_start)


@dataclass(frozen=True, slots=True)
class LagPolicy:
    """The rule: every partition's lag is known and at most the limit, in this many fresh samples in a row.

    A sample older than `freshness_s` is stale: a reading that took longer is not counted, and after a longer pause the
    count starts again.

    Raises `ValueError` for a rule that could never, or would always, be met.
    """

    limit_offsets: int = 0
    samples: int = 3
    freshness_s: float = 60.0

    def __post_init__(self) -> None:
        if self.limit_offsets < 0 or self.samples < 1 or self.freshness_s <= 0:
            raise ValueError(f"limit_offsets >= 0, samples >= 1 and freshness_s > 0 are needed, got {self}")

    def is_within(self, lag: Lag) -> bool:
        """Whether one partition is within the limit; an unknown lag never is."""
        return isinstance(lag, Known) and lag.offsets <= self.limit_offsets


@dataclass(frozen=True, slots=True)
class LagSample:
    """One reading of all groups; `at_s` is the monotonic second at which it started."""

    at_s: float
    lags: GroupLags


@dataclass(slots=True)
class LagPolicyState:
    """The state between samples: the newest one, and how many in a row were within the limit."""

    policy: LagPolicy
    passes: int = 0
    newest: LagSample | None = None
    _reason: str = field(default="no sample yet")

    def take(self, sample: LagSample, now_s: float) -> bool:
        """Add one sample; return whether the groups have caught up."""
        is_continuous = self.newest is not None and sample.at_s - self.newest.at_s <= self.policy.freshness_s
        self.newest = sample
        self._reason = self._why_not(sample, now_s)
        if self._reason:
            self.passes = 0
        else:
            self.passes = self.passes + 1 if is_continuous else 1
        return self.passes >= self.policy.samples

    def miss(self, reason: str) -> None:
        """Record that no sample could be read: the groups may have fallen behind in the meantime."""
        self.passes, self._reason = 0, reason

    @property
    def behind(self) -> dict[str, dict[TopicPartition, Lag]]:
        """The partitions above the limit in the newest sample; a group without commits has no partitions."""
        if self.newest is None:
            return {}
        behind = {
            group: {p: lag for p, lag in sorted(lags.items()) if not self.policy.is_within(lag)}
            for group, lags in sorted(self.newest.lags.items())
        }
        return {group: lags for group, lags in behind.items() if lags or not self.newest.lags[group]}

    @property
    def progress(self) -> str:
        """One line for the log: `Lag: 12; Within 0 offsets: 1 of 3 samples; State: shop-app: orders[2] lag 12`.

        It has at most 160 characters.
        """
        lag = self._whole_lag()
        passes = f"Within {self.policy.limit_offsets:,} offsets: {self.passes} of {self.policy.samples} samples"
        state = self._reason or "within the limit, confirming"
        if isinstance(lag, Unknown):
            return fitted("State: ", state, f"; Lag: unknown; {passes}")
        return fitted(f"Lag: {lag}; {passes}; State: ", state)

    def _whole_lag(self) -> Lag:
        groups = self.newest.lags.values() if self.newest is not None else ()
        if not groups or not all(groups):
            return Unknown("not every group could be read")
        return total(lag for partitions in groups for lag in partitions.values())

    def _why_not(self, sample: LagSample, now_s: float) -> str:
        age_s = now_s - sample.at_s
        if age_s > self.policy.freshness_s:
            return f"the sample is {age_s:.0f} s old, fresh is {self.policy.freshness_s:.0f} s (freshness_s)"
        if not sample.lags:
            return "no group to measure"
        return some(
            [f"{group}: {behind_text(lags, named=3)}" for group, lags in self.behind.items()],
            separator="; ",
            longest=LONGEST_SENTENCE,
        )


def behind_text(lags: Mapping[TopicPartition, Lag], named: int) -> str:
    """Describe where one group is behind: `orders[0] lag 3, orders[1] lag unknown (nothing committed)`.

    At most `named` partitions are named, the others counted.
    """
    if not lags:
        return "no committed offset"
    texts = [f"{partition} lag {lag}" for partition, lag in lags.items()]
    more = f" and {len(texts) - named:,} more" if len(texts) > named else ""
    return ", ".join(texts[:named]) + more
