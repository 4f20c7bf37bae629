"""The errors of the test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sandbox.errors import SandboxError


class ComposeTestFailed(SandboxError):
    """A check failed; the text says what was found."""


class NotPossibleHere(SandboxError):
    """This machine lacks something that the test needs; the text says what, and how to get it."""


@contextmanager
def cleaning_up() -> Iterator[None]:
    """If an error was raised before, only print errors of the block, so that the test ends with the first error."""
    before = sys.exception()
    try:
        yield
    except Exception as error:
        if before is None:
            raise
        print(f"And then: {error}", flush=True)
