"""Rules of what the log of a task shows."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.by_cause import wrapped_lines
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from tests.airflow.world import World
from tests.steps.tasks import BEFORE_START
from tests.steps.world import RECORD


def test_lines_of_finding() -> None:
    """A finding has one line for code and subject, and lines of at most 120 characters for the rest."""
    remedy = "Pin the new key only if its fingerprint was seen on the host itself. " * 3
    lines = wrapped_lines(Finding(Code.SSH_HOST_KEY_CHANGED, "connection host", "key A", "key B", remedy))

    assert lines[:3] == ["SSH_HOST_KEY_CHANGED · connection host", "  Found: key A", "  Expected: key B"]
    assert lines[3].startswith("  What to do: Pin the new key")
    assert all(line.startswith("    ") for line in lines[4:])
    assert max(map(len, lines)) <= 120
    assert " ".join(" ".join(lines[3:]).split()) == f"What to do: {remedy.strip()}"


def test_finding_has_lines_of_its_own(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Every part of a finding is an ERROR line, and the task ends with a `SystemExit`, which Airflow does not trace."""
    del world.connections["old_kafka"], world.connections["spark"]

    with pytest.raises(SystemExit) as failed:
        world.do("preflight")

    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    subjects = [line for line in errors if "CONNECTION_MISSING · " in line]
    assert len(subjects) == 2
    assert len([line for line in errors if line.startswith("  Create it (airflow connections add ")]) == 2
    assert str(failed.value).count("CONNECTION_MISSING") == 2


def test_failed_checks_come_first(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Preflight logs the failed checks first, as errors."""
    world.connections["spark"] = "ssh"

    world.refuses("preflight")

    checks = [line for line in capsys.readouterr().out.splitlines() if "loc=preflight.py" in line]
    assert "[error" in checks[0]
    assert "connections  failed" in checks[0]
    assert all("[error" not in line for line in checks[1:])


def test_plan_and_topics_are_logged_in_words(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The log says per topic how many offsets will be copied, and which topics were created with which settings."""
    world.source.produce("orders", 0, *[RECORD] * 1500)
    world.do(*BEFORE_START)

    out = capsys.readouterr().out
    assert "orders                                   1,500 offsets to copy" in out
    assert "Total: 1,500 offsets to copy." in out
    assert "Created orders: 2 partitions, replication factor 1, settings: " in out
    assert "{" not in "".join(line for line in out.splitlines() if "loc=plan.py" in line or "loc=topics.py" in line)
    world.do("create_topics")


def test_judge_logs_the_verdict_on_the_whole_topic(scene: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The log has the verdict of all runs together in addition to that of this run."""
    scene.validated()
    capsys.readouterr()
    scene.do("judge")

    out = capsys.readouterr().out
    assert "records compared by this run; as a whole PASS, " in out
