"""The findings about MirrorMaker and its host say what happened, why it matters and what to do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, FindingsError, TransientError
from kafka_migration.core.mirror.causes import CAUSES, Cause, Sign, cause_finding
from kafka_migration.core.mirror.diagnosis import OPEN_TRANSACTION, explained, health_findings, with_causes
from kafka_migration.core.mirror.engine import FailedTask, MirrorHealth
from kafka_migration.core.mirror.host import HostReply
from kafka_migration.core.mirror.mirrorctl_protocol import checked
from tests.syntax import nodes_of

pytestmark = pytest.mark.unit

PACKAGE = Path(__file__).parents[3] / "plugins" / "kafka_migration"
PLACES = (
    "core/mirror/*.py",
    "engines/*.py",
    "steps/mirror/*.py",
    "airflow_adapters/ssh*.py",
    "steps/before/take_reservation.py",
)
# Their tables are generated, or are those of another part.
ELSEWHERE = {"required_versions.py", "broker_versions.py"}
FROM_HOST = (
    Code.RESERVED_BY,
    Code.NOT_RESERVED,
    Code.ALREADY_RUNNING,
    Code.GENERATION_STOPPED,
    Code.GENERATION_UNEXPECTED,
    Code.HOST_TOOL_MISSING,
    Code.JAVA_MISSING,
    Code.MM_BINARY_NOT_FOUND,
    Code.MIRROR_DEAD,
    Code.MIRROR_NOT_STOPPED,
    Code.HOST_REFUSED,
    Code.HOST_LOCKED,
)


def bare_findings(path: Path) -> Iterator[str]:
    """Yield the places of a module that make a finding without its own sentences."""
    calls = (node for node in nodes_of(path) if isinstance(node, ast.Call))
    for call in calls:
        is_finding = isinstance(call.func, ast.Name) and call.func.id == "Finding"
        if is_finding and not {"happened", "matters"} <= {keyword.arg for keyword in call.keywords}:
            yield f"{path.relative_to(PACKAGE)}:{call.lineno}"


def test_each_finding_brings_its_sentences() -> None:
    """Every place that makes a finding says what happened and why it matters."""
    paths = [path for place in PLACES for path in sorted(PACKAGE.glob(place)) if path.name not in ELSEWHERE]

    assert len(paths) > 30
    assert [] == [place for path in paths for place in bare_findings(path)]


def assert_reads_well(finding: Finding) -> None:
    """Each of the three texts is a sentence with one full stop, and none is in the frame of the data."""
    for text in finding.sentences:
        assert re.match(r"[A-Z`]", text), text
        assert re.search(r"[^.]\.\s*$", text), text
        assert not re.search(r"\bfound\b.*\bexpected\b|\?", text), text
    assert 3 == len(finding.sentences)
    assert finding.happened != finding.matters


@pytest.mark.parametrize("code", FROM_HOST)
@pytest.mark.parametrize("message", ["generation 3 runs", "generation 3 runs."])
def test_refusal_of_a_host_reads_well(code: Code, message: str) -> None:
    """What mirrorctl says is part of a sentence, whether or not it ends with a full stop."""
    reply = HostReply(ok=False, code=str(code), message=message, verb="start", migration="shop")
    with pytest.raises((FindingsError, TransientError)) as error:
        checked(reply)

    told = error.value
    for finding in told.findings if isinstance(told, FindingsError) else [getattr(told, "finding", None)]:
        assert finding is not None
        assert_reads_well(finding)
        assert "generation 3 runs." in finding.happened


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.what)
def test_cause_reads_well(cause: Cause) -> None:
    """The finding of each cause begins with it, and quotes MirrorMaker."""
    finding = cause_finding(Sign(cause, "x.Exception: y."), "MirrorMaker", "generation 1 ended", 1024)

    assert_reads_well(finding)
    assert finding.happened.endswith("MirrorMaker says: x.Exception: y.")


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.what)
def test_cause_in_a_worker_names_no_host(cause: Cause) -> None:
    """On Kafka Connect nobody has a host or a heap of the migration to look at."""
    finding = cause_finding(Sign(cause, "x.Exception: y."), "MirrorMaker", "generation 1 ended", None)

    assert_reads_well(finding)
    words = " ".join((finding.found, finding.expected, finding.remedy, finding.happened))
    assert not re.search(r"MirrorMaker host|the host|heap_mb|java_home|kafka_home", words)


def test_health_reads_well() -> None:
    """A failed task, a changed configuration and an alarm each read well."""
    health = MirrorHealth((FailedTask("task 0", "java.Error: x"),), None, ("tasks.max is 1, rendered was 4",))

    for alarm in ("", "OutOfMemoryError: x", "WARN splitting and retrying"):
        for finding in health_findings(health, alarm):
            assert_reads_well(finding)


def test_more_that_is_known_is_part_of_what_happened() -> None:
    """A likely cause, and MirrorMaker's own exception, are added to the sentence and to the data."""
    stalled = Finding(Code.MIRROR_STALLED, "orders-0", "no progress", "progress", "Wait.", "It stalled.", "Lag grows.")
    dead = Finding(Code.MIRROR_DEAD, "MirrorMaker", "ended", "running", "Start.", "It ended.", "Nothing runs.")
    (likely,) = explained([stalled], {"orders-0": OPEN_TRANSACTION})
    (said,) = with_causes([dead], "[2026] ERROR x (k)\norg.example.StrangeException: y\n", 1024)

    assert f"It stalled. The likely cause: {OPEN_TRANSACTION}." == likely.happened
    assert likely.found.endswith(OPEN_TRANSACTION)
    assert "It ended. MirrorMaker says: org.example.StrangeException: y." == said.happened
