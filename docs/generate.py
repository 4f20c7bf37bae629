"""Writes the reference pages that are generated from the code: `python docs/generate.py [--check]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS.parent / "plugins"), str(DOCS.parent)]

from entries import entries  # noqa: E402
from option_tables import with_options  # noqa: E402

from bench.page import page  # noqa: E402
from kafka_migration.core.findings.codes import ACCEPTABLE  # noqa: E402
from kafka_migration.core.findings.more_steps import COPY_AGAIN  # noqa: E402
from kafka_migration.core.text.markdown import table  # noqa: E402
from kafka_migration.migration_file.json_schema import Schema, migration_schema  # noqa: E402
from kafka_migration.migration_file.models import MigrationModel  # noqa: E402
from kafka_migration.migration_file.scalars import DURATION_SCHEMA, TIME_OF_DAY_SCHEMA  # noqa: E402
from kafka_migration.preflight.checks import CHECKS  # noqa: E402
from tests.live import reliability_table  # noqa: E402

NOTICE = "<!-- Written by docs/generate.py from the code; do not edit by hand. -->\n\n"


def error_codes() -> str:
    """Return the page of all codes."""
    return (
        f"# Error codes\n\n{NOTICE}Every refusal and finding has one of these codes.\nThe finding names the object, "
        "says what happened, why it matters and what to do.\nCodes are never renamed.\nThe exit codes are those of the "
        "[command line](reference/cli.md).\n"
        "[`kafka-migration explain CODE`](reference/cli.md#explain) prints what this page says of a code.\n"
        "If something is broken now, start with the [runbook](runbook.md#what-is-broken-right-now).\n\n"
        f"{entries('error-codes.md', 'error code')}"
    )


def labels() -> str:
    """Return the page of the kinds of alerts, the labels of differences, and the verdicts."""
    return (
        f"# Alerts, labels, verdicts\n\n{NOTICE}[`kafka-migration explain NAME`](cli.md#explain) prints what this page "
        "says of a name.\n[Alerts](../alerts.md) are sent by a run.\n[Labels](../concepts/validation.md#labels) and "
        "[verdicts](../concepts/validation.md#verdicts) are those of a validation.\n\n"
        f"{entries('reference/labels.md', 'alert', 'label', 'verdict')}"
    )


def repair() -> str:
    """Return the page that copies a topic again."""
    return (
        f"# Repair a wrong copy\n\n{NOTICE}Use these steps after `COPY_DIFFERS`, `TARGET_WRITTEN_BY_OTHERS`, "
        "`TARGET_TOPIC_MISSING` or `TARGET_TOPIC_RECREATED`.\n\nThe ledger forgets nothing, so the topic needs a "
        "migration file with another name, and thus another ledger.\n\n"
        '!!! danger "Not after the cutover of the topic"\n'
        "    After the cutover the target holds records that no other cluster has.\n    [Roll back](rollback.md) first."
        f"\n\n{COPY_AGAIN}\n"
    )


def migration_file() -> str:
    """Return the reference of the migration file."""
    # Its first line names the schema by a path that only the file itself has.
    example = (DOCS.parent / "include" / "migrations" / "demo.yaml").read_text().partition("\n")[2]
    schema = MigrationModel.model_json_schema()
    rows = list(_rows(schema, schema["$defs"], ""))
    return (
        f"# The migration file\n\n{NOTICE}One YAML file describes one migration.\n`include/migrations/<name>.yaml` "
        "gives the DAGs `kafka_migration__<name>`, `kafka_nightly_sync__<name>` and `kafka_rollback__<name>`.\nAirflow "
        "lists them as `<name> · migrate`, `<name> · nightly sync` and `<name> · rollback`.\nUnknown fields are "
        "refused.\nA duration is a number with the unit `s`, `m`, `h` or `d`.\nNumbers have decimal "
        "digits only: what YAML reads differently, such as `0777`, `1:30` or `1_000`, is refused.\n"
        "Addresses and secrets are "
        "in Airflow connections, never in this file.\nThe sections `watch`, `cutover`, `nightly`, `alerts` and "
        "`schema_registry` are optional; *required* applies only in a section that is there.\n"
        "Editors check a file with its [JSON Schema](migration-file.schema.json), which "
        "[`kafka-migration schema`](reference/cli.md#schema) prints.\n\n"
        f"{table(('Field', 'Type', 'Default', 'Meaning'), rows)}\n\n## Example\n\n```yaml\n{example}```\n"
    )


_FORMS = {DURATION_SCHEMA["pattern"]: "duration", TIME_OF_DAY_SCHEMA["pattern"]: "HH:MM"}


def editors_schema() -> str:
    """Return the JSON Schema of the migration file."""
    return json.dumps(migration_schema(), indent=1, ensure_ascii=False) + "\n"


def _rows(schema: Schema, definitions: Schema, prefix: str) -> Iterator[tuple[str, str, str, str]]:
    for name, field in schema["properties"].items():
        item = field.get("items", {})
        options = (field, *field.get("anyOf", ()), item, *item.get("anyOf", ()))
        reference = next((option["$ref"] for option in options if "$ref" in option), None)
        if reference:
            path = f"{prefix}{name}[]." if item else f"{prefix}{name}."
            yield from _rows(definitions[reference.rpartition("/")[2]], definitions, path)
        else:
            default = "required" if name in schema.get("required", ()) else _default(field)
            yield f"`{prefix}{name}`", _type(field), default, field.get("description", "")


def _type(field: Schema) -> str:
    if "anyOf" in field:
        return " or ".join(_type(option) for option in field["anyOf"] if option.get("type") != "null")
    if "const" in field:
        return f"`{field['const']}`"
    if field.get("enum") == sorted(ACCEPTABLE):
        return "[code](reference/checks.md#findings-that-a-migration-file-may-accept)"
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    if field["type"] == "array":
        return f"list of {_type(field['items'])}"
    if field.get("pattern") in _FORMS:
        return _FORMS[field["pattern"]]
    return {"integer": "number", "boolean": "`true` or `false`", "object": "mapping"}.get(field["type"], "text")


def _default(field: Schema) -> str:
    default = field.get("default")
    if default is None or default == []:
        return "–"
    return f"`{json.dumps(default) if isinstance(default, list | bool) else default}`"


def reliability() -> str:
    """Return the page about interruptions in the middle of a run and their outcomes."""
    outcomes = table(("Outcome", "Meaning"), list(reliability_table.OUTCOMES.items()))
    scenarios = table(reliability_table.HEADS, reliability_table.rows())
    return (
        f"# Reliability\n\n{NOTICE}{reliability_table.INTRODUCTION}\n\n{outcomes}\n\n{scenarios}\n\n"
        f"{reliability_table.LEGEND}\n"
    )


def lint_codes() -> str:
    """Return the page of the codes of `kafka-migration lint`."""
    return (
        f"# Codes of `lint` and `import`\n\n{NOTICE}[`kafka-migration lint`](cli.md#lint) and "
        "[`kafka-migration import`](cli.md#import) give each finding one of these codes.\n"
        "The finding names the file, the line, the key, what was found, what was expected, and the fix.\n"
        "Codes are never renamed.\n"
        "An *error*: something does not start, or the copy can lack, double or reorder records.\n"
        "A *warning*: it works, but a line has no effect, costs time, or has a safer or later way.\n"
        "An *info* is a hint.\n"
        "A misspelt key that only costs time, such as an interval, is a warning.\n\n"
        f"{entries('reference/lint.md', 'lint code')}"
    )


def checks() -> str:
    """Return the page of the checks of preflight."""
    rows = [(check.name, (check.rule.__doc__ or "").partition("\n")[0]) for check in CHECKS]
    accepted = [(f"`{code}`", code.accepted) for code in sorted(ACCEPTABLE)]
    return (
        f"# Checks of preflight\n\n{NOTICE}The task `preflight` and [`kafka-migration preflight`](cli.md#preflight) "
        "run these checks in this order.\nAll are run, and all findings are reported together, each with its "
        "[code](../error-codes.md).\nA check is *passed*, *failed*, *accepted*, or *not applicable* with the reason.\n"
        "A warning does not refuse the run.\n\n"
        f"{table(('Check', 'What it checks'), rows)}\n\n## Findings that a migration file may accept\n\n"
        "The field `accept` of the [migration file](../migration-file.md) names findings that you have judged "
        "yourself.\nAn accepted finding neither refuses the run nor is a warning; evidence and report name it.\n"
        "No other code is acceptable: the other checks protect records and offsets, or nothing could work without "
        "them.\nThe reasons are in [ADR 0037](../adr/0037-accepted-findings.md).\n\n"
        f"{table(('Code', 'What you say with it'), accepted)}\n"
    )


def command_line() -> str:
    """Return the page of the command line, which is written by hand except for the tables of options."""
    return with_options((DOCS / "reference" / "cli.md").read_text())


PAGES = {
    "operate/benchmarks.md": partial(page, NOTICE),
    "error-codes.md": error_codes,
    "howto/repair.md": repair,
    "reference/checks.md": checks,
    "reference/cli.md": command_line,
    "reference/labels.md": labels,
    "reference/lint.md": lint_codes,
    "migration-file.md": migration_file,
    "migration-file.schema.json": editors_schema,
    "operate/reliability.md": reliability,
}


def main() -> int:
    """Write the pages, or with `--check` report stale ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = [name for name, page in PAGES.items() if not _is_current(DOCS / name, page())]
    for name in stale if not check else ():
        (DOCS / name).write_text(PAGES[name]())
    if check and stale:
        sys.stderr.write(f"stale: {', '.join(stale)}; run python docs/generate.py\n")
    return int(check and bool(stale))


def _is_current(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main())
