"""What may follow a run: the steps for an operator, and whether a rehearsal has shown that a cutover may follow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.offsets_plan import GroupVerdict
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.run_document import GroupResult, Readiness, RunDocument
from kafka_migration.core.run.run_identity import ROLLBACK_DAG_PREFIX
from kafka_migration.core.run.task_steps import SKIPPED, SUCCESS
from kafka_migration.core.text.quoting import group_subject, plain_name
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, MOST_NAMES, some

# The findings section of the report has all codes.
MAX_CODES = 5
# The report has a row of each topic and of each group.
IN_REPORT = "the report lists all"
LeftBehind = Mapping[str, tuple[Finding, ...]]


@dataclass(frozen=True, slots=True)
class ConfirmedCutover:
    """A cutover that is in the ledger, as its next steps need it.

    `source` and `target` are the Airflow connections. `topics` are the target's names of the topics that were cut over,
    `remaining` those that later cutovers move, `unproved` those of them whose copy is not proved. `not_chosen` are
    groups that read these topics and were not named. `folder` locates the evidence.
    """

    migration: str
    source: str
    target: str
    moved: Collection[str]
    left_behind: LeftBehind
    not_chosen: Collection[str]
    topics: Collection[str]
    remaining: Collection[str]
    folder: str
    unproved: Collection[str] = ()


def after_cutover(done: ConfirmedCutover) -> tuple[str, ...]:
    """Return the steps in their order."""
    source, target = done.source, done.target
    way = _NEXT_CUTOVER if done.remaining else _BY_HAND
    others = f"the other topics ({some(done.remaining)}) continue to be mirrored until their own cutover."
    schedules = others if done.remaining else "pause the schedules of this migration."
    return (
        *_start("consumers", done.moved, target),
        *_start("producers", done.topics, target),
        *_keep_unproved(done),
        *_first(f"{_not_moved(group, why, target)} {way}" for group, why in sorted(done.left_behind.items())),
        *_first(
            f"{group_subject(group)} reads these topics and was not named for this run. If it must be moved, {way}"
            for group in sorted(done.not_chosen)
        ),
        _way_back(done),
        f"Leave `{source}` as it is until the consumers have caught up and mode validate has passed once more; "
        f"{schedules}",
    )


_NEXT_CUTOVER = "the next cutover moves it."
_BY_HAND = "set them by hand with `kafka-consumer-groups --reset-offsets`, or let it read from the start."


def _start(clients: str, names: Collection[str], connection: str) -> Iterator[str]:
    if names:
        named = some(names, word=plain_name, where=IN_REPORT)
        yield f"Start the {clients} of {named} with the bootstrap servers of `{connection}`."


def _keep_unproved(done: ConfirmedCutover) -> Iterator[str]:
    if done.unproved:
        yield (
            f"Start the producers of {some(done.unproved, word=plain_name, where=IN_REPORT)} with the bootstrap "
            f"servers of `{done.source}` again: the copy is not proved, so these topics remain there, with the groups "
            "that read them."
        )


def _first(steps: Iterable[str]) -> Sequence[str]:
    """Return the first of many steps that each concern one group, and how many more there are."""
    every = tuple(steps)
    more = len(every) - MOST_NAMES
    return (*every[:MOST_NAMES], f"The same for {more:,} more groups ({IN_REPORT}).") if more > 0 else every


def _codes_of(findings: Iterable[Finding]) -> str:
    return ", ".join(sorted({str(finding.code) for finding in findings}))


def _not_moved(group: str, findings: Iterable[Finding], target: str) -> str:
    return (
        f"{group_subject(group)} was not moved ({_codes_of(findings)}): this run wrote no offsets for it on "
        f"`{target}`. When the cause is resolved,"
    )


def _way_back(done: ConfirmedCutover) -> str:
    source, target = done.source, done.target
    return (
        f"To go back: until a consumer commits or a producer writes on `{target}`, start everything on `{source}` "
        f"again; nothing was changed there. After that, stop producers and consumers on `{target}` and trigger "
        f"`{ROLLBACK_DAG_PREFIX}{done.migration}`. Mode fail_back moves the groups on `{source}` to the records that "
        f"they have reached on `{target}`. Mode restore sets the groups on `{target}` back to their offsets before the "
        f"cutover, which are in offsets-before-target.csv under {done.folder}."
    )


def after_rollback(
    *, source: str, target: str, topics: Collection[str], put_back: Collection[str], left_behind: LeftBehind
) -> tuple[str, ...]:
    """Return the operator's steps after a rollback, in order; `source` and `target` are the Airflow connections."""
    return (
        *_start("consumers", sorted(put_back), source),
        *_start("producers", sorted(topics), source),
        *_first(
            f"{group_subject(group)} was not changed ({_codes_of(findings)}). When the cause is resolved, move it by "
            f"hand: its offsets on `{target}` are in this run's evidence."
            for group, findings in sorted(left_behind.items())
        ),
        "The migration can continue: the next run mirrors these topics again if no client wrote to them on "
        f"`{target}`. Otherwise it is refused (TARGET_WRITTEN_BY_OTHERS): then copy the topics again with a new "
        "migration file (another name; `kafka-migration explain COPY_DIFFERS` has the steps). Pause the schedules "
        "until you know.",
    )


def after_run(run: RunDocument) -> tuple[str, ...]:
    """Return the steps after a run: for its findings, then those that its cutover or rollback recorded."""
    done = run.steps.done
    return (*_after_trouble(run), *(done.next_steps if done else ())) or tuple(_after_success(run))


def _after_trouble(run: RunDocument) -> Iterator[str]:
    """Yield the steps for the findings, or where to look without findings."""
    if run.findings:
        yield from _by_code(run.codes)
    elif run.has_failed:
        bad = [task for task, state in run.tasks.items() if state not in {SUCCESS, SKIPPED}]
        where = f"the task {bad[0]}" if bad else "the task finish"
        yield f"Read the log of {where}, remove the cause, and clear the task with downstream."
    if run.has_failed and run.mode == Mode.CUTOVER and not run.steps.has_saved_offsets:
        yield "No group was moved: start the producers on the source again, if they were stopped."


def _by_code(codes: Sequence[str]) -> Iterator[str]:
    for code in codes[:MAX_CODES]:
        yield f"{code}: {Code(code).act}"
    if len(codes) > MAX_CODES:
        yield f"Then the other codes above: {', '.join(codes[MAX_CODES:])}."
    yield f"More on these codes: `kafka-migration explain {' '.join(codes[:MAX_CODES])}`."


def _after_success(run: RunDocument) -> Iterator[str]:
    name, mode = run.migration, run.mode
    if run.outcome == "not in window":
        yield "Nothing. The next scheduled run copies and validates."
    elif run.outcome in {"behind", "validation pending"}:
        yield "Nothing now: the next run continues where this one stopped. If that repeats, set a longer window."
    elif mode == Mode.REHEARSE:
        yield _after_rehearsal(run)
    elif mode == Mode.VALIDATE:
        yield (
            f"Nothing. Before the cutover, trigger `kafka_migration__{name}` in mode rehearse. After it, "
            f"`kafka-migration decommission {name}` says whether the source may be switched off."
        )
    elif mode in {Mode.RESTORE, Mode.FAIL_BACK}:
        yield f"Nothing was rolled back. See the plan of `{ROLLBACK_DAG_PREFIX}{name}`."
    else:
        yield f"Nothing. Later runs copy what is new. Before the cutover, rehearse: `kafka_migration__{name}`."


def _after_rehearsal(run: RunDocument) -> str:
    if run.readiness is not None and not run.readiness.is_ready:
        return "Resolve the reasons above, and rehearse again."
    return (
        f"When the producers can be stopped, trigger `kafka_migration__{run.migration}` in mode cutover. It "
        "asks you when to stop them, and asks for approval before it moves a group."
    )


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
            yield (
                f"{group_subject(group.group)} reads on the source cluster or has read past the end of the copy: stop "
                "its consumers there before the cutover"
            )
        elif group.verdict == GroupVerdict.LEFT_OUT and not _has_nothing_to_move(group):
            reasons = some(group.reasons, separator="; ", longest=LONGEST_SENTENCE)
            yield f"{group_subject(group.group)} would not be moved: {reasons}"


def _has_nothing_to_move(group: GroupResult) -> bool:
    return all(reason.startswith(str(Code.OFFSET_NEVER_COMMITTED)) for reason in group.reasons)
