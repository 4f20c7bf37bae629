"""Evidence: the documents of a run, their names, and `run.json`.

Tasks write append-only documents `NN-<kind>-<try>.json` into the folder of their attempt. Only `finish`
writes `run.json`, from which every report is rendered.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from kafka_migration.core.evidence.document_groups import group_rows
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.run_identity import RunIdentity

RUN_SCHEMA = 1


class Kind(StrEnum):
    """The documents of a run, in the order of its steps. The position numbers the files, so new kinds are appended."""

    PREFLIGHT = "preflight"
    RESERVE = "reserve"
    PLAN = "plan"
    TOPICS = "topics"
    START = "start"
    WATCH = "watch"
    STOP = "stop"
    VALIDATION_REQUEST = "validation-request"
    VALIDATION_RESULT = "validation-result"
    JUDGE = "judge"
    OFFSETS_PLAN = "offsets-plan"
    APPROVE = "approve"
    OFFSETS_BEFORE = "offsets-before"
    OFFSETS_RESULT = "offsets-result"
    CUTOVER = "cutover"
    FINISH = "finish"
    REFUSAL = "refusal"
    WAIT = "wait"
    PENDING = "pending"
    RESTART = "restart"
    TRANSLATION_REQUEST = "translation-request"
    TRANSLATION_RESULT = "translation-result"
    ROLLBACK_PLAN = "rollback-plan"
    ROLLED_BACK = "rolled-back"
    SETTINGS = "settings"
    HOOK = "hook"
    ALERT = "alert"
    PRODUCERS = "producers"
    TOPIC_LIST = "topic-list"


_ORDER = {kind: number for number, kind in enumerate(Kind, start=1)}
_DOCUMENT_NAME = re.compile(r"[0-9]{2}-(?P<kind>[a-z-]{1,40})-(?P<number>[1-9][0-9]{0,8})\.json")
# A folder name must not start with a dot, nor be longer than file systems allow.
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]|^[.]+")
_LONGEST_NAME = 200


def run_folder_name(run: RunIdentity) -> str:
    """Return the folder name of a run: its id with every unsafe character replaced by `_`, and a digest.

    The digest is of the DAG id and the run id. The user who triggers a run may choose its id, which must not lead to
    the folder of another run or out of the migration's folder.
    """
    digest = hashlib.sha256(f"{run.dag_id}/{run.run_id}".encode()).hexdigest()
    return f"{_UNSAFE.sub('_', run.run_id)[:_LONGEST_NAME]}-{digest[:16]}"


def document_name(kind: Kind, number: int) -> str:
    """Return `NN-<kind>-<number>.json`; the number counts the documents of that kind in the attempt."""
    return f"{_ORDER[kind]:02}-{kind}-{number}.json"


def parse_document_name(name: str) -> tuple[Kind, int] | None:
    """Return kind and number, or `None` for a file that is not a task document."""
    match = _DOCUMENT_NAME.fullmatch(name)
    if match is None or match["kind"] not in set(Kind):
        return None
    parsed = Kind(match["kind"]), int(match["number"])
    return parsed if document_name(*parsed) == name else None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What `run.json` says about a run besides its documents; the fields are its keys.

    `reason` is why a run had nothing to do. `generations` are those to read again. `decommission` has the conditions
    of switching the source off, each with its state. `hooks` are the user's hooks that were called. `triggered_by`
    is the user who triggered the run, and `started_at` its start, if Airflow knows them.
    """

    migration: str
    migration_digest: str
    dag_id: str
    run_id: str
    attempt: int
    mode: str
    package_version: str
    finished_at: str
    outcome: str
    tasks: Mapping[str, str | None]
    note: str = ""
    reason: str = ""
    generations: str = ""
    decommission: Sequence[Mapping[str, Any]] = ()
    hooks: Sequence[Mapping[str, Any]] = ()
    triggered_by: str | None = None
    started_at: str | None = None


def assemble_run(
    facts: RunFacts,
    documents: Mapping[Kind, Mapping[str, Any]],
    refusals: Sequence[Mapping[str, Any]],
    warnings: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Assemble `run.json` from the newest document of each kind and all refusals of the attempt.

    `warnings` are added to those of the documents.
    """
    judged = documents.get(Kind.JUDGE, {})
    written, has_begun = documents.get(Kind.OFFSETS_RESULT), Kind.OFFSETS_BEFORE in documents
    planned, rollback = (documents.get(kind, {}).get("plan") for kind in (Kind.OFFSETS_PLAN, Kind.ROLLBACK_PLAN))
    return {
        "schema": RUN_SCHEMA,
        **asdict(facts),
        "decommission": list(facts.decommission),
        "hooks": list(facts.hooks),
        "interval": _interval(facts.mode, documents),
        "verdict": judged.get("verdict"),
        "records": judged.get("records", {}),
        "topics": judged.get("topics", []),
        "groups": [
            *group_rows(planned, written, has_begun=has_begun),
            *group_rows(rollback, written, has_begun=has_begun, is_rollback=True),
        ],
        "findings": [f for refusal in refusals for f in refusal["findings"]],
        "warnings": [*_warnings(documents), *warnings],
        "judged_at": judged.get("at"),
        "steps": {str(kind): dict(document) for kind, document in documents.items() if kind in _STEP_KINDS},
    }


def _warnings(documents: Mapping[Kind, Mapping[str, Any]]) -> list[Mapping[str, str]]:
    """Return all warnings; of open transactions those of the newest reading, because earlier ones may have ended."""
    read = [documents[kind]["open_transactions"] for kind in _READING if "open_transactions" in documents.get(kind, {})]
    others = [w for document in documents.values() for w in document.get("warnings", [])]
    return [*(w for w in others if not read or w["code"] != Code.SOURCE_TRANSACTION_OPEN), *(read[0] if read else ())]


# The steps that read which transactions are open, the last one first.
_READING = (Kind.STOP, Kind.PLAN)


def _interval(mode: str, documents: Mapping[Kind, Mapping[str, Any]]) -> Mapping[str, str] | None:
    """Return start and end of the interval that the run answers for; `None` in every other mode."""
    interval: Mapping[str, str] | None = documents.get(Kind.PREFLIGHT, {}).get("run_window", {}).get("interval")
    return interval if mode == Mode.INTERVAL else None


_STEP_KINDS = {
    Kind.PREFLIGHT,
    Kind.TOPIC_LIST,
    Kind.WAIT,
    Kind.PLAN,
    Kind.TOPICS,
    Kind.START,
    Kind.WATCH,
    Kind.RESTART,
    Kind.STOP,
    Kind.PENDING,
    Kind.OFFSETS_PLAN,
    Kind.APPROVE,
    Kind.OFFSETS_BEFORE,
    Kind.OFFSETS_RESULT,
    Kind.CUTOVER,
    Kind.ROLLBACK_PLAN,
    Kind.ROLLED_BACK,
    Kind.SETTINGS,
    Kind.PRODUCERS,
}
