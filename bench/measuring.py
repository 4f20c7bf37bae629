"""Measures arms side by side: elapsed time and processor time of this process and its descendants."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.results import Arm, Row

# If other processes use this many cores during a run, its elapsed time is not meaningful.
_BUSY_CORES = 0.25
_TICKS_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cost:
    """Elapsed and processor seconds of one run, and whether other processes kept the machine busy."""

    wall_s: float
    cpu_s: float
    busy: bool = False


def cost_of(act: Callable[[], object]) -> Cost:
    """Run something and return its cost."""
    cost = meter()
    act()
    return cost()


def meter() -> Callable[[], Cost]:
    """Return a function that returns the cost since now."""
    machine, cpu, wall = _machine_seconds(), cpu_seconds(), time.perf_counter()

    def cost() -> Cost:
        wall_s, cpu_s = time.perf_counter() - wall, cpu_seconds() - cpu
        return Cost(wall_s, cpu_s, busy=(_machine_seconds() - machine - cpu_s) / wall_s > _BUSY_CORES)

    return cost


def interleaved(arms: Mapping[str, Callable[[], object]], runs: int) -> dict[str, Cost]:
    """Return the median cost of each arm. The arms run in turn, so that drift affects all.

    The first run is additional and dropped. A single run has none before it.
    """
    dropped = min(runs - 1, 1)
    costs: dict[str, list[Cost]] = {name: [] for name in arms}
    for run in range(runs + dropped):
        for name, arm in arms.items():
            cost = cost_of(arm)
            if run >= dropped:
                costs[name].append(cost)
    return {name: median_of(found) for name, found in costs.items()}


def median_of(costs: Iterable[Cost]) -> Cost:
    """Return the medians of both times."""
    found = list(costs)
    walls, cpus = (statistics.median(values) for values in ([c.wall_s for c in found], [c.cpu_s for c in found]))
    return Cost(walls, cpus, sum(cost.busy for cost in found) > len(found) // 2)


def ratio(name: str, costs: Mapping[str, Cost], one: str, other: str, records: tuple[int, int] = (0, 0)) -> Row:
    """Return the ratio of the costs of two arms, by processor time if the machine was busy.

    The processor time of an arm that is shorter than a clock tick is unknown; then the elapsed times count.

    :param records: the records that each of the two reads
    """
    first, second = costs[one], costs[other]
    wall, busy = first.wall_s / second.wall_s, first.busy or second.busy
    cpu = first.cpu_s / second.cpu_s if min(first.cpu_s, second.cpu_s) > 0 else None
    arms = (Arm(one, first.wall_s, records=records[0]), Arm(other, second.wall_s, records=records[1]))
    return Row(name, wall if cpu is None or not busy else cpu, arms, wall, cpu, busy)


def _machine_seconds() -> float:
    """Return the processor time of everything that runs on the machine: user, nice, system and both interrupts."""
    ticks = Path("/proc/stat").read_text().split(maxsplit=9)[1:9]
    return sum(int(ticks[number]) for number in (0, 1, 2, 5, 6)) / _TICKS_S


def cpu_seconds() -> float:
    """Return the processor time of this process, of all below it, and of those that ended and were waited for."""
    return sum(_times(pid) for pid in family(os.getpid())) / _TICKS_S


def family(pid: int) -> list[int]:
    """Return a process and all below it."""
    parents = {int(entry.name): _parent(entry) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    found, young = [pid], [pid]
    while young:
        young = [child for child, parent in parents.items() if parent in young]
        found += young
    return found


def worker_peak_bytes() -> int:
    """Return the peak resident memory of any Spark Python worker below this process."""
    return max(_memory_bytes(pid, "VmHWM") for pid in family(os.getpid()) if _is_worker(pid))


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process; 0 if it has ended."""
    return _memory_bytes(pid, "VmRSS")


def _is_worker(pid: int) -> bool:
    # The daemon's workers are its forks: same command line, and the daemon as parent.
    return _is_daemon(pid) and _is_daemon(_parent(Path(f"/proc/{pid}")))


def _is_daemon(pid: int) -> bool:
    return b"pyspark.daemon" in _read(pid, "cmdline")


def _memory_bytes(pid: int, name: str) -> int:
    lines = _read(pid, "status").decode().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _fields(pid: int) -> list[str]:
    # The name is in brackets and may hold anything.
    return _read(pid, "stat").decode(errors="replace").rpartition(")")[2].split()


def _parent(entry: Path) -> int:
    fields = _fields(int(entry.name))
    return int(fields[1]) if fields else 0


def _times(pid: int) -> int:
    """Return own and waited-for children's ticks, in user and kernel mode."""
    return sum(int(ticks) for ticks in _fields(pid)[11:15])
