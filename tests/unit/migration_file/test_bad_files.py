"""Bad migration files and alerts files: each is a short finding, and never an unexpected error."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.patterns import MOST_WAYS, matches, pattern_problem
from kafka_migration.migration_file.loading import (
    MAX_FILE_BYTES,
    load_alerts_file,
    load_migration,
    read_migration_text,
)


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
    (lambda path: path.symlink_to("/etc"), "directory"),
    (lambda path: path.write_bytes(b"#" * (MAX_FILE_BYTES + 1)), "more than 1,000,000 bytes"),
    (lambda path: path.write_bytes(b"name: \xff"), "not text in UTF-8"),
    (lambda path: path.write_text("name: shop", "utf-16"), "not text in UTF-8"),
    (lambda path: path.write_bytes(gzip.compress(b"name: shop")), "not text in UTF-8"),
]


@pytest.mark.parametrize(("make", "reason"), NO_FILES)
def test_what_is_no_file_is_refused(tmp_path: Path, make: Callable[[Path], object], reason: str) -> None:
    """A pipe, a device, a folder or an endless file is neither waited for nor read whole."""
    make(tmp_path / "shop.yaml")

    with pytest.raises(Refused, match=reason) as error:
        read_migration_text(tmp_path / "shop.yaml")
    is_there = "bytes" in reason or "UTF-8" in reason
    code = Code.MIGRATION_FILE_INVALID if is_there else Code.MIGRATION_FILE_MISSING
    assert {code} == {finding.code for finding in error.value.findings}


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
