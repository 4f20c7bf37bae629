"""The forms with which people trigger a migration's DAGs."""

from __future__ import annotations

from collections.abc import Mapping

from airflow.sdk import Param

from kafka_migration.core.migration.settings import Migration, Mode
from kafka_migration.core.run.run_conf import DEFAULT_MODE, DEFAULT_ROLLBACK

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
