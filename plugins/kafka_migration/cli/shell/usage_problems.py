"""Converts an error of the command line into findings with a code and a remedy."""

from __future__ import annotations

import traceback
from pathlib import Path

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, FindingsError, TransientError
from kafka_migration.core.run.airflow_version import airflow_findings
from kafka_migration.core.text.secret_forms import masked


def findings_of(error: BaseException) -> tuple[Finding, ...]:
    """Return the findings of an error, or one finding that describes it."""
    if isinstance(error, FindingsError):
        return error.findings
    if isinstance(error, TransientError):
        return (error.finding or _unreachable(error),)
    if isinstance(error, OSError):
        return (_place(error),)
    if isinstance(error, ImportError):
        return _too_old() or (_missing(error),)
    return (_unexpected(error),)


def usage_finding(problem: str, verb: str) -> Finding:
    """Return the finding for invalid arguments; `verb` is the command with its verb."""
    return Finding(
        Code.COMMAND_INVALID,
        verb,
        masked(problem),
        "arguments as shown in the help",
        f"See {verb} --help.",
        happened=f"The command line is not valid: {masked(problem)}.",
        matters="It is unknown what you meant, so nothing was done.",
    )


def _unreachable(error: TransientError) -> Finding:
    return Finding(
        Code.CLUSTER_UNREACHABLE,
        "a cluster",
        str(error),
        "an answer in time",
        "Check that its brokers run and that this machine reaches them. Then run the command again.",
        happened=f"A cluster did not answer in time: {error}.",
        matters="What the cluster has is unknown, so the command has no answer.",
    )


def _place(error: OSError) -> Finding:
    return Finding(
        Code.EVIDENCE_ROOT_UNREACHABLE,
        str(error.filename or "the evidence root, or a given file"),
        f"{type(error).__name__}: {error.strerror or error}",
        "a location that this user may read and write",
        "Correct the location or its permissions, then try again. The evidence root comes from --evidence-root or "
        "Airflow's configuration.",
        happened=f"{error.filename or 'The evidence root or a given file'} could not be used "
        f"({type(error).__name__}: {error.strerror or error}).",
        matters="The command could not read or write there, so it has no answer.",
    )


def _too_old() -> tuple[Finding, ...]:
    try:
        from kafka_migration.airflow_adapters.deployed_airflow import AIRFLOW_VERSION
    except ImportError:
        return ()
    return airflow_findings(AIRFLOW_VERSION)


def _missing(error: ImportError) -> Finding:
    return Finding(
        Code.AIRFLOW_MISSING,
        f"module {error.name or 'of Airflow'}",
        str(error),
        "a Python environment with Airflow and its providers",
        "Run the command with the Python of Airflow. Only status, verdict and stop need no Airflow if --evidence-root "
        "names a local folder.",
        happened=f"This Python cannot import {error.name or 'a module of Airflow'} ({error}).",
        matters="The command needs Airflow's configuration and connections, so it did nothing.",
    )


def _unexpected(error: BaseException) -> Finding:
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return Finding(
        Code.COMMAND_FAILED,
        "the command",
        f"{type(error).__name__}: {error}{place}",
        "no error",
        "If a document of the evidence root was edited manually, restore it and run the command again. Otherwise "
        "report these lines as a bug of this package.",
        happened=f"The command ended with an unexpected error ({type(error).__name__}: {error}{place}).",
        matters="Its answer is missing or incomplete, so do not rely on it.",
    )
