"""Rules of `report --verify`: each file of a run that is not as the run left it is found, and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.core.evidence.digests import digest_of
from kafka_migration.core.evidence.evidence_documents import Kind, document_name
from kafka_migration.core.evidence.verification import FileState
from kafka_migration.core.findings.errors import EvidenceUnreadable, Refused, TransientError
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.steps.answers.kept_migration import MigrationStore, no_anchor
from kafka_migration.steps.answers.report_check import AskedAirflow, CheckedReport, ReportState, checked_report
from kafka_migration.steps.answers.run_folders import run_folder
from tests.steps.kept import KEY
from tests.steps.test_tampering import DAMAGES, cutover, until
from tests.steps.world import World

__all__ = ["cutover"]

NOT_ASKED = AskedAirflow(reason="Airflow was not asked")
UNCHANGED, CHANGED, NOT_FULLY = ReportState.UNCHANGED, ReportState.CHANGED, ReportState.NOT_FULLY_CHECKED


def by_airflow(world: World, run: str | None = None) -> CheckedReport:
    """Check with the digests that the tasks stored in Airflow."""
    return _checked(world, AskedAirflow(lambda identity: _stored(world, identity)), run)


def by_ledger(world: World, run: str | None = None) -> CheckedReport:
    """Check after Airflow has deleted the run; it still keeps the head of the ledger."""
    return _checked(world, AskedAirflow(lambda _: []), run)


def offline(world: World, run: str | None = None) -> CheckedReport:
    """Check without Airflow."""
    return checked_report(store := MigrationStore(world.root, "shop", no_anchor), run_folder(store, run), NOT_ASKED)


def alone(world: World, run: str | None = None) -> CheckedReport:
    """Check without Airflow and without the ledger."""
    aside = (ledger := world.root / "shop" / "ledger").rename(world.root / "ledger")
    try:
        return offline(world, run)
    finally:
        aside.rename(ledger)


WAYS = (by_airflow, by_ledger, offline, alone)


def _checked(world: World, airflow: AskedAirflow, run: str | None) -> CheckedReport:
    store = MigrationStore(world.root, "shop", world.anchor.of)
    return checked_report(store, run_folder(store, run), airflow)


def _stored(world: World, run: RunIdentity) -> Iterable[Any]:
    of, kept = f"{run.dag_id} {run.run_id}", world.task_instance.kept.xcoms
    return [value for (name, _, key), value in kept.items() if (name, key) == (of, KEY)]


@pytest.fixture
def ended(cutover: World) -> World:
    """A cutover that has ended, after an earlier run with documents of the same names."""
    cutover.do("preflight")
    cutover.finish_fails(preflight="failed")
    cutover.next_run()
    until(cutover, "")
    cutover.finish(sync_offsets="success", judge="success")
    return cutover


def files_of(world: World) -> list[Path]:
    """Return the files of the present attempt."""
    return sorted(world.run.evidence.folder.iterdir())


def wrong(answer: CheckedReport) -> dict[str, FileState]:
    """Return the files that are not as the run left them."""
    return {each.file: each.state for each in answer.files if each.state.is_wrong}


@pytest.mark.parametrize(
    ("way", "answer", "unknown"),
    [
        (by_airflow, UNCHANGED, []),
        (by_ledger, UNCHANGED, []),
        (offline, NOT_FULLY, []),
        (alone, NOT_FULLY, ["attempt-1/run.json"]),
    ],
)
def test_nothing_was_changed(
    ended: World, way: Callable[[World], CheckedReport], answer: ReportState, unknown: list[str]
) -> None:
    """An unchanged run is found unchanged, file by file; without Airflow, `run.json` itself is named as not checked."""
    found = way(ended)
    files = [f"attempt-1/{path.name}" for path in files_of(ended)]

    assert (answer, {}) == (found.answer, wrong(found))
    assert files == [each.file for each in found.files]
    assert unknown == [each.file for each in found.files if each.state is not FileState.VERIFIED]
    assert len(files) - len(unknown) == sum(found.verified_by.values())
    assert (answer is NOT_FULLY) == any("itself. Airflow was not asked." in each for each in found.not_checked)


def _linked(path: Path) -> None:
    """Put a link to the same content in the place of a file."""
    path.rename(elsewhere := path.parents[3] / "elsewhere")
    path.symlink_to(elsewhere)


def _as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _of_another_run(path: Path) -> None:
    """Put the file of the same name of an earlier run in the place, or another file of the run."""
    other = next(each for each in path.parents[2].glob("manual__1-*/attempt-1/*") if each.name != path.name)
    same = next(path.parents[2].glob(f"manual__1-*/attempt-1/{path.name}"), other)
    path.write_bytes(same.read_bytes())


def _changed(path: Path) -> None:
    """Change one letter, and leave a document that can be read."""
    content = path.read_bytes()
    path.write_bytes(content[:-1] + b" \n" if content.endswith(b"\n") else content + b"\n")


ALL_DAMAGES = (_changed, *DAMAGES[1:], _linked, _as_folder, _of_another_run)


@pytest.mark.parametrize("damage", ALL_DAMAGES)
def test_damage_to_any_file_is_found(ended: World, damage: Callable[[Path], object]) -> None:
    """Whatever is done to one file of the run, exactly this file is named.

    Without Airflow and the ledger a changed `run.json` cannot be told from a right one, but is never found unchanged.
    """
    run = ended.identity.holder
    for path in files_of(ended):
        content = path.read_bytes()
        damage(path)
        if path.is_file() and not path.is_symlink() and path.read_bytes() == content:
            # An empty file, or one that is the same in both runs.
            assert path.suffix in {".csv", ".yaml"}
            continue
        state = FileState.CHANGED if path.is_symlink() or path.exists() else FileState.MISSING
        for way in WAYS[:-1] if path.name == "run.json" else WAYS:
            found = way(ended, run)
            assert (CHANGED, {f"attempt-1/{path.name}": state}) == (found.answer, wrong(found))
        if path.name == "run.json":
            _assert_not_unchanged(ended, run)
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.write_bytes(content)
    assert [{}] * len(WAYS) == [wrong(way(ended, run)) for way in WAYS]


def _assert_not_unchanged(world: World, run: str) -> None:
    with suppress(EvidenceUnreadable, Refused):
        assert UNCHANGED is not alone(world, run).answer


@pytest.mark.parametrize("way", WAYS)
def test_added_file_is_found(ended: World, way: Callable[[World], CheckedReport]) -> None:
    """A document of any kind, a report of another format and any other file that the run did not write is named.

    An alert is no part of a report, and may be written after `run.json`: without Airflow it is named as not used.
    """
    folder = ended.run.evidence.folder
    names = {*(document_name(kind, 99) for kind in Kind), "report.pdf", "notes.txt", "offsets-before-x.csv"}
    for name in names:
        (folder / name).write_text("{}")
    (folder / f".{document_name(Kind.JUDGE, 1)}.0123").write_text("what a killed writer left")
    found, alert = way(ended), document_name(Kind.ALERT, 99)
    later = set() if way is by_airflow else {alert}

    assert dict.fromkeys((f"attempt-1/{name}" for name in names - later), FileState.ADDED) == wrong(found)
    assert {f"attempt-1/{name}" for name in later} == {
        each.file for each in found.files if each.state is FileState.NOT_USED
    }


def _forge(world: World) -> None:
    """Change a document, and everything in the evidence root that has its digest."""
    folder = world.run.evidence.folder
    judged = folder / document_name(Kind.JUDGE, 1)
    before = digest_of(judged.read_bytes())
    judged.write_text(judged.read_text().replace('"PASS"', '"WARN"'))
    result = folder / "run.json"
    result.write_text(result.read_text().replace(before, digest_of(judged.read_bytes())))


@pytest.mark.parametrize("way", WAYS)
def test_forgery_that_fits_together_is_found(ended: World, way: Callable[[World], CheckedReport]) -> None:
    """Documents and a `run.json` that fit each other are not the run's if Airflow knows others."""
    _forge(ended)
    found = way(ended)

    assert (NOT_FULLY if way is alone else CHANGED) == found.answer
    assert way is alone or "attempt-1/run.json" in wrong(found)


def test_forged_ledger_proves_nothing(ended: World) -> None:
    """A ledger that was written anew over a forged `run.json` is not believed, because Airflow keeps another head."""
    _forge(ended)
    result = digest_of((ended.run.evidence.folder / "run.json").read_bytes())
    entry = max((ended.root / "shop" / "ledger").iterdir())
    document = json.loads(entry.read_text())
    assert "reported" == document["kind"]
    entry.write_text(json.dumps({**document, "evidence": {"attempt-1/run.json": result}}))
    found = by_ledger(ended)

    assert NOT_FULLY is found.answer
    assert "run.json itself" in found.not_checked[0]


def _clear(world: World) -> None:
    """Clear the run, whose second attempt is refused because its topics are cut over."""
    world.dag_run.clear_number = 1
    world.refuses("preflight", match="ALREADY_CUT_OVER")


def test_result_of_a_later_attempt_cannot_be_hidden(ended: World) -> None:
    """If the newest result was deleted, the earlier attempt's report is not taken for the run's."""
    _clear(ended)
    ended.finish_fails(preflight="failed")
    assert {} == wrong(by_airflow(ended))
    (ended.run.evidence.folder / "run.json").unlink()

    assert {"attempt-2/run.json": FileState.MISSING} == wrong(by_airflow(ended))
    assert "Attempt 2, which has no run.json" in offline(ended).not_checked[1]


@pytest.mark.parametrize("way", [by_airflow, by_ledger])
def test_result_of_an_attempt_that_never_was_is_found(ended: World, way: Callable[[World], CheckedReport]) -> None:
    """A folder of a further attempt does not become the run's report."""
    first = ended.run.evidence.folder
    shutil.copytree(first, first.with_name("attempt-999999999"))
    result = first.with_name("attempt-999999999") / "run.json"
    result.write_text(json.dumps({**json.loads(result.read_text()), "attempt": 999_999_999}))
    found = way(ended)

    assert UNCHANGED is not found.answer
    assert way is by_ledger or FileState.ADDED is wrong(found)["attempt-999999999/run.json"]


def _without(path: Path) -> None:
    shutil.rmtree(path)


def _folder_linked(path: Path) -> None:
    path.rename(elsewhere := path.with_name("elsewhere"))
    path.symlink_to(elsewhere)


@pytest.mark.parametrize("way", [by_airflow, by_ledger])
@pytest.mark.parametrize("damage", [_without, _folder_linked])
@pytest.mark.parametrize("of_run", [True, False])
def test_folder_that_is_gone_is_found(
    ended: World, way: Callable[[World, str | None], CheckedReport], damage: Callable[[Path], None], of_run: bool
) -> None:
    """If the folder of a run or of its attempt was deleted or replaced by a link, its files are missing."""
    attempt = ended.run.evidence.folder
    damage(attempt.parent if of_run else attempt)
    for run in (None, ended.identity.holder):
        found = way(ended, run)
        assert CHANGED is found.answer
        assert FileState.MISSING is wrong(found)["attempt-1/run.json"]


def test_what_a_killed_task_left_is_not_used(ended: World) -> None:
    """A document that a task had announced when it was killed is no part of the report, whatever it contains."""
    _clear(ended)
    path = Path(str(ended.run.evidence.announced_path(Kind.JUDGE)))
    ended.finish_fails(preflight="failed")
    path.write_text("{")

    for way in WAYS:
        unused = [each.file for each in way(ended).files if each.state is FileState.NOT_USED]
        assert [f"attempt-2/{path.name}"] == unused
        assert {} == wrong(way(ended))


def test_result_of_another_run_is_not_shown_for_it(ended: World) -> None:
    """Without Airflow, a `run.json` that names another run is refused and not compared."""
    _of_another_run(ended.run.evidence.folder / "run.json")

    assert {"attempt-1/run.json": FileState.CHANGED} == wrong(offline(ended, "manual__2"))
    with pytest.raises(EvidenceUnreadable, match="it is the result of kafka_migration__shop / manual__1"):
        alone(ended, "manual__2")


def test_earlier_versions_kept_no_digests_in_their_result(ended: World) -> None:
    """A `run.json` without digests is checked by Airflow; without it, each file is named as not checked."""
    result = ended.run.evidence.folder / "run.json"
    document = json.loads(result.read_text())
    del document["digests"]
    result.write_text(json.dumps(document))
    assert {"attempt-1/run.json": FileState.CHANGED} == wrong(by_airflow(ended))
    found = alone(ended)

    assert (NOT_FULLY, {}) == (found.answer, wrong(found))
    assert "no digest is kept of them" in found.not_checked[-1]


def _refuse(_: RunIdentity) -> list[Any]:
    raise TransientError("no route")


@pytest.mark.parametrize(
    ("airflow", "reason"),
    [
        (AskedAirflow(_refuse), "Airflow did not answer: no route"),
        (AskedAirflow(lambda _: []), "Airflow keeps no digests of this run"),
        (
            AskedAirflow(lambda _: ["x", {"migration": "other", "digests": {"attempt-1/run.json": "f" * 64}}]),
            "keeps no",
        ),
    ],
)
def test_airflow_that_does_not_answer_is_named(ended: World, airflow: AskedAirflow, reason: str) -> None:
    """Why Airflow's digests were not used is said, and what the evidence itself proves is checked."""
    store = MigrationStore(ended.root, "shop", no_anchor)
    found = checked_report(store, run_folder(store, None), airflow)

    assert (NOT_FULLY, {}) == (found.answer, wrong(found))
    assert reason in found.not_checked[0]


def test_broken_ledger_hides_nothing(ended: World) -> None:
    """With a broken ledger the digests of Airflow and of `run.json` still count."""
    (ended.root / "shop" / "ledger" / "000001.json").write_text("{}")

    assert UNCHANGED is by_airflow(ended).answer
    assert "The ledger cannot be used" in by_ledger(ended).not_checked[0]
    (ended.run.evidence.folder / document_name(Kind.JUDGE, 1)).unlink()
    assert CHANGED is by_ledger(ended).answer


def test_run_without_a_report_is_refused(world: World) -> None:
    """A run that has not ended has no report to check."""
    world.do("preflight")

    for way in WAYS[:-1]:
        with pytest.raises(Refused, match="REPORT_MISSING"):
            way(world, "manual__1")
