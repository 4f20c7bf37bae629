"""Rules of what the log of a task shows."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.by_cause import wrapped_lines
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from tests.steps.tasks import BEFORE_START
from tests.steps.world import RECORD, World


def test_lines_of_finding() -> None:
    """A finding has one line for code and subject, and lines of at most 120 characters for the rest."""
    remedy = "Pin the new key only if its fingerprint was seen on the host itself. " * 3
    lines = wrapped_lines(Finding(Code.SSH_HOST_KEY_CHANGED, "connection host", "key A", "key B", remedy))

    assert lines[:3] == ["SSH_HOST_KEY_CHANGED · connection host", "  Found: key A", "  Expected: key B"]
    assert lines[3].startswith("  What to do: Pin the new key")
    assert all(line.startswith("    ") for line in lines[4:])
    assert max(map(len, lines)) <= 120
    assert " ".join(" ".join(lines[3:]).split()) == f"What to do: {remedy.strip()}"


def test_failed_checks_come_first(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Preflight logs the failed checks first, as errors."""
    world.connections["spark"] = "ssh"

    caplog.set_level("INFO")

    world.refuses("preflight")

    checks = [record for record in caplog.records if record.name.endswith("preflight_checks")]
    assert ("ERROR", "connections  failed") == (checks[0].levelname, checks[0].getMessage())
    assert {"INFO"} == {record.levelname for record in checks[1:]}


def test_plan_and_topics_are_logged_in_words(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """The log says per topic how many offsets will be copied, and which topics were created with which settings."""
    world.source.produce("orders", 0, *[RECORD] * 1500)
    caplog.set_level("INFO")
    world.do(*BEFORE_START)

    out = "\n".join(caplog.messages)
    assert "orders                                   1,500 offsets to copy" in out
    assert "Total: 1,500 offsets to copy." in out
    assert "Created orders: 2 partitions, replication factor 1, settings: " in out
    assert "{" not in out
    world.do("create_topics")


def test_judge_logs_the_verdict_on_the_whole_topic(scene: World, caplog: pytest.LogCaptureFixture) -> None:
    """The log has the verdict of all runs together in addition to that of this run."""
    scene.validated()
    caplog.set_level("INFO")
    scene.do("judge")

    assert "records compared by this run; as a whole PASS, " in caplog.text
