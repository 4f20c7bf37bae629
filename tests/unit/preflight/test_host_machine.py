"""Rules about the MirrorMaker host itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.preflight.host.asking_host import CLOCK_TOLERANCE, clock_findings
from kafka_migration.preflight.host.machine_checks import GENERATION_MIB, disk_findings
from kafka_migration.preflight.host.machine_checks import file_findings as files

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_disk_needs_room_for_the_logs_of_one_process() -> None:
    """A disk with less free space than one MirrorMaker process may log is refused; with exactly as much it is not."""
    (finding,) = disk_findings(GENERATION_MIB * 1024 - 1)

    assert (Code.HOST_DISK_FULL, "124 MiB free for the base folder of mirrorctl") == (finding.code, finding.found)
    assert [] == list(disk_findings(GENERATION_MIB * 1024))


@pytest.mark.parametrize(
    ("limit", "tasks", "partitions", "brokers", "is_enough"),
    [(1024, 4, 100, 6, True), (1024, 60, 1000, 6, False), (1024, 60, 3, 6, True), (499, 1, 1, 2, False)],
)
def test_open_files_are_for_connections(limit: int, tasks: int, partitions: int, brokers: int, is_enough: bool) -> None:
    """The limit of open files must allow each task's connections to each broker; partitions bound the tasks."""
    found = list(files(limit, tasks, partitions, brokers))

    assert is_enough == (not found)
    assert {Code.HOST_FILE_LIMIT} >= {finding.code for finding in found}


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (NOW + CLOCK_TOLERANCE, None),
        (NOW - CLOCK_TOLERANCE, None),
        (NOW + 10 * SECOND + CLOCK_TOLERANCE + SECOND, "a clock that is 61 s ahead"),
        (NOW - CLOCK_TOLERANCE - 2 * SECOND, "a clock that is 62 s behind"),
    ],
)
def test_clock_is_compared_with_both_ends_of_the_call(shown: datetime, words: str | None) -> None:
    """A clock is wrong only by what it is before the begin or after the end of the call that read it."""
    found = [finding.found for finding in clock_findings("x", "y", shown, NOW, NOW + 10 * SECOND)]

    assert ([words] if words else []) == found
