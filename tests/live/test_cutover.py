"""Consumers move on real parts: rehearsed, approved, written, and read on."""

from __future__ import annotations

import itertools
import json
import os
import signal
import time
from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from kafka_migration.adapters.store.evidence_store import MIGRATION_FILE
from kafka_migration.core.evidence.evidence_documents import Kind, document_name
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.watching.producers_question import ABORT, STOPPED
from tests.live.conftest import LiveWorld
from tests.live.granting import grant_what_a_cutover_needs
from tests.live.groups import (
    Offsets,
    answer_producers,
    awaiting,
    commit,
    committed,
    decide,
    ends,
    member,
    read_on,
    wait_for_question,
)
from tests.live.listening import Mailbox, StatsD, alerts_section
from tests.live.migrations import LiveMigration
from tests.topic_verdicts import topic_verdict

pytestmark = pytest.mark.live


@pytest.fixture
def mirrored(live: LiveWorld, request: pytest.FixtureRequest) -> LiveMigration:
    """A migration whose groups stand at the end and in the middle of what was copied already."""
    name = request.node.name.removeprefix("test_").replace("_", "-")[:40]
    settings = request.node.get_closest_marker("settings")
    migration = live.migration(name, **(settings.kwargs if settings else {}))
    migration.produce(400)
    at_end = ends(migration.source, name)
    commit(migration.source, f"{name}-end", name, at_end)
    commit(migration.source, f"{name}-middle", name, {p: end // 2 for p, end in at_end.items()})
    return migration


def groups_of(migration: LiveMigration) -> tuple[str, str]:
    return f"{migration.name}-end", f"{migration.name}-middle"


def target_offsets(migration: LiveMigration) -> list[Offsets]:
    return [committed(migration.target, group, migration.name) for group in groups_of(migration)]


@pytest.mark.usefixtures("secured_connections")
@pytest.mark.settings(
    nightly=alerts_section("1s"), fence_quiet="10s", source="source_scram-sha-512", target="target_mtls"
)
def test_groups_move_and_read_on(live: LiveWorld, mirrored: LiveMigration, mailbox: Mailbox, statsd: StatsD) -> None:
    """A rehearsal touches no group; after the approved cutover each group reads on at its next record.

    The cutover copies only what came since the rehearsal, and nothing is changed on the source. Whoever must act on
    the way gets a mail, and what was measured arrives. Asked whether the producers have stopped, a person answers;
    hooks that the file does not name are skipped. The source requires a login over TLS, the target a client
    certificate, of Airflow, MirrorMaker and Spark alike. Their users have the rights that `acls` prints, and no more.
    """
    grant_what_a_cutover_needs(live.sandbox, mirrored.path, {"source": "scram-sha-512", "target": "mtls"})
    name, untouched = mirrored.name, mirrored.source_state()
    end, middle = groups_of(mirrored)
    before = [committed(mirrored.source, group, name) for group in (end, middle)]

    rehearsal = mirrored.run("rehearse")

    assert ("success", "PASS") == (rehearsal["state"], rehearsal["verdict"])
    assert {name: {"source": 400, "target": 400}} == rehearsal["records"]
    assert before == [committed(mirrored.source, group, name) for group in (end, middle)]
    assert [{}, {}] == target_offsets(mirrored)

    mirrored.produce(30, first=400)
    numbers = itertools.count(430)
    run_id = mirrored.trigger("cutover")
    answer_producers(live.api, mirrored, run_id, STOPPED, lambda: mirrored.produce(1, first=next(numbers)))
    wait_for_question(mirrored, run_id)
    question = live.api.question(mirrored.dag_id, run_id, "approve")
    assert end in question
    assert middle in question
    decide(live.api, mirrored, run_id, "Approve")

    assert mirrored.finished(run_id).state == "success"
    document = mirrored.document(run_id)
    assert STOPPED == document["steps"]["producers"]["chosen"]
    assert ["skipped", "success"] == [document["tasks"][task] for task in ("after_cutover", "restore_settings")]
    since = next(numbers) - 400
    assert {name: {"source": since, "target": since}} == document["records"]
    assert [(1, True), (2, True)] == [
        (g.number, g.stop is not None and g.stop.graceful) for g in mirrored.ledger.generations
    ]
    assert Verdict.PASS is topic_verdict(mirrored.ledger, name)
    assert (untouched, [], None) == (mirrored.source_state(), mirrored.mirror_pids(), mirrored.reservation)
    assert before == target_offsets(mirrored)
    until = ends(mirrored.source, name)
    for group, first in ((end, 400), (middle, None)):
        values = read_on(mirrored.target, group, name, until)
        expected = read_on(mirrored.source, group, name, until)
        assert sorted(expected) == sorted(values)
        assert first is None or sorted(values) == sorted(f"value {n}".encode() for n in range(first, 400 + since))
    assert ["ALREADY_CUT_OVER"] == [f["code"] for f in mirrored.run("sync")["findings"]]
    assert all(name in mailbox.wait_for(name, kind) for kind in ("producers", "approval", "too_long", "refused"))
    assert "1|c" == statsd.wait_for(f"alert.producers.{name}")
    assert "0|g" == statsd.wait_for(f"lag.{name}")


@pytest.mark.campaign
def test_refused_approval_writes_nothing(live: LiveWorld, mirrored: LiveMigration) -> None:
    """A rejected plan ends the run with its code, and no group exists on the target."""
    run_id = awaiting(mirrored)
    decide(live.api, mirrored, run_id, "Reject")

    assert_nothing_written(mirrored, run_id, "APPROVAL_REFUSED")


@pytest.mark.campaign
@pytest.mark.settings(approval_time_limit="20s")
def test_approval_that_nobody_gives_writes_nothing(mirrored: LiveMigration) -> None:
    """No answer within the time limit is no approval."""
    run_id = mirrored.trigger("cutover")

    assert_nothing_written(mirrored, run_id, "APPROVAL_TIMED_OUT")


@pytest.mark.campaign
def test_commit_after_the_plan_outdates_the_approval(live: LiveWorld, mirrored: LiveMigration) -> None:
    """Only what was approved is written: neither a plan that a group has outrun, nor the one that follows it."""
    run_id = awaiting(mirrored)
    _, middle = groups_of(mirrored)
    commit(mirrored.source, middle, mirrored.name, {0: 1})
    decide(live.api, mirrored, run_id, "Approve")
    assert_nothing_written(mirrored, run_id, "EVIDENCE_CHANGED")

    live.api.clear(mirrored.dag_id, run_id, ["plan_offsets"])

    assert_nothing_written(mirrored, run_id, "APPROVAL_STALE", attempt=2)


@pytest.mark.campaign
def test_evidence_that_was_tampered_with_moves_nobody(live: LiveWorld, mirrored: LiveMigration) -> None:
    """A forged answer beside the question, and another frozen file, each end a cutover that a person approved."""
    run_id = awaiting(mirrored)
    folder = mirrored.evidence(run_id).folder
    question = json.loads((folder / document_name(Kind.APPROVE, 1)).read_text())
    forged = {**question, "answered_at": "now", "chosen": "Approve", "responded_by": {"id": "mallory", "name": ""}}
    (folder / document_name(Kind.APPROVE, 2)).write_text(json.dumps(forged))
    decide(live.api, mirrored, run_id, "Approve")
    assert_nothing_written(mirrored, run_id, "EVIDENCE_CHANGED")

    run_id = awaiting(mirrored)
    frozen = mirrored.evidence(run_id).folder / MIGRATION_FILE
    frozen.write_text(frozen.read_text().replace("demo_mirror_host", "demo_other_host"))
    decide(live.api, mirrored, run_id, "Approve")
    assert_nothing_written(mirrored, run_id, "EVIDENCE_CHANGED")
    assert mirrored.reservation is None


@pytest.mark.campaign
def test_record_after_the_approval_outdates_it(live: LiveWorld, mirrored: LiveMigration) -> None:
    """A record that arrives after the fence was proved stops the run: its consumers would never get it."""
    run_id = awaiting(mirrored)
    mirrored.produce(1, first=400)
    decide(live.api, mirrored, run_id, "Approve")

    assert_nothing_written(mirrored, run_id, "EVIDENCE_CHANGED")


@pytest.mark.campaign
@pytest.mark.settings(fence_wait="15s")
def test_partition_that_still_gets_records_is_named(mirrored: LiveMigration) -> None:
    """Without a stand-still in fence_wait the run is refused with topic and partition, and nothing is written."""
    run_id = mirrored.trigger("cutover")
    producer = Producer(mirrored.source)
    while mirrored.state(run_id) not in {"success", "failed"}:
        producer.produce(mirrored.name, b"still there", partition=0)
        assert producer.flush(60) == 0

    assert_nothing_written(mirrored, run_id, "FENCE_MOVING")
    (finding,) = mirrored.document(run_id)["findings"]
    assert f"topic {mirrored.name}" == finding["subject"]
    assert finding["found"].startswith(f"{mirrored.name}[0] ")


@pytest.mark.campaign
@pytest.mark.settings(fence_quiet="10s")
def test_cutover_that_a_person_aborts(live: LiveWorld, mirrored: LiveMigration) -> None:
    """Asked whether the producers have stopped, a person can end the cutover: MirrorMaker stops, no group moves."""
    run_id = mirrored.trigger("cutover")
    answer_producers(live.api, mirrored, run_id, ABORT, lambda: mirrored.produce(1))

    assert "failed" == mirrored.finished(run_id).state
    assert {"CUTOVER_ABORTED", "STOP_REQUESTED"} == set(mirrored.codes(run_id))
    assert [{}, {}] == target_offsets(mirrored)
    assert ([], None) == (mirrored.mirror_pids(), mirrored.reservation)
    assert "PASS" == mirrored.run("sync")["verdict"]


HOOKS = """1h
  hooks:
    stop_producers: {callable: builtins.dict}
    after_cutover: {dag: of_a_user}"""


@pytest.mark.campaign
@pytest.mark.settings(approval_time_limit=HOOKS)
def test_hooks_are_called(live: LiveWorld, mirrored: LiveMigration) -> None:
    """A function is called when the producers are to stop, a DAG is run and waited for after the groups have moved."""
    live.api.wait_for_dag("of_a_user")
    run_id = awaiting(mirrored)
    decide(live.api, mirrored, run_id, "Approve")

    assert "success" == mirrored.finished(run_id).state
    stopped, started = mirrored.document(run_id)["hooks"]
    assert ("stop_producers", [mirrored.name]) == (stopped["hook"], stopped["result"]["topics"])
    assert ("after_cutover", "DAG of_a_user") == (started["hook"], started["called"])
    assert {started["result"]["run_id"]: "success"} == live.api.run_states("of_a_user")


@pytest.mark.campaign
def test_group_active_on_the_target_is_left_out(live: LiveWorld, mirrored: LiveMigration) -> None:
    """A group with members on the target is named and stays; the others move, and the result is partly done."""
    end, middle = groups_of(mirrored)
    assert mirrored.run("sync")["verdict"] == "PASS"
    with member(mirrored.target, end, mirrored.name):
        run_id = awaiting(mirrored)
        assert "someone" in live.api.question(mirrored.dag_id, run_id, "approve")
        decide(live.api, mirrored, run_id, "Approve")
        run = mirrored.finished(run_id)

    assert ("success", "partly done") == (run.state, mirrored.document(run_id)["outcome"])
    assert committed(mirrored.source, middle, mirrored.name) == committed(mirrored.target, middle, mirrored.name)
    assert {} == committed(mirrored.target, end, mirrored.name)


@pytest.mark.campaign
@pytest.mark.settings(nightly='nightly:\n  cron: "* * * * *"')
def test_tasks_killed_between_any_two_steps_come_to_the_same_end(live: LiveWorld, mirrored: LiveMigration) -> None:
    """Tasks from plan to confirm, each killed after its first deed, come to the end that they have unharmed."""
    before = [committed(mirrored.source, group, mirrored.name) for group in groups_of(mirrored)]
    run_id = mirrored.trigger("cutover")
    evidence = mirrored.evidence(run_id)

    kill_after(mirrored, run_id, "plan_offsets", lambda: evidence.of_attempt(Kind.OFFSETS_PLAN))
    kill_after(mirrored, run_id, "approve", lambda: evidence.of_attempt(Kind.APPROVE))
    wait_for_question(mirrored, run_id)
    decide(live.api, mirrored, run_id, "Approve")
    kill_after(mirrored, run_id, "sync_offsets", lambda: evidence.of_attempt(Kind.OFFSETS_BEFORE))
    kill_after(mirrored, run_id, "confirm_cutover", lambda: mirrored.ledger.cutovers)

    run = mirrored.finished(run_id)
    assert ("success", "success") == (run.state, mirrored.document(run_id)["outcome"])
    assert before == target_offsets(mirrored)
    assert 1 == len(mirrored.ledger_entries("cut-over"))
    live.api.wait_for_dag(mirrored.nightly_dag_id)
    assert ["ALREADY_CUT_OVER"] == mirrored.codes(mirrored.nightly_run())
    live.api.pause(mirrored.nightly_dag_id)
    assert ([], None) == (mirrored.mirror_pids(), mirrored.reservation)


def kill_after(migration: LiveMigration, run_id: str, task_id: str, deed: Callable[[], object]) -> None:
    """Kill a task's process as soon as the deed is done; wait until Airflow has noticed."""
    pid = migration.task_pid(run_id, task_id)
    deadline = time.monotonic() + 120
    while not deed():
        assert time.monotonic() < deadline, f"{task_id} did not do it"
    os.kill(pid, signal.SIGKILL)
    migration.wait_for_task(run_id, task_id, {"up_for_retry"})


def assert_nothing_written(migration: LiveMigration, run_id: str, code: str, attempt: int = 1) -> None:
    """Wait for the run's end: failed with just this code, no group on the target, nothing running or reserved."""
    assert migration.finished(run_id).state == "failed"
    assert [code] == migration.codes(run_id, attempt)
    assert [{}, {}] == target_offsets(migration)
    assert ([], None) == (migration.mirror_pids(), migration.reservation)
