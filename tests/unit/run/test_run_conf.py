"""Which fields of a run's conf which modes use."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.run_conf import USED_BY
from kafka_migration.steps.run.run_request import RunRequest

GIVEN: dict[str, Any] = {
    "note": "CHG-1",
    "topics": ["orders"],
    "groups": ["billing"],
    "generations": "3-5",
    "follow_until": "2130-01-01T00:00:00+00:00",
    "leave_records_of": ["orders"],
    "mirror_outside_window": True,
}
# Written out, not derived: what a person may give in which mode.
TAKEN = {
    Mode.REHEARSE: {"note", "topics", "groups"},
    Mode.SYNC: {"note", "topics"},
    Mode.FOLLOW: {"note", "topics", "follow_until"},
    Mode.VALIDATE: {"note", "topics", "generations"},
    Mode.CUTOVER: {"note", "topics", "groups"},
    Mode.INTERVAL: {"note", "mirror_outside_window"},
    Mode.RESTORE: {"note", "leave_records_of"},
    Mode.FAIL_BACK: {"note", "leave_records_of"},
}


def _request(mode: Mode, params: dict[str, Any]) -> RunRequest:
    if mode is Mode.INTERVAL:
        return RunRequest.from_params(params, mode)
    return RunRequest.from_params({"mode": str(mode), **params}, is_rollback=mode.rolls_back)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("field", list(GIVEN))
def test_every_field_in_every_mode(mode: Mode, field: str) -> None:
    """A field that the mode uses is taken; one that it would ignore is refused, by its name."""
    if field in TAKEN[mode]:
        assert _request(mode, {field: GIVEN[field]}).mode is mode
        return
    with pytest.raises(Refused) as refused:
        _request(mode, {field: GIVEN[field]})

    assert [Code.RUN_CONF_INVALID] == [finding.code for finding in refused.value.findings]
    assert f"run conf field {field}" == refused.value.findings[0].subject


@pytest.mark.parametrize("mode", list(Mode))
def test_empty_fields_are_not_given(mode: Mode) -> None:
    """The form sends every field; an empty one asks for nothing."""
    fields = RunRequest.ROLLBACK_FIELDS if mode.rolls_back else RunRequest.MANUAL_FIELDS
    empty: dict[str, list[str] | None] = {
        name: [] if name in {"topics", "groups", "leave_records_of"} else None for name in fields if name != "mode"
    }

    assert _request(mode, {} if mode is Mode.INTERVAL else empty).mode is mode


def test_refusal_names_the_modes_that_use_it() -> None:
    """The finding shows the value and the modes in which the field means something."""
    with pytest.raises(Refused) as refused:
        _request(Mode.SYNC, {"groups": ["billing"]})

    (finding,) = refused.value.findings
    assert "['billing'] in mode sync" == finding.found
    assert "mode rehearse or cutover, or no field groups" == finding.expected


def test_table_knows_every_field() -> None:
    """A new field of a form gets its modes, or every run that gives it would end in an error."""
    forms = {*RunRequest.MANUAL_FIELDS, *RunRequest.NIGHTLY_FIELDS, *RunRequest.ROLLBACK_FIELDS}

    assert forms == set(USED_BY)
