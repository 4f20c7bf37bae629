"""How the test ends when it does not pass."""

from __future__ import annotations

from sandbox.errors import SandboxError


class ComposeTestFailed(SandboxError):
    """Something is not as it should be; the text says what was found."""


class NotPossibleHere(SandboxError):
    """This machine lacks something that the test needs; the text says what, and how to get it."""
