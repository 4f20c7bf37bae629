"""Rules of the command line, over an evidence root of its own."""

from __future__ import annotations

import getpass
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.adapters.store.run_status_store import StopRequestStore
from kafka_migration.cli.main import main
from kafka_migration.cli.runs import stop_verb as stop_module
from kafka_migration.cli.runs import verdict_verb as verdict_module
from kafka_migration.cli.runs.status_verb import status_lines
from kafka_migration.cli.runs.stop_verb import login_name, wait_for_stop
from kafka_migration.cli.shell.output import aligned
from kafka_migration.core.evidence.digests import digest_of
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.chain import Confirmation, Head
from kafka_migration.core.ledger.cutovers import CutOver
from kafka_migration.core.ledger.generations import Comparison, GenerationStart, Judgement, ReadOffsets, StopCertificate
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.validation.validation_contract import POSITION_DIGEST
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.status_answer import status_answer, verdict_answer
from tests.contract.memory_anchor import MemoryAnchor
from tests.present import present
from tests.stored_examples import checked
from tests.unit.partitions import P0

PLUGINS = Path(__file__).parents[3] / "plugins"
RUN = RunIdentity("kafka_migration__shop", "manual__2030-01-01T00:00:00+00:00", 1)
AT = "2030-01-01T00:00:00+00:00"


def start(root: Path, generation: int) -> None:
    begin = {P0: 0 if generation == 1 else 5}
    LedgerStore(root, "shop").append(GenerationStart(generation, RUN.holder, AT, begin, begin).to_document())


def end(root: Path, generation: int) -> None:
    stop = StopCertificate(generation, RUN.holder, AT, True, 143, "stopped by the run", {P0: 5}, {P0: 5})
    LedgerStore(root, "shop").append(stop.to_document())


def judge(root: Path, *generations: int) -> None:
    read = Comparison(Verdict.PASS, tuple(ReadOffsets(0, number, 0, 5, 0, 5) for number in generations), 5, 5)
    of_orders = {"orders": Verdict.PASS}, {"orders": 5}, POSITION_DIGEST, {"orders": (read,)}
    LedgerStore(root, "shop").append(Judgement(RUN.holder, AT, False, generations, *of_orders).to_document())


def check(root: Path, mode: str, text: str) -> None:
    """Leave what preflight leaves."""
    evidence = RunEvidence(root, "shop", RUN)
    evidence.freeze_migration(text)
    evidence.write(Stored.PREFLIGHT, checked(Mode(mode)))


def mirrored_twice(folder: Path) -> Path:
    """Leave what a validated generation and an open one leave; return the folder."""
    start(folder, 1)
    end(folder, 1)
    judge(folder, 1)
    start(folder, 2)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An evidence root with a migration whose first generation is validated and whose second is open."""
    return mirrored_twice(tmp_path)


def kafka_migration(root: Path, *arguments: str) -> int:
    return main([*arguments, "--evidence-root", str(root)])


def lines_of(root: Path, now: datetime | None = None) -> list[str]:
    """Return the lines of `status`, at a moment if one is given."""
    return status_lines(status_answer(MigrationStore(root, "shop"), now or datetime.now(UTC)))


def test_stop_writes_the_request_and_says_what_follows(
    root: Path, migration_text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The request names generation, run, person and reason; the lines say when mirroring ends and what comes then."""
    check(root, "follow", migration_text)
    code = kafka_migration(root, "stop", "shop", "--reason", "enough")
    asked = present(StopRequestStore(root, "shop").find(2))
    lines = capsys.readouterr().out.splitlines()

    assert code == 0
    assert (2, RUN.holder, login_name(), "enough") == (asked.generation, asked.run, asked.by, asked.reason)
    assert "Asked    generation 2 of shop to stop mirroring" == lines[0]
    assert f"Run      {RUN.holder}, mode follow" == lines[1]
    seen = "the run sees the request within 23s, then stops MirrorMaker"
    assert f"Next     {seen}; the run then validates the copied records" == lines[3]


def test_asking_twice_is_fine(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second request shows the first one, which remains."""
    StopRequestStore(root, "shop").request(StopRequest(2, RUN.holder, AT, "ada", "lunch"))

    assert kafka_migration(root, "stop", "shop", "--reason", "other") == 0
    assert "generation 2 of shop was asked before" in (shown := capsys.readouterr().out)
    assert f"asked to stop by ada at {AT}: lunch" in shown


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("sync", "the run then validates the copied records; the next run copies the rest"),
        ("interval", "the run then validates the copied records; the next run copies the rest"),
        ("cutover", "the cutover then fails with STOP_REQUESTED and moves no group"),
    ],
)
def test_stop_says_what_the_mode_makes_of_it(
    root: Path, migration_text: str, capsys: pytest.CaptureFixture[str], mode: str, words: str
) -> None:
    """What comes after the stop depends on the mode of the run that mirrors."""
    check(root, mode, migration_text)
    kafka_migration(root, "stop", "shop")

    assert words in capsys.readouterr().out


def test_stop_needs_nothing_of_the_run_but_the_ledger(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The request is made also if the run's own documents are missing."""
    assert kafka_migration(root, "stop", "shop") == 0
    assert "sees the request at its next poll, then stops MirrorMaker" in capsys.readouterr().out


def test_nothing_to_stop_is_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an open generation no request is made, and the finding says when the last one stopped."""
    end(root, 2)

    assert kafka_migration(root, "stop", "shop") == 3
    assert f"migration shop: generation 2 stopped at {AT} (ledger: 5 entries" in capsys.readouterr().err
    assert StopRequestStore(root, "shop").find(2) is None


def test_certificate_that_airflow_does_not_confirm_stops_nothing(
    root: Path, time: FakeTime, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forged certificate ends no waiting, and the refusal to stop says which entries are not confirmed."""
    anchor = MemoryAnchor(Head(4, digest_of((root / "shop" / "ledger" / "000004.json").read_bytes())))
    monkeypatch.setattr(MigrationStore, "confirmation", lambda store: store.ledger.confirmation(anchor))
    time.at_s = 30

    assert kafka_migration(root, "stop", "shop", "--wait", "--timeout", "90s") == 5
    shown = capsys.readouterr().out
    assert "Ledger   4 entries, confirmed by Airflow\n" in shown
    assert "Ledger  5 entries; NOT CONFIRMED by Airflow: 5 to 5\n" in shown
    assert kafka_migration(root, "stop", "shop") == 3
    assert "(ledger: 5 entries; NOT CONFIRMED by Airflow: 5 to 5" in capsys.readouterr().err


def test_request_stands_although_airflow_cannot_be_asked(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An Airflow that does not answer is named, and hides no request that was written."""

    def not_answered(store: MigrationStore) -> Confirmation:
        raise TransientError("Airflow's database did not answer")

    monkeypatch.setattr(MigrationStore, "confirmation", not_answered)

    assert kafka_migration(root, "stop", "shop") == 0
    assert "Ledger   not compared with Airflow: Airflow's database did not answer\n" in capsys.readouterr().out


def test_evidence_root_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A root without any evidence is as likely the wrong place as a migration that never ran."""
    assert kafka_migration(tmp_path / "none", "status", "shop") == 3
    assert "has no evidence of any migration." in capsys.readouterr().err


@dataclass
class FakeTime:
    """A clock that `sleep` moves on; at `at_s` something happens."""

    root: Path
    at_s: float
    elapsed_s: float = 0.0
    is_over: bool = False

    def now(self) -> datetime:
        return datetime(2030, 1, 1, tzinfo=UTC)

    def monotonic_s(self) -> float:
        return self.elapsed_s

    def sleep(self, seconds: float) -> None:
        self.elapsed_s += seconds
        if self.elapsed_s >= self.at_s and not self.is_over:
            self.is_over = True
            end(self.root, 2)


@pytest.mark.parametrize(("at_s", "timeout_s", "stopped"), [(30, 60, True), (59, 60, True), (61, 60, False)])
def test_waiting_ends_with_the_certificate_or_the_time(
    root: Path, at_s: float, timeout_s: float, stopped: bool
) -> None:
    """Waiting looks into the ledger until the generation has its certificate, at most for the time given."""
    time = FakeTime(root, at_s)
    certificate = wait_for_stop(MigrationStore(root, "shop"), 2, timeout_s, time, time.sleep)

    assert stopped is (certificate is not None)
    assert time.elapsed_s <= timeout_s


@pytest.fixture
def time(root: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    """The time by which the command waits."""
    made = FakeTime(root, at_s=10_000)
    monkeypatch.setattr(stop_module, "SystemClock", lambda: made)
    monkeypatch.setattr(stop_module, "time", made)
    return made


@pytest.mark.parametrize(
    ("at_s", "code", "line"),
    [
        (91, 5, "Waited  1m30s without a stop certificate; the request remains valid."),
        (30, 0, f"Stopped  {AT}, stopped by the run, clean stop\n"),
    ],
)
def test_waiting_shows_how_it_ended(
    root: Path, time: FakeTime, capsys: pytest.CaptureFixture[str], at_s: float, code: int, line: str
) -> None:
    """The last line shows the stop certificate, or that the time is over and the request remains."""
    time.at_s = at_s

    assert code == kafka_migration(root, "stop", "shop", "--wait", "--timeout", "90s")
    assert line in capsys.readouterr().out


def test_stop_without_certificate_is_partly_done(
    root: Path, time: FakeTime, capsys: pytest.CaptureFixture[str]
) -> None:
    """While an unreachable cluster delays the certificate, the command reports that MirrorMaker has ended."""
    MigrationStore(root, "shop").news.tell_stopped(RUN.holder, 1, "before")
    assert kafka_migration(root, "stop", "shop", "--wait", "--timeout", "2m") == 5

    MigrationStore(root, "shop").news.tell_stopped(RUN.holder, 2, AT)
    assert kafka_migration(root, "stop", "shop", "--wait", "--timeout", "2h") == 4
    assert f"Stopped  {AT}, MirrorMaker has ended; its stop certificate is not written yet" in capsys.readouterr().out
    assert 120 + 60 == time.elapsed_s


def test_request_stands_whatever_the_runs_evidence_says(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Mode and poll interval are only additional, so it is no failure if they cannot be read."""
    evidence = RunEvidence(root, "shop", RUN)
    evidence.freeze_migration("nonsense: [")
    (evidence.folder / "01-preflight-1.json").write_text("{")

    assert kafka_migration(root, "stop", "shop", "--reason", "line\n  two\x1b[31m") == 0
    assert "asked to stop" in capsys.readouterr().out
    assert "line two [31m" == present(StopRequestStore(root, "shop").find(2)).reason


def test_closed_pipe_is_no_failure(root: Path) -> None:
    """The command ends without an error if its reader closes the pipe."""
    command = [sys.executable, "-m", "kafka_migration", "status", "shop", "--evidence-root", str(root)]
    environment = {**os.environ, "PYTHONPATH": str(PLUGINS)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"" == process.stderr.read()
        assert process.wait(60) == 0


def test_status_of_an_open_generation(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The lines show phase, generation, request, pending generations, and a verdict per topic."""
    StopRequestStore(root, "shop").request(StopRequest(2, RUN.holder, AT, "ada"))

    assert kafka_migration(root, "status", "shop") == 0
    assert [
        "Migration   shop",
        "Phase       syncing",
        "Ledger      4 entries, checked only by their own chain: Airflow's database was not asked",
        "Now         no active run",
        "Last run    none has finished",
        "Generation  2, open, started 2030-01-01 00:00 UTC",
        "Run         manual 1 Jan 00:00",
        "Request     asked to stop by ada at 2030-01-01 00:00:00 UTC",
        "Pending     none",
        "",
        "TOPIC   VERDICT",
        "orders  PASS",
    ] == capsys.readouterr().out.splitlines()


def test_status_of_a_stopped_generation_that_waits_for_its_validation(root: Path) -> None:
    """A stop certificate is shown in words, and the generation is pending until a run judges it."""
    end(root, 2)
    lines = lines_of(root)

    assert "Certificate  2030-01-01 00:00 UTC, stopped by the run, clean stop" in lines
    assert "Pending      generation 2: stopped, not validated yet" in lines


def test_status_of_a_migration_that_never_mirrored(tmp_path: Path) -> None:
    """A refused run leaves a migration in phase new, without topics."""
    (tmp_path / "shop").mkdir()

    assert [
        "Migration   shop",
        "Phase       new",
        "Ledger      0 entries, checked only by their own chain: Airflow's database was not asked",
        "Now         no active run",
        "Last run    none has finished",
        "Generation  none: MirrorMaker was never started",
        "Pending     none",
    ] == lines_of(tmp_path)


def test_status_after_the_cutover(root: Path) -> None:
    """When and by which run the consumers were moved is part of the status."""
    end(root, 2)
    LedgerStore(root, "shop").append(CutOver(RUN.holder, AT, ("billing",), ("orders",), partly=False).to_document())

    assert "Cut over     orders at 2030-01-01 00:00 UTC by manual 1 Jan 00:00" in lines_of(root)


def test_status_as_json(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With `-o json` standard output is one document that holds the same, and the whole certificate."""
    end(root, 2)
    kafka_migration(root, "status", "shop", "-o", "json")
    document = json.loads(capsys.readouterr().out)

    assert (6, "shop", "syncing", [2], {"orders": "PASS"}) == tuple(
        document[key] for key in ("schema", "migration", "phase", "pending_generations", "topics")
    )
    assert (2, False, None) == tuple(document["last_generation"][key] for key in ("number", "open", "stop_request"))
    assert document["last_generation"]["certificate"]["mirror_positions"] == {"orders": {"0": 5}}


def test_command_runs_from_a_copy_of_the_folders(root: Path) -> None:
    """`python -m kafka_migration` is the same command, and with the root given it needs no Airflow."""
    code = "import sys, kafka_migration.cli.main as m; m.main(sys.argv[1:]); sys.exit('airflow' in sys.modules)"
    arguments = ["status", "shop", "--evidence-root", str(root)]
    done = [
        subprocess.run(
            [sys.executable, *how, *arguments],
            cwd=PLUGINS,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
        for how in (["-m", "kafka_migration"], ["-c", code])
    ]

    assert [(0, ""), (0, "")] == [(process.returncode, process.stderr) for process in done]
    assert done[0].stdout.startswith("Migration   shop\n")


def test_person_without_a_name_is_a_user_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the system has no login name, as in some containers, the user id is used."""

    def unknown() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr(getpass, "getuser", unknown)

    assert f"user id {os.getuid()}" == login_name()


def test_columns_are_aligned() -> None:
    """Each column is as wide as its widest cell, and no line ends with blanks."""
    assert ["a    b", "ccc  d"] == aligned([("a", "b"), ("ccc", "d")])
    assert [] == aligned([])


def test_very_wide_cell_moves_only_its_own_row() -> None:
    """A topic's name of 249 letters is shown whole, and the other rows stay narrow."""
    name = "t" * 249

    assert ["TOPIC   PLAN", "orders  copy", f"{name}  copy"] == aligned(
        [("TOPIC", "PLAN"), ("orders", "copy"), (name, "copy")]
    )


def test_modes_that_follow_the_source() -> None:
    """Only a run that mirrors on at the end of the source starts MirrorMaker with nothing to copy."""
    assert [Mode.FOLLOW, Mode.CUTOVER] == [mode for mode in Mode if mode.follows_source]


def test_what_libraries_print_is_no_part_of_an_answer(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard output is one JSON document, also if a storage client prints something."""

    def talkative(*arguments: object) -> object:
        sys.stdout.write("retrieving connection\n")
        return verdict_answer(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(verdict_module, "verdict_answer", talkative)

    main(["verdict", "shop", "-o", "json", "--evidence-root", str(root)])

    shown = capsys.readouterr()
    assert "shop" == json.loads(shown.out)["migration"]
    assert "retrieving connection" in shown.err
