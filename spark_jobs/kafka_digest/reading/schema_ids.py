"""The schema ids at the beginning of the target's records, collected while the records are compared.

A serializer of a schema registry writes a zero byte and the id of the schema as four bytes, highest first, before the
data ("wire format" in Confluent's documentation). Registries assign ids in sequence, so a number of 2^24 or more is
taken for something else: without this limit, a topic of random bytes would fill the driver's memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PARTS = ("key", "value")
SIDE = "target"
# More different numbers than this in a part of a topic are no schema ids.
MAX_IDS = 10_000
_OBSERVED = "schema ids"
_ID_BYTES = 4
# Stands for every number that cannot be an id.
_OTHER = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class SchemaIds:
    """Collects the ids per topic of the target and part of the record.

    :param wanted: the parts to look at, by the target's topic
    """

    wanted: Mapping[str, Collection[str]] = field(default_factory=dict)
    _found: dict[tuple[str, str], set[int]] = field(default_factory=dict)

    def watched(self, side: str, frame: DataFrame) -> DataFrame:
        """Return the frame, whose target records also show their ids to `note` while they are read."""
        if side != SIDE or not self.wanted:
            return frame
        return frame.observe(_OBSERVED, *(self._ids_of(part) for part in PARTS))

    def note(self, executed: DataFrame) -> None:
        """Add the ids that the tasks of an executed frame met; a frame that no one watched has none."""
        if not self.wanted:
            return
        metrics = executed._jdf.queryExecution().observedMetrics()
        if not metrics.contains(_OBSERVED):
            return
        row = metrics.apply(_OBSERVED)
        for number, part in enumerate(PARTS):
            for text in filter(None, (row.getString(number) or "").split(",")):
                found = bytes.fromhex(text)
                topic = found[:-_ID_BYTES].decode()
                self._found.setdefault((topic, part), set()).add(int.from_bytes(found[-_ID_BYTES:], "big"))

    def documents(self) -> list[dict[str, Any]]:
        """Return an entry per wanted topic and part.

        `others` says whether there were also numbers that cannot be ids. Of more than `MAX_IDS` numbers none are given.
        """
        return [self._document(topic, part) for topic, parts in sorted(self.wanted.items()) for part in sorted(parts)]

    def _document(self, topic: str, part: str) -> dict[str, Any]:
        found = self._found.get((topic, part), set())
        ids = found - {_OTHER}
        is_too_many = len(ids) > MAX_IDS
        return {
            "topic": topic,
            "part": part,
            "ids": [] if is_too_many else sorted(ids),
            "others": is_too_many or _OTHER in found,
        }

    def _ids_of(self, part: str) -> Column:
        """Return the aggregate of the different topics and ids of a part, as hexadecimal text, separated by commas."""
        topics = ", ".join(_literal(topic) for topic, parts in sorted(self.wanted.items()) if part in parts)
        if not topics:
            return functions.expr("max('')").alias(part)
        number = f"if(startswith({part}, X'0000'), substring({part}, 2, {_ID_BYTES}), X'{_OTHER:X}')"
        is_one = f"topic in ({topics}) and octet_length({part}) > {_ID_BYTES} and startswith({part}, X'00')"
        named = f"if({is_one}, concat(cast(topic as binary), {number}), null)"
        return functions.expr(f"array_join(transform(collect_set({named}), id -> hex(id)), ',')").alias(part)


def _literal(topic: str) -> str:
    """Return a topic name as text of SQL; names of topics have letters, digits, `.`, `_` and `-`."""
    return "'" + topic.replace("\\", "\\\\").replace("'", "\\'") + "'"
