"""What an error of the command line is to the person who called it: a finding with a code and a remedy."""

from __future__ import annotations

import traceback
from pathlib import Path

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, FindingsError, TransientError


def findings_of(error: BaseException) -> tuple[Finding, ...]:
    """Return the findings that an error has, or the one that it is."""
    if isinstance(error, FindingsError):
        return error.findings
    if isinstance(error, TransientError):
        return (_unreachable(error),)
    if isinstance(error, OSError):
        return (_place(error),)
    if isinstance(error, ImportError):
        return (_missing(error),)
    return (_unexpected(error),)


def usage_finding(problem: str, verb: str) -> Finding:
    """Return what is wrong with the arguments."""
    return Finding(
        Code.COMMAND_INVALID,
        "the command line",
        problem,
        "arguments as its help shows them",
        f"See `{verb} --help`. Nothing was done.",
    )


def _unreachable(error: TransientError) -> Finding:
    return Finding(
        Code.CLUSTER_UNREACHABLE,
        "a cluster",
        str(error),
        "an answer in time",
        "See whether its brokers run, and whether this machine reaches the address. Then try again.",
    )


def _place(error: OSError) -> Finding:
    return Finding(
        Code.EVIDENCE_ROOT_UNREACHABLE,
        str(error.filename or "the evidence root, or a file that was named"),
        f"{type(error).__name__}: {error.strerror or error}",
        "a place that this user may read and write",
        "Correct the place or its rights, then try again. The evidence root is that of Airflow's configuration, or "
        "--evidence-root.",
    )


def _missing(error: ImportError) -> Finding:
    return Finding(
        Code.AIRFLOW_MISSING,
        f"module {error.name or 'of Airflow'}",
        str(error),
        "a Python in which Airflow and its providers are installed",
        "Run the command with the Python of Airflow. For status, verdict and stop of a plain folder, --evidence-root "
        "is enough.",
    )


def _unexpected(error: BaseException) -> Finding:
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return Finding(
        Code.COMMAND_FAILED,
        "the command",
        f"{type(error).__name__}: {error}{place}",
        "no such error",
        "If a document of the evidence root was changed by hand, restore it. Else report this line.",
    )
