"""`lint -o sarif`: the findings of `lint` in the form that code hosts read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from kafka_migration import __version__
from kafka_migration.cli.main import main
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode, Severity
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding
from kafka_migration.mirrormaker_files.model.sarif import SARIF_SCHEMA, sarif_log

# Taken from https://github.com/oasis-tcs/sarif-spec at e0583813, folder sarif-2.1/schema; LICENSE.md is beside it.
SCHEMA = Path(__file__).parent / "sarif" / "sarif-schema-2.1.0.json"
MISTAKES = "clusters = a, b\na.bootstrap.servers = h:9092\na->b.enabled = true\nreplication.factro = 3\n"


def log_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code and the log, which is valid."""
    code = main(["lint", *arguments, "-o", "sarif"])
    log = json.loads(capsys.readouterr().out)
    Draft4Validator(json.loads(SCHEMA.read_text())).validate(log)
    return code, log


def test_schema_is_the_file_that_was_taken() -> None:
    """The official schema has the recorded checksum, and its licence next to it."""
    digest, name = Path(f"{SCHEMA}.sha256").read_text().split()

    assert (name, digest) == (SCHEMA.name, hashlib.sha256(SCHEMA.read_bytes()).hexdigest())
    assert "OASIS" in (SCHEMA.parent / "LICENSE.md").read_text()
    assert json.loads(SCHEMA.read_text())["id"] == SARIF_SCHEMA


def test_each_finding_is_a_result_of_a_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result has its rule, its level, its file relative to the current folder, and its line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mm 2.properties").write_text(MISTAKES)
    code, log = log_of(capsys, "mm 2.properties")
    (run,) = log["runs"]
    main(["lint", "mm 2.properties", "-o", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]

    assert (2, "2.1.0", __version__) == (code, log["version"], run["tool"]["driver"]["semanticVersion"])
    results = [(each["ruleId"], each["level"], place(each["locations"][0])) for each in run["results"]]
    lines = [("mm%202.properties", each["line"] or None) for each in findings]
    levels = [each["severity"].replace("info", "note") for each in findings]
    assert list(zip([each["code"] for each in findings], levels, lines, strict=True)) == results
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [each["ruleId"] for each in run["results"]] == [rules[each["ruleIndex"]] for each in run["results"]]
    assert run["invocations"][0]["executionSuccessful"]


def place(location: dict[str, Any]) -> tuple[str, int | None]:
    found = location["physicalLocation"]
    return found["artifactLocation"]["uri"], found.get("region", {}).get("startLine")


def test_file_that_cannot_be_read_is_a_notification(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The log says that it is incomplete; a file of another folder has its whole address."""
    path = tmp_path / "gone.properties"
    code, log = log_of(capsys, str(path))
    (invocation,) = log["runs"][0]["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]

    assert (3, False, []) == (code, invocation["executionSuccessful"], log["runs"][0]["results"])
    assert ("MIRROR_FILE_UNREADABLE", path.as_uri()) == (
        notification["descriptor"]["id"],
        place(notification["locations"][0])[0],
    )


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("/work/a/b.properties", "a/b.properties"),
        ("/else/b.properties", "file:///else/b.properties"),
        ("../b.properties", "../b.properties"),
        ("a:b.properties", "a%3Ab.properties"),
        ("ü#?.properties", "%C3%BC%23%3F.properties"),
        ("\udcff.properties", "%FF.properties"),
        ("-", "stdin"),
    ],
)
def test_any_name_is_an_address(file: str, uri: str) -> None:
    """Whatever a file is called, its address leads to it, and every level and further line is valid."""
    findings = [
        LintFinding(code, file, 3, "k", "x", "y", "z", (5, 7))
        for code in (LintCode.LOOP, LintCode.KEY_UNKNOWN, next(c for c in LintCode if c.severity is Severity.INFO))
    ]
    log = sarif_log(findings, [], Path("/work"))

    Draft4Validator(json.loads(SCHEMA.read_text())).validate(log)
    results = log["runs"][0]["results"]
    assert ["error", "warning", "note"] == [each["level"] for each in results]
    assert [(uri, 3), (uri, 5), (uri, 7)] == [
        place(each) for each in results[0]["locations"] + results[0]["relatedLocations"]
    ]


def test_effective_has_no_findings(capsys: pytest.CaptureFixture[str]) -> None:
    """What each reader gets is no finding, so the form is refused."""
    with pytest.raises(SystemExit, match="2"):
        main(["lint", "--effective", "x", "-o", "sarif"])

    assert "-o sarif shows findings, and --effective has none" in capsys.readouterr().err
