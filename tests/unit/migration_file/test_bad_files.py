"""Bad migration files and alerts files: each is a short finding, and never an unexpected error."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.patterns import MOST_WAYS, matches, pattern_problem
from kafka_migration.migration_file.loading import (
    MAX_FILE_BYTES,
    MAX_FINDINGS,
    load_alerts_file,
    load_migration,
    read_migration_text,
)
from tests.unit.migration_file.test_migration_file import LONGEST_FINDING

HUGE = "9" * 5_000

# Each replaces a part of a good file by something bad.
REPLACED = [
    ("version: 1", text)
    for text in (
        "",
        "version:",
        "version: true",
        "version: yes",
        "version: 1.0",
        "version: '1'",
        "version: 0",
        f"version: {HUGE}",
        f"version: 0x{HUGE}",
        f"version: {'1:' * 5_000}1",
        "version: .nan",
        "version: .inf",
        "version: [1]",
        "version: {1: 1}",
        "version: 2024-02-30",
        "version: !!timestamp 5",
        "version: !!binary '%%%'",
        "version: !!set {a}",
        "version: !!python/name:os.system",
        "version: &a 1",
        "version: *a",
        "version: 1\n<<: {name: x}",
        "version: 1\n? {a: b}\n: c",
        "version: 1\n1: 2",
        "version: 1\nnull: 2",
        f"version: 1\n{'k' * 10_000}: 2",
        f"version: 1\n? {'k' * 200_000}\n: 2",
        "version: 1\n---\nname: b",
        "version: 1\n%YAML 3",
        "version: 1\n\x00",
        "version: 1\n\x07",
        "version: 1\n\ufffe",
        "version: 1\n'",
        "version: 1\n{",
        f"version: {'[' * 5_000}{']' * 5_000}",
        f"version: {'{a: ' * 5_000}{'}' * 5_000}",
        f"version: {'- ' * 5_000}a",
        "version: 1\ntopics: [again]",
        "version: 1\n" + "\n".join(f"k{n}: 1" for n in range(20_000)),
        f"version: [{'a,' * 60_000}]",
        f"version: '{'x' * 900_000}'",
    )
]
REPLACED += [
    ("name: shop", f"name: {value}")
    for value in (
        "",
        "Shop",
        "-shop",
        "'shop '",
        '"shop\\n"',
        '"sh\\0op"',
        '"\\e]0;x"',
        "../shop",
        "s" * 64,
        "s" * 100_000,
        "[shop]",
        "{a: b}",
        "5",
        "null",
        "true",
        "shöp",
    )
]
REPLACED += [
    ("version: 1", f"version: 1\nschema_registry: {value}")
    for value in (
        "[]",
        "{}",
        "{source: old}",
        "{source: old, target: 5}",
        "{source: old, target: 'a b'}",
        "{source: old, target: new, other: x}",
        "{source: old, target: new, parts: [orders]}",
        "{source: old, target: new, parts: {orders: value}}",
        "{source: old, target: new, parts: {orders: [header]}}",
        "{source: old, target: new, parts: {elsewhere: [value]}}",
    )
]
REPLACED += [
    ("topics: [orders, audit]", f"topics: {value}")
    for value in (
        "",
        "orders",
        "['']",
        "[5]",
        "[null]",
        "[[orders]]",
        "[a/b]",
        "[orders.internal]",
        f"[{'t' * 250}]",
        f"[{', '.join(f't{n}' for n in range(5_001))}]",
        f"[{', '.join(['orders'] * 5_000)}]",
        f"[{', '.join(f'__t{n}' for n in range(5_000))}]",
        "{orders: audit}",
    )
]
REPLACED += [
    ("tasks: 2", f"tasks: 2\n  {text}")
    for text in (
        "lease: 0s",
        "lease: 999999d",
        "lease: 8d",
        "lease: 999999999999d",
        "lease: -5m",
        "lease: 5",
        "lease: 5 m",
        "lease: ٥m",
        "lease: 1.5h",
        "lease: [10m]",
        "lease: null",
        "stop_grace: 2h",
        "heap_mb: 1",
        f"heap_mb: {HUGE[:90]}",
        "heap_mb: 1e3",
        "restarts: 21",
        "restarts: -1",
        "restarts: true",
        "exactly_once: 1",
        "engine: mirrormaker3",
        "kafka_home: relative",
        "kafka_home: '/opt/a b'",
        'kafka_home: "/opt\\n/x"',
        "java_home: /opt/$(id)",
        "properties: {producer.batch.size: x}",
        "properties: {producer.batch.size: '-5'}",
        "properties: {producer.batch.size: '99999999999999999999'}",
        "properties: {producer.batch.size: ٥}",
        "properties: {producer.batch.size: 16384}",
        "properties: {producer.compression.type: evil}",
        "properties: {producer.compression.lz4.level: '99'}",
        "properties: {consumer.max.poll.records: NaN}",
        "properties: {consumer.max.poll.records: '0'}",
        "properties: {consumer.check.crcs: maybe}",
        "properties: {consumer.client.dns.lookup: evil}",
        "properties: {producer.acks: '0'}",
        "properties: {consumer.interceptor.classes: a.B}",
        "properties: {sasl.jaas.config: x}",
        "properties: {producer.linger.ms: ''}",
        "properties: {producer.linger.ms: null}",
        "properties: [producer.linger.ms]",
        "topic_names: {naming: custom}",
        "topic_names: {naming: custom, policy_class: 'a.B', pattern: '{topic}{topic}'}",
        "topic_names: 5",
    )
]
REPLACED += [
    ("version: 1", f"version: 1\ncutover: {text}")
    for text in (
        "5",
        "[]",
        "{groups: 5}",
        "{groups: ['']}",
        "{groups: [5]}",
        "{groups: ['[']}",
        "{groups: ['a{99999999999}']}",
        "{groups: ['(?<=a+)b']}",
        "{groups: ['(a+)+']}",
        "{groups: ['(a|a)*b']}",
        "{groups: ['(a?){30}a{30}']}",
        "{groups: ['" + "a?" * 30 + "a" * 30 + "']}",
        "{groups: ['(.*)(.*)(.*)(.*)x']}",
        "{groups: ['(?P<a>a)(?P<a>b)']}",
        "{groups: ['(?(1)a)']}",
        "{groups: ['\\1']}",
        "{groups: ['*']}",
        "{groups: ['" + "(" * 250 + "']}",
        "{groups: ['" + "a" * 501 + "']}",
        "{groups: [" + ", ".join(["a"] * 1_001) + "]}",
        "{may_be_active: ['']}",
        '{may_be_active: ["a\\u001bb"]}',
        "{may_be_active: [5]}",
        "{may_be_active: ['" + "g" * 1_001 + "']}",
        "{may_rewind: ['']}",
        "{may_rewind: g}",
        "{approvers: ['']}",
        '{approvers: ["a\\nb"]}',
        "{approvers: ada}",
        "{approvers: [" + ", ".join(f"a{n}" for n in range(101)) + "]}",
        "{near: -1}",
        "{near: 1.5}",
        "{fence_quiet: 367d}",
        "{uncommitted: maybe}",
        "{hooks: {stop_producers: {}}}",
        "{hooks: {stop_producers: {callable: os}}}",
        "{hooks: {stop_producers: {dag: 'a b'}}}",
        "{hooks: {other: {dag: a}}}",
    )
]
REPLACED += [
    ("version: 1", f"version: 1\nnightly: {text}")
    for text in (
        "{}",
        "{cron: '* * * *'}",
        "{cron: '99 * * * *'}",
        "{cron: 'R * * * *'}",
        "{cron: " + "'0 1 * * " + "1," * 5_000 + "1'}",
        "{cron: '0 1 * * *', timezone: Mars}",
        "{cron: '0 1 * * *', timezone: ../../etc/passwd}",
        "{cron: '0 1 * * *', timezone: \"UTC\\0\"}",
        "{cron: '0 1 * * *', until: 5:30}",
        "{cron: '0 1 * * *', until: '24:00'}",
        "{cron: '0 1 * * *', when_late: shrug}",
    )
]
REPLACED += [
    ("version: 1", f"version: 1\nalerts: {text}")
    for text in (
        "5",
        "{notifiers: {}}",
        "{notifiers: [5]}",
        "{notifiers: [{}]}",
        "{notifiers: [{notifier: os}]}",
        "{notifiers: [{notifier: a.B, kinds: []}]}",
        "{notifiers: [{notifier: a.B, kinds: [never]}]}",
        "{notifiers: [{notifier: a.B, kinds: [" + ", ".join(f"k{n}" for n in range(5_000)) + "]}]}",
        "{notifiers: [{notifier: a.B, arguments: {a: .nan}}]}",
        "{notifiers: [{notifier: a.B, arguments: {a: 2020-01-01}}]}",
        "{notifiers: [{notifier: a.B, arguments: {a: !!binary aGk=}}]}",
        "{notifiers: [{notifier: a.B, arguments: {1: a}}]}",
        f"{{notifiers: [{{notifier: a.B, arguments: {{a: 0x{HUGE[:90]}{HUGE}}}}}]}}",
        "{notifiers: [" + ", ".join(["{notifier: a.B}"] * 21) + "]}",
        "{too_long_after: 5h}",
    )
]


def test_there_are_many() -> None:
    """The table is a long one."""
    assert len(REPLACED) >= 150


@pytest.mark.parametrize(("old", "new"), REPLACED, ids=[new[:40] for _, new in REPLACED])
def test_bad_file_is_refused_in_a_few_words(migration_text: str, old: str, new: str) -> None:
    """Every bad value is a coded finding with a remedy, of a length that a person reads, and there are not too many."""
    with pytest.raises(Refused) as error:
        load_migration(migration_text.replace(old, new, 1), where="shop.yaml")

    findings = error.value.findings
    assert {Code.MIGRATION_FILE_INVALID} == {finding.code for finding in findings}
    assert all(f.subject and f.found and f.expected and f.remedy for f in findings)
    assert all(len(str(finding)) < LONGEST_FINDING for finding in findings)
    assert len(findings) <= MAX_FINDINGS + 1


def test_many_mistakes_are_counted(migration_text: str) -> None:
    """After the first hundred mistakes, the rest are counted."""
    many = "\n".join(f"k{n}: 1" for n in range(20_000))

    with pytest.raises(Refused, match="19,900 more mistakes"):
        load_migration(f"{migration_text}{many}", where="shop.yaml")


def aliased(levels: int) -> str:
    """Lines of which each is nine times the one before."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines) + f"\nversion: *a{levels - 1}\n"


def test_few_lines_become_no_gigabytes(migration_text: str, tmp_path: Path) -> None:
    """A file whose aliases would unfold to 9^12 values is refused for its first anchor, also a file of alerts."""
    with pytest.raises(Refused, match="alias or anchor; write the value itself") as error:
        load_migration(migration_text.replace("version: 1\n", aliased(12)), where="shop.yaml")
    assert {Code.MIGRATION_FILE_INVALID} == {finding.code for finding in error.value.findings}
    (tmp_path / "alerts.yaml").write_text(aliased(12))
    with pytest.raises(Refused) as error:
        load_alerts_file(tmp_path / "alerts.yaml")
    assert {Code.ALERTS_INVALID} == {finding.code for finding in error.value.findings}


NO_FILES: list[tuple[Callable[[Path], object], str]] = [
    (os.mkfifo, "not a regular file"),
    (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
    (lambda path: path.symlink_to("/proc/self/mem"), "error"),
    (lambda path: path.symlink_to(path), "Too many levels"),
    (lambda path: path.symlink_to("nothing"), "No such file"),
    (lambda path: path.mkdir(), "directory"),
    (lambda path: path.write_bytes(b"#" * (MAX_FILE_BYTES + 1)), "more than 1,000,000 bytes"),
    (lambda path: path.write_bytes(b"name: \xff"), "utf-8"),
]


@pytest.mark.parametrize(("make", "reason"), NO_FILES)
def test_what_is_no_file_is_refused(tmp_path: Path, make: Callable[[Path], object], reason: str) -> None:
    """A pipe, a device, a folder or an endless file is neither waited for nor read whole."""
    make(tmp_path / "shop.yaml")

    with pytest.raises(Refused, match=reason) as error:
        read_migration_text(tmp_path / "shop.yaml")
    assert {Code.MIGRATION_FILE_MISSING} == {finding.code for finding in error.value.findings}


def test_link_to_a_file_is_a_file(tmp_path: Path, migration_text: str) -> None:
    """Files that are links, as those of a Kubernetes config map, are read."""
    (tmp_path / "data").write_text(migration_text)
    (tmp_path / "shop.yaml").symlink_to("data")

    assert migration_text == read_migration_text(tmp_path / "shop.yaml")


@pytest.mark.parametrize(
    "pattern",
    [
        ".+",
        "shop-.*",
        ".*orders.*v[0-9]+",
        "(?!console-consumer-|connect-).+",
        "(shop|bill)(-v[0-9]+)?",
        "(?i)shop",
        "([a-z]{2}-)+",
        "[a-z-]+",
        "(?:a|b)*",
        "(a|bb){0,3}",
        "x{3}",
    ],
)
def test_usual_pattern_is_taken(pattern: str) -> None:
    """Patterns without a repetition or choice in a repetition, and with few free places, are fine."""
    assert "" == pattern_problem(pattern)


@pytest.mark.parametrize(("pattern", "length"), [(".*.*.*x", 249), ("(.*)(.*)(.*)x", 249), (".*a.*b", 30_000)])
def test_name_of_any_length_is_matched_within_bounds(pattern: str, length: int) -> None:
    """The cost of an accepted pattern is bounded, whatever the name is."""
    assert "" == pattern_problem(pattern)
    assert not matches("a" * length, [pattern])
    assert (249 + 1) ** 3 == MOST_WAYS


def test_long_name_matches_what_is_simple() -> None:
    """A name of any length matches a pattern with one free place."""
    assert matches("a" * 30_000, ["b", "a.+"])
