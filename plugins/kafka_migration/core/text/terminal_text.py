"""Foreign texts as terminals, logs, lines of JSON and databases can take them; durations and counts in words."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any


def shown(text: str) -> str:
    """Return the text on one line, with terminal control characters escaped.

    Any user with write access to the evidence root may choose names, reasons and run ids. The escapes are JSON's, so
    that a line of JSON remains the same document.
    """
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))


def counted(number: int, unit: str) -> str:
    """Write a number of things, such as `1 topic` or `1,000 topics`."""
    return f"{number:,} {unit}{'s' * (number != 1)}"


def duration(seconds: float) -> str:
    """Write seconds as `1h02m`, `3m05s` or `12s`."""
    minutes, rest_s = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02}m"
    return f"{minutes}m{rest_s:02}s" if minutes else f"{rest_s}s"


def moment(at: datetime) -> str:
    """Write a moment to the second, as ISO 8601."""
    return at.isoformat(timespec="seconds")


def record_count(records: int | None) -> str:
    """Write a number of records; `None` means unknown."""
    return "not known" if records is None else f"{records:,}"


# A zero byte and half a character (a single surrogate) are JSON, but neither PostgreSQL nor UTF-8 takes them. In a
# trigger's event, one such character would end the process with all triggers.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def storable(text: str) -> str:
    """Return a text with the replacement character for each character that cannot be stored."""
    return UNSTORABLE.sub(_REPLACEMENT, text)


def storable_document(value: Any) -> Any:
    """Return plain JSON values with every text storable, names included."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable_document(name): storable_document(inner) for name, inner in value.items()}
        case list() | tuple():
            return [storable_document(inner) for inner in value]
        case _:
            return value
