"""The users of a run and their answers, as lines of its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_migration.core.text.markdown import escaped, shown


def people(run: Mapping[str, Any]) -> str:
    """Return the section about users; empty if no user was asked or is known."""
    lines = [f"- {line}" for line in _lines(run)]
    return "## Who\n\n" + "\n".join(lines) if lines else ""


def _lines(run: Mapping[str, Any]) -> Iterator[str]:
    steps = run["steps"]
    if run.get("triggered_by"):
        yield f"Triggered by: {_name(run['triggered_by'])}"
    if "producers" in steps:
        yield f"Producers: {_producers(steps['producers'])}"
    if "approve" in steps:
        yield f"Approval: {_approval(steps['approve'])}"


def _producers(asked: Mapping[str, Any]) -> str:
    if asked["chosen"] is None:
        asked_at = _name(asked["announced_at"])
        return f"asked at {asked_at} to stop them; no one answered; the run continued because the source was quiet"
    return f"{_name(asked['by'])} answered “{_name(asked['chosen'])}” at {_name(asked['answered_at'])}"


def _approval(asked: Mapping[str, Any]) -> str:
    if asked["answered_at"] is None:
        return f"asked at {_name(asked['asked_at'])}; no answer so far"
    if asked["chosen"] is None:
        return f"asked at {_name(asked['asked_at'])}; no answer in time"
    by = asked["responded_by"]
    who = by["name"] or by["id"] or "a user whose name Airflow does not know"
    return (
        f"{_name(who)} chose “{escaped(asked['chosen'])}” at "
        f"{_name(asked['answered_at'])} (asked at {_name(asked['asked_at'])}, plan {shown(asked['digest'][:12])})"
    )


def _name(text: str) -> str:
    return escaped(str(text), is_file=True)
