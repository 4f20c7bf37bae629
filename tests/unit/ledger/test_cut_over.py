"""Rules of a migration that was cut over: its ledger, its report, what to do next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.cutovers import CutOver
from kafka_migration.core.ledger.generations import GenerationStart, StopCertificate
from kafka_migration.core.ledger.ledger import Ledger, phase_findings
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.report.next_steps import ConfirmedCutover, after_cutover
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.validation.compared_windows import whole_windows
from tests.folded import fold
from tests.unit.partitions import P0

STEPS: dict[str, Any] = {
    "migration": "shop",
    "source": "old",
    "target": "new",
    "topics": ["orders"],
    "remaining": ["audit"],
    "not_chosen": ["legacy"],
    "folder": "f",
}
ACTIVE = Finding(Code.GROUP_ACTIVE, "group audit", "a member", "none", "Stop it.")
CUT_OVER = CutOver("dag/run#1", "12:00", ("billing",), ("orders",), partly=False)


def _copied() -> list[dict[str, Any]]:
    stop = StopCertificate(1, "r", "t", True, 143, "stopped", {P0: 5}, {P0: 5})
    return [GenerationStart(1, "r", "t", {P0: 0}, {P0: 0}).to_document(), stop.to_document()]


def test_entry_sets_the_phase() -> None:
    """The cutover's entry ends the syncing, and is read back as it was written."""
    ledger = fold([*_copied(), CUT_OVER.to_document()])

    assert (Phase.CUT_OVER, (CUT_OVER,)) == (ledger.phase, ledger.cutovers)
    assert (Phase.NEW, ()) == (Ledger().phase, Ledger().cutovers)


def test_evidence_of_a_cutover_is_checked_only_if_the_ledger_has_its_digests() -> None:
    """A cutover of version 0.1.0 left no digests, so the documents of its run are read as they are."""
    run = RunIdentity("dag", "run", 1)
    with_digests = replace(CUT_OVER, evidence={"attempt-1/migration.yaml": "d"})

    assert Ledger(cutovers=(CUT_OVER,)).keeper_of(run) is None
    keeper = Ledger(cutovers=(with_digests,)).keeper_of(run)
    assert keeper is not None
    assert with_digests.evidence == keeper.kept().digests


def test_cutover_of_some_topics_leaves_the_others_syncing() -> None:
    """The phase is `cutting_over` until the last topic is moved; a cutover is found by its own run."""
    first = replace(CUT_OVER, remaining=("audit",))
    last = replace(CUT_OVER, run="dag/second#1", topics=("audit",))
    begun, done = fold([*_copied(), first.to_document()]), fold([first.to_document(), last.to_document()])
    second = RunIdentity("dag", "second", 2)

    assert (Phase.CUTTING_OVER, Phase.CUT_OVER) == (begun.phase, done.phase)
    assert {"orders", "audit"} == done.moved_topics()
    assert {"orders"} == done.moved_topics(but_by=second)
    assert (None, last) == (begun.cutover_of(second), done.cutover_of(second))


@pytest.mark.parametrize(
    ("mode", "topics", "requested", "is_refused"),
    [
        (Mode.SYNC, ["audit"], [], False),
        (Mode.SYNC, ["audit"], ["audit"], False),
        (Mode.SYNC, ["audit"], ["audit", "orders"], True),
        (Mode.CUTOVER, [], ["orders"], True),
        (Mode.REHEARSE, [], [], True),
        (Mode.VALIDATE, [], ["orders"], False),
        # A cleared run of a cutover still has its own topics.
        (Mode.CUTOVER, ["orders"], [], True),
    ],
)
def test_what_was_cut_over_is_not_mirrored_again(
    mode: Mode, topics: list[str], requested: list[str], is_refused: bool
) -> None:
    """A run may mirror the topics left; it is refused if it asks for moved topics, or if none are left."""
    ledger = fold([CUT_OVER.to_document()])
    codes = [finding.code for finding in phase_findings(ledger, "shop", mode, topics, requested)]

    assert codes == [Code.ALREADY_CUT_OVER] * is_refused
    assert () == phase_findings(Ledger(), "shop", mode, [], requested)


def test_whole_reading_after_the_cutover_ends_where_the_copy_ends() -> None:
    """What producers append to the target after the cutover is no part of the copy; before, it is."""
    before, after = fold(_copied()), fold([*_copied(), CUT_OVER.to_document()])

    assert [8] == [window.target_end for window in whole_windows(before, ["orders"], {P0: 8})]
    assert [5] == [window.target_end for window in whole_windows(after, ["orders"], {P0: 8})]


def test_next_steps_name_connections_groups_and_the_way_back() -> None:
    """The steps begin with the consumers, and name groups that were not moved with the reason, and the rollback."""
    steps = after_cutover(ConfirmedCutover(**STEPS, moved=["billing"], left_behind={"audit": (ACTIVE,)}))

    assert "billing" in steps[0]
    assert "`new`" in steps[0]
    assert any("audit was not moved (GROUP_ACTIVE)" in step for step in steps)
    (way_back,) = [step for step in steps if "kafka_rollback__shop" in step]
    assert all(text in way_back for text in ("until a consumer commits", "Mode fail_back", "Mode restore"))
    assert "the other topics (audit) continue to be mirrored" in steps[-1]
    assert any("group legacy reads these topics and was not named" in step for step in steps)


def test_next_steps_without_moved_groups_start_no_consumers() -> None:
    """Without moved groups, the steps start with the producers and name no consumers."""
    steps = after_cutover(ConfirmedCutover(**STEPS, moved=[], left_behind={}))

    assert "producers" in steps[0]
