"""Regular expressions that are compiled when they are used first: a short command uses few of those that it imports."""

from __future__ import annotations

import re
from typing import cast


class LazyPattern:
    """A pattern as `re.compile` returns it, except that a wrong one is refused at its first use."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> object:
        value: object = getattr(re.compile(self._pattern, self._flags), name)
        setattr(self, name, value)
        return value


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when it is used first; `re` itself does not take it as an argument."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
