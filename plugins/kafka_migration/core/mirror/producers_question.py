"""The question of a cutover: have you stopped your producers?

The answer is recorded and may end the cutover. It proves nothing; the proof is the fence.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.markdown import shown
from kafka_migration.core.text.shown import duration

STOPPED = "They have stopped"
ABORT = "Abort the cutover"
OPTIONS = (STOPPED, ABORT)
SUBJECT = "Have you stopped the producers of {migration}?"


@dataclass(frozen=True, slots=True)
class ProducersAsk(Document):
    """The question: when it was announced, the deadline of the fence, and who answered what.

    `chosen` is `None` while there is no answer, and if the fence was proved without one.
    """

    announced_at: str
    until: str
    chosen: str | None = None
    answered_at: str | None = None
    by: str | None = None


def question_body(ask: ProducersAsk, topics: Collection[str], quiet_s: float, wait_s: float, source: str) -> str:
    """Return the text of the question, as Markdown."""
    return (
        f"The copy is near the end of the source. **Stop everything that writes to these topics on {shown(source)}.** "
        "Consumers may continue.\n\n"
        f"- Topics: {', '.join(map(shown, topics))}\n"
        f"- Deadline: {ask.until} ({duration(wait_s)} after {ask.announced_at}, `cutover.fence_wait`). If this run was "
        "cleared since, the log of `watch_lag` has the new times.\n"
        f"- The run proves it by itself: the end of every partition must not change for {duration(quiet_s)}, and no "
        "transaction may be open. It continues once that is proved, with or without an answer. After the deadline it "
        "fails, and no group is moved.\n\n"
        f"**{STOPPED}** is recorded in the evidence and the report; it does not replace the proof.\n\n"
        f"**{ABORT}** stops MirrorMaker and ends the run as failed. No group is moved, copied records are kept, and "
        "the producers may start again on the source."
    )


def aborted(ask: ProducersAsk) -> Finding:
    """Return the finding for a cutover that a user aborted."""
    return Finding(
        Code.CUTOVER_ABORTED,
        "the question about the producers",
        f"the answer {ABORT!r} by {ask.by} at {ask.answered_at}",
        f"{STOPPED!r}, or a source without new records",
        "No group was changed, and copied records are kept. Start the producers on the source again if they were "
        "stopped. Trigger a new cutover later.",
    )
