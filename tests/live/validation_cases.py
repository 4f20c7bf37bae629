"""What the tests of the validation job compare: each topic of both clusters is a case of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from confluent_kafka import Producer

from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.validation_contract import ValidationRequest
from sandbox.sandbox import Sandbox
from tests.live.validation_scene import START_MS, Clusters, Sent, plain

BLOCK_RECORDS = 10
RECORDS = plain(35)
KEYED = [record for record in RECORDS if record.key is not None]
OTHER = Sent(b"other", b"foreign", timestamp_ms=START_MS + 999)
CHANGED_VALUE = Sent(RECORDS[20].key, b"damaged", RECORDS[20].headers, RECORDS[20].timestamp_ms)
CHANGED_HEADER = Sent(RECORDS[30].key, RECORDS[30].value, [("trace", b"?")], RECORDS[30].timestamp_ms)
# What the target holds of RECORDS, per partition of topic `damaged`, and what must be said about it.
DAMAGES: list[tuple[list[Sent], str, int | None, int | None, tuple[str, ...]]] = [
    (RECORDS[:10] + RECORDS[11:], "missing", 10, 10, ()),
    (RECORDS[:-1], "missing", 34, None, ()),
    ([*RECORDS[:12], OTHER, *RECORDS[12:]], "extra", 12, 12, ()),
    ([*RECORDS, OTHER], "extra", None, 35, ()),
    ([*RECORDS[:16], RECORDS[15], *RECORDS[16:]], "duplicate", 16, 16, ()),
    ([*RECORDS, *RECORDS[30:]], "duplicate", None, 35, ()),
    ([*RECORDS[:8], RECORDS[9], RECORDS[8], *RECORDS[10:]], "reordered", 8, 8, ()),
    ([*RECORDS[:20], CHANGED_VALUE, *RECORDS[21:]], "altered", 20, 20, ("value",)),
    ([*RECORDS[:30], CHANGED_HEADER, *RECORDS[31:]], "altered", 30, 30, ("headers",)),
    ([], "missing", 0, None, ()),
]


@dataclass
class Scene(Clusters):
    """Both clusters, and the windows to compare as topics are filled."""

    windows: list[Window] = field(default_factory=list)

    def window(
        self, topic: str, partition: int, source: tuple[int, int], target: tuple[int, int], generation: int = 1
    ) -> None:
        """Ask for a comparison."""
        self.windows.append(Window(generation, topic, topic, partition, *source, *target))

    def copied(self, topic: str, partition: int, ours: Sequence[Sent], theirs: Sequence[Sent]) -> None:
        """Send one partition on both sides and ask for all of it."""
        self.source.send(topic, partition, ours)
        self.target.send(topic, partition, theirs)
        self.window(topic, partition, (0, len(ours)), (0, len(theirs)))


@contextmanager
def filled_scene(brokers: Sandbox) -> Iterator[Scene]:
    """Give two clusters filled with every case."""
    with Scene.of(brokers) as scene:
        fill_equal(scene)
        fill_damaged(scene)
        fill_transactions(scene)
        fill_explained(scene)
        _open_transaction = fill_unreadable(scene)  # ends with its producer
        yield scene


def request_of_all(scene: Scene) -> ValidationRequest:
    """Return the request over all windows."""
    return ValidationRequest(
        "demo",
        "run",
        BLOCK_RECORDS,
        "read_committed",
        tuple(scene.windows),
        compacted_topics={"source": ("compacted",)},
        is_uncommitted_copy=True,
        schema_ids={"equal": ("key", "value"), "schemas": ("key", "value")},
    )


def fill_equal(scene: Scene) -> None:
    """Partition 0 is copied in one window, 1 in two generations behind foreign records, 2 and 3 are empty."""
    scene.create("equal", 4, 4)
    scene.copied("equal", 0, RECORDS, RECORDS)
    scene.source.send("equal", 1, RECORDS)
    scene.target.send("equal", 1, [OTHER, OTHER, *RECORDS])
    scene.window("equal", 1, (0, 12), (2, 14), generation=1)
    scene.window("equal", 1, (12, 35), (14, 37), generation=2)
    scene.window("equal", 2, (0, 0), (0, 0))
    scene.window("equal", 3, (0, 0), (0, 0))
    scene.create("schemas", 1, 1)
    framed = [Sent(b"k", b"\0\0\0\0" + bytes([7 + number % 2]) + b"data") for number in range(12)]
    scene.copied("schemas", 0, framed, framed)


def fill_damaged(scene: Scene) -> None:
    """One partition per damage."""
    scene.create("damaged", len(DAMAGES), len(DAMAGES))
    for partition, (theirs, *_) in enumerate(DAMAGES):
        scene.copied("damaged", partition, RECORDS, theirs)


def fill_transactions(scene: Scene) -> None:
    """The source holds committed and aborted transactions, at the end too; the target what was committed."""
    scene.create("transactions")
    for start, how in ((0, "commit"), (5, "abort"), (10, "commit"), (15, "commit"), (20, "abort")):
        scene.source.transaction("transactions", RECORDS[start : start + 5], how)
    committed = RECORDS[:5] + RECORDS[10:20]
    scene.target.send("transactions", 0, committed)
    # Five transactions of five records and one marker each.
    scene.window("transactions", 0, (0, 30), (0, len(committed)))


def fill_explained(scene: Scene) -> None:
    """The source has compacted what it copied; MirrorMaker copied what a transaction aborted."""
    scene.create("compacted")
    # Holes, as a cleaner would have left them.
    scene.source.transaction("compacted", [OTHER] * 10, "abort")
    scene.source.send("compacted", 0, KEYED[10:])
    scene.target.send("compacted", 0, KEYED)
    scene.window("compacted", 0, (0, 11 + len(KEYED[10:])), (0, len(KEYED)))
    scene.create("uncommitted")
    for start, how in ((0, "commit"), (5, "abort"), (10, "commit")):
        scene.source.transaction("uncommitted", RECORDS[start : start + 5], how)
    scene.target.send("uncommitted", 0, RECORDS[:15])
    scene.window("uncommitted", 0, (0, 18), (0, 15))


def fill_unreadable(scene: Scene) -> Producer:
    """Windows whose records are purged, missing, in an open transaction, or of a topic that is not there."""
    scene.create("purged")
    scene.copied("purged", 0, RECORDS, RECORDS)
    scene.source.purge("purged", 5)
    scene.create("purged-damaged")
    scene.copied("purged-damaged", 0, RECORDS, [*RECORDS[:20], CHANGED_VALUE, *RECORDS[21:]])
    scene.source.purge("purged-damaged", 5)
    scene.create("short")
    scene.source.send("short", 0, RECORDS)
    scene.target.send("short", 0, RECORDS[:30])
    scene.window("short", 0, (0, 35), (0, 35))
    scene.source.create("gone")
    scene.source.send("gone", 0, RECORDS)
    scene.window("gone", 0, (0, 35), (0, 35))
    scene.create("open")
    scene.source.send("open", 0, RECORDS[:30])
    scene.target.send("open", 0, RECORDS)
    scene.window("open", 0, (0, 35), (0, 35))
    return scene.source.transaction("open", RECORDS[30:], "leave")
