"""Rules of how people read a moment: in the zone of the migration, with UTC beside it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest

from kafka_migration.core.text.local_time import IN_UTC, LocalTime

BERLIN = LocalTime("Europe/Berlin")
AT = "2026-12-02T02:42:11+00:00"


def test_a_moment_has_the_time_of_the_zone_and_of_utc() -> None:
    """Each form has the local time with its zone; outside of tables UTC stands beside it."""
    at = datetime.fromisoformat(AT)

    assert "2026-12-02 03:42 CET (02:42 UTC)" == BERLIN.minute(AT) == BERLIN.minute(at)
    assert "2026-12-02 03:42:11 CET (02:42:11 UTC)" == BERLIN.second(AT)
    assert "Wed 2026-12-02 03:42 CET (02:42 UTC)" == BERLIN.weekday(AT)
    assert "03:42 CET (02:42 UTC)" == BERLIN.clock(at, at)
    assert "2026-12-02 03:42:11 CET" == BERLIN.cell(AT)


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC", "Africa/Abidjan"])
def test_in_a_zone_with_the_time_of_utc_a_moment_is_written_once(zone: str) -> None:
    """Two equal times beside each other would be noise."""
    assert "2026-12-02 02:42 UTC" == LocalTime(zone).minute(AT)


@pytest.mark.parametrize(
    ("at", "written"),
    [
        # On 29 March 2026 at 01:00 UTC the clocks go from 02:00 to 03:00.
        ("2026-03-29T00:59:59Z", "2026-03-29 01:59:59 CET (00:59:59 UTC)"),
        ("2026-03-29T01:00:00Z", "2026-03-29 03:00:00 CEST (01:00:00 UTC)"),
        # On 25 October 2026 at 01:00 UTC they go from 03:00 back to 02:00.
        ("2026-10-25T00:30:00Z", "2026-10-25 02:30:00 CEST (00:30:00 UTC)"),
        ("2026-10-25T01:30:00Z", "2026-10-25 02:30:00 CET (01:30:00 UTC)"),
    ],
)
def test_both_switches_of_daylight_saving_time(at: str, written: str) -> None:
    """No local time is skipped or doubled without its zone telling which of the two it is."""
    assert written == BERLIN.second(at)
    assert written.partition(" (")[0] == BERLIN.cell(at)


def test_every_hour_of_a_year_is_unambiguous() -> None:
    """In every form, also without UTC beside it, different hours are different texts."""
    hours = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number) for number in range(365 * 24)]

    for form in (BERLIN.minute, BERLIN.second, BERLIN.weekday, BERLIN.cell):
        assert len(hours) == len(set(map(form, hours)))


def test_another_day_in_utc_is_written_too() -> None:
    """Half an hour after midnight in Berlin, it is the day before in UTC."""
    assert "2026-12-02 00:30 CET (2026-12-01 23:30 UTC)" == BERLIN.minute("2026-12-01T23:30:00+00:00")


def test_clock_has_the_day_if_it_is_another_one() -> None:
    """A deadline after midnight names its day; one of the same day does not."""
    evening = datetime(2026, 12, 1, 22, tzinfo=UTC)

    assert "00:30 CET on 2 December (2026-12-01 23:30 UTC)" == BERLIN.clock(evening + timedelta(minutes=90), evening)
    assert "23:30:00 CET (22:30:00 UTC)" == BERLIN.clock(evening + timedelta(minutes=30), evening, seconds=True)


def test_zone_without_letters_has_its_distance_from_utc() -> None:
    """Some zones have only a number, which would look like a part of the time."""
    assert "2026-12-01 23:42 UTC-03 (2026-12-02 02:42 UTC)" == LocalTime("America/Sao_Paulo").minute(AT)


@pytest.mark.parametrize("zone", ["", "Mars/Base", "../../etc/passwd", "/etc/localtime", "Europe", "a\0b", "x" * 9_999])
def test_unknown_zone_is_utc(zone: str) -> None:
    """A document that names an unknown zone, or another machine's zone, can still be read."""
    assert "2026-12-02 02:42 UTC" == LocalTime(zone).minute(AT)


@pytest.mark.parametrize("text", ["", "soon", "2026-12-02T02:42", "2026-99-02T02:42:11Z", "0001-01-01T00:00:00+14:00"])
def test_text_that_is_no_moment_stays_as_it_is(text: str) -> None:
    """A document may say anything; without a zone, a time could be any."""
    for form in (BERLIN.minute, BERLIN.second, BERLIN.weekday, BERLIN.cell, IN_UTC.minute):
        assert text == form(text)


def test_moments_within_a_text() -> None:
    """Each moment of a text is written for people; a run id, a path and a part of a word stay."""
    text = f"judged at {AT} by manual__{AT}#1 (x-{AT}, /a/{AT}, {AT})."

    judged = "judged at 2026-12-02 03:42:11 CET (02:42:11 UTC) by"
    end = "2026-12-02 03:42:11 CET (02:42:11 UTC))."
    assert f"{judged} manual__{AT}#1 (x-{AT}, /a/{AT}, {end}" == BERLIN.within(text)
    assert "no moment" == BERLIN.within("no moment")


def test_every_zone_can_be_written() -> None:
    """A moment in any zone of the database has a clock and the name of a zone."""
    for zone in sorted(available_timezones()):
        assert re.fullmatch(
            r"2026-12-0[123] \d\d:\d\d (UTC|[A-Z]{2,5}|UTC[+-]\d{2,4}|Local time zone must be set.*|-00|\w+)"
            r"( \((2026-12-02 )?02:42 UTC\))?",
            LocalTime(zone).minute(AT),
        ), zone
        assert ZoneInfo(zone)
