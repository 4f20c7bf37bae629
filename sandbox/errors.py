"""The errors of the sandbox; their texts are shown to users."""

from __future__ import annotations


class SandboxError(Exception):
    """Base of the sandbox's errors."""


class PortTaken(SandboxError):
    """The requested port is in use by another process."""


class AlreadyRunning(SandboxError):
    """Another process runs a sandbox in the same folder."""


class ForeignFolder(SandboxError):
    """A folder that the sandbox would use holds files that no sandbox created, or belongs to another user."""


class PartDied(SandboxError):
    """A part ended unexpectedly; the text holds the end of its log."""


class PartNotReady(SandboxError):
    """A part runs but did not answer in time; the text holds the end of its log."""
