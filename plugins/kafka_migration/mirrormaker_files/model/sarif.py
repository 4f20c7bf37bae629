"""The findings of `lint` as SARIF 2.1.0, which code hosts and editors show beside the lines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kafka_migration import __version__
from kafka_migration.core.findings.errors import Finding
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode, Severity
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif_log(findings: Sequence[LintFinding], refused: Sequence[Finding], here: Path) -> dict[str, Any]:
    """Return one run with the codes as rules; files that could not be read are notifications.

    :param here: the current folder, to which the addresses of files in it are relative
    """
    codes = sorted({finding.code for finding in findings})
    driver = {"name": "kafka-migration lint", "semanticVersion": __version__, "rules": list(map(_rule, codes))}
    notifications = [
        {"level": "error", "descriptor": {"id": each.code}, "message": {"text": " ".join(each.sentences)}}
        | {"locations": [_location(each.subject, 0, here)]}
        for each in refused
    ]
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not refused, "toolExecutionNotifications": notifications}],
        "results": [{"ruleIndex": codes.index(each.code), **_result(each, here)} for each in findings],
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: LintCode) -> dict[str, Any]:
    texts = {"shortDescription": code.meaning, "fullDescription": code.meaning, "help": code.act}
    shown = {key: {"text": text} for key, text in texts.items()}
    return {"id": code, **shown, "defaultConfiguration": {"level": _LEVELS[code.severity]}}


def _result(finding: LintFinding, here: Path) -> dict[str, Any]:
    others = [_location(finding.file, line, here) for line in finding.others]
    return {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [_location(finding.file, finding.line, here)],
        **({"relatedLocations": others} if others else {}),
    }


def _location(file: str, line: int, here: Path) -> dict[str, Any]:
    region = {"region": {"startLine": line}} if line else {}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(file, here)}, **region}}


def _uri(file: str, here: Path) -> str:
    """Return a relative address for a file in the current folder; a file of another folder has its whole address."""
    path = Path("stdin" if file == "-" else file)
    if path.is_relative_to(here):
        path = path.relative_to(here)
    # A name may have bytes that are no text.
    return f"{'file://' if path.is_absolute() else ''}{quote(os.fsencode(path))}"
