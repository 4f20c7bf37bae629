"""Rules of the answer to whether a cutover may follow."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.cli.main import main
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.chain import Head
from kafka_migration.core.ledger.cutovers import CutOver, Rehearsed
from kafka_migration.core.ledger.generations import GenerationStart
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.report.run_status import LastRun
from kafka_migration.core.rollback.decommission import State
from kafka_migration.core.run.stand_still import PhaseTime, StandStill, Still, StillPhase
from kafka_migration.core.watching.retention_forecast import ForecastDocument
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.readiness_answer import ReadyAnswer, ready_answer
from kafka_migration.steps.answers.status_answer import EndedRun
from tests.contract.memory_anchor import MemoryAnchor
from tests.steps.test_answers import FOREIGN, NOW, RUN, copied, told
from tests.unit.partitions import P0

DAY = timedelta(hours=24)
ENDED = NOW - timedelta(hours=2)
FAILED = Finding(Code.CONNECTION_MISSING, "x", "x", "x", "x")


@pytest.fixture
def filed(migration_text: str) -> Migration:
    """The migration file as it is now."""
    return load_migration(migration_text, where="shop.yaml")


@pytest.fixture
def rehearsed(filed: Migration) -> Rehearsed:
    """A rehearsal of this file that ended two hours ago and found nothing against a cutover."""
    return Rehearsed(RUN.holder, ENDED.isoformat(), filed.digest, (), ("group x reads",), {"Validate": 62.0})


def confirmed(root: Path, *entries: Any) -> MigrationStore:
    """Return a proved copy with these further entries, all of them confirmed by Airflow."""
    done = EndedRun(RUN.holder, NOW, "sync", "success", "PASS")
    copied(root).news.tell_last_run(done.to_document())
    ledger = LedgerStore(root, "shop")
    for entry in entries:
        ledger.append(entry.to_document())
    names = sorted((root / "shop" / "ledger").glob("*.json"))
    head = Head()
    for name in names:
        head = head.after(name.read_bytes())
    return MigrationStore(root, "shop", lambda _: MemoryAnchor(head))


def unmet(answer: ReadyAnswer) -> dict[str, State]:
    """Return the conditions that are not met, each with its state."""
    return {each.condition: each.state for each in answer.conditions if each.state is not State.MET}


def test_proved_copy_with_a_good_rehearsal_is_ready(tmp_path: Path, rehearsed: Rehearsed, filed: Migration) -> None:
    """All conditions are met, and the answer has what the rehearsal noted and measured."""
    answer = ready_answer(confirmed(tmp_path, rehearsed), filed, DAY, NOW)

    assert ("yes", {}) == (answer.answer, unmet(answer))
    assert (rehearsed, "2h00m ago") == (answer.rehearsal, answer.rehearsal_age)
    assert ReadyAnswer.from_document(answer.to_document()) == answer


OLD, OTHER = "The rehearsal is at most 24h00m old", "The migration file is the one that was rehearsed"
FOUND = "A rehearsal found nothing against a cutover"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda r: replace(r, against=("topic a as a whole is pending",)), {FOUND: State.NOT_MET}),
        (lambda r: replace(r, at=(NOW - timedelta(hours=25)).isoformat()), {OLD: State.NOT_MET}),
        # A clock that is wrong, or a forged time.
        (lambda r: replace(r, at=(NOW + timedelta(hours=1)).isoformat()), {OLD: State.NOT_MET}),
        (lambda r: replace(r, at="yesterday"), {OLD: State.UNKNOWN}),
        (lambda r: replace(r, migration_digest="other"), {OTHER: State.NOT_MET}),
    ],
)
def test_rehearsal_that_does_not_count_is_named(
    tmp_path: Path,
    rehearsed: Rehearsed,
    filed: Migration,
    change: Callable[[Rehearsed], Rehearsed],
    expected: dict[str, State],
) -> None:
    """One that found reasons, is too old, has no readable time, or is of another file, is no ground for yes."""
    answer = ready_answer(confirmed(tmp_path, change(rehearsed)), filed, DAY, NOW)

    assert ("no", expected) == (answer.answer, unmet(answer))


def test_without_a_rehearsal_nothing_is_ready(tmp_path: Path, filed: Migration) -> None:
    """A proved copy alone is no ground for yes."""
    answer = ready_answer(confirmed(tmp_path), filed, DAY, NOW)

    assert ("no", dict.fromkeys((FOUND, OLD, OTHER), State.NOT_MET)) == (answer.answer, unmet(answer))


def test_newest_rehearsal_counts(tmp_path: Path, rehearsed: Rehearsed, filed: Migration) -> None:
    """A later rehearsal with reasons replaces a good one."""
    later = replace(rehearsed, against=("no consumer group could be moved",))

    assert {FOUND: State.NOT_MET} == unmet(ready_answer(confirmed(tmp_path, rehearsed, later), filed, DAY, NOW))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (GenerationStart(2, RUN.holder, "t", {P0: 5}, {P0: 5}), "Everything that was copied is proved"),
        (CutOver(RUN.holder, "t", ("g",), ("orders",), partly=False), "The topics are not cut over yet"),
    ],
)
def test_what_followed_the_rehearsal_counts(
    tmp_path: Path, rehearsed: Rehearsed, filed: Migration, entry: Any, expected: str
) -> None:
    """A copy that is not validated yet, and a cutover that was done, are named."""
    assert expected in unmet(ready_answer(confirmed(tmp_path, rehearsed, entry), filed, DAY, NOW))


def test_last_run_that_failed_and_contradictions_count(tmp_path: Path, rehearsed: Rehearsed, filed: Migration) -> None:
    """A refused run after the rehearsal is a reason; a finding against the copy is a second one."""
    store = told(confirmed(tmp_path, rehearsed), FAILED)
    assert {"The last run did not fail": State.NOT_MET} == unmet(ready_answer(store, filed, DAY, NOW))

    told(store, FOREIGN)
    assert "Later runs agree with the proof of the copy" in unmet(ready_answer(store, filed, DAY, NOW))


def test_active_run_is_named(tmp_path: Path, rehearsed: Rehearsed, filed: Migration) -> None:
    """While a run is at work, its end decides."""
    store = confirmed(tmp_path, rehearsed)
    store.news.tell_step("dag/other#1", "watch_lag", NOW.isoformat())

    assert {"No run is active": State.NOT_MET} == unmet(ready_answer(store, filed, DAY, NOW))


def test_unknown_is_not_ready(tmp_path: Path, rehearsed: Rehearsed) -> None:
    """A ledger that Airflow was not asked about, and a file that was not read, are unknown; the answer is no."""
    confirmed(tmp_path, rehearsed)
    answer = ready_answer(MigrationStore(tmp_path, "shop"), None, DAY, NOW)

    assert "no" == answer.answer
    assert {"Airflow confirms the ledger": State.UNKNOWN, OTHER: State.UNKNOWN} == unmet(answer)


def test_forged_rehearsal_is_not_confirmed(tmp_path: Path, rehearsed: Rehearsed, filed: Migration) -> None:
    """An entry that Airflow did not record is no ground for yes."""
    store = confirmed(tmp_path)
    LedgerStore(tmp_path, "shop").append(rehearsed.to_document())

    assert {"Airflow confirms the ledger": State.NOT_MET} == unmet(ready_answer(store, filed, DAY, NOW))


def test_command_prints_forecast_and_deadline(
    tmp_path: Path, rehearsed: Rehearsed, capsys: pytest.CaptureFixture[str]
) -> None:
    """How long clients would stand still is what the newest rehearsal measured; the deadline is that of `status`."""
    still = Still(NOW.isoformat(), None, (PhaseTime(StillPhase.PLAN, 61), PhaseTime(StillPhase.WRITING, None)), None)
    store = confirmed(tmp_path, rehearsed, replace(rehearsed, stand_still=StandStill(still, still)))
    forecast = ForecastDocument("2030-01-08T00:10:00+00:00", "orders[3]", "retention.ms 604,800,000")
    last = LastRun(RUN.holder, NOW, "rehearse", "success", "PASS", next_start=forecast)
    store.news.tell_last_run(last.to_document())
    command = ["ready", "shop", "--evidence-root", str(tmp_path)]

    main(command)
    lines = capsys.readouterr().out.splitlines()
    assert "Producers would stand still for at least 1m01s (plan 1m01s; not measured: writing)." in lines
    deadline = "before Tue 2030-01-08 00:10 UTC: orders[3], retention.ms 604,800,000"
    assert f"The next run must start {deadline}." in lines
    main([*command, "-o", "json"])
    found = json.loads(capsys.readouterr().out)
    assert (forecast.to_document(), still.to_document()) == (
        found["next_start"],
        found["rehearsal"]["stand_still"]["producers"],
    )


def test_command_prints_the_answer(
    tmp_path: Path, rehearsed: Rehearsed, migration_text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The unmet conditions come first, then what the rehearsal took and noted, and who approves; the exit code is 5."""
    confirmed(tmp_path, rehearsed)
    (tmp_path / "shop.yaml").write_text(migration_text)
    command = ["ready", "shop", "--evidence-root", str(tmp_path), "--migrations", str(tmp_path)]

    assert 5 == main(command)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("May shop be cut over? No: of 9 conditions, ")
    assert any("It took: Validate 1m02s." in line for line in lines)
    assert "  group x reads" in lines
    # A rehearsal of an earlier version did not measure it.
    assert any(line.startswith("How long producers and consumers would stand still is not known") for line in lines)
    assert lines[-1].startswith("Approvers: ")
    assert 5 == main([*command, "-o", "json"])
    assert "no" == json.loads(capsys.readouterr().out)["answer"]
