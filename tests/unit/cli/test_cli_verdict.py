"""Rules of `kafka-migration verdict`, over an evidence root of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.cli.main import main
from kafka_migration.cli.runs.verdict_verb import verdict_lines
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.cutovers import CreatedTopic, TopicsCreated
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.status_answer import verdict_answer
from tests.unit.ledger.test_generations import ONE, TWO, started, stopped
from tests.unit.partitions import P0
from tests.unit.validation.test_coverage import FIRST, SECOND, box, read

LEDGER = "Ledger     0 entries, checked only by their own chain: Airflow's database was not asked"
CREATED = TopicsCreated("r", "t", {"audit": CreatedTopic("x", {})}).to_document()
BOTH_JUDGED = [*ONE, read((1,), box(*FIRST)), *TWO, read((2,), box(*SECOND, generation=2), run="dag/second#1")]


def kept(root: Path, *entries: dict[str, Any]) -> MigrationStore:
    """Return the store of a migration whose ledger has these entries."""
    for entry in entries:
        LedgerStore(root, "shop").append(entry)
    return MigrationStore(root, "shop")


def exit_code(root: Path, *entries: dict[str, Any]) -> int:
    kept(root, *entries)
    return main(["verdict", "shop", "--evidence-root", str(root)])


def test_verdict_adds_up_what_the_runs_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line per topic: the verdict, how much is proved in all, and which run judged last; nothing else is read."""
    assert 0 == exit_code(tmp_path, *BOTH_JUDGED)
    assert [
        "Migration  shop",
        "As of      t, from the ledger; clusters were not read",
        "Ledger     6 entries, checked only by their own chain: Airflow's database was not asked",
        "Verdict    PASS",
        "",
        "TOPIC   VERDICT  SOURCE RECORDS  TARGET RECORDS  LAST JUDGED",
        "orders  PASS     27              27              t by second",
    ] == capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("entries", "code", "standing"),
    [
        pytest.param(BOTH_JUDGED, 0, "PASS", id="proved"),
        pytest.param([*ONE, read((1,), box(*FIRST, Verdict.WARN))], 0, "WARN", id="with a warning"),
        pytest.param([*ONE, read((1,), box(*FIRST, Verdict.FAIL)), *TWO], 1, "FAIL", id="wrong"),
        pytest.param([*ONE, read((1,), box(*FIRST, Verdict.NOT_VERIFIABLE))], 5, "NOT_VERIFIABLE", id="not known"),
        pytest.param([*BOTH_JUDGED, started(3, {P0: 30}, {P0: 27})], 5, "pending", id="under way"),
        pytest.param([*BOTH_JUDGED, CREATED], 5, "nothing copied", id="a topic that was created only"),
        pytest.param(ONE, 5, "pending", id="not judged"),
        pytest.param([CREATED], 5, "nothing copied", id="before the first start"),
    ],
)
def test_exit_code_says_whether_everything_is_proved(
    tmp_path: Path, entries: list[Any], code: int, standing: str
) -> None:
    """The exit code is 0 only if everything is proved, 1 if something differs, and 5 if something is not proved."""
    assert code == exit_code(tmp_path, *entries)
    assert standing == verdict_answer(MigrationStore(tmp_path, "shop")).standing


def test_verdict_names_what_is_not_proved(tmp_path: Path) -> None:
    """Each place is listed below the table, with the reason."""
    later = [started(2, {P0: 12}, {P0: 9}), stopped(2, {P0: 30}, {P0: 27})]
    lines = verdict_lines(verdict_answer(kept(tmp_path, *ONE, read((1,), box(*FIRST)), *later)))

    assert [
        "orders: generation 2: not judged yet",
        "orders: source partition 0, offsets [10, 12): copied neither by generation 1 nor by 2",
    ] == lines[-2:]


def test_many_reasons_are_cut(tmp_path: Path) -> None:
    """A person sees the first twenty of a topic, and how many more there are; the document has all."""
    seams = [e for n in range(30) for e in (started(n + 1, {P0: 2 * n + 1}, {}), stopped(n + 1, {P0: 2 * n + 2}, {}))]
    document = verdict_answer(kept(tmp_path, *seams))
    lines = verdict_lines(document)

    assert "orders: and 10 more; -o json shows all" == lines[-1]
    assert 21 == sum(line.startswith("orders:") for line in lines)
    assert 29 == len(document.topics["orders"].flaws)


def test_verdict_of_a_migration_that_never_mirrored(tmp_path: Path) -> None:
    """A run that was refused leaves nothing that could be proved."""
    (tmp_path / "shop").mkdir()

    assert ["Migration  shop", "As of      no run yet", LEDGER, "Verdict    nothing copied"] == verdict_lines(
        verdict_answer(MigrationStore(tmp_path, "shop"))
    )


def test_verdict_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With `-o json` the document also has each stretch of each side, with the run that judged it."""
    kept(tmp_path, *BOTH_JUDGED)
    assert 0 == main(["verdict", "shop", "-o", "json", "--evidence-root", str(tmp_path)])
    document = json.loads(capsys.readouterr().out)
    orders = document["topics"]["orders"]

    assert (3, "shop", "t", "PASS") == tuple(document[name] for name in ("schema", "migration", "as_of", "standing"))
    assert (True, 30, 27, [], []) == tuple(
        orders[name] for name in ("proved", "source_offsets", "target_records", "pending_generations", "flaws")
    )
    assert [10, 30, "PASS", "dag/second#1"] == orders["partitions"]["0"]["source"][1]
    assert [[0, 9], [9, 27]] == [stretch[:2] for stretch in orders["partitions"]["0"]["target"]]
