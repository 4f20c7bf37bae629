"""Which process makes a try of a task. Airflow may start two processes for one try, and only the first one acts."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.terminal_text import shown


@dataclass(frozen=True, slots=True)
class TryClaim(Document):
    """The process that makes a try of a task.

    `token` is different for each process: an object store that loses a reply takes an equal claim for the same one.
    """

    task: str
    at: str
    host: str
    pid: int
    token: str

    def __str__(self) -> str:
        return shown(f"process {self.pid} on {self.host}, since {self.at}")


def made_by_another(task: str, first: TryClaim | None) -> Finding:
    """Return the finding that another process makes this try. `first` is `None` if its claim cannot be read."""
    who = str(first) if first else "a process whose claim cannot be read"
    return Finding(
        Code.TRY_RUNS_TWICE,
        f"task {task}",
        f"this try is made by {who}",
        "one process per try",
        "Do nothing if the task ends well: Airflow ends one of both processes, and tries again if it needs to. If it "
        "happens often, look in the logs of the scheduler and of the workers for the reason.",
        happened=f"Airflow started this try of task {task} twice. {who[0].upper()}{who[1:]}, makes it."
        if first
        else f"Airflow started this try of task {task} twice. Another process makes it.",
        matters="Two processes that act at once could copy or move twice, so this process did nothing.",
    )
