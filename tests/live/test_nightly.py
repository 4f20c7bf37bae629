"""The schedule, the backfill command and mode follow, on real parts."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.verdict import Verdict
from tests.live.conftest import LiveWorld
from tests.live.migrations import LiveMigration
from tests.live.quotas import slow_reads
from tests.topic_verdicts import topic_verdict
from tests.waiting import wait_until

pytestmark = pytest.mark.live

EVERY_MINUTE = 'nightly:\n  cron: "* * * * *"'
TEN_MINUTES = timedelta(minutes=10)
EVERY_TEN_MINUTES = 'nightly:\n  cron: "*/10 * * * *"'


def unpause(live: LiveWorld, migration: LiveMigration) -> None:
    live.api.wait_for_dag(migration.nightly_dag_id)


@contextmanager
def nights(live: LiveWorld, migration: LiveMigration) -> Iterator[None]:
    """Let the schedule fire; afterwards no further run begins, and those that began have ended."""
    unpause(live, migration)
    try:
        yield
    finally:
        wait_until(lambda: is_paused_between_runs(live, migration), 600, "a moment between two nights")


def is_paused_between_runs(live: LiveWorld, migration: LiveMigration) -> bool:
    """Pause the DAG if no run is under way: Airflow begins no task of a paused DAG, not even of a run that began."""

    def is_idle() -> bool:
        return not {"running", "queued"} & set(live.api.run_states(migration.nightly_dag_id).values())

    if not is_idle():
        return False
    live.api.pause(migration.nightly_dag_id)
    if not is_idle():
        unpause(live, migration)
        return False
    return True


def test_two_nights_copy_what_each_found(live: LiveWorld) -> None:
    """Each scheduled night copies what came since, also a new topic that a pattern takes, and the ledger adds up."""
    migration = two_nights(live, "nights", new_topic="nights-new")

    assert [1, 2] == [generation.number for generation in migration.ledger.generations]
    copied_records = [dict(j.source_records) for j in migration.ledger.judgements if j.source_records]
    assert [{"nights": 300}, {"nights": 40, "nights-new": 10}] == copied_records
    assert ["nights-new"] == announced(live, migration)
    assert topic_verdict(migration.ledger, "nights-new") is Verdict.PASS
    assert ([], None) == (migration.mirror_pids(), migration.reservation)
    assert (0, ("PASS", 340, 340)) == proved(migration)


@pytest.mark.campaign
def test_one_night_is_read_again(live: LiveWorld) -> None:
    """Asked for one generation, mode validate compares what that night copied, and the ledger says so."""
    migration = two_nights(live, "again")

    again = migration.document(migration.finished(migration.trigger("validate", generations="1")).run_id)

    assert ("PASS", {"again": {"source": 300, "target": 300}}) == (again["verdict"], again["records"])
    last = migration.ledger.judgements[-1]
    assert (False, (1,)) == (last.whole, last.generations)
    assert (0, ("PASS", 340, 340)) == proved(migration)


def two_nights(live: LiveWorld, name: str, new_topic: str = "") -> LiveMigration:
    """Let the schedule fire until it has copied 300 records, and what came since; return the migration.

    40 records come since, and 10 in the new topic if there is one.
    """
    pattern = f", {{pattern: '{name}.*'}}" if new_topic else ""
    migration = live.migration(name, nightly=EVERY_MINUTE, more_topics=pattern)
    migration.produce(300)
    with nights(live, migration):
        first = migration.document(migration.nightly_run(0))
    came = came_since(migration, new_topic)
    with nights(live, migration):
        wait_until(lambda: copied(migration) == 300 + came, 400, "a night that copies the rest")

    assert ("PASS", {name: {"source": 300, "target": 300}}) == (first["verdict"], first["records"])
    assert topic_verdict(migration.ledger, name) is Verdict.PASS
    return migration


def announced(live: LiveWorld, migration: LiveMigration) -> list[str]:
    """Return the new topics that the nightly runs recorded."""
    runs = live.api.run_states(migration.nightly_dag_id)
    return [topic for run in runs for topic in migration.evidence(run).require(Kind.TOPIC_LIST)["new"]]


def came_since(migration: LiveMigration, new_topic: str) -> int:
    """Send records after the first night, to a new topic first, and return how many."""
    if new_topic:
        migration.create_topic(new_topic)
        migration.produce(10, topic=new_topic)
    migration.produce(40, first=300)
    return 50 if new_topic else 40


def proved(migration: LiveMigration) -> tuple[int, tuple[object, ...]]:
    """Return the exit code of `kafka-migration verdict`, and what it says of the topic: no record is read for it."""
    done = migration.cli("verdict", "-o", "json")
    topic = json.loads(done.stdout)["topics"][migration.name]
    return done.returncode, tuple(topic[name] for name in ("standing", "source_offsets", "target_records"))


def copied(migration: LiveMigration) -> int:
    """Return how many records all runs together have validated."""
    return sum(sum(judgement.source_records.values()) for judgement in migration.ledger.judgements)


@pytest.mark.campaign
def test_backfill_counts_each_record_in_one_interval(live: LiveWorld) -> None:
    """Late and out-of-order records each lie in one of five intervals; a second backfill adds nothing to the ledger."""
    migration = live.migration("backfilled", nightly=EVERY_TEN_MINUTES)
    begin = floor(datetime.now(UTC)) - 6 * TEN_MINUTES
    moments = [begin + n * timedelta(seconds=10) for n in range(300)]
    random.Random(5).shuffle(moments)
    migration.produce_at(sorted(moments[:200]) + moments[200:])
    migration.produce_at([begin + 5 * TEN_MINUTES])
    backfill = [
        *("backfill", "create", "--dag-id", migration.nightly_dag_id, "--max-active-runs", "1"),
        *("--from-date", begin.isoformat(), "--to-date", (begin + 4 * TEN_MINUTES).isoformat()),
    ]
    live.api.wait_for_dag(migration.nightly_dag_id, unpause=False)
    assert 5 <= migration.airflow(*backfill, "--dry-run").count(begin.date().isoformat())
    migration.airflow(*backfill)
    unpause(live, migration)
    answers = [migration.document(migration.nightly_run(n, "backfill")) for n in range(5)]
    entries = entries_of_backfills(migration)
    wait_until(lambda: has_begun(live, migration, backfill), 200, "Airflow to take the second backfill")
    wait_until(lambda: len(attempts(migration, 2)) == 5, 600, "all five intervals to be asked again")

    assert ["PASS"] * 5 == [answer["verdict"] for answer in answers]
    assert 300 == sum(answer["records"]["backfilled"]["source"] for answer in answers)
    assert answers_of(answers) == answers_of(attempts(migration, 2))
    assert entries == entries_of_backfills(migration)


def entries_of_backfills(migration: LiveMigration) -> list[dict[str, object]]:
    """Return the ledger's entries without those of the schedule, which may fire at any moment."""
    return [entry for entry in migration.ledger_entries() if "/backfill__" in entry["run"]]


def has_begun(live: LiveWorld, migration: LiveMigration, backfill: list[str]) -> bool:
    """Ask for the same intervals again; Airflow refuses until it has noticed that the first backfill is over."""
    done = migration.run_airflow(*backfill, "--reprocess-behavior", "completed")
    assert done.returncode == 0 or "AlreadyRunningBackfill" in done.stderr, done.stderr
    return done.returncode == 0


def floor(moment: datetime) -> datetime:
    """Return the tick of the ten-minute schedule at or before a moment."""
    return moment.replace(minute=moment.minute // 10 * 10, second=0, microsecond=0)


def attempts(migration: LiveMigration, attempt: int) -> list[dict[str, object]]:
    """Return what the backfill runs said in an attempt, as far as they have."""
    runs = [migration.nightly_run(n, "backfill") for n in range(5)]
    return [
        migration.document(run, attempt)
        for run in runs
        if (migration.evidence(run, attempt).folder / "run.json").exists()
    ]


def answers_of(documents: list[dict[str, object]]) -> list[object]:
    return [(document["verdict"], document["records"]) for document in documents]


@pytest.mark.campaign
def test_window_that_ends_in_the_middle_leaves_a_proved_part(live: LiveWorld) -> None:
    """At the window's end the copy stops behind, what was copied is validated, and the next night completes it."""
    until = datetime.now(UTC) + timedelta(minutes=3)
    migration = live.migration("window", nightly=f'{EVERY_MINUTE}\n  until: "{until:%H:%M}"')
    migration.produce(20_000, size=1000)
    with nights(live, migration):
        with slow_reads(migration.source, bytes_per_s=100_000):
            wait_until(lambda: migration.ledger.last_stop is not None, 1200, "the end of the window")
        # The validation reads at full speed; slowed down it would take as long as the window did.
        behind = migration.document(migration.nightly_run(0))
        wait_until(lambda: copied(migration) == 20_000, 600, "a night that copies the rest")

    assert ("failed", "PASS") == (behind["outcome"], behind["verdict"])
    assert "BEHIND" in [finding["code"] for finding in behind["findings"]]
    assert 0 < behind["records"]["window"]["source"] < 20_000
    assert topic_verdict(migration.ledger, "window") is Verdict.PASS


@pytest.mark.campaign
def test_unpausing_at_noon_starts_nothing(live: LiveWorld) -> None:
    """A schedule whose time was hours ago ends as not in window, green, and touches neither host nor target."""
    hours_ago = datetime.now(UTC) - timedelta(hours=5)
    migration = live.migration("noon", nightly=f'nightly:\n  cron: "{hours_ago:%M %H} * * *"')
    migration.produce(10)
    with nights(live, migration):
        run = migration.nightly_run(0)

    assert ("success", "not in window") == (
        live.api.run_state(migration.nightly_dag_id, run),
        migration.document(run)["outcome"],
    )
    assert () == migration.ledger.generations
    assert ([], None) == (migration.mirror_pids(), migration.reservation)


@pytest.mark.campaign
def test_follow_is_stopped_by_the_command_and_validated(live: LiveWorld) -> None:
    """Following copies what comes while it runs; told to stop, it ends green with everything copied validated."""
    migration = live.migration("follow")
    migration.produce(100)
    run_id = migration.trigger("follow")
    migration.wait_for_task(run_id, "watch_lag", ["deferred"])
    wait_until(lambda: migration.target_records() == 100, 200, "the first records")
    migration.produce(50, first=100)
    wait_until(lambda: migration.target_records() == 150, 200, "the records of meanwhile")

    stopped = migration.cli("stop", "--wait")

    assert 0 == stopped.returncode, stopped.stdout + stopped.stderr
    assert "success" == migration.finished(run_id).state
    document = migration.document(run_id)
    assert ("PASS", {"follow": {"source": 150, "target": 150}}) == (document["verdict"], document["records"])
    assert ([], None) == (migration.mirror_pids(), migration.reservation)
    again = migration.cli("stop")
    assert (3, False) == (again.returncode, "Traceback" in again.stderr)


@pytest.mark.campaign
def test_nightly_and_manual_at_once_are_never_two(live: LiveWorld) -> None:
    """A night that falls into a manual run waits for it: never a second MirrorMaker, and both tell the truth."""
    migration = live.migration("both", nightly=EVERY_MINUTE, poll_interval="10s")
    migration.produce(200)
    run_id = migration.trigger()
    migration.wait_for_task(run_id, "watch_lag", ["deferred"])
    migration.produce(20, first=200)
    mirrors: set[int] = set()

    def night_has_ended() -> bool:
        mirrors.add(len(process_groups(migration.mirror_pids())))
        return copied(migration) == 220

    with nights(live, migration):
        wait_until(night_has_ended, 400, "the night that copies the rest")
        night = migration.nightly_run(0)

    assert mirrors <= {0, 1}
    assert ("success", "success") == (migration.state(run_id), live.api.run_state(migration.nightly_dag_id, night))
    assert "wait" in migration.document(night)["steps"]
    assert topic_verdict(migration.ledger, "both") is Verdict.PASS


def process_groups(pids: Iterable[int]) -> set[int]:
    """Return the process groups of those that still live."""
    groups = set()
    for pid in pids:
        with suppress(ProcessLookupError):
            groups.add(os.getpgid(pid))
    return groups
