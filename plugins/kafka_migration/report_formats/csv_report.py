"""The topics and groups of a run as CSV, one row each, for spreadsheets and programs.

Every row has all columns, so rows of several runs can be put together. A column that does not apply to a row is empty;
an unknown number is `not known`.
"""

from __future__ import annotations

import csv
import io

from kafka_migration.core.report.run_document import GroupResult, RunDocument
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some
from kafka_migration.core.text.terminal_text import shown
from kafka_migration.core.validation.judge_document import JudgedTopic

OF_RUN = ("migration", "dag_id", "run_id", "attempt", "mode", "finished_at", "outcome")
COLUMNS = (
    *OF_RUN,
    "kind",
    "name",
    "verdict",
    "result",
    "source_records",
    "target_records",
    "proved_records",
    "partitions",
    "partitions_without_offset",
    "delivered_again",
    "reasons",
)
# With these a spreadsheet begins a formula, also in their wide forms.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
NOT_KNOWN = "not known"


def render_csv(run: RunDocument) -> str:
    """Return the table, with CRLF and the quotes of RFC 4180."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="")
    writer.writeheader()
    for row in (*map(_topic, run.topics), *map(_group, run.groups)):
        writer.writerow({name: _cell(value) for name, value in {**_run(run), **row}.items()})
    return text.getvalue()


def _run(run: RunDocument) -> dict[str, str]:
    return {name: str(getattr(run, name)) for name in OF_RUN}


def _topic(topic: JudgedTopic) -> dict[str, str]:
    return {
        "kind": "topic",
        "name": topic.topic,
        "verdict": topic.verdict,
        "result": topic.standing,
        "source_records": _number(topic.source_records),
        "target_records": _number(topic.target_records),
        "proved_records": _number(topic.whole.target_records) if topic.whole else "",
        "reasons": _reasons(topic.whole.reasons if topic.whole else ()),
    }


def _group(group: GroupResult) -> dict[str, str]:
    return {
        "kind": "group",
        "name": group.group,
        "verdict": group.verdict,
        "result": group.outcome.replace("_", " "),
        "partitions": _number(group.partitions),
        "partitions_without_offset": _number(group.unset_partitions),
        "delivered_again": _number(group.delivered_again),
        "reasons": _reasons(group.reasons),
    }


def _reasons(reasons: tuple[str, ...]) -> str:
    return some(reasons, separator="; ", longest=LONGEST_SENTENCE, where="run.json has all")


def _number(count: int | None) -> str:
    return NOT_KNOWN if count is None else str(count)


def _cell(value: str) -> str:
    """Return a value on one line, after an apostrophe if a spreadsheet would calculate it."""
    return shown(f"'{value}" if value.startswith(_FORMULA) else value)
