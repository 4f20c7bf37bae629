"""The codes of findings on standard error."""

from __future__ import annotations

import re


def shown_codes(text: str) -> list[str]:
    """Return the code of each finding in a text, in order."""
    return re.findall(r"^([A-Z][A-Z0-9_]*) · ", text, re.MULTILINE)
