"""The labels of differences between source and target: one row says everything about a label."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.text.row_enum import RowEnum

if TYPE_CHECKING:
    # Only a type: the command that explains labels starts sooner without the settings.
    from kafka_migration.core.migration.settings import Tolerance

_WRONG = (
    "Do not move a group that reads the topic: the copy is wrong. `kafka-migration explain COPY_DIFFERS` has the steps."
)
_KILLED = (
    "If MirrorMaker was killed, trigger the run again, and the next validation decides. Otherwise find out who wrote it"
)
_NOTHING = "No action is needed."
_UNPROVED = "`kafka-migration explain RECORDS_NOT_VERIFIABLE` has the steps."


class _KindRow(NamedTuple):
    """What `DifferenceKind` says of a label, for its table."""

    meaning: str
    cause: str = ""
    act: str = _WRONG
    is_damage: bool = True
    is_compacted: bool = False
    is_unknown: bool = False
    is_unproved: bool = False
    may_be_tail: bool = False
    is_foreign: bool = False
    is_order: bool = False
    changes_with_partitions: bool = False
    tolerated: Callable[[Tolerance, bool], int] = lambda _tolerance, _replayed: 0
    tolerated_as: Code | None = None


class DifferenceKind(RowEnum):
    """What a difference between source and target is.

    `meaning` is a phrase; `cause` says why that can be, unless the meaning says so, and `act` is the first thing to do.
    All but one are damage: `is_damage`. Compaction explains one that `is_compacted`. One that `is_unknown` is about
    records that can no longer be read, and for one that `is_unproved` an explanation may be gone. One that
    `may_be_tail` can be at the end of the target after a kill, because the next generation sends records again. An
    `is_foreign` record is on the target only. `is_order`: only the order differs. `changes_with_partitions`: a key gets
    it if its topic gets partitions during the copy.

    `tolerated` returns how many of them a run may tolerate, from its tolerance and from whether a killed generation was
    followed by another one; `tolerated_as` is the code of the warning. The first of several warnings counts.
    """

    meaning: str
    cause: str
    act: str
    is_damage: bool
    is_compacted: bool
    is_unknown: bool
    is_unproved: bool
    may_be_tail: bool
    is_foreign: bool
    is_order: bool
    changes_with_partitions: bool
    tolerated: Callable[[Tolerance, bool], int]
    tolerated_as: Code | None

    @classmethod
    def text_of(cls, name: str) -> str:
        """Return the label of the kind with a name."""
        return name.lower()

    MISSING = _KindRow(
        "only the source has the record",
        cause="MirrorMaker lost the record, or the target's retention or a client deleted it.",
    )
    EXTRA = _KindRow(
        "only the target has the record",
        may_be_tail=True,
        is_foreign=True,
        cause="Another client or mirror wrote to the target topic, or MirrorMaker was killed.",
        act=f"{_KILLED}, and follow `kafka-migration explain COPY_DIFFERS`.",
    )
    DUPLICATE = _KindRow(
        "the target has the record more often than the source, as after a restart of MirrorMaker; the first copies "
        "are in the source's order",
        may_be_tail=True,
        tolerated=lambda tolerance, replayed: tolerance.duplicates if replayed else 0,
        tolerated_as=Code.RECORDS_REPLAYED,
        cause="MirrorMaker was killed and the next process sent records again, a producer sent a request twice, or "
        "another mirror copies the topic.",
        act="After a kill it is only a warning (`RECORDS_REPLAYED`). Otherwise find out who wrote it, and follow "
        "`kafka-migration explain COPY_DIFFERS`.",
    )
    REORDERED = _KindRow(
        "the record is on both sides, but at another place among the records of its key",
        is_order=True,
        changes_with_partitions=True,
        cause="A producer sent requests again in another order, or the topic got partitions during the copy.",
    )
    ALTERED = _KindRow(
        "source and target differ at the same place of a key; `fields` names `key`, `value`, `headers`, `timestamp`",
        cause="A converter or handler of MirrorMaker changed the record, another client wrote it, or one side is "
        "damaged.",
    )
    MOVED = _KindRow(
        "by key: the record is in another target partition than the other records of its key; by position: in "
        "another partition than on the source",
        changes_with_partitions=True,
        cause="A producer chose partitions in another way, or the topic got partitions during the copy.",
    )
    STALE = _KindRow(
        "the target repeats an older record after the last record of its key; consumers that keep the latest value "
        "have an old one",
        may_be_tail=True,
        cause="MirrorMaker was killed while it sent records again, or another client wrote the record.",
        act=f"{_KILLED}, and follow `kafka-migration explain COPY_DIFFERS`.",
    )
    ABORTED = _KindRow(
        "the target holds a record of an aborted source transaction",
        tolerated=lambda tolerance, _: tolerance.aborted,
        tolerated_as=Code.ABORTED_RECORDS_COPIED,
        cause="MirrorMaker reads with `mirror.isolation_level: read_uncommitted`.",
        act="Set `mirror.isolation_level` to `read_committed`, so that later runs skip such records. Up to "
        "`validation.max_aborted` they are only a warning (`ABORTED_RECORDS_COPIED`).",
    )
    COMPACTED = _KindRow("compaction explains what a side lacks", is_compacted=True, act=_NOTHING)
    EXPIRED = _KindRow(
        "only one side has the first records of a key, because the other side has deleted the beginning of its log",
        is_unknown=True,
        cause="The retention or a client deleted the beginning of that log.",
        act=_UNPROVED,
    )
    UNPROVED = _KindRow(
        "possibly compaction, but not proved: the tombstone can no longer be read, or the key is in several source "
        "partitions",
        is_unknown=True,
        is_unproved=True,
        act=_UNPROVED,
    )
    INTERLEAVED = _KindRow("no damage: several source partitions hold the key", is_damage=False, act=_NOTHING)
    UNCLASSIFIED = _KindRow(
        "the hashes differ, but the cause is unknown: the second reading failed, the data changed between the "
        "readings, the key has more than a million records on both sides together, or (by position) the sides have "
        "few records in common",
        act="Trigger mode `validate` to compare again. If the label remains, follow "
        "`kafka-migration explain COPY_DIFFERS`.",
    )
