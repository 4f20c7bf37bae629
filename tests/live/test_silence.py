"""Brokers that are killed, or that hang, in the middle of a sync: who is told and when, and when the run ends."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from tests.live.conftest import LiveWorld
from tests.live.faults import jvm_pids
from tests.live.listening import Mailbox, alerts_section
from tests.live.migrations import LiveMigration
from tests.live.scenarios import GONE_WITHIN_S
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

log_of_tests = logging.getLogger(__name__)

# A MirrorMaker that starts on a busy machine must not count as stalled.
STALL_S, LIMIT_S, POLL_S = 120, 200, 5
# A poll takes `poll_interval` + 10 s at most, and a pause follows.
ONE_POLL_S = POLL_S + 10 + POLL_S
SETTINGS = {
    "stall_after": f"{STALL_S}s\n  unreachable_after: {LIMIT_S}s",
    "poll_interval": f"{POLL_S}s",
    "lease": "10m",
}
# What Airflow takes to hand the end of a watch to its task, and to start the next, on a busy machine.
AIRFLOW_S = 60


@contextmanager
def hanging(live: LiveWorld, *parts: str) -> Iterator[None]:
    """Let the processes of parts of the sandbox stand still; they answer nothing and close nothing."""
    for part in parts:
        live.sandbox.kill(part, signal.SIGSTOP)
    try:
        yield
    finally:
        for part in parts:
            live.sandbox.kill(part, signal.SIGCONT)


@contextmanager
def killed(live: LiveWorld, *parts: str) -> Iterator[None]:
    """Kill parts of the sandbox, and start them again in the end."""
    for part in parts:
        live.sandbox.kill(part)
    try:
        yield
    finally:
        for part in parts:
            live.sandbox.restart(part)


def syncing(live: LiveWorld, name: str) -> tuple[LiveMigration, str]:
    """Start a run that mirrors for as long as records come; return it when it copies."""
    migration = live.migration(name, nightly=alerts_section(), **SETTINGS)
    migration.produce(2_000)
    run_id = migration.trigger("follow")
    migration.wait_for_task(run_id, "watch_lag", ["deferred"])
    wait_until(lambda: migration.target_records() == 2_000, 400, "all records on the target")
    return migration, run_id


def seconds_after(begun: float, document: dict[str, Any]) -> float:
    return datetime.fromisoformat(document["at"]).timestamp() - begun


@pytest.mark.parametrize(
    ("name", "fault", "parts", "party"),
    [
        ("silence-target-killed", killed, ("target",), "target cluster"),
        ("silence-source-killed", killed, ("source",), "source cluster"),
        ("silence-both-hang", hanging, ("source", "target"), ""),
    ],
)
def test_silent_broker_is_told_and_ends_the_run(
    live: LiveWorld,
    mailbox: Mailbox,
    name: str,
    fault: Callable[..., Any],
    parts: tuple[str, ...],
    party: str,
) -> None:
    """A warning and a mail within `stall_after` + 2 polls; the watch fails within the limit + 2 polls."""
    migration, run_id = syncing(live, name)
    evidence = migration.evidence(run_id)
    begun = time.time()
    with fault(live, *parts):
        wait_until(lambda: evidence.of_attempt(Kind.ALERT), 400, "the alert")
        wait_until(lambda: migration.task_state(run_id, "watch_lag") == "failed", 400, "the end of the watch")
        wait_until(lambda: not jvm_pids(migration), GONE_WITHIN_S + 90, "the end of MirrorMaker")
        gone_s = time.time() - begun
    migration.finished(run_id)
    told_s, ended_s = (seconds_after(begun, evidence.of_attempt(kind)[0]) for kind in (Kind.ALERT, Kind.WATCH))
    log = live.api.log(migration.dag_id, run_id, "watch_lag")
    figures = {"told_s": told_s, "ended_s": ended_s, "mirror_gone_s": gone_s, "run_s": time.time() - begun}
    log_of_tests.info("%s: %s", name, figures)

    assert told_s <= STALL_S + 2 * ONE_POLL_S
    assert ended_s <= LIMIT_S + 2 * ONE_POLL_S + AIRFLOW_S
    found = evidence.of_attempt(Kind.WATCH)[0]["findings"][0]
    assert ("UNREACHABLE", True) == (found["code"], party in found["subject"])
    assert "127.0.0.1:" in found["found"]
    assert "unreachable" in mailbox.of(migration.name)
    assert log.count("MirrorMaker was not stopped. The run fails at") >= 1
    progress = [line[line.index("State: ") :] for line in log.splitlines() if "; Copy: " in line]
    assert [line for line in progress if "waiting" in line]
    assert max(map(len, progress)) <= 160


def test_request_to_stop_is_obeyed_while_both_clusters_hang(live: LiveWorld) -> None:
    """`stop --wait` says by when the run sees it; that holds, MirrorMaker ends, and the command says so."""
    migration, run_id = syncing(live, "silence-stop")
    with hanging(live, "source", "target"):
        time.sleep(ONE_POLL_S)
        begun = time.time()
        done = migration.cli("stop", "--wait", "--timeout", "6m")
        waited_s = time.time() - begun
        seen_s = seconds_after(begun, migration.evidence(run_id).of_attempt(Kind.WATCH)[-1])
    log_of_tests.info("stop: %s", {"seen_s": seen_s, "waited_s": waited_s, "said": done.stdout})

    promised_s = 2 * (POLL_S + 10) + POLL_S
    assert f"the run sees the request within {promised_s}s" in done.stdout
    assert seen_s <= promised_s + AIRFLOW_S
    assert (4, True) == (done.returncode, "MirrorMaker has ended" in done.stdout)
    assert [] == jvm_pids(migration)
    migration.finished(run_id)
