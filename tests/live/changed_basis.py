"""Changes of what a copy depends on, between two runs on real parts: each is refused with one finding, and undone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.orchestration.operators.copying import PreflightOperator
from kafka_migration.orchestration.task.failures import FailedForGood
from tests.live.stage import Stage

SOURCE, TARGET = "AIRFLOW_CONN_DEMO_SOURCE", "AIRFLOW_CONN_DEMO_TARGET"
# What is written into the migration file in place of a part of it.
EDITS = {
    "alias": ("connection: demo_source", "connection: demo_source\n  alias: lake"),
    "naming": ("mirror:\n", "mirror:\n  topic_names: {naming: prefixed}\n"),
    "engine": ("engine: mirrormaker2", "engine: mirrormaker1"),
}


def findings_after_changes(stage: Stage, patch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Change one thing after the other for one run each; return the codes that its preflight gave."""
    found: dict[str, list[str]] = {}
    with patch.context() as patched:
        source, target = os.environ[SOURCE], os.environ[TARGET]
        for name, values in {"exchanged": (target, source), "same": (target, target)}.items():
            patched.setenv(SOURCE, values[0])
            patched.setenv(TARGET, values[1])
            found[name] = _findings(stage)
    for name, (old, new) in EDITS.items():
        with _edited(stage, old, new):
            found[name] = _findings(stage)
    (topic,) = stage.topics
    stage.create(f"{topic}-other")
    with _edited(stage, f"topics: [{topic}]", f"topics: [{topic}-other]"):
        found["removed"] = _findings(stage)
    return found


def _findings(stage: Stage) -> list[str]:
    try:
        stage.do(PreflightOperator)
        codes = [warning["code"] for warning in stage.run.evidence.require(Kind.PREFLIGHT)["warnings"]]
    except FailedForGood:
        codes = stage.refusal_codes()
    stage.runs += 1
    return codes


@contextmanager
def _edited(stage: Stage, old: str, new: str) -> Iterator[None]:
    path: Path = stage.folder / "migrations" / f"{stage.name}.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    try:
        yield
    finally:
        path.write_text(text)
