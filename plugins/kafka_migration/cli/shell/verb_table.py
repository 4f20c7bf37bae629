"""The verbs, one row each: its group in the help, the room of its module, and what it does.

The module `<verb>_verb` of a row has a function `add_<verb>`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from kafka_migration.cli.shell.output import aligned

PROGRAM = "kafka-migration"


class Group(StrEnum):
    """What a user is about to do, in the order of the help."""

    PREPARE = "Prepare"
    RUN = "Run"
    LOOK = "Look"
    FINISH = "Finish"


class VerbRow(NamedTuple):
    """A verb: `text` begins with a verb in lower case and has no full stop."""

    group: Group
    room: str
    text: str


VERBS = {
    "discover": VerbRow(Group.PREPARE, "files", "show the Airflow connections to create for a Kafka cluster"),
    "lint": VerbRow(Group.PREPARE, "files", "show the mistakes in files of MirrorMaker 1 and 2, without a cluster"),
    "import": VerbRow(
        Group.PREPARE, "files", "propose a migration file and its connections from files of MirrorMaker 1 or 2"
    ),
    "waves": VerbRow(Group.PREPARE, "files", "show which topics must move together, and propose migration files"),
    "schema": VerbRow(Group.PREPARE, "files", "show the JSON Schema of migration files, for editors"),
    "check": VerbRow(Group.PREPARE, "files", "show all mistakes of migration files, without a cluster"),
    "acls": VerbRow(Group.PREPARE, "files", "show the rights that a migration needs, as commands of kafka-acls.sh"),
    "source-acls": VerbRow(
        Group.PREPARE, "files", "show the source's access control lists on a migration, as commands for the target"
    ),
    "spark-archive": VerbRow(
        Group.PREPARE, "files", "make the class archive with which Spark's driver starts sooner on this worker"
    ),
    "completion": VerbRow(Group.PREPARE, "files", "show the script with which a shell completes this command"),
    "preflight": VerbRow(Group.RUN, "runs", "run the checks that a run does before it acts; nothing is written"),
    "plan": VerbRow(Group.RUN, "runs", "show what a run would create, copy and move; nothing is written"),
    "trigger": VerbRow(Group.RUN, "runs", "trigger a run through Airflow's REST API"),
    "stop": VerbRow(Group.RUN, "runs", "ask the active run to stop mirroring and to validate the copied records"),
    "status": VerbRow(Group.LOOK, "runs", "show the status of one migration or of all"),
    "verdict": VerbRow(Group.LOOK, "runs", "show the verdict of all runs on each topic, from the ledger"),
    "report": VerbRow(Group.LOOK, "runs", "show the report of a run, or check that its files are unchanged"),
    "explain": VerbRow(Group.LOOK, "files", "show what a code, an alert, a label or a verdict means, and what to do"),
    "ready": VerbRow(Group.FINISH, "runs", "check whether a cutover may follow"),
    "decommission": VerbRow(Group.FINISH, "runs", "check whether the source cluster may be switched off"),
}


def grouped_verbs() -> Iterator[str]:
    """Yield the lines of the help: each group with its verbs in the order of the table."""
    rows = [(f"  {name}", row.text) for name, row in VERBS.items()]
    lines = dict(zip(VERBS, aligned(rows), strict=True))
    for group in Group:
        yield from ("", f"{group}:", *(line for name, line in lines.items() if VERBS[name].group is group))
