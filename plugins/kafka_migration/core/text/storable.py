"""Texts that a database, a file and a message between Airflow's processes can hold.

JSON may contain a zero byte or half a character (a single surrogate), which PostgreSQL and UTF-8 do not take. In a
trigger's event, one such character would end the process with all triggers.
"""

from __future__ import annotations

import re
from typing import Any

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
