"""Rules of `finish`: the reservation, the evidence, the end of the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from airflow.sdk.exceptions import AirflowFailException

from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.reserve import ReserveOperator
from tests.airflow.conftest import World
from tests.airflow.running import do, finish

pytestmark = pytest.mark.airflow


def test_finish_frees_the_reservation_and_assembles_the_evidence(world: World):
    """After a good run the reservation is free and `run.json` and `report.md` lie in the run's folder."""
    do(world, PreflightOperator, ReserveOperator)

    summary = finish(world, preflight="success", reserve="success")
    folder = Path(summary["evidence"]).parent

    assert summary["outcome"] == "success"
    assert world.host.status().holder == ""
    assert json.loads((folder / "run.json").read_text())["tasks"] == {"preflight": "success", "reserve": "success"}
    assert (folder / "report.md").read_text().startswith("# shop: no verdict (success)")


@pytest.mark.parametrize("state", ["failed", "upstream_failed", "skipped", None])
def test_finish_fails_the_run_when_work_did_not_happen(world: World, state: str | None):
    """A task that was skipped (as after mark-failed) or never ran fails the run like one that failed."""
    do(world, PreflightOperator, ReserveOperator)

    with pytest.raises(AirflowFailException, match="TASK_NOT_SUCCESSFUL · task judge"):
        finish(world, preflight="success", judge=state)

    assert world.host.status().holder == ""


def test_finish_repeats_the_findings_of_the_refusal(world: World):
    """After a refusal the last task's log has the reason, not just the name of the task."""
    world.target.is_down = True
    with pytest.raises(AirflowFailException):
        do(world, PreflightOperator)

    with pytest.raises(AirflowFailException, match="CLUSTER_UNREACHABLE"):
        finish(world, preflight="failed", reserve="upstream_failed")


def test_finish_after_an_invalid_file_still_writes_the_evidence(world: World):
    """Also a run whose file was never frozen leaves its `run.json`."""
    (world.migrations / "shop.yaml").write_text("nonsense: [")
    with pytest.raises(AirflowFailException):
        do(world, PreflightOperator)

    with pytest.raises(AirflowFailException, match="MIGRATION_FILE_INVALID"):
        finish(world, preflight="failed")

    run = json.loads((world.run.evidence.folder / "run.json").read_text())
    assert ("failed", "not frozen", None) == (run["outcome"], run["migration_digest"], run["verdict"])


def test_finish_leaves_another_runs_reservation_alone(world: World):
    """A run that lost its reservation frees nothing."""
    do(world, PreflightOperator, ReserveOperator)
    world.host.reserve("dag/other#1", take_over_from=world.run.identity.holder)

    finish(world, preflight="success")

    assert world.host.status().holder == "dag/other#1"
