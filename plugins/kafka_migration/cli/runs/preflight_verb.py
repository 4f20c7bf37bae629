"""`kafka-migration preflight`: the checks of a run, without a run."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from kafka_migration.cli.shell.airflow_access import shown_deployment, this_airflow
from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_file, add_output
from kafka_migration.cli.shell.conf_options import OFFERED, ROLLBACKS, add_conf, conf_of
from kafka_migration.cli.shell.output import ExitCode, JsonObject, aligned, respond
from kafka_migration.cli.shell.progress_line import working
from kafka_migration.core.findings.junit_cases import findings_case
from kafka_migration.core.text.junit import CaseOutcome, JunitCase, JunitSuite, junit_xml
from kafka_migration.preflight.scene.check import CheckResult
from kafka_migration.steps.before.planned_run import preview
from kafka_migration.steps.before.preflight_checks import checked

PREFLIGHT_SCHEMA = 1


def add_preflight(verbs: Verbs) -> None:
    """Add the verb `preflight`."""
    verb = add_bare_verb(verbs, preflight, "preflight", "preflight demo --mode cutover")
    add_file(verb)
    add_conf(verb, (*OFFERED, *ROLLBACKS))
    add_output(verb, "table", "json", "junit")


def preflight(arguments: Namespace) -> int:
    """Print the result of each check; progress, findings and warnings go to standard error."""
    with preview(arguments.name, conf_of(arguments), shown_deployment(arguments.migrations)) as run:
        results = checked(run, this_airflow(), begins=lambda words: working(f"Checking {words}"))
    lines = aligned([("CHECK", "RESULT"), *((result.name, _words(result)) for result in results)])
    lines += [f"accepted: {finding}" for result in results for finding in result.accepted]
    findings = [each for result in results for each in result.findings]
    warnings = [each for result in results for each in result.warnings]
    respond(arguments, _document(arguments, results), lines, findings + warnings, junit=lambda: _junit(results))
    return ExitCode.REFUSED if findings else ExitCode.DONE


def _words(result: CheckResult) -> str:
    warnings = f", {len(result.warnings)} warning{'s' * (len(result.warnings) > 1)}" if result.warnings else ""
    return f"{result.state}{f': {result.reason}' if result.reason else ''}{warnings}"


def _junit(results: Sequence[CheckResult]) -> str:
    return junit_xml(JunitSuite("kafka-migration preflight", list(map(_case, results))))


def _case(result: CheckResult) -> JunitCase:
    if result.not_applicable is not None:
        return JunitCase(result.name, CaseOutcome.SKIPPED, result.not_applicable)
    return findings_case(result.name, result.findings, (*result.warnings, *result.accepted))


def _document(arguments: Namespace, results: Sequence[CheckResult]) -> JsonObject:
    return {
        "schema": PREFLIGHT_SCHEMA,
        "migration": arguments.name,
        "conf": conf_of(arguments),
        "has_passed": not any(result.findings for result in results),
        "checks": [result.document.to_document() for result in results],
    }
