"""What can go wrong while the sandbox starts, runs or stops; each text is meant for a person."""

from __future__ import annotations


class SandboxError(Exception):
    """Base of the sandbox's errors."""


class PortTaken(SandboxError):
    """A port that was asked for is in use by somebody else."""


class AlreadyRunning(SandboxError):
    """Another process runs a sandbox in the same folder."""


class ForeignFolder(SandboxError):
    """The root folder holds files that no sandbox made; it would have to be emptied."""


class PartDied(SandboxError):
    """A part ended although nobody stopped it; the text holds the end of its log."""


class PartNotReady(SandboxError):
    """A part runs but did not answer in time; the text holds the end of its log."""
