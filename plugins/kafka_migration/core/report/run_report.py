"""Rendering of `run.json` as Markdown: verdict first, then why, then the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from kafka_migration.core.cutover.plan_page import more_words
from kafka_migration.core.findings.by_cause import by_cause
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.decisions import people
from kafka_migration.core.report.moved_offsets import offsets_of_groups
from kafka_migration.core.report.next_steps import next_acts
from kafka_migration.core.report.readiness import readiness
from kafka_migration.core.report.run_phases import course
from kafka_migration.core.text.markdown import escaped, shown, table
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some
from kafka_migration.core.validation.difference_words import describe_counts, kcat_command


def render_report(run: Mapping[str, Any]) -> str:
    """Return the Markdown report of an assembled run."""
    parts = (
        _headline,
        _findings,
        _accepted,
        _ready,
        _next_steps,
        people,
        course,
        _topic_list,
        _topics,
        _differences,
        _groups,
        _target_only,
        _decommission,
        _hooks,
        _mirror,
        _tasks,
    )
    sections = [part(run) for part in parts]
    return "\n\n".join(section for section in sections if section) + "\n"


def _headline(run: Mapping[str, Any]) -> str:
    interval = run["interval"]
    of = f", records of [{_told(interval['start'])}, {_told(interval['end'])})" if interval else ""
    mode = f"mode {shown(run['mode'])}" + (f" of generation {_told(run['generations'])}" if run["generations"] else "")
    note = f"\n- Note: {escaped(run['note'])}" if run["note"] else ""
    reason = f"- Nothing was done: {_told(run['reason'])}\n" if run["reason"] else ""
    return (
        f"# {_told(run['migration'])}{of}: {_told(_result(run))}\n\n"
        f"- Run: {shown(run['run_id'])} of {shown(run['dag_id'])}, attempt {run['attempt']}, {mode}\n"
        f"{reason}- Finished: {_told(run['finished_at'])}\n"
        f"- Migration file: SHA-256 {shown(run['migration_digest'])}, package {_told(run['package_version'])}{note}"
    )


def _result(run: Mapping[str, Any]) -> str:
    if run["mode"] in {Mode.RESTORE, Mode.FAIL_BACK}:
        return f"rollback ({run['outcome']})"
    return f"{run['verdict'] or 'no verdict'} ({run['outcome']})"


_PARTS = ("code", "subject", "found", "expected", "remedy")


def _findings(run: Mapping[str, Any]) -> str:
    parts = []
    for title, findings in (("What is wrong", run["findings"]), ("Worth knowing", run["warnings"])):
        # As they are: a text of another version is shown too.
        merged = map(asdict, by_cause(Finding(*(each[name] for name in _PARTS)) for each in findings))
        lines = [f"{_finding(finding)} {_told(finding['remedy'])}" for finding in merged]
        if lines:
            parts.append(f"## {title}\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def _finding(finding: Mapping[str, str]) -> str:
    subject, found, expected = (_told(finding[name]) for name in ("subject", "found", "expected"))
    return f"- **{_told(finding['code'])}** · {subject}: found {found}; expected {expected}."


def _accepted(run: Mapping[str, Any]) -> str:
    """Return the findings of preflight that the migration file accepts."""
    lines = [_finding(finding) for finding in run["steps"].get("preflight", {}).get("accepted", ())]
    return "## Accepted by the migration file\n\n" + "\n".join(lines) if lines else ""


def _told(text: str) -> str:
    # The report is also read as plain text.
    return escaped(text, is_file=True)


def _topic_list(run: Mapping[str, Any]) -> str:
    """Return what the patterns of the migration file found; empty for a file without patterns."""
    found = run["steps"].get("topic-list")
    if not found:
        return ""
    lines = [
        f"- Selected by the names and patterns of the migration file: {len(found['topics']):,} topics.",
        *([f"- New on the source: {_told(some(found['new']))}."] if found["new"] else []),
        *([f"- No longer on the source: {_told(some(found['vanished']))}."] if found["vanished"] else []),
        *(f"- Not copied: {_told(topic)}, {_told(reason)}." for topic, reason in found["left_out"].items()),
    ]
    return "## Topics by pattern\n\n" + "\n".join(lines)


def _topics(run: Mapping[str, Any]) -> str:
    if not run["topics"]:
        return ""
    rows = [
        (
            shown(topic["topic"]),
            _told(topic["verdict"]),
            record_count(topic["source_records"]),
            record_count(topic["target_records"]),
            *_whole(topic),
        )
        for topic in run["topics"]
    ]
    verdict_of = "the interval" if run["interval"] else "this run"
    header = ("Topic", f"Verdict of {verdict_of}", "Source records", "Target records", "Whole topic", "Proved in total")
    return "\n\n".join(["## Validation", table(header, rows), *_whole_topics(run)])


def _whole(topic: Mapping[str, Any]) -> tuple[str, str]:
    """Return the verdict of all runs together, and their proved records, which earlier versions did not record."""
    whole = topic.get("whole")
    if not whole:
        return _told(topic["whole_verdict"] or "not yet compared"), "–"
    return _told(whole["standing"]), record_count(whole["target_records"])


def _whole_topics(run: Mapping[str, Any]) -> list[str]:
    """Return one list of the topics that are not proved as a whole, with the first reasons of each."""
    lines = [
        f"- {shown(topic['topic'])} as a whole, {_told(whole['standing'])}: {_told('; '.join(whole['reasons'][:3]))}"
        for topic in run["topics"]
        if (whole := topic.get("whole")) and whole["reasons"]
    ]
    return ["\n".join(lines)] if lines else []


def _differences(run: Mapping[str, Any]) -> str:
    """Return the first differences of each topic, each with the command that shows its record."""
    parts = []
    for topic in run["topics"]:
        found = topic["differences"]
        if found and found["first"]:
            head = f"### {shown(topic['topic'])}: {_told(describe_counts(found['counts']))}"
            parts.append(f"{head}\n\n" + table(_DIFFERENCE_COLUMNS, _difference_rows(topic)))
    return f"## Differences\n\n{_HOW_TO_LOOK}\n\n" + "\n\n".join(parts) if parts else ""


_DIFFERENCE_COLUMNS = ("Kind", "Fields", "Source", "Target")
_HOW_TO_LOOK = (
    "The first differences of each topic; all of them are in the Parquet file next to the validation's result. The "
    "commands show a record if `SOURCE` and `TARGET` are set to the bootstrap servers."
)


def _difference_rows(topic: Mapping[str, Any]) -> Iterable[tuple[str, ...]]:
    names = {"source": topic["topic"], "target": topic["differences"]["target_topic"]}
    for found in topic["differences"]["first"]:
        commands = (_command(side, name, found) for side, name in names.items())
        yield (_told(found["kind"]), _told(", ".join(found["fields"])) or "–", *commands)


def _command(side: str, topic: str, difference: Mapping[str, Any]) -> str:
    partition, offset = (difference[f"{side}_{name}"] for name in ("partition", "offset"))
    if offset is None:
        return "–"
    command = kcat_command(f"${side.upper()}", topic, partition, offset)
    return command if shown(topic) == f"`{topic}`" else _told(command.strip("`"))


def record_count(records: int | None) -> str:
    """Return a number of records as text; `None` means unknown."""
    return "not known" if records is None else f"{records:,}"


# The evidence holds the whole plan.
MAX_NOTES = 100
_PLANS = ("offsets-plan", "rollback-plan")
# The results of a rollback, where "moved" would mean the opposite.
_ROLLED_BACK = {"moved": "put back", "already_moved": "already there", "not_written": "nothing written"}


def _groups(run: Mapping[str, Any]) -> str:
    if not run["groups"]:
        return ""
    is_rollback = "rollback-plan" in run["steps"]
    words = _ROLLED_BACK if is_rollback else {}
    rows = [
        (
            shown(group["group"]),
            _told(group["verdict"]),
            _told(words.get(group["outcome"], group["outcome"].replace("_", " "))),
            f"{group['partitions']:,}",
            record_count(group["delivered_again"]),
            _told(some(group["reasons"], separator="; ", longest=LONGEST_SENTENCE)) or "–",
        )
        for group in run["groups"]
    ]
    where = "Result" if is_rollback else "On the target"
    header = ("Group", "Plan", where, "Partitions", "Delivered again", "Reasons")
    parts = ["## Consumer groups", table(header, rows), offsets_of_groups(run), _group_notes(run)]
    return "\n\n".join(part for part in parts if part)


def _group_notes(run: Mapping[str, Any]) -> str:
    """Return the warnings of the plan; empty without any."""
    plan: Mapping[str, Any] = next((run["steps"][step]["plan"] for step in _PLANS if step in run["steps"]), {})
    warnings = [warning for group in plan.get("groups", ()) for warning in group["warnings"]]
    lines = [f"{_finding(warning)} {_told(warning['remedy'])}" for warning in warnings[:MAX_NOTES]]
    more = more_words(len(warnings) - MAX_NOTES, "warnings")
    return "### Worth knowing about these groups\n\n" + "\n".join(lines) + more if lines else ""


def _target_only(run: Mapping[str, Any]) -> str:
    plan = run["steps"].get("rollback-plan", {}).get("plan", {})
    rows = [
        (shown(each["topic"]), ("" if each["is_exact"] else "at most ") + f"{each['records']:,}", _first_offsets(each))
        for each in plan.get("target_only", ())
    ]
    header = ("Topic", "Records on the target only", "First offsets")
    return "## Records only on the target\n\n" + table(header, rows) if rows else ""


def _first_offsets(target_only: Mapping[str, Any]) -> str:
    first = target_only["first_offsets"].get(target_only["topic"], {})
    return _told(some([f"{partition}: {offset:,}" for partition, offset in first.items()], separator="; "))


def _next_steps(run: Mapping[str, Any]) -> str:
    lines = [f"{number}. {_told(text)}" for number, text in enumerate(next_acts(run), start=1)]
    return "## What to do next\n\n" + "\n".join(lines)


def _ready(run: Mapping[str, Any]) -> str:
    found = readiness(run)
    if found is None:
        return ""
    answer = "**Yes.**" if found.is_ready else "**No**, because:"
    lines = [f"- {_told(text)}" for text in (*found.against, *found.notes)]
    return "\n\n".join(["## Ready for cutover?", answer, *(["\n".join(lines)] if lines else [])])


def _decommission(run: Mapping[str, Any]) -> str:
    conditions = run.get("decommission") or ()
    if not conditions:
        return ""
    may_go = all(each["state"] == "met" for each in conditions)
    rows = [
        (
            _told(each["condition"]),
            _told(each["state"].upper()),
            _told(some(each["reasons"], len(each["reasons"]), separator="; ", longest=LONGEST_SENTENCE)) or "–",
        )
        for each in conditions
    ]
    answer = "**Yes**: all conditions are met." if may_go else "**No**: all conditions must be met."
    header = ("Condition", "State", "Because")
    return f"## May the source be switched off?\n\n{answer}\n\n{table(header, rows)}"


def _hooks(run: Mapping[str, Any]) -> str:
    rows = [
        tuple(_told(str(hook[name])) for name in ("hook", "called", "at", "result")) for hook in run.get("hooks") or ()
    ]
    return "## Hooks\n\n" + table(("When", "What", "Ended", "Result"), rows) if rows else ""


def _mirror(run: Mapping[str, Any]) -> str:
    watch, stop = run["steps"].get("watch"), run["steps"].get("stop")
    lines = []
    if watch and watch.get("progress"):
        lines.append(f"- Last progress: {_told(watch['progress'])}")
    if stop and stop.get("certificate"):
        certificate = stop["certificate"]
        manner = "gracefully" if certificate["graceful"] else "ungracefully"
        lines.append(
            f"- Generation {certificate['generation']} ended {manner} "
            f"(exit code {certificate['exit_code']}): {_told(certificate['reason'])}"
        )
    return "## MirrorMaker\n\n" + "\n".join(lines) if lines else ""


def _tasks(run: Mapping[str, Any]) -> str:
    return "## Tasks\n\n" + table(
        ("Task", "State"), [(_told(t), _told(s or "not run")) for t, s in run["tasks"].items()]
    )
