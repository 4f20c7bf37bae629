"""Moments as people read them: in the time zone of a migration, with UTC beside it.

Programs read ISO 8601 in UTC; documents, JSON answers, metrics and tables for programs have no other form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

_MINUTE, _SECOND = "%H:%M", "%H:%M:%S"


@dataclass(frozen=True, slots=True)
class LocalTime:
    """Writes moments in a time zone, such as `2026-12-02 03:42 CET (02:42 UTC)`.

    The zone is a name of the IANA database; a name that this machine does not know counts as UTC. A moment is a time
    with a zone, or its ISO 8601 text; any other text stays as it is. Moments are rounded down. While the zone has the
    time of UTC, a moment is written once.
    """

    zone: str = "UTC"

    def minute(self, at: datetime | str) -> str:
        """Write a moment to the minute."""
        return self._written(at, f"%Y-%m-%d {_MINUTE}", _MINUTE)

    def second(self, at: datetime | str) -> str:
        """Write a moment to the second."""
        return self._written(at, f"%Y-%m-%d {_SECOND}", _SECOND)

    def weekday(self, at: datetime | str) -> str:
        """Write a moment to the minute, with its day of the week."""
        return self._written(at, f"%a %Y-%m-%d {_MINUTE}", _MINUTE)

    def clock(self, at: datetime, since: datetime, *, seconds: bool = False) -> str:
        """Write the time of a moment; its day too, if that is another one than the day of an earlier moment."""
        time, local = _SECOND if seconds else _MINUTE, self._local(at)
        day = "" if local.date() == self._local(since).date() else f" on {local.day} {local:%B}"
        return f"{local:{time}} {_zone_of(local)}{day}{_beside(local, time)}"

    def cell(self, at: datetime | str) -> str:
        """Write a moment to the second for a cell of a table, without UTC beside it."""
        local = self._known(at)
        return str(at) if local is None else f"{local:%Y-%m-%d {_SECOND}} {_zone_of(local)}"

    def within(self, text: str) -> str:
        """Return a text with each moment in ISO 8601 that is a word of its own, to the second, as people read it."""
        return _ISO.sub(lambda found: self.second(found[0]), text)

    def _written(self, at: datetime | str, form: str, beside: str) -> str:
        local = self._known(at)
        return str(at) if local is None else f"{local:{form}} {_zone_of(local)}{_beside(local, beside)}"

    def _known(self, at: datetime | str) -> datetime | None:
        """Return the moment in the zone; `None` for a text that is not one, or names no zone."""
        try:
            moment = datetime.fromisoformat(at) if isinstance(at, str) else at
            return None if moment.tzinfo is None else self._local(moment)
        except (OverflowError, ValueError):
            return None

    def _local(self, at: datetime) -> datetime:
        return at.astimezone(_zone(self.zone))


IN_UTC = LocalTime()
# A run id has one too, behind a letter.
_ISO = re.compile(
    r"(?<![\w/-])[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})(?![\w/-])"
)


@lru_cache(maxsize=64)
def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return UTC


def _zone_of(local: datetime) -> str:
    """Return the abbreviation of the zone at a moment; some zones have only a number."""
    name = local.tzname() or ""
    return "UTC" if not local.utcoffset() else f"UTC{name}" if name[:1] in {"+", "-"} else name


def _beside(local: datetime, time: str) -> str:
    """Return the same moment in UTC in brackets, with its date if that is another one; empty if it is UTC already."""
    if local.utcoffset() == timedelta():
        return ""
    moment = local.astimezone(UTC)
    day = "" if moment.date() == local.date() else "%Y-%m-%d "
    return f" ({moment:{day}{time}} UTC)"
