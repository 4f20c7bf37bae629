"""Writes Java properties files so that every value is read back unchanged."""

from __future__ import annotations

from collections.abc import Mapping

_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
_KEY_ESCAPES = {**_ESCAPES, " ": "\\ ", ":": "\\:", "=": "\\=", "#": "\\#", "!": "\\!"}


def render_properties(properties: Mapping[str, str]) -> str:
    """Return the text of a properties file (ISO 8859-1 safe: other characters as `\\uXXXX`), in given order."""
    return "".join(f"{_escape(k, _KEY_ESCAPES)} = {_value(v)}\n" for k, v in properties.items())


def _value(value: str) -> str:
    escaped = _escape(value, _ESCAPES)
    # An unescaped leading blank would be read as part of the separator.
    return f"\\{escaped}" if escaped.startswith(" ") else escaped


def _escape(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(c, c if " " <= c <= "~" else _unicode(c)) for c in text)


def _unicode(character: str) -> str:
    utf16 = character.encode("utf-16-be").hex()
    return "".join(f"\\u{utf16[i : i + 4]}" for i in range(0, len(utf16), 4))
