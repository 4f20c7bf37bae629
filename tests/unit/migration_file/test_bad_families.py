"""Bad migration files of every family: the findings are golden, and each file has one mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.migration_file import loading
from kafka_migration.migration_file.loading import MAX_FINDINGS, load_migration
from tests.golden import assert_golden
from tests.unit.migration_file.bad_files import CANARY, FAMILIES, FULL
from tests.unit.migration_file.test_json_schema import NOT_SAID, SCHEMA
from tests.unit.migration_file.test_migration_file import LONGEST_FINDING

GOLDEN = Path(__file__).with_name("bad_files.golden")
MANY_UNKNOWN_FIELDS = "k19999: 1"


@pytest.fixture(scope="module", autouse=True)
def parsed() -> Iterator[Callable[[str, str], Any]]:
    """What YAML says of each file, which both tests of all files need and which takes most of their time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "_parse_yaml", cache(loading._parse_yaml))
        yield loading._parse_yaml


def findings_of(text: str) -> list[str]:
    """Return the findings with which a file is refused."""
    with pytest.raises(Refused) as raised:
        load_migration(text, where="shop.yaml")
    found = raised.value.findings
    assert {Code.MIGRATION_FILE_INVALID} == {finding.code for finding in found}
    assert all(f.subject and f.found and f.expected and f.remedy for f in found)
    return [str(finding) for finding in found]


def label(text: str) -> str:
    """Return a case's name in one line that is short enough to read."""
    shown = ascii(text)[1:-1]
    return shown if len(shown) <= 140 else f"{shown[:120]}… ({len(text):,} characters)"


def test_full_file_is_good() -> None:
    """The file that each case damages loads."""
    assert "shop" == load_migration(FULL, where="shop.yaml").name


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_many_cases(family: str) -> None:
    """A family has at least ten cases."""
    assert len(FAMILIES[family]) >= 10


def test_findings_are_golden() -> None:
    """Each bad file is refused with one clear finding of a length that a person reads; it shows no secret."""
    results = {}
    for family, files in FAMILIES.items():
        for case, text in files.items():
            found = findings_of(text)
            if MANY_UNKNOWN_FIELDS in text:
                assert MAX_FINDINGS + 1 == len(found)
                continue
            name = f"{family}: {label(case)}"
            assert name not in results
            results[name] = "\n".join(found)
            assert 1 == len(found), found
            assert len(found[0]) < LONGEST_FINDING
            assert CANARY not in found[0]

    assert len(results) >= 300
    assert_golden(GOLDEN, results)


def test_the_schema_refuses_what_it_can_say(parsed: Callable[[str, str], Any]) -> None:
    """Of all bad files that are valid YAML, JSON Schema accepts only those with a mistake that it cannot describe."""
    cases = []
    for files in FAMILIES.values():
        for case, text in files.items():
            with suppress(Refused):
                cases.append((case.partition(" = ")[0], parsed(text, "shop.yaml")))

    assert len(cases) > 300
    assert set() == {place for place, data in cases if SCHEMA.is_valid(data)} - NOT_SAID
