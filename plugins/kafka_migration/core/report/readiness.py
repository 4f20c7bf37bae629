"""Whether a rehearsal has shown that the migration is ready for cutover, and why not."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.groups.offsets_plan import GroupVerdict
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.run_document import GroupResult, Readiness, RunDocument
from kafka_migration.core.text.artifact_names import group_subject
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some


def readiness(run: RunDocument) -> Readiness | None:
    """Judge a run; `None` for one that was no rehearsal."""
    if run.mode != Mode.REHEARSE:
        return None
    return Readiness(tuple(_against(run)), tuple(_notes(run)))


def _against(run: RunDocument) -> Iterator[str]:
    if run.outcome != "success":
        codes = f" ({', '.join(run.codes)})" if run.codes else ""
        yield f"the rehearsal ended as {run.outcome!r}{codes}"
    if run.verdict is None or not run.verdict.is_good:
        yield f"the verdict on the copy is {run.verdict or 'not known'}"
    yield from (f"topic {each.topic} as a whole is {each.standing}" for each in run.topics if not each.is_proved)
    if not any(group.verdict != GroupVerdict.LEFT_OUT for group in run.groups):
        yield "no consumer group could be moved" if run.groups else "no consumer group reads these topics"


def _notes(run: RunDocument) -> Iterator[str]:
    for group in run.groups:
        if group.verdict == GroupVerdict.PROVISIONAL:
            yield f"{group_subject(group.group)} still reads on the source: stop its consumers before the cutover"
        elif group.verdict == GroupVerdict.LEFT_OUT and not _has_nothing_to_move(group):
            reasons = some(group.reasons, separator="; ", longest=LONGEST_SENTENCE)
            yield f"{group_subject(group.group)} would not be moved: {reasons}"


def _has_nothing_to_move(group: GroupResult) -> bool:
    return all(reason.startswith(str(Code.OFFSET_NEVER_COMMITTED)) for reason in group.reasons)
