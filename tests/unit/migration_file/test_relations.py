"""Rules of values that are valid alone and cannot work together: the file is refused before anything is asked."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.migration_file.loading import load_migration

LATE = [
    ("", "mirror", "  lease: 2s", "mirror.lease", "at least 12s: twice watch.poll_interval (1s) and 10s"),
    ("", "mirror", "  lease: 11s", "mirror.lease", "at least 12s"),
    ("stall_after: 60s", "watch", "  stall_after: 5s", "watch.stall_after", "at least 12s"),
    ("time_limit: 10m", "watch", "  time_limit: 1s", "watch.time_limit", "at least 12s"),
    ("", "cutover", "  fence_wait: 30s", "cutover.fence_wait", "at least 1m12s"),
    ("", "cutover", "  {fence_quiet: 2h, fence_wait: 1h}", "cutover.fence_wait", "after cutover.fence_quiet (2h00m)"),
    ("", "cutover", "  drain_groups: 3s", "cutover.drain_groups", "at least 12s"),
    ("", "nightly", "  {cron: '0 1 * * *', wait_limit: 1s}", "nightly.wait_limit", "at least 12s"),
    ("", "cutover", "  may_be_active: [console-consumer-1]", "cutover.may_be_active.0", "cutover.groups matches"),
    ("", "cutover", "  {groups: [a.*], may_rewind: [a1, b]}", "cutover.may_rewind.1", "cutover.groups matches"),
    (
        "",
        "mirror",
        "  properties: {producer.batch.size: '200', producer.buffer.memory: '100'}",
        "mirror.properties",
        "producer.batch.size (200) not higher than producer.buffer.memory (100)",
    ),
    (
        "",
        "mirror",
        "  properties: {consumer.fetch.max.wait.ms: '30001'}",
        "mirror.properties",
        "not higher than consumer.request.timeout.ms (30000)",
    ),
    ("", "mirror", "  properties: {producer.buffer.memory: '0'}", "mirror.properties", "buffer no batch"),
]


def findings_of(text: str) -> list[Finding]:
    """Return the findings with which a file is refused; none if it is valid."""
    try:
        load_migration(text, where="shop.yaml")
    except Refused as refused:
        return list(refused.findings)
    return []


def with_line(text: str, old: str, section: str, line: str) -> str:
    """Return the file with a line added to a section, in place of another one."""
    text = text.replace(f"  {old}\n", "") if old else text
    return (
        text.replace(f"{section}:\n", f"{section}:\n{line}\n")
        if f"{section}:" in text
        else f"{text}{section}:\n{line}\n"
    )


@pytest.mark.parametrize(("old", "section", "line", "place", "expected"), LATE)
def test_impossible_pair_is_one_finding(
    migration_text: str, old: str, section: str, line: str, place: str, expected: str
) -> None:
    """Each pair that cannot work is one finding at the value to change, which names the other value."""
    (finding,) = findings_of(with_line(migration_text, old, section, line))

    assert f"shop.yaml: {place}" == finding.subject
    assert expected in finding.expected


@pytest.mark.parametrize(
    ("old", "section", "line"),
    [
        ("", "mirror", "  lease: 12s"),
        ("stall_after: 60s", "watch", "  stall_after: 12s"),
        ("", "cutover", "  {fence_quiet: 5s, fence_wait: 17s, drain_groups: 12s}"),
        ("", "cutover", "  {groups: [a.*], may_rewind: [a1], may_be_active: [a2]}"),
        ("", "mirror", "  properties: {producer.batch.size: '100', producer.buffer.memory: '100'}"),
    ],
)
def test_smallest_pair_that_works_is_taken(migration_text: str, old: str, section: str, line: str) -> None:
    """The limits themselves are valid, so no file that can work is refused."""
    assert [] == findings_of(with_line(migration_text, old, section, line))


def test_one_long_poll_is_one_finding(migration_text: str) -> None:
    """If several times are too short for the pause between two polls, the pause is what is wrong."""
    (finding,) = findings_of(migration_text.replace("poll_interval: 1s", "poll_interval: 20m"))

    assert "shop.yaml: watch.poll_interval" == finding.subject
    assert "mirror.lease and watch.stall_after and watch.time_limit" in finding.expected


@pytest.mark.parametrize(
    ("old", "place", "expected"),
    [
        ("connection: new_kafka", "target.connection", "another connection than source.connection"),
        ("connection: mirror_host", "mirror.connection", "type ssh; source.connection uses this one with type kafka"),
        ("_connection: spark", "validation.spark_connection", "type spark; source.connection uses this one"),
    ],
)
def test_connection_of_two_kinds_is_refused(migration_text: str, old: str, place: str, expected: str) -> None:
    """One connection has one type and leads to one place."""
    (finding,) = findings_of(migration_text.replace(old, f"{old.partition(':')[0]}: old_kafka"))

    assert f"shop.yaml: {place}" == finding.subject
    assert expected in finding.expected
