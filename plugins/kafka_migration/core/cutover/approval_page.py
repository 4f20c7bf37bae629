"""The part of the approval page above the plan: what each answer does, deadline, approvers, verdict."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_migration.core.cutover.approval import Ask
from kafka_migration.core.text.markdown import shown, table
from kafka_migration.core.text.terminal_text import duration, record_count
from kafka_migration.core.validation.judge_document import JudgeDocument, JudgedTopic

# The text is stored with the question; the report has every topic.
MAX_TOPICS = 100


@dataclass(frozen=True, slots=True)
class Asking:
    """What the approval page shows in addition to the plan.

    `judged` is the newest verdict of the run, `None` if it has none (a rollback). `approve` says what an approval
    does. `folder` locates the evidence, `link` the run.
    """

    ask: Ask
    judged: JudgeDocument | None
    approve: str
    folder: str
    link: str
    four_eyes_of: str = ""


def approval_page(asking: Asking, plan: str) -> str:
    """Return the whole page, as Markdown."""
    return "\n\n".join(part for part in (_before_you_answer(asking), _verdict(asking.judged), plan) if part)


def _before_you_answer(asking: Asking) -> str:
    ask = asking.ask
    until = datetime.fromisoformat(ask.asked_at) + timedelta(seconds=ask.time_limit_s)
    lines = (
        f"**Approve**: {asking.approve}",
        "**Reject**: ends the run as failed (`APPROVAL_REFUSED`). Nothing is written and no group is moved. The same "
        "happens without an answer before the deadline (`APPROVAL_TIMED_OUT`).",
        f"**Deadline**: {until.isoformat(timespec='seconds')}, {duration(ask.time_limit_s)} after the request. If the "
        "task was cleared since, the time limit started again.",
        f"**Who may answer**: {_who(asking)}",
        f"**Run**: {asking.link}",
        f"**Evidence**: {shown(asking.folder)}; `report.md` is added when the run ends.",
    )
    return "## Before you answer\n\n" + "\n".join(f"- {line}" for line in lines)


def _who(asking: Asking) -> str:
    approvers = ", ".join(map(shown, asking.ask.approvers)) or "every user with the right to answer in Airflow"
    other = f"; not {shown(asking.four_eyes_of)}, who triggered the run" if asking.four_eyes_of else ""
    return f"{approvers}{other}"


def _verdict(judged: JudgeDocument | None) -> str:
    if judged is None:
        return ""
    topics = judged.topics
    rows = [
        (shown(topic.topic), topic.verdict, *_whole(topic), record_count(topic.target_records))
        for topic in topics[:MAX_TOPICS]
    ]
    header = ("Topic", "This run", "Whole topic", "Proved in total", "Compared by this run")
    more = f"\n\n… and {len(topics) - MAX_TOPICS:,} more topics." if len(topics) > MAX_TOPICS else ""
    return f"## Verdict on the copy: {judged.verdict}\n\n{table(header, rows)}{more}"


def _whole(topic: JudgedTopic) -> tuple[str, str]:
    whole = topic.whole
    return (whole.standing, record_count(whole.target_records)) if whole else ("not yet compared", "–")
