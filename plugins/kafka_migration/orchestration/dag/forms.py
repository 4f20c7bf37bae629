"""What a migration's DAGs show in Airflow: their Markdown documentation, and the forms that trigger them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from airflow.sdk import Param

from kafka_migration.core.migration.settings import Migration, Mode
from kafka_migration.core.run.run_conf import DEFAULT_MODE, DEFAULT_ROLLBACK
from kafka_migration.core.run.run_identity import NIGHTLY_DAG_PREFIX
from kafka_migration.core.run.task_steps import DagKind
from kafka_migration.core.text.markdown import shown
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import counted, duration

# What follows a migration's name in Airflow's list, which is in order of these names; and what the DAG does.
_IN_THE_LIST = {
    DagKind.MANUAL: (
        "migrate",
        "Copies and validates topics, moves consumer groups. Runs when a user triggers it.",
    ),
    DagKind.NIGHTLY: ("nightly sync", "Copies and validates new records. Runs on the schedule of the migration file."),
    DagKind.ROLLBACK: ("rollback", "Takes back cutovers after an approval. Runs when a user triggers it."),
}


def in_the_list(kind: DagKind, name: str) -> dict[str, str]:
    """Return how Airflow lists a DAG of a migration: display name, such as `shop · migrate`, and description."""
    purpose, line = _IN_THE_LIST[kind]
    return {"dag_display_name": f"{name} · {purpose}", "description": line}


def page_of(write: Callable[[str, Migration], str], name: str, migration: Migration | None, problem: str) -> str:
    """Return the text that is written for a valid migration file. For an invalid file, return its findings."""
    return write(name, migration) if migration and not problem else _invalid_doc(name, problem)


def manual_doc(name: str, migration: Migration) -> str:
    """Return the text on the page of the manual DAG."""
    return (
        f"### Migration `{name}`\n\n"
        f"Moves {_topics(migration)} from `{migration.source.connection}` to "
        f"`{migration.target.connection}`: {some(migration.rules.taken, word=shown)}.\n\n"
        f"Trigger it with one of these modes:\n\n{_listed(MODES)}\n\nEvery run leaves its evidence in the "
        "evidence root; the last task's log names the folder."
    )


def _topics(migration: Migration) -> str:
    named, patterns = len(migration.rules.names), len(migration.rules.patterns)
    parts = [counted(named, "topic")] * bool(named)
    parts += [f"the topics that match {counted(patterns, 'pattern')}"] * bool(patterns)
    return " and ".join(parts)


def _listed(modes: Mapping[Mode, str]) -> str:
    return "\n".join(f"- `{mode}`: {text}" for mode, text in modes.items())


def rollback_doc(name: str, migration: Migration) -> str:
    """Return the text on the page of the rollback DAG."""
    return (
        f"### Rollback of `{name}`\n\nReverts every cutover from `{migration.source.connection}` to "
        f"`{migration.target.connection}`. Stop the producers and consumers on the target first, then trigger it with "
        f"one of these modes:\n\n{_listed(ROLLBACK_MODES)}\n\nNothing is written before a user approves the plan. "
        "If records exist only on the target, the run is refused unless you list their topics."
    )


def nightly_doc(name: str, migration: Migration) -> str:
    """Return the text on the page of the nightly DAG: its schedule, and how a backfill is made."""
    dag_id = f"{NIGHTLY_DAG_PREFIX}{name}"
    if migration.nightly is None:
        return (
            f"### Nightly sync of `{name}`\n\nThe migration file has no section `nightly`, so no run is scheduled "
            "and there are no intervals for a backfill. Add `nightly:` with at least `cron`."
        )
    until = f", until `{migration.nightly.until:%H:%M}`" if migration.nightly.until else ""
    return (
        f"### Nightly sync of `{name}`\n\nMirrors new records, stops MirrorMaker and validates the copy: at "
        f"`{migration.nightly.cron}` ({migration.nightly.timezone}){until}. Unpause the DAG to start it. One run "
        "catches up on all missed nights.\n\n### Backfill\n\nA backfill run reports whether the records of one "
        "interval were copied. It validates only what no run has validated yet, and mirrors only what is not copied "
        "yet.\n\n"
        f"```\nairflow backfill create --dag-id {dag_id} --from-date 2030-01-01 --to-date 2030-01-08 "
        "--max-active-runs 1\n```\n\n"
        "- `--dry-run` lists the intervals and creates no runs.\n"
        "- While this DAG is paused, runs are created but do not start.\n"
        "- `--max-active-runs 1` runs one interval at a time. Without it, all runs wait for the reservation in "
        f"parallel. Each waits at most {duration(migration.nightly.wait_limit_s)} (`nightly.wait_limit`) and then "
        "fails with `RESERVED_BY`.\n"
        "- `--to-date` is an instant: the backfill includes the interval that begins then, but none that begins "
        "later.\n"
        "- Dates that already have a run are left out. `--reprocess-behavior completed` includes them: what the ledger "
        "already knows is not read again, and no record is counted twice."
    )


def _invalid_doc(name: str, problem: str) -> str:
    findings = "\n".join(f"- {line}" for line in problem.splitlines())
    head = f"### The migration file `{name}.yaml` is invalid\n\nEvery run is refused until the file is corrected:"
    return f"{head}\n\n{findings}"


MODES = {
    Mode.REHEARSE: "copy what is new, validate it, and show where each consumer group would continue on the target; "
    "move no group",
    Mode.SYNC: "copy what is new and validate it",
    Mode.FOLLOW: "keep copying until a given time or until you run `kafka-migration stop`, then validate",
    Mode.VALIDATE: "copy nothing; compare the whole copy again, or only what some generations copied",
    Mode.CUTOVER: "copy the rest once the producers have stopped, validate it, and after your approval move the "
    "consumer groups to the target",
}
ROLLBACK_MODES = {
    Mode.FAIL_BACK: "after your approval, set the groups on the source to where they have read on the target",
    Mode.RESTORE: "after your approval, set the groups on the target back to their offsets before the cutover",
}


def manual_form(migration: Migration | None) -> dict[str, Param]:
    """Return the form of the manual DAG; it offers the topics that the file names. With
    patterns it also takes other names, which preflight compares with the source."""
    topics = list(migration.topics) if migration else []
    is_complete = bool(topics) and not (migration and migration.rules.patterns)
    return {
        "mode": _mode(
            DEFAULT_MODE,
            MODES,
            "What the run does. It writes no records, topics or offsets to the source cluster. With "
            "validation.max_bytes_per_s it sets a client quota there while it validates.",
        ),
        # The form takes an empty field for missing, and does not trigger, unless null is allowed.
        "topics": Param(
            None,
            type=["null", "array"],
            items={"type": "string", "enum": topics} if is_complete else {"type": "string"},
            examples=topics,
            title="Topics",
            description="Only these topics. None chosen: all topics of the migration file that are not cut over yet.",
        ),
        "groups": Param(
            None,
            type=["null", "array"],
            items={"type": "string"},
            title="Consumer groups",
            description="For modes rehearse and cutover: only these groups. None given: all groups that cutover.groups "
            "names.",
        ),
        "generations": Param(
            None,
            type=["null", "string"],
            pattern=r"^([1-9][0-9]*(-[1-9][0-9]*)?)?$",
            title="Generations",
            description='For mode validate: compare only what these generations of MirrorMaker copied, such as "3" or '
            '"3-5". None given: the whole copy.',
        ),
        "follow_until": Param(
            None,
            type=["null", "string"],
            format="date-time",
            title="Follow until",
            description="For mode follow: when to stop. If empty, it runs until you run `kafka-migration stop`.",
        ),
        "note": _note(),
    }


def rollback_form(migration: Migration | None) -> dict[str, Param]:
    """Return the form of the rollback DAG."""
    topics = list(migration.topics) if migration else []
    return {
        "mode": _mode(DEFAULT_ROLLBACK, ROLLBACK_MODES, "What the rollback does, for everything that was cut over."),
        "leave_records_of": Param(
            None,
            type=["null", "array"],
            # Topics that were removed from the file are allowed too.
            items={"type": "string"},
            examples=topics,
            title="Leave records of",
            description="Records written to the target after the cutover are not visible on the source. List the "
            "topics for which you accept that. If such records exist for another topic, the rollback is refused.",
        ),
        "note": _note(),
    }


def nightly_form() -> dict[str, Param]:
    """Return the form of the nightly DAG; a backfill uses it."""
    return {
        "mirror_outside_window": Param(
            False,
            type="boolean",
            title="Mirror outside the window",
            description="The backfill may mirror missing records at any time of day, not only until nightly.until.",
        ),
        "note": _note(),
    }


def _mode(default: Mode, modes: Mapping[Mode, str], description: str) -> Param:
    return Param(
        str(default),
        type="string",
        enum=[str(mode) for mode in modes],
        values_display={str(mode): f"{mode}: {text}" for mode, text in modes.items()},
        title="Mode",
        description=description,
    )


def _note() -> Param:
    return Param(
        None,
        type=["null", "string"],
        maxLength=500,
        title="Note",
        description="For example a ticket number. Kept in the evidence, shown in the report and in the run's note.",
    )
