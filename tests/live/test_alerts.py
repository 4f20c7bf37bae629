"""Every kind of alert arrives as a mail, sent by a real Airflow through a real notifier; every metric at a StatsD."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.live.bad_ends import damage, end_early, following
from tests.live.conftest import LiveWorld
from tests.live.faults import Faults
from tests.live.groups import awaiting, commit, decide, ends
from tests.live.listening import Mailbox, StatsD, alerts_section
from tests.live.migrations import LiveMigration

pytestmark = pytest.mark.live


def alerting(live: LiveWorld, name: str, too_long_after: str = "2h", **settings: str) -> LiveMigration:
    return live.migration(name, nightly=alerts_section(too_long_after), **settings)


@pytest.mark.campaign
def test_cutover_tells_whoever_must_act(live: LiveWorld, mailbox: Mailbox, statsd: StatsD) -> None:
    """Producers to be stopped, a plan to be approved, a run that takes too long, its refusal; and what was measured."""
    migration = alerting(live, "alerting-cutover", too_long_after="1s")
    migration.produce(2_000)
    commit(migration.source, "alerting-cutover-g", migration.name, ends(migration.source, migration.name))

    run_id = awaiting(migration)
    told = {kind: mailbox.wait_for(migration.name, kind) for kind in ("producers", "approval", "too_long")}
    decide(live.api, migration, run_id, "Reject")
    assert "failed" == migration.finished(run_id).state
    told["refused"] = mailbox.wait_for(migration.name, "refused")

    assert "APPROVAL_REFUSED" in told["refused"]
    assert "/tasks/approve/required_actions" in told["approval"]
    assert all(f"{live.sandbox.state.airflow_url}/dags/{migration.dag_id}/runs/" in text for text in told.values())
    assert all("What to do: " in text for text in told.values())
    assert set(told) == set(mailbox.of(migration.name))
    states = ("active.cutover", "ended.failed", "judged.pass", "phase.syncing", "waits.approval", "waits.producers")
    for name in ("lag", "lag_unknown", "rate", "eta", "watched", "gap_headroom", "next_start_before", *states):
        value, _, kind = statsd.wait_for(f"{name}.{migration.name}").partition("|")
        assert float(value) >= 0
        assert "g" == kind
    for name in ("verdict.pass", "run.failed", "alert.approval", "alert.too_long"):
        assert "1|c" == statsd.wait_for(f"{name}.{migration.name}")
    assert "0|g" == statsd.wait_for(f"lag.{migration.name}")


def kill(live: LiveWorld, migration: LiveMigration) -> None:
    """Kill a MirrorMaker that may not be started again."""
    run_id = following(migration)
    Faults(live.sandbox, migration).kill_mirror()
    migration.finished(run_id)


def give_up(live: LiveWorld, migration: LiveMigration) -> None:
    """Mark the run failed."""
    run_id = following(migration)
    live.api.set_run_state(migration.dag_id, run_id, "failed")
    migration.finished(run_id)


def lose_the_host(live: LiveWorld, migration: LiveMigration) -> None:
    """Take the MirrorMaker host away until the run has ended."""
    faults = Faults(live.sandbox, migration)
    run_id = following(migration)
    faults.kill_part("sshd")
    try:
        live.api.set_task_state(migration.dag_id, run_id, "watch_lag", "failed")
        migration.finished(run_id)
    finally:
        faults.mend()


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("kind", "cause", "says"),
    [
        ("stalled", kill, "MIRROR_DEAD"),
        ("failed", damage, "COPY_DIFFERS"),
        ("behind", end_early, "BEHIND"),
        ("error", give_up, "Task "),
        ("not_stopped", lose_the_host, "MIRRORMAKER MAY STILL RUN"),
    ],
)
def test_end_of_a_run_is_told(
    live: LiveWorld, mailbox: Mailbox, kind: str, cause: Callable[[LiveWorld, LiveMigration], object], says: str
) -> None:
    """Whatever ends a run badly is told by a mail of its own kind, and by no other."""
    migration = alerting(live, f"alerting-{kind.replace('_', '-')}", mirror="  restarts: 0")
    migration.produce(500)

    cause(live, migration)

    assert says in mailbox.wait_for(migration.name, kind)
    assert {kind} == set(mailbox.of(migration.name))
