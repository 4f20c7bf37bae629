"""The schema ids at the beginning of the target's records, collected while the records are compared.

A serializer of a schema registry writes a zero byte and the id of the schema as four bytes, highest first, before the
data ("wire format" in Confluent's documentation). Registries assign ids in sequence, so a number of `LARGE` or more is
taken for something else: without this limit, a topic of random bytes would fill the driver's memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame, functions

from kafka_digest.reading.read_windows import SideRange, WindowPlan, requested_range
from kafka_digest.runtime.job_errors import JobError

PARTS = ("key", "value")
SIDE = "target"
LARGE = 1 << 20
# More different numbers than this in a part of a topic are not kept.
MAX_IDS = 10_000
_OBSERVED = "schema ids"
_ID_BYTES = 4
# Stands for every number of `LARGE` or more.
_OTHER = 0xFFFFFFFF


@dataclass(frozen=True)
class SchemaIds:
    """Collects the ids per topic of the target and part of the record.

    :param wanted: the parts to look at, by the target's topic
    """

    wanted: Mapping[str, Collection[str]] = field(default_factory=dict)
    _found: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    _read: set[SideRange] = field(default_factory=set)

    def watched(self, side: str, frame: DataFrame) -> DataFrame:
        """Return the frame, whose target records also show their ids to `note` while they are read."""
        if side != SIDE or not self.wanted:
            return frame
        return frame.observe(_OBSERVED, *(self._ids_of(part) for part in PARTS))

    def note(self, executed: DataFrame, ranges: Iterable[SideRange]) -> None:
        """Add the ids that the tasks of an executed frame met in these ranges of the target.

        Raises `JobError` if Spark has none although records were read.
        """
        read = {piece for piece in ranges if not piece.is_empty}
        if not self.wanted or not read:
            return
        metrics = executed._jdf.queryExecution().observedMetrics()
        if not metrics.contains(_OBSERVED):
            raise JobError("Spark did not keep the schema ids of the records that it read")
        row = metrics.apply(_OBSERVED)
        for number, part in enumerate(PARTS):
            for text in filter(None, (row.getString(number) or "").split(",")):
                found = bytes.fromhex(text)
                topic = found[:-_ID_BYTES].decode()
                self._found.setdefault((topic, part), set()).add(int.from_bytes(found[-_ID_BYTES:], "big"))
        self._read.update(read)

    def documents(self, plans: Collection[WindowPlan]) -> list[dict[str, Any]]:
        """Return an entry per wanted topic and part.

        `large` says whether there were numbers of `LARGE` or more, `too_many` whether there were more than `MAX_IDS`;
        then none are given. `complete` says whether all records of the topic's windows were read.
        """
        unread = {plan.target.topic for plan in plans if not self._is_read(plan)}
        return [
            {**self._document(topic, part), "complete": topic not in unread}
            for topic, parts in sorted(self.wanted.items())
            for part in sorted(parts)
        ]

    def _is_read(self, plan: WindowPlan) -> bool:
        """Whether all records that the target still has of a window were read; deleted ones have no reader either."""
        if requested_range(plan.window, SIDE).is_empty or (plan.target.is_expired and plan.target.is_empty):
            return True
        is_readable = plan.target.unreadable is None or plan.target.is_expired
        return is_readable and plan.target in self._read

    def _document(self, topic: str, part: str) -> dict[str, Any]:
        found = self._found.get((topic, part), set())
        ids = found - {_OTHER}
        too_many = len(ids) > MAX_IDS
        return {
            "topic": topic,
            "part": part,
            "ids": [] if too_many else sorted(ids),
            "large": _OTHER in found,
            "too_many": too_many,
        }

    def _ids_of(self, part: str) -> Column:
        """Return the aggregate of the different topics and ids of a part, as hexadecimal text, separated by commas."""
        topics = ", ".join(_literal(topic) for topic, parts in sorted(self.wanted.items()) if part in parts)
        if not topics:
            return functions.expr("max('')").alias(part)
        number = f"if(substring({part}, 2, 2) < X'0010', substring({part}, 2, {_ID_BYTES}), X'{_OTHER:X}')"
        is_one = f"topic in ({topics}) and octet_length({part}) > {_ID_BYTES} and startswith({part}, X'00')"
        named = f"if({is_one}, concat(cast(topic as binary), {number}), null)"
        return functions.expr(f"array_join(transform(collect_set({named}), id -> hex(id)), ',')").alias(part)


def _literal(topic: str) -> str:
    """Return a topic name as text of SQL; names of topics have letters, digits, `.`, `_` and `-`."""
    return "'" + topic.replace("\\", "\\\\").replace("'", "\\'") + "'"
