"""The table of `docs/operate/reliability.md`: each scenario, its required outcome, and what a campaign measured.

    make test-live-all && python -m tests.live.reliability_table && python docs/generate.py

The first writes what it measured to `artifacts/reliability/`, the second takes that over into `reliability.json`,
which is kept, and the third writes the page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

KEPT = Path(__file__).with_name("reliability.json")
MEASURED = Path(__file__).parents[2] / "artifacts" / "reliability"
OF_HOST = "what fails is a part of the MirrorMaker host"


@dataclass(frozen=True, slots=True)
class Row:
    """What a scenario is and what must come of it; `seen` is what a user sees and does.

    `not_on_connect`: why it cannot happen with engine `connect`; empty if it can.
    """

    scenario: str
    outcome: str
    seen: str
    codes: tuple[str, ...] = ()
    not_on_connect: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of a scenario: starts of MirrorMaker, records copied more than once, seconds until it was gone."""

    outcome: str
    codes: tuple[str, ...]
    generations: int
    duplicates: int
    gone_after_s: int

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Measured:
        """Read it back."""
        return cls(**{**document, "codes": tuple(document["codes"])})


OUTCOMES = {
    "SURVIVE": "the run ends green by itself",
    "RECOVER": "the run ends green after Airflow retried a task",
    "STOP-SAFE": "the run ends red or is deleted; MirrorMaker is stopped, and the next run does the rest",
    "REFUSE": "nothing is started or changed",
}
INTRODUCTION = (
    "Each row is a test on real clusters, a real sshd and a live Airflow, and another one on two real Kafka Connect "
    "workers (`tests/live/test_reliability_*.py`, run by `make test-live-all`).\nEach test interrupts a run. "
    "Afterwards:\n\n"
    "- No record of the copied range is missing on the target, no other record is there, and each partition keeps its "
    "order.\n"
    "- No two MirrorMakers of the migration have run at the same time, according to the host's journal and to samples "
    "ten times a second. On Kafka Connect: each task of a connector had ended before the next connector was created, "
    "according to the workers' topics.\n"
    "- 60 s after the run's end no process of the migration is alive on the host. If the host could not be reached: "
    "60 s after the end of lease and grace time. On Kafka Connect: the connector is stopped and has no task."
)
HEADS = (
    *("What happens", "Outcome", "What a user sees and does", "Starts", "Copied twice", "Gone after"),
    "Outcome on Kafka Connect",
)
# What a measure of the same scenario on Kafka Connect has after the name of its test.
ON_CONNECT = "[connect]"
LEGEND = (
    "- *Starts*: how often MirrorMaker was started. If only the next run could take the reservation over, its starts "
    "count too.\n"
    "- *Copied twice*: records that are on the target more than once after a kill.\n"
    "- *Outcome on Kafka Connect*: that of the same test with engine `connect`; a dash if it cannot happen there. "
    "The columns of numbers are about a host. What Airflow does not stop there copies on until the next run "
    "([limits](limitations.md#kafka-connect)).\n"
    "- *Gone after*: seconds until no process of the migration was alive, counted from the operator's action, else "
    "from the loss of the host, else from the run's end.\n\n"
    "The numbers are those of the last campaign and no guarantee. If a lease ends MirrorMaker, it is a lease of 45 s."
)

SCENARIOS: dict[str, Row] = {
    "test_mirror_killed_once": Row(
        "`kill -9` of MirrorMaker; on Kafka Connect, of a worker with a task of it",
        "SURVIVE",
        "`watch_lag` logs the death and starts the next generation; nothing to do",
    ),
    "test_mirror_killed_three_times": Row(
        "`kill -9` of MirrorMaker, three times in one run",
        "SURVIVE",
        "the same three times; nothing to do",
    ),
    "test_mirror_killed_more_often_than_allowed": Row(
        "`kill -9` of MirrorMaker, more often than `mirror.restarts` allows",
        "STOP-SAFE",
        "the run is red with the last log lines; find out why MirrorMaker dies, then trigger the run again",
        ("MIRROR_DEAD",),
        not_on_connect="only failures of tasks count for the limit of a run, and a worker that is lost is none",
    ),
    "test_host_supervisor_killed": Row(
        "`kill -9` of the shell on the host that waits for MirrorMaker", "SURVIVE", "nothing", not_on_connect=OF_HOST
    ),
    "test_lease_watch_killed": Row(
        "`kill -9` of the shell on the host that keeps the lease",
        "SURVIVE",
        "nothing; another one takes its place",
        not_on_connect=OF_HOST,
    ),
    "test_sshd_killed_and_back": Row(
        "sshd and its sessions are killed and come back before the lease ends",
        "SURVIVE",
        "`watch_lag` logs that the host cannot be reached; nothing to do",
        not_on_connect=OF_HOST,
    ),
    "test_sshd_killed_for_good": Row(
        "sshd and its sessions are killed and do not come back",
        "STOP-SAFE",
        "the host stops MirrorMaker when the lease ends; end the watch with `kafka-migration stop`, "
        "and trigger the run again once the host is back",
        not_on_connect=OF_HOST,
    ),
    "test_sshd_back_after_the_lease": Row(
        "sshd and its sessions are killed and come back after the lease has ended",
        "SURVIVE",
        "the host stopped MirrorMaker; `watch_lag` notices and starts the next generation; nothing to do",
        not_on_connect=OF_HOST,
    ),
    "test_start_task_killed_before_it_asks_for_mirrormaker": Row(
        "`kill -9` of the task `start_mirror` before it asked for the start of MirrorMaker",
        "RECOVER",
        "one retry of the task",
    ),
    "test_start_task_killed_while_mirrormaker_starts": Row(
        "`kill -9` of the task `start_mirror` while MirrorMaker starts",
        "RECOVER",
        "one retry of the task, which adopts what runs",
    ),
    "test_start_task_killed_after_its_last_deed": Row(
        "`kill -9` of the task `start_mirror` after MirrorMaker had started",
        "RECOVER",
        "one retry of the task, which adopts what runs",
    ),
    "test_worker_of_the_start_killed": Row(
        "`kill -9` of the executor's process that supervises `start_mirror`",
        "RECOVER",
        "one retry after `[scheduler] task_instance_heartbeat_timeout`, which adopts what runs",
    ),
    "test_triggerer_killed_and_back": Row(
        "`kill -9` of the triggerer while `watch_lag` is deferred, then a new one",
        "SURVIVE",
        "no progress lines meanwhile; nothing to do",
    ),
    "test_scheduler_killed_and_back": Row(
        "`kill -9` of the scheduler while `watch_lag` is deferred, then a new one", "SURVIVE", "nothing"
    ),
    "test_scheduler_killed_while_starting": Row(
        "`kill -9` of the scheduler and its executor while MirrorMaker starts, then a new one",
        "RECOVER",
        "one retry of the task, which adopts what runs",
    ),
    "test_run_marked_failed_while_starting": Row(
        "the run is marked failed while `start_mirror` runs",
        "STOP-SAFE",
        "`stop_mirror` runs, the run is red; trigger it again when wanted",
    ),
    "test_watch_marked_failed": Row(
        "`watch_lag` is marked failed while it is deferred",
        "STOP-SAFE",
        "`stop_mirror` runs, the run is red; trigger it again when wanted",
    ),
    "test_watch_marked_success": Row(
        "`watch_lag` is marked a success while it is deferred",
        "SURVIVE",
        "MirrorMaker is stopped, what was copied so far is validated",
    ),
    "test_each_task_cleared_while_mirroring": Row(
        "each task of a run that mirrors is cleared, one after the other",
        "SURVIVE",
        "the run continues from there",
    ),
    "test_each_task_cleared_after_the_run": Row(
        "each task of a run that has ended is cleared, one after the other",
        "SURVIVE",
        "the run ends in the same way; nothing is copied or counted twice",
    ),
    "test_dag_deleted_while_mirroring": Row(
        "the DAG is deleted while `watch_lag` is deferred",
        "STOP-SAFE",
        "the host stops MirrorMaker when the lease ends, Kafka Connect copies on until the next run; that takes the "
        "reservation over",
    ),
    "test_file_removed_while_mirroring": Row(
        "the migration file is removed during the run",
        "SURVIVE",
        "nothing; the run has its own copy of the file",
    ),
    "test_file_renamed_while_mirroring": Row(
        "the migration file is renamed during the run",
        "SURVIVE",
        "nothing; the DAG of the new name is another migration's",
    ),
    "test_dag_paused_and_resumed": Row(
        "the DAG is paused for a short time, less than the lease",
        "SURVIVE",
        "MirrorMaker continues; no task starts before the DAG is unpaused",
    ),
    "test_dag_paused_for_good": Row(
        "the DAG is paused for long, more than the lease",
        "SURVIVE",
        "after the watch ends, nothing renews the lease and the host stops MirrorMaker, Kafka Connect copies on; "
        "unpaused, the run ends",
    ),
}


def kept() -> dict[str, Measured]:
    """Return what the last campaigns measured, {test: measures}."""
    if not KEPT.exists():
        return {}
    return {test: Measured.from_document(document) for test, document in json.loads(KEPT.read_text()).items()}


def take_over() -> None:
    """Put what was measured last over what is kept; forget tests that are no more."""
    found = {path.stem: Measured.from_document(json.loads(path.read_text())) for path in MEASURED.glob("*.json")}
    merged = {**kept(), **found}
    names = [name for test in SCENARIOS for name in (test, f"{test}{ON_CONNECT}")]
    document = {name: merged[name].to_document() for name in names if name in merged}
    KEPT.write_text(json.dumps(document, indent=2) + "\n")


def rows() -> list[tuple[str, ...]]:
    """Return the table's rows under `HEADS`; a scenario that no campaign has measured yet says so."""
    measured = kept()
    return [
        (*_cells(row, measured.get(test)), _on_connect(row, measured.get(f"{test}{ON_CONNECT}")))
        for test, row in SCENARIOS.items()
    ]


def _on_connect(row: Row, measured: Measured | None) -> str:
    if row.not_on_connect:
        return "–"
    return "not measured" if measured is None else " ".join((measured.outcome, *map("`{}`".format, measured.codes)))


def _cells(row: Row, measured: Measured | None) -> tuple[str, ...]:
    codes = "".join(f" `{code}`" for code in row.codes)
    numbers = ("not measured", "–", "–")
    if measured is not None:
        numbers = (str(measured.generations), f"{measured.duplicates:,}", f"{measured.gone_after_s} s")
    return row.scenario, f"{row.outcome}{codes}", row.seen, *numbers


if __name__ == "__main__":
    take_over()
