"""Rules of what `status` and `verdict` say about the present, and of how a terminal gets it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.store.run_status_store import NewsStore, StopRequestStore
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.report.run_status import Contradiction, LastRun, Reading, age_words, contradictions
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.core.text.terminal_text import shown
from tests.present import present
from tests.unit.cli.test_cli import RUN, kafka_migration, lines_of, mirrored_twice
from tests.unit.cli.test_cli_verdict import BOTH_JUDGED, kept

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
FOREIGN = Finding(Code.TARGET_WRITTEN_BY_OTHERS, "orders[0]", "end 31", "end 30", "Look at it.")
POLLED: dict[str, Any] = {
    "schema": 1,
    "run": RUN.holder,
    "mode": "sync",
    "generation": 2,
    "at": "2030-01-01T11:59:48+00:00",
    "step": "watch_lag",
    "stage": "",
    "copied": 120_000,
    "total": 200_000,
    "lag": 80_000,
    "rate": 9_500.0,
    "eta_s": 8.4,
    "line": "…",
    "silent": [],
    "outcome": None,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A migration whose first generation is validated, and whose second one is open."""
    return mirrored_twice(tmp_path)


def ended(root: Path, *findings: Finding, outcome: str = "failed", run: str = RUN.holder) -> None:
    """Leave what `finish` leaves."""
    at = "2030-01-01T10:00:00+00:00"
    found = contradictions((), findings, run, at, ())
    moment = datetime.fromisoformat(at)
    last = LastRun(run, moment, "sync", outcome, "", evidence="x", findings=findings, contradictions=found)
    NewsStore(root, "shop").tell_last_run(last.to_document())


def test_status_shows_what_goes_on_and_how_old_that_is(root: Path) -> None:
    """The lines show step, its time, mode, run, age of the news; share, lag, rate and time left of the last poll."""
    NewsStore(root, "shop").tell_progress({**POLLED, "step_at": "2030-01-01T11:40:00+00:00"})
    lines = lines_of(root, NOW)

    assert "Now         watch_lag for 20m00s, sync, by manual 1 Jan 00:00 (news 12s ago)" in lines
    assert "Progress    60.0% (120,000 of 200,000 offsets), lag 80,000, rate 9,500/s, ETA 8s" in lines


def test_status_names_the_party_that_does_not_answer(root: Path) -> None:
    """The lag is shown as unknown, with the party that does not answer and since when."""
    silent = {"party": "target cluster", "since": "2030-01-01T11:50:00+00:00", "reason": "target (t, b:9092) gone"}
    NewsStore(root, "shop").tell_progress({**POLLED, "lag": None, "rate": None, "eta_s": None, "silent": [silent]})
    lines = lines_of(root, NOW)

    assert "lag unknown, rate unknown, ETA unknown" in next(line for line in lines if line.startswith("Progress"))
    assert "Silent      target cluster since 2030-01-01 11:50 UTC: target (t, b:9092) gone" in lines


def test_old_news_are_called_old(root: Path) -> None:
    """If the triggerer died, the line shows the last poll and says that no update followed."""
    NewsStore(root, "shop").tell_progress(POLLED)

    now = next(line for line in lines_of(root, NOW + timedelta(hours=3)) if line.startswith("Now"))
    assert "(news 3h00m ago; no update since: check that the run and the triggerer are still running)" in now


def test_run_that_has_ended_is_not_at_work(root: Path) -> None:
    """`finish` closes the news of its own run, and not of another run."""
    news = NewsStore(root, "shop")
    news.tell_progress(POLLED)
    news.tell_ended("another/run#1", "2030-01-01T12:00:00+00:00")
    assert not any("no active run" in line for line in lines_of(root, NOW))

    news.tell_ended(RUN.holder, "2030-01-01T12:00:00+00:00")
    assert "Now         no active run" in lines_of(root, NOW)


def test_later_step_keeps_what_the_watch_saw(root: Path) -> None:
    """A later step never shows the copy as its own progress; what was copied is a row until another run begins."""
    news = NewsStore(root, "shop")
    news.tell_progress(POLLED)
    news.tell_step(RUN.holder, "validate_topics", "2030-01-01T11:59:58+00:00")
    lines = lines_of(root, NOW)
    assert any(line.startswith("Now         validate_topics for 2s, sync") for line in lines)
    assert not any(line.startswith("Progress") for line in lines)
    assert any(line.startswith("Copied      60.0% (120,000 of 200,000 offsets)") for line in lines)

    news.tell_step("another/run#1", "plan", "2030-01-01T11:59:59+00:00")
    assert not any(line.startswith("Copied") for line in lines_of(root, NOW))


def test_validation_has_its_own_progress(root: Path) -> None:
    """While Spark reads, the progress is that of the read; the next step has none of it."""
    news = NewsStore(root, "shop")
    news.tell_progress({**POLLED, "copied": 200_000, "lag": 0, "eta_s": 0.0})
    news.tell_step(RUN.holder, "validate_topics", "2030-01-01T11:58:00+00:00")
    began, at = (NOW - timedelta(seconds=age) for age in (110, 10))
    told = present(Reading.of("100,000 of at most 400,000 records read (25 %), about 5 min left", began, at))
    news.tell_reading(RUN.holder, told.to_document())

    assert "Progress    25% (100,000 of at most 400,000 records read), ETA 5m00s" in lines_of(root, NOW)
    news.tell_step(RUN.holder, "judge", "2030-01-01T11:59:59+00:00")
    assert not any(line.startswith("Progress") for line in lines_of(root, NOW))


@pytest.mark.parametrize("line", ["", "asking the source", "1 of 2 records read", "x 1 of at most 2 records read"])
def test_other_lines_of_the_job_tell_no_progress(line: str) -> None:
    """Only the job's own form of a progress line is read as one."""
    assert Reading.of(line, NOW, NOW) is None


def test_topics_that_are_behind_are_shown_worst_first(root: Path) -> None:
    """The table has what the watch wrote; a lag or a trend that is not known is shown as that."""
    earlier = {"lag": 92_000, "ago_s": 300}
    behind = [{"topic": "orders", "lag": None}, {"topic": "payments", "lag": 80_000, "earlier": earlier}]
    NewsStore(root, "shop").tell_progress({**POLLED, "behind": behind})
    lines = lines_of(root, NOW)

    at = lines.index("TOPIC BEHIND  OFFSETS LEFT  TREND")
    assert ["orders        unknown       unknown", "payments      80,000        12,000 fewer in 5m00s"] == lines[
        at + 1 : at + 3
    ]


def test_status_shows_the_last_run_and_its_finding(root: Path) -> None:
    """A failed or refused run is there with its mode, its age and what it found."""
    ended(root, FOREIGN)
    lines = lines_of(root, NOW)

    assert "Last run      sync, failed, 2030-01-01 10:00 UTC, 2h00m ago, manual 1 Jan 00:00" in lines
    assert f"Found         {FOREIGN}" in lines


@pytest.mark.parametrize("verb", ["status", "verdict"])
def test_json_has_the_same(root: Path, capsys: pytest.CaptureFixture[str], verb: str) -> None:
    """The document has a new schema number, the contradiction, and for `status` the last run and the present step."""
    NewsStore(root, "shop").tell_progress(POLLED)
    ended(root, FOREIGN)
    kafka_migration(root, verb, "shop", "-o", "json")
    document = json.loads(capsys.readouterr().out)

    holder = document["last_run"] if verb == "status" else document
    assert "TARGET_WRITTEN_BY_OTHERS" == holder["contradictions"][0]["code"]
    assert {"status": 6, "verdict": 3}[verb] == document["schema"]
    if verb == "status":
        assert (80_000, "failed") == (document["now"]["lag"], document["last_run"]["outcome"])


def test_verdict_that_a_later_run_contradicts_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A good verdict is shown with the findings that contradict it, and the exit code is that of a failure."""
    kept(tmp_path, *BOTH_JUDGED)
    assert 0 == kafka_migration(tmp_path, "verdict", "shop")

    ended(tmp_path, FOREIGN)
    assert 1 == kafka_migration(tmp_path, "verdict", "shop")
    told = capsys.readouterr().out
    assert "Verdict       PASS, CONTRADICTED by a later finding" in told
    assert (
        "Contradicted  TARGET_WRITTEN_BY_OTHERS · orders[0]: found end 31 (by manual 1 Jan 00:00 at 2030-01-01 10:00"
        in told
    )


@pytest.mark.parametrize("code", [Code.CONNECTION_MISSING, Code.BEHIND, Code.APPROVAL_REFUSED, Code.UNREACHABLE])
def test_finding_that_says_nothing_of_the_copy_contradicts_nothing(tmp_path: Path, code: Code) -> None:
    """A run that was refused for its settings contradicts no verdict."""
    kept(tmp_path, *BOTH_JUDGED)
    ended(tmp_path, Finding(code, "orders", "x", "y", "z"))

    assert 0 == kafka_migration(tmp_path, "verdict", "shop")


OF_ORDERS = Contradiction("GAP", "orders[0]", "x", "r#1", "t")
OF_AUDIT = Contradiction("GAP", "topic audit on the target", "x", "r#1", "t")


@pytest.mark.parametrize(
    ("refuted", "left"),
    [((), [OF_ORDERS, OF_AUDIT]), (("orders",), [OF_AUDIT]), (("order",), [OF_ORDERS, OF_AUDIT]), (None, [])],
)
def test_contradiction_stands_until_a_run_refutes_it(
    refuted: tuple[str, ...] | None, left: list[Contradiction]
) -> None:
    """A contradiction of a topic remains until a run finds this topic, or the whole copy, good."""
    assert left == list(contradictions((OF_ORDERS, OF_AUDIT), (), "r#2", "t2", refuted))


def test_same_contradiction_is_kept_once_as_it_was_found_last() -> None:
    """A finding that several nights repeat is listed once, as it was found last."""
    (one,) = contradictions(
        (Contradiction(FOREIGN.code, FOREIGN.subject, "end 31", "r#1", "t"),), [FOREIGN], "r#2", "u", ()
    )

    assert ("r#2", "u") == (one.run, one.at)


def test_status_without_a_name_lists_all(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The list has a line per migration with phase, verdict, present step and the end of the last run."""
    (root / "clicks" / "ledger").mkdir(parents=True)
    ended(root, FOREIGN)
    assert 0 == kafka_migration(root, "status")
    heads, clicks, shop = capsys.readouterr().out.splitlines()

    assert ["MIGRATION", "PHASE", "VERDICT", "NOW", "LAST", "RUN"] == heads.split()
    assert ["clicks", "new", "nothing", "copied", "–", "–"] == clicks.split()
    assert "pending, contradicted" in shop
    assert "sync failed: TARGET_WRITTEN_BY_OTHERS, " in shop


def test_list_says_how_old_the_news_are(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The list shows the age of the news, so a run that died days ago is recognizable."""
    NewsStore(root, "shop").tell_progress(POLLED)
    assert 0 == kafka_migration(root, "status")

    shop = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("shop"))
    assert age_words(datetime.fromisoformat(POLLED["at"]), datetime.now(UTC)) in shop


def test_list_names_a_migration_that_cannot_be_read(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It hides no other, and the exit code says that something is wrong."""
    (root / "clicks" / "ledger").mkdir(parents=True)
    (root / "clicks" / "last-run.json").write_text("{")

    assert 1 == kafka_migration(root, "status")
    told = capsys.readouterr()
    assert any(line.startswith("shop ") for line in told.out.splitlines())
    assert "last-run.json" in told.err
    assert 1 == kafka_migration(root, "status", "-o", "json")
    assert ["clicks", "shop"] == [each["migration"] for each in json.loads(capsys.readouterr().out)["migrations"]]


HOSTILE = "\x1b]0;owned\x07 name\r\nVerdict    PASS \u202eevil\x9b31m\u2028\U000e0041"


def test_terminal_gets_no_escape_sequences(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters, line breaks and text directions in any name are shown and have no effect."""
    news = NewsStore(root, "shop")
    news.tell_progress({**POLLED, "run": HOSTILE, "stage": HOSTILE, "step": HOSTILE})
    ended(root, Finding(Code.TARGET_WRITTEN_BY_OTHERS, HOSTILE, HOSTILE, HOSTILE, HOSTILE), run=HOSTILE)
    StopRequestStore(root, "shop").request(StopRequest(2, HOSTILE, HOSTILE, HOSTILE, HOSTILE))
    for arguments in (["status", "shop"], ["verdict", "shop"], ["stop", "shop"], ["status"]):
        for more in ([], ["-o", "json"]) if arguments[0] != "stop" else ([],):
            kafka_migration(root, *arguments, *more)
            told = capsys.readouterr()
            text = told.out + told.err
            assert all(letter == "\n" or letter.isprintable() for letter in text), arguments
            assert not any(line.startswith("Verdict    PASS ") for line in text.split("\n"))
            if more:
                json.loads(told.out)


def test_names_write_no_line_of_an_error(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A hostile name adds no line to those of a finding."""
    assert 3 == kafka_migration(root, "status", HOSTILE)
    error = capsys.readouterr().err

    assert (4, True) == (error.count("\n"), error.startswith("MIGRATION_UNKNOWN · migration \\u001b]0;owned"))
    assert "; it has that of shop." in error


@pytest.mark.parametrize("text", ["plain", "größer 日本", HOSTILE, "\ud800", "\x7f", "back\\slash"])
def test_escapes_are_those_of_json(text: str) -> None:
    """What is shown of a JSON string is the same string; letters of any script stay."""
    assert shown(text).isprintable()
    assert text == json.loads(f'"{shown(text)}"') if "\\" not in text else shown(text) == text
