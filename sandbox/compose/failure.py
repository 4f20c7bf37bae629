"""How the test ends when it does not pass."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sandbox.errors import SandboxError


class ComposeTestFailed(SandboxError):
    """Something is not as it should be; the text says what was found."""


class NotPossibleHere(SandboxError):
    """This machine lacks something that the test needs; the text says what, and how to get it."""


@contextmanager
def cleaning_up() -> Iterator[None]:
    """Only print what fails in the block if something has failed before: that is what the test must end with."""
    before = sys.exception()
    try:
        yield
    except Exception as error:
        if before is None:
            raise
        print(f"And then: {error}", flush=True)
