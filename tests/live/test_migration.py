"""Whole runs on real parts: clusters, sshd, MirrorMaker, Spark and a live scheduler."""

from __future__ import annotations

from urllib.parse import quote

import httpx
import pytest
from confluent_kafka.admin import AdminClient

from kafka_migration.core.findings.verdict import Verdict
from sandbox.data.damage import Damage, damaged, remake_topic
from sandbox.data.reading import read_records
from tests.live.conftest import LiveWorld
from tests.live.migrations import LiveMigration
from tests.topic_verdicts import topic_verdict
from tests.waiting import wait_until

pytestmark = pytest.mark.live

# Two looks in a row must prove the end: long enough apart that MirrorMaker runs while something is done to the run.
SLOW = {"poll_interval": "10s"}
# A second connection to the target cluster: a file with the same connection on both sides is refused before.
ALSO_THE_TARGET = "also_the_target"


def _mirroring(migration: LiveMigration) -> str:
    """Start a run and return its id once MirrorMaker runs and the watch is deferred."""
    run_id = migration.trigger()
    migration.wait_for_task(run_id, "watch_lag", ["deferred"])
    assert migration.mirror_pids()
    return run_id


@pytest.mark.campaign
def test_only_the_delta_is_copied_and_validated(live: LiveWorld) -> None:
    """Three runs: everything, what came since, and nothing; the ledger adds up, the source stays untouched."""
    migration = live.migration("delta")
    migration.produce(500)
    before = migration.source_state()

    first = migration.run()
    migration.produce(30, first=500)
    second, third = migration.run(), migration.run()

    assert [("success", "PASS")] * 3 == [(r["state"], r["verdict"]) for r in (first, second, third)]
    assert [{"delta": {"source": 500, "target": 500}}, {"delta": {"source": 30, "target": 30}}, {}] == [
        r["records"] for r in (first, second, third)
    ]
    assert [1, 2] == [g.number for g in migration.ledger.generations]
    assert all(g.stop is not None and g.stop.graceful for g in migration.ledger.generations)
    assert topic_verdict(migration.ledger, "delta") is Verdict.PASS
    assert before == migration.source_state()
    assert ([], None) == (migration.mirror_pids(), migration.reservation)


@pytest.mark.campaign
def test_run_marked_failed_while_mirroring_ends_failed_and_stopped(live: LiveWorld) -> None:
    """A person's "mark failed" stops MirrorMaker, frees the reservation, and the run stays red."""
    migration = live.migration("marked", **SLOW)
    migration.produce(200)
    run_id = _mirroring(migration)

    live.api.set_run_state(migration.dag_id, run_id, "failed")
    run = migration.finished(run_id)

    assert run.state == "failed"
    assert ([], None) == (migration.mirror_pids(), migration.reservation)
    assert migration.ledger.open_generation is None
    assert "failed" == migration.document(run_id)["outcome"]
    # What was copied before is validated by the next run, which goes on as if nothing had been.
    after = migration.run()
    assert ("success", "PASS", {"marked": {"source": 200, "target": 200}}) == (
        after["state"],
        after["verdict"],
        after["records"],
    )


@pytest.mark.campaign
def test_file_broken_while_mirroring_changes_nothing(live: LiveWorld) -> None:
    """The run goes on with its frozen copy, the broken file's DAG says so, and the other DAGs stay."""
    migration = live.migration("broken", **SLOW)
    migration.produce(200)
    run_id = _mirroring(migration)
    text = migration.path.read_text()
    try:
        migration.path.write_text("nonsense: [")
        run = migration.finished(run_id)
        wait_until(lambda: "invalid" in live.api.tags(migration.dag_id), 120, "the tag invalid")
        refused = migration.run()
    finally:
        migration.path.write_text(text)

    assert ("success", "PASS") == (run.state, migration.document(run_id)["verdict"])
    assert ([], None) == (migration.mirror_pids(), migration.reservation)
    assert {} == live.api.import_errors()
    assert ("failed", ["MIGRATION_FILE_INVALID"]) == (refused["state"], [f["code"] for f in refused["findings"]])
    assert live.api.tags("kafka_migration__demo")


@pytest.mark.campaign
def test_damaged_copy_fails_at_the_right_place(live: LiveWorld) -> None:
    """One record made wrong on the target: re-reading the copy fails and names topic, partition and offset."""
    migration = live.migration("damaged")
    migration.produce(300)
    assert migration.run()["verdict"] == "PASS"
    target = live.sandbox.state.target_bootstrap
    placed = read_records(target, migration.name)
    whole = {number: [each.record for each in found] for number, found in placed.items()}
    partition = max(whole, key=lambda number: len(whole[number]))

    for damage in Damage:
        wrong = damaged(damage, whole[partition])
        remake_topic(target, migration.name, {**whole, partition: wrong.records})
        run = migration.run("validate")

        assert ("failed", "FAIL") == (run["state"], run["verdict"])
        (finding,) = run["findings"]
        assert finding["code"] == "COPY_DIFFERS"
        assert f"topic {migration.name}, partition {partition}," in finding["subject"]
        assert f"target offset {wrong.rank}" in finding["found"]
        assert ["TARGET_TOPIC_RECREATED"] == [warning["code"] for warning in run["warnings"]]


@pytest.mark.parametrize(
    ("name", "settings", "code"),
    [
        ("no-spark", {"spark": "nowhere"}, "SPARK_CONNECTION_MISSING"),
        pytest.param("same", {"source": ALSO_THE_TARGET}, "SAME_CLUSTER", marks=pytest.mark.campaign),
    ],
)
def test_refused_run_starts_and_creates_nothing(
    live: LiveWorld, name: str, settings: dict[str, str], code: str
) -> None:
    """What preflight refuses leaves no process, no reservation, no topic, and one clear finding."""
    if settings.get("source") == ALSO_THE_TARGET:
        live.api.add_connection(ALSO_THE_TARGET, "kafka", {"bootstrap.servers": live.sandbox.state.target_bootstrap})
    migration = live.migration(name, **settings)

    run = migration.run()

    assert "failed" == run["state"]
    assert code in [finding["code"] for finding in run["findings"]]
    assert ([], None) == (migration.mirror_pids(), migration.reservation)
    assert name not in AdminClient(migration.target).list_topics(timeout=30).topics
    assert_report_is_served_until_it_is_changed(live, migration, run["run_id"])


def assert_report_is_served_until_it_is_changed(live: LiveWorld, migration: LiveMigration, run_id: str) -> None:
    """The real API server shows the report that `finish` wrote to those who may see the run, and no other file."""
    page = f"{live.sandbox.state.airflow_url}/kafka-migration/report/{migration.dag_id}/{quote(run_id, safe='')}"
    path = migration.evidence(run_id).folder / "report.html"

    def shown(login: str = f"Bearer {live.api.token()}") -> tuple[int, str]:
        answer = httpx.get(page, headers={"Authorization": login}, timeout=60, trust_env=False)
        return answer.status_code, answer.text

    written = path.read_text()
    assert (200, written) == shown()
    assert shown("")[0] in {401, 403}
    path.write_text(f"{written}PASS")
    assert 409 == shown()[0]
    path.unlink()
    path.symlink_to("/proc/self/environ")
    status, text = shown()
    assert (409, True) == (status, "a symbolic link instead of the regular file report.html" in text)
    path.unlink()
    path.write_text(written)
    assert (200, written) == shown()


@pytest.mark.campaign
def test_cleared_validation_measures_again_and_starts_nothing(live: LiveWorld) -> None:
    """Clearing validate_topics, as one resumes a run, measures and judges again without a second MirrorMaker."""
    migration = live.migration("cleared")
    migration.produce(100)
    run_id = migration.trigger()
    assert migration.finished(run_id).state == "success"

    cleared = live.api.clear(migration.dag_id, run_id, ["validate_topics"])
    wait_until(lambda: live.api.run_state(migration.dag_id, run_id) != "success", 60, "the cleared run to begin")
    run = migration.finished(run_id)

    assert {"validate_topics", "judge", "finish"} <= set(cleared)
    assert ("success", "PASS") == (run.state, migration.document(run_id, attempt=2)["verdict"])
    assert {"cleared": {"source": 100, "target": 100}} == migration.document(run_id, attempt=2)["records"]
    assert [1] == [g.number for g in migration.ledger.generations]
