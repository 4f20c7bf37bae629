"""Bad fields in a run's conf: each is a short finding, and never an unexpected error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.run_conf import MAX_UNKNOWN, unknown_findings
from kafka_migration.steps.run.run_request import RunRequest

LONG = "x" * 100_000
DEEP: Any = []
for _ in range(500):
    DEEP = [DEEP]
NO_NAMES = (
    *("orders", 5, 0.5, True, {"orders": 1}, DEEP, 10**6000),
    *([5], [None], [""], [["orders"]], [LONG], [f"t{number}" for number in range(100_001)]),
)
BAD_MODES: tuple[Any, ...] = ("", "Sync", LONG, 5, [], {}, DEEP, 10**6000, "interval", "restore", None)
BAD_GENERATIONS: tuple[Any, ...] = ("0", "5-3", "-1", "1-", LONG, "9" * 50, 5, [], {}, True)
NO_TIMES = ("soon", "2030-01-01", "2030-01-01T00:00:00", "2030-13-01T00:00:00Z")
BAD_TIMES: tuple[Any, ...] = (*NO_TIMES, LONG, 5, [], DEEP, 10**6000)
BAD_NOTES: tuple[Any, ...] = (5, [], {}, True, LONG, DEEP)
BAD: list[dict[str, Any]] = [
    *({"mode": mode} for mode in BAD_MODES),
    *({field: names} for field in ("topics", "groups") for names in NO_NAMES),
    *({"mode": "validate", "generations": text} for text in BAD_GENERATIONS),
    *({"mode": "follow", "follow_until": text} for text in BAD_TIMES),
    *({"note": text} for text in BAD_NOTES),
    {LONG: 1},
    {f"field{number}": 1 for number in range(10_000)},
    {"four_eyes": False},
    {"approvers": ["me"]},
    {"evidence_root": "/tmp"},
    {"leave_records_of": ["orders"]},
    {"mirror_outside_window": True},
]


def require_few_words(findings: tuple[Any, ...]) -> None:
    """Hold findings to be coded, complete, short and few."""
    assert {Code.RUN_CONF_INVALID} == {finding.code for finding in findings}
    assert all(f.subject and f.found and f.expected and f.remedy for f in findings)
    assert all(len(str(finding)) < 2_000 for finding in findings)
    assert len(findings) <= MAX_UNKNOWN + 5


@pytest.mark.parametrize("params", BAD, ids=range(len(BAD)))
def test_bad_conf_is_refused_in_a_few_words(params: dict[str, Any]) -> None:
    """Every bad field is a coded finding with a remedy, of a length that a person reads."""
    with pytest.raises(Refused) as error:
        RunRequest.from_params(params)
    require_few_words(error.value.findings)


@pytest.mark.parametrize("names", NO_NAMES, ids=range(len(NO_NAMES)))
def test_bad_conf_of_a_rollback_is_refused(names: Any) -> None:
    """A rollback's list of topics is held to the same."""
    with pytest.raises(Refused) as error:
        RunRequest.from_params({"leave_records_of": names}, is_rollback=True)
    require_few_words(error.value.findings)


@pytest.mark.parametrize("letter", ["\x00", "\ud800"])
@pytest.mark.parametrize("nightly", [None, Mode.SYNC])
def test_text_that_cannot_be_stored_is_refused(letter: str, nightly: Mode | None) -> None:
    """NUL and single surrogates are refused in every field, in names and at any depth; the finding can be stored."""
    text = f"a{letter}b"
    deep: Any = text
    for _ in range(2_000):
        deep = [{"x": deep}]
    places = ({"note": text}, {"topics": ["orders", text]}, {text: 1}, {"mode": text}, {"x": {text: 1}}, {"note": deep})
    for params in places:
        with pytest.raises(Refused, match="without NUL characters") as error:
            RunRequest.from_params(params, nightly)
        require_few_words(error.value.findings)
        json.dumps([finding.to_document() for finding in error.value.findings], ensure_ascii=False).encode()


def test_other_characters_may_be_in_a_note() -> None:
    """Line ends, invisible characters and characters beyond U+FFFF are stored as they are."""
    note = "a\nb\u202e\U0001f600\ufffd\u0001"

    assert note == RunRequest.from_params({"note": note}).note


def test_name_given_twice_counts_once() -> None:
    """A name that is given twice is one name."""
    assert ("a", "b") == RunRequest.from_params({"topics": ["a", "b", "a"]}).topics


def test_many_unknown_names_are_a_few_findings() -> None:
    """Unknown names are listed up to a number, then counted."""
    findings = tuple(unknown_findings("topics", [f"{n} {LONG}" for n in range(5_000)], "topics of the migration"))

    require_few_words(findings)
    assert "4,980 more unknown names" in findings[-1].found
