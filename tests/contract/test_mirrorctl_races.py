"""Pairs of starts that race, killed at any point: never two processes of one migration, and none left behind."""

from __future__ import annotations

import itertools
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.core.findings.errors import MigrationError, TransientError
from tests.contract.local_host import LocalTransport, Machine
from tests.contract.process_contract import ME, OTHER
from tests.contract.test_mirrorctl_faults import journal, most_alive_at_once
from tests.waiting import wait_until

pytestmark = pytest.mark.live

FAILPOINTS = ("", "before_record", "after_record", "after_spawn", "before_reply")
# What the second start of a pair differs in from the first.
RIVALS = ("nothing", "generation", "holder", "both")
# What of the first start the second one waits for: nothing, its files, or its process.
MOMENTS = ("", "manifest", "java")
SEED = 20260101


@dataclass
class JvmCount:
    """Looks all the time for JVMs of a machine that live at the same moment; `most` is what it saw."""

    machine: Machine
    most: int = 0
    looks: int = 0
    ended: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        """Look until `ended`."""
        while not self.ended.wait(0.02):
            first = self._jvms()
            # Two of one look may have followed each other; two that are both there later lived together.
            both = first & self._jvms() if len(first) > 1 else first
            self.most = max(self.most, len(both))
            self.looks += 1

    def _jvms(self) -> set[tuple[int, str]]:
        """Pid and start time of each; what the stand-in has just forked is no JVM of its own."""
        java = str(self.machine.java_home / "bin" / "java").encode()
        found: dict[int, tuple[int, str]] = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if words[1:2] == [java]:
                found[int(folder.name)] = (int(fields[1]), fields[19])
        return {(pid, start) for pid, (parent, start) in found.items() if parent not in found}


def dying_start(machine: Machine, failpoint: str, holder: str, generation: int) -> None:
    """One start whose calls die at the failpoint, the adapter's second try included."""
    transport = LocalTransport(machine, environment={"KAFKA_MIGRATION_FAILPOINT": failpoint})
    rival = ScriptMirrorHost("shop", transport, str(machine.home))
    try:
        if holder != ME:
            ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home)).reserve(holder, take_over_from=ME)
        rival.start(holder, generation, machine.launch())
    except MigrationError:
        pass


@dataclass(frozen=True)
class Case:
    """One race: what the second start differs in, when it comes, and where the calls of each die."""

    rivals: str
    moment: str
    failpoints: tuple[str, str]


def race(machine: Machine, host: ScriptMirrorHost, case: Case, generation: int) -> None:
    """Let two starts race, then stop both generations; nothing may be alive."""
    host.reserve(ME, take_over_from=OTHER)
    second = generation + (case.rivals in {"generation", "both"})
    holder = OTHER if case.rivals in {"holder", "both"} else ME
    sign = machine.home / "shop" / f"gen-{generation}" / case.moment
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(dying_start, machine, case.failpoints[0], ME, generation)
        wait_until(lambda: not case.moment or sign.exists() or first.done(), what="the first start")
        pool.submit(dying_start, machine, case.failpoints[1], holder, second)
    stopped(host, generation + 1)
    assert [] == machine.alive("KAFKA_MIGRATION_ID=shop/")


def stopped(host: ScriptMirrorHost, generation: int) -> None:
    """Stop as whoever holds the reservation; a call of the race may still have the lock for a moment."""
    for _ in range(3):
        try:
            host.stop(host.status().holder, generation, 5)
        except TransientError:
            continue
        return
    raise AssertionError("the lock was not free")


@pytest.mark.parametrize("races", [10, pytest.param(200, marks=pytest.mark.campaign)])
def test_racing_starts_never_make_two(machine: Machine, host: ScriptMirrorHost, races: int) -> None:
    """However two starts meet and die, there are never two processes, by /proc and by the journal, and none stays."""
    (machine.home / "failpoints-allowed").touch()
    cases = list(itertools.product(RIVALS, MOMENTS, itertools.product(FAILPOINTS, FAILPOINTS)))
    random.Random(SEED).shuffle(cases)
    count = JvmCount(machine)
    watcher = threading.Thread(target=count.watch)
    watcher.start()
    try:
        for number, (rivals, moment, failpoints) in zip(range(races), itertools.cycle(cases), strict=False):
            race(machine, host, Case(rivals, moment, failpoints), generation=2 * number + 1)
    finally:
        count.ended.set()
        watcher.join()

    assert (1, 1) == (count.most, most_alive_at_once(machine))
    assert races < count.looks
    assert {"java-started", "stopped"} <= {line[5] for line in journal(machine)}
    assert [] == [path for path in (machine.home / "shop").glob("gen-*/secrets") if any(path.iterdir())]
