"""What must hold after every fault, and the sampler that looks at the host while it happens."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.validation.coverage_rules import coverage_of
from sandbox.data.reading import Placed, read_records
from tests.live.faults import PROC, command_line, is_java, marked_pids
from tests.live.migrations import LiveMigration

SAMPLE_S = 0.1
# With these a line of the journal says that the JVM of its generation is no more.
_ENDS = ("java-ended", "stopped", "leftovers-killed")

Identity = tuple[object, ...]


class HostSampler(threading.Thread):
    """Looks at a migration's processes ten times a second: how many JVMs at once, and when any was seen last.

    `command_lines` are those of all processes of the machine where these are asked for: what `ps` shows to anybody.
    """

    def __init__(self, migration: LiveMigration, *, keeps_command_lines: bool = False) -> None:
        super().__init__(name="host-sampler", daemon=True)
        self.most_jvms = 0
        self.last_alive_at: float | None = None
        self.command_lines: set[str] = set()
        self._keeps_command_lines = keeps_command_lines
        self._migration = migration
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        """Look until told to end."""
        while not self._over.wait(SAMPLE_S):
            self._look()

    def _look(self) -> None:
        pids = list(marked_pids(self._migration))
        if pids:
            self.last_alive_at = time.time()
        self.most_jvms = max(self.most_jvms, sum(is_java(command_line(pid)) for pid in pids))
        if self._keeps_command_lines:
            self.command_lines.update(all_command_lines())


def all_command_lines() -> Iterable[str]:
    """Return the command line of every process of the machine."""
    return {" ".join(command_line(int(entry.name))) for entry in PROC.iterdir() if entry.name.isdigit()}


@dataclass(frozen=True, slots=True)
class Copy:
    """A topic's copy against the source's records below the certified positions."""

    missing: int
    duplicates: int
    foreign: int
    partitions_out_of_order: tuple[int, ...]


def copy_of(migration: LiveMigration) -> Copy:
    """Compare the copy with the source, record by record; all records that a test sends are different.

    A record that is there twice was replayed after a kill. The order is that of each record's first copy.
    """
    certificate = migration.ledger.last_stop
    positions = certificate.mirror_positions if certificate else {}
    source = read_records(migration.source["bootstrap.servers"], migration.name)
    target = read_records(migration.target["bootstrap.servers"], migration.name)
    missing = duplicates = foreign = 0
    out_of_order = []
    for partition, placed in source.items():
        end = positions.get(TopicPartition(migration.name, partition), 0)
        everything, found = identities(placed), identities(target.get(partition, []))
        missing += len(set(identities([p for p in placed if p.offset < end])) - set(found))
        foreign += len(set(found) - set(everything))
        duplicates += len(found) - len(set(found))
        firsts, copied = list(dict.fromkeys(found)), set(found)
        if firsts != [record for record in everything if record in copied]:
            out_of_order.append(partition)
    return Copy(missing, duplicates, foreign, tuple(out_of_order))


def identities(placed: Iterable[Placed]) -> list[Identity]:
    """Return what makes each record itself."""
    return [(p.record.key, p.record.value, p.record.headers) for p in placed]


def require_complete_copy(migration: LiveMigration) -> Copy:
    """I1 and I3: no record of the copied range is missing on the target, none is foreign, the order is kept."""
    copy = copy_of(migration)
    assert 0 == copy.missing, (
        f"I1: {copy.missing} records of the copied range of {migration.name} are not on the target"
    )
    assert 0 == copy.foreign, f"I1: {copy.foreign} records on the target of {migration.name} were never on the source"
    assert () == copy.partitions_out_of_order, f"I3: partitions {copy.partitions_out_of_order} are out of order"
    return copy


def require_true_verdict(migration: LiveMigration, copy: Copy) -> None:
    """I1: a good verdict of the ledger is that of this comparison, with the number of records that were sent again."""
    covered = coverage_of(migration.ledger).get(migration.name)
    if covered is not None and covered.is_proved:
        told = str(covered.verdict), covered.surplus_records
        assert ("WARN" if copy.duplicates else "PASS", copy.duplicates) == told, f"I1: {told} for {copy}"


def require_never_two(migration: LiveMigration, sampler: HostSampler) -> int:
    """I5: the host's journal and the sampler agree that no two JVMs ever lived at once; return how many there were."""
    assert sampler.most_jvms <= 1, f"I5: {sampler.most_jvms} MirrorMakers of {migration.name} were seen at once"
    lives = jvm_lives((migration.host_folder / "journal").read_text().splitlines())
    for earlier, later in pairwise(lives):
        assert earlier.end_s is not None, f"I5: generation {earlier.generation} has no end in the journal"
        assert earlier.end_s <= later.start_s, f"I5: generations {earlier} and {later} overlap"
    return len(lives)


@dataclass(frozen=True, slots=True)
class JvmLife:
    """From when to when a generation's JVM lived, in seconds of the host's uptime; `None`: nobody saw it end."""

    generation: int
    start_s: float
    end_s: float | None


def jvm_lives(journal: Sequence[str]) -> list[JvmLife]:
    """Read the lives out of a journal: `epoch uptime verb generation pid outcome…` in each line."""
    lines = [line.split() for line in journal]
    starts = {int(words[3]): float(words[1]) for words in lines if "java-started" in words}
    ends: dict[int, float] = {}
    for words in lines:
        if set(_ENDS) & set(words):
            ends.setdefault(int(words[3]), float(words[1]))
    lives = [JvmLife(number, start_s, ends.get(number)) for number, start_s in starts.items()]
    return sorted(lives, key=lambda life: life.start_s)


def lease_age_s(migration: LiveMigration) -> float:
    """Return the seconds since the last generation's lease was renewed; 0 before there is one."""
    folders = sorted(migration.host_folder.glob("gen-*/lease"), key=lambda path: int(path.parent.name.split("-")[1]))
    if not folders:
        return 0
    return float((PROC / "uptime").read_text().split()[0]) - float(folders[-1].read_text())
