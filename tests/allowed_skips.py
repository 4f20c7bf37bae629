"""The only tests that may be skipped. Any other skip, and any expected failure, fails its test.

A skip is identified by the file that states it and by the beginning of its reason. Each entry says when the skip is
right: as root, or with the locked Airflow, the same skip fails.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
SYS_ADMIN = 21


def lacks_root() -> bool:
    """True without root's rights: of another user, or of root in a container that may not mount."""
    status = dict(line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    return not int(status["CapEff"], 16) >> SYS_ADMIN & 1


def has_airflow_before(wanted: str) -> bool:
    """True with an older Airflow than this, as the tests of other versions install it."""
    return Version(version("apache-airflow")) < Version(wanted)


def is_any_machine() -> bool:
    """True everywhere: only a campaign asks for a Python other than that of the tests."""
    return True


@dataclass(frozen=True)
class AllowedSkip:
    """A skip: the file that states it, the beginning of its reason, and whether it is right on this machine."""

    file: str
    reason: str
    is_right: Callable[[], bool]


ALLOWED = (
    AllowedSkip("tests/small_disk.py", "only root may mount a disk", lacks_root),
    AllowedSkip("tests/contract/test_mirrorctl_disk.py", "only root may mount a disk", lacks_root),
    AllowedSkip("tests/contract/test_mirrorctl_memory.py", "only root can make a small tmpfs", lacks_root),
    AllowedSkip("tests/contract/test_mirrorctl_narrow.py", "only root may give folders away", lacks_root),
    AllowedSkip("tests/unit/adapters/test_class_archives.py", "only root can be two users", lacks_root),
    AllowedSkip("tests/unit/evidence/test_evidence_places.py", "only root may make a device", lacks_root),
    AllowedSkip("tests/unit/tools/test_sandbox_ports.py", "only root gives folders away", lacks_root),
    AllowedSkip("tests/unit/tools/test_sandbox_postgres.py", "only root has capabilities to drop", lacks_root),
    AllowedSkip("tests/live/test_spark_strangers.py", "only root sees the traffic", lacks_root),
    AllowedSkip("tests/live/spark_matrix.py", "this machine has no Python ", is_any_machine),
    AllowedSkip("tests/airflow/test_retry_policy.py", "Airflow 3.3", lambda: has_airflow_before("3.3.0")),
    AllowedSkip(
        "tests/airflow/test_retry_policy.py", "the task runner of Airflow 3.3.2", lambda: has_airflow_before("3.3.2")
    ),
)


def allowed(file: str, reason: str) -> bool:
    """Whether a skip that this file states for this reason is in the list, and right on this machine."""
    return any(each.file == file and reason.startswith(each.reason) and each.is_right() for each in ALLOWED)


def refusal(test: str, file: str, reason: str) -> str:
    """Return the text of a test that was skipped and may not be."""
    return (
        f"{test} was not tested: {reason or 'no reason given'} ({file}). "
        "A skipped test proves nothing, so it counts as failed. "
        "`make bootstrap-tests` installs what tests need, or names the command; "
        "a skip that is right must be in tests/allowed_skips.py."
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip that is not allowed, or an expected failure, into a failure of the test."""
    report = yield
    expected = getattr(report, "wasxfail", None)
    if expected is not None:
        del report.wasxfail
        _judge(report, report.location[0], expected)
    elif report.skipped:
        file, reason = _stated(report)
        _judge(report, _raised_in(call) or file, reason)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Do the same for a file that skips all its tests."""
    report = yield
    if report.skipped:
        _judge(report, *_stated(report))
    return report


def _stated(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str]:
    """Return the file that states a skip, from the project's folder on, and the reason."""
    assert isinstance(report.longrepr, tuple)
    file, _, reason = report.longrepr
    return _named(Path(file)), reason.removeprefix("Skipped: ")


def _raised_in(call: pytest.CallInfo[None]) -> str:
    """Return the file of the tests that raised the skip; of a skip in a fixture, pytest names the file of the test."""
    entries = reversed(call.excinfo.traceback if call.excinfo else [])
    return next((_named(path) for path in (Path(entry.path) for entry in entries) if path.is_relative_to(TESTS)), "")


def _named(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _judge(report: pytest.TestReport | pytest.CollectReport, file: str, reason: str) -> None:
    if not allowed(file, reason):
        report.outcome, report.longrepr = "failed", refusal(report.nodeid, file, reason)
