"""Whether a rehearsal has shown that the migration is ready for cutover, and why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.offsets_plan import GroupVerdict
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.text.artifact_names import group_subject
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some


@dataclass(frozen=True, slots=True)
class Readiness:
    """The reasons against a cutover; without any it is ready. `notes` do not prevent a cutover."""

    against: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_ready(self) -> bool:
        """Whether a cutover may follow."""
        return not self.against


def readiness(run: Mapping[str, Any]) -> Readiness | None:
    """Judge an assembled run; `None` for one that was no rehearsal."""
    if run["mode"] != Mode.REHEARSE:
        return None
    return Readiness(tuple(_against(run)), tuple(_notes(run)))


def _against(run: Mapping[str, Any]) -> Iterator[str]:
    if run["outcome"] != "success":
        codes = ", ".join(dict.fromkeys(finding["code"] for finding in run["findings"]))
        yield f"the rehearsal ended as {run['outcome']!r}{f' ({codes})' if codes else ''}"
    if not _is_good(run["verdict"]):
        yield f"the verdict on the copy is {run['verdict'] or 'not known'}"
    yield from (
        f"topic {topic['topic']} as a whole is {_standing(topic)}" for topic in run["topics"] if not _is_proved(topic)
    )
    movable = [group for group in run["groups"] if group["verdict"] != GroupVerdict.LEFT_OUT]
    if not movable:
        yield "no consumer group could be moved" if run["groups"] else "no consumer group reads these topics"


def _notes(run: Mapping[str, Any]) -> Iterator[str]:
    for group in run["groups"]:
        if group["verdict"] == GroupVerdict.PROVISIONAL:
            yield f"{group_subject(group['group'])} still reads on the source: stop its consumers before the cutover"
        elif group["verdict"] == GroupVerdict.LEFT_OUT and not _has_nothing_to_move(group):
            reasons = some(group["reasons"], separator="; ", longest=LONGEST_SENTENCE)
            yield f"{group_subject(group['group'])} would not be moved: {reasons}"


def _has_nothing_to_move(group: Mapping[str, Any]) -> bool:
    return all(reason.startswith(str(Code.OFFSET_NEVER_COMMITTED)) for reason in group["reasons"])


def _is_good(verdict: str | None) -> bool:
    return verdict is not None and Verdict(verdict).is_good


def _is_proved(topic: Mapping[str, Any]) -> bool:
    whole = topic.get("whole")
    return bool(whole["proved"]) if whole else _is_good(topic["whole_verdict"])


def _standing(topic: Mapping[str, Any]) -> str:
    whole = topic.get("whole")
    return str(whole["standing"]) if whole else topic["whole_verdict"] or "not yet compared"
