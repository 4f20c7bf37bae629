"""The ledger of a migration, the append-only record of all its runs. Reading folds its entries into one value.

Its phase says which modes are allowed: after the cutover, the target is no longer a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, TypeVar

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.evidence.digests import LeftBehind, joined
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.offsets import Offsets, Ranges
from kafka_migration.core.ledger.copy_basis import CopyBasis
from kafka_migration.core.ledger.cutovers import (
    AnnouncedTopic,
    CreatedTopic,
    CutOver,
    Rehearsed,
    Reported,
    Reserved,
    RolledBack,
    SettingsFrozen,
    SettingsRestored,
    TopicsAnnounced,
    TopicsCreated,
)
from kafka_migration.core.ledger.generations import (
    Generation,
    GenerationStart,
    Judgement,
    SchemaIdsFound,
    StopCertificate,
)
from kafka_migration.core.ledger.interval_bounds import Bounds, BoundsResolved, IntervalAnswer
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.run_window import Interval
from kafka_migration.core.text.shortened import some


@dataclass(frozen=True, slots=True)
class Ledger:
    """What all runs of a migration did, in order; `cutovers` are without those that were rolled back.

    `announced` are the topics that a run was about to create and that are not in `topics` yet. `reserved_by` is the
    holder name of the run that reserved the migration last; empty if there was none. `basis` is what the copy depends
    on; `None` if no run has recorded it. `rehearsal` is the newest one. `reports` are the digests of `run.json`, by the
    holder name of the run.
    """

    phase: Phase = Phase.NEW
    generations: tuple[Generation, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    topics: Mapping[str, CreatedTopic] = field(default_factory=dict)
    announced: Mapping[str, AnnouncedTopic] = field(default_factory=dict)
    cutovers: tuple[CutOver, ...] = ()
    rollbacks: tuple[RolledBack, ...] = ()
    bounds: Bounds = field(default_factory=dict)
    answers: Mapping[Interval, IntervalAnswer] = field(default_factory=dict)
    reserved_by: str = ""
    schema_ids: tuple[SchemaIdsFound, ...] = ()
    basis: CopyBasis | None = None
    rehearsal: Rehearsed | None = None
    reports: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def moved_topics(self, *, but_by: RunIdentity | None = None) -> frozenset[str]:
        """Return the topics that cutovers moved to the target, without those that only the run `but_by` moved."""
        return frozenset(topic for each in self.cutovers if not _is_of(each.run, but_by) for topic in each.topics)

    def left_behind(self, *, but_by: RunIdentity) -> dict[str, set[str]]:
        """Return the groups that remained on the source in other runs' cutovers, with their topics."""
        left: dict[str, set[str]] = {}
        for each in self.cutovers:
            if not _is_of(each.run, but_by):
                for group, topics in each.left.items():
                    left.setdefault(group, set()).update(topics)
        return left

    def cutover_of(self, run: RunIdentity) -> CutOver | None:
        """Return the cutover of a run; `None` if there is none."""
        return next((each for each in self.cutovers if _is_of(each.run, run)), None)

    def keeper_of(self, run: RunIdentity) -> LeftBehind | None:
        """Return the digests that check the evidence of a cutover's run; `None` without any, as in version 0.1.0."""
        cutover = self.cutover_of(run)
        return LeftBehind(cutover.evidence) if cutover and cutover.evidence else None

    def digests_of(self, run: RunIdentity) -> dict[str, str]:
        """Return the digests that entries have of a run's files, by `attempt-<n>/<file>`; they are not all files."""
        cutover = self.cutover_of(run)
        reports = (digests for holder, digests in self.reports.items() if run.has_attempt(holder))
        return joined(cutover.evidence if cutover else {}, *reports)

    def rollback_of(self, run: RunIdentity) -> RolledBack | None:
        """Return the rollback of a run; `None` if there is none."""
        return next((each for each in self.rollbacks if _is_of(each.run, run)), None)

    @property
    def own_topics(self) -> Mapping[str, CreatedTopic]:
        """The topics that this migration created or was about to create; the id of the latter is unknown."""
        announced = {name: CreatedTopic("", topic.frozen_configs) for name, topic in self.announced.items()}
        return {**announced, **self.topics}

    @property
    def last_generation(self) -> Generation | None:
        """The newest generation, running or stopped."""
        return self.generations[-1] if self.generations else None

    @property
    def last_stop(self) -> StopCertificate | None:
        """The newest stop certificate; each partition has the values of the newest certificate with it."""
        stops = [g.stop for g in self.generations if g.stop is not None]
        if not stops:
            return None
        return reduce(lambda earlier, later: later.after(earlier), stops)

    @property
    def held_back(self) -> Ranges:
        """The source offsets after an open transaction at the last stop, as in `last_stop`."""
        stops = (g.stop for g in self.generations if g.stop is not None)
        return reduce(lambda held, stop: stop.held_back_after(held), stops, {})

    @property
    def rewind(self) -> Offsets:
        """The positions to store before the next start, because MirrorMaker's own ones cannot be trusted.

        There are none for an open generation: they were stored before it was started.
        """
        last = None if self.open_generation else self.last_stop
        return last.remembered.rewind if last else {}

    @property
    def copied_topics(self) -> frozenset[str]:
        """The topics for which any generation was started, whatever its result."""
        return frozenset(p.topic for g in self.generations for p in g.start.mirror_positions)

    @property
    def open_generation(self) -> Generation | None:
        """The generation that was started and has no stop certificate yet."""
        last = self.last_generation
        return last if last is not None and last.stop is None else None

    def open_generation_of(self, run: RunIdentity) -> Generation | None:
        """Return the open generation if any attempt of this run started it."""
        generation = self.open_generation
        return generation if generation is not None and _is_of(generation.start.run, run) else None

    @property
    def pending_generations(self) -> tuple[Generation, ...]:
        """Stopped generations whose windows no run has judged."""
        return self._not_judged_by(self.judgements)

    def pending_for(self, run: str) -> tuple[Generation, ...]:
        """Stopped generations that no *other* run has judged: a cleared run validates its own windows again."""
        return self._not_judged_by(j for j in self.judgements if not _is_same_run(j.run, run))

    def to_measure(self, mode: Mode, run: str) -> tuple[Generation, ...]:
        """Return the generations whose windows a run of this mode validates.

        Mode `interval` skips generations that an earlier attempt of the run found good; it answers from the ledger.
        """
        if not mode.mirrors:
            return tuple(g for g in self.generations if g.stop is not None)
        if mode is not Mode.INTERVAL:
            return self.pending_for(run)
        return self._not_judged_by(
            j for j in self.judgements if not _is_same_run(j.run, run) or (j.run != run and j.is_good)
        )

    def _not_judged_by(self, judgements: Iterable[Judgement]) -> tuple[Generation, ...]:
        judged = {(n, topic) for j in judgements for n in j.generations for topic in j.topics}
        rest = (g.limited_to([t for t in g.topics if (g.number, t) not in judged]) for g in self.generations)
        return tuple(g for g in rest if g.topics)

    def judgement_on(self, topic: str, generation: int) -> Judgement | None:
        """Return the judgement that counts for a topic of a generation; `None` if there is none.

        That is the newest one. A later `NOT_VERIFIABLE`, because the source has deleted records since, does not replace
        an earlier verdict.
        """
        judgements = [j for j in self.judgements if generation in j.generations and topic in j.topics]
        seeing = [j for j in judgements if j.topics[topic] is not Verdict.NOT_VERIFIABLE]
        return next(reversed(seeing or judgements), None)


def _is_same_run(one: str, other: str) -> bool:
    return one == other or _is_of(one, RunIdentity.from_holder(other))


def _is_of(holder: str, run: RunIdentity | None) -> bool:
    return run is not None and run.has_attempt(holder)


def with_entry(ledger: Ledger, entry: Mapping[str, Any]) -> Ledger:
    """Return the ledger with one more entry.

    Large mappings are read when they are first used (`require_readable`). Raises `KeyError`, `TypeError` or
    `ValueError` for an entry that this version does not support.
    """
    kind, fold_in = _FOLDS[entry["kind"]]
    return fold_in(ledger, kind.from_document(entry))


def require_readable(entry: Mapping[str, Any]) -> None:
    """Read every part of an entry, also those that are read when they are first used; raises like `with_entry`."""
    kind, _ = _FOLDS[entry["kind"]]
    kind.from_document(entry).to_document()


def _fold_created(ledger: Ledger, created: TopicsCreated) -> Ledger:
    settled = {*created.topics, *created.left}
    announced = {name: topic for name, topic in ledger.announced.items() if name not in settled}
    return replace(ledger, topics={**ledger.topics, **created.topics}, announced=announced)


def _fold_frozen(ledger: Ledger, again: SettingsFrozen) -> Ledger:
    frozen = _with_frozen(ledger, again.topics, is_frozen=True)
    # A run that freezes them is about to mirror into them again.
    return replace(frozen, phase=Phase.SYNCING) if ledger.phase is Phase.ROLLED_BACK else frozen


def _with_frozen(ledger: Ledger, topics: Collection[str], *, is_frozen: bool) -> Ledger:
    changed = {name: replace(topic, is_frozen=is_frozen) for name, topic in ledger.topics.items() if name in topics}
    return replace(ledger, topics={**ledger.topics, **changed})


def _fold_started(ledger: Ledger, start: GenerationStart) -> Ledger:
    generation = Generation(start)
    if any(g.number == generation.number for g in ledger.generations):
        # An interrupted restart wrote the entry twice. The first one has the state before the process started.
        return ledger
    phase = Phase.SYNCING if ledger.phase in {Phase.NEW, Phase.ROLLED_BACK} else ledger.phase
    return replace(ledger, phase=phase, generations=(*ledger.generations, generation))


def _fold_stopped(ledger: Ledger, stop: StopCertificate) -> Ledger:
    generations = tuple(
        replace(g, stop=stop) if g.number == stop.generation and g.stop is None else g for g in ledger.generations
    )
    return replace(ledger, generations=generations)


def _fold_judged(ledger: Ledger, judgement: Judgement) -> Ledger:
    """Add a judgement; it replaces the one of the same run on these generations from before it was cleared."""
    others = (j for j in ledger.judgements if not _is_said_again(j, judgement))
    return replace(ledger, judgements=(*others, judgement))


def _is_said_again(earlier: Judgement, later: Judgement) -> bool:
    return (
        _is_same_run(earlier.run, later.run)
        and set(earlier.generations) <= set(later.generations)
        and earlier.topics.keys() <= later.topics.keys()
    )


def _fold_cut_over(ledger: Ledger, cut_over: CutOver) -> Ledger:
    phase = Phase.CUTTING_OVER if cut_over.remaining else Phase.CUT_OVER
    return replace(ledger, phase=phase, cutovers=(*ledger.cutovers, cut_over))


def _fold_rolled_back(ledger: Ledger, rolled_back: RolledBack) -> Ledger:
    """Remove the topics from the cutovers, as if they had not been cut over."""
    left = (replace(c, topics=tuple(t for t in c.topics if t not in rolled_back.topics)) for c in ledger.cutovers)
    cutovers = tuple(each for each in left if each.topics)
    phase = Phase.CUTTING_OVER if cutovers else Phase.ROLLED_BACK
    return replace(ledger, phase=phase, cutovers=cutovers, rollbacks=(*ledger.rollbacks, rolled_back))


E = TypeVar("E", bound=Document)
_Fold = tuple[type[Document], Callable[[Ledger, Any], Ledger]]


def _row(kind: type[E], fold_in: Callable[[Ledger, E], Ledger]) -> _Fold:
    return kind, fold_in


_FOLDS: dict[str, _Fold] = {
    "reserved": _row(Reserved, lambda ledger, new: replace(ledger, reserved_by=new.run)),
    "copy-basis": _row(CopyBasis, lambda ledger, new: replace(ledger, basis=new)),
    "topics-announced": _row(
        TopicsAnnounced, lambda ledger, new: replace(ledger, announced={**ledger.announced, **new.topics})
    ),
    "topics-created": _row(TopicsCreated, _fold_created),
    "settings-restored": _row(SettingsRestored, lambda ledger, new: _with_frozen(ledger, new.topics, is_frozen=False)),
    "settings-frozen": _row(SettingsFrozen, _fold_frozen),
    "generation-started": _row(GenerationStart, _fold_started),
    "generation-stopped": _row(StopCertificate, _fold_stopped),
    "judged": _row(Judgement, _fold_judged),
    "schema-ids": _row(SchemaIdsFound, lambda ledger, new: replace(ledger, schema_ids=(*ledger.schema_ids, new))),
    "rehearsed": _row(Rehearsed, lambda ledger, new: replace(ledger, rehearsal=new)),
    "reported": _row(Reported, lambda ledger, new: replace(ledger, reports={**ledger.reports, new.run: new.evidence})),
    "cut-over": _row(CutOver, _fold_cut_over),
    "rolled-back": _row(RolledBack, _fold_rolled_back),
    "bounds-resolved": _row(BoundsResolved, lambda ledger, new: replace(ledger, bounds=new.added_to(ledger.bounds))),
    "interval-answered": _row(
        IntervalAnswer, lambda ledger, new: replace(ledger, answers={**ledger.answers, new.interval: new})
    ),
}
# The kinds of entries.
ENTRY_KINDS = tuple(_FOLDS)


def phase_findings(
    ledger: Ledger, migration: str, mode: Mode, topics: Collection[str], requested: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Refuse a mode that mirrors topics which were cut over.

    Checked before a run does anything, and again before a start: the run may have waited for a cutover, or be a cleared
    cutover. Topics that this run itself cut over count too.

    :param topics: the topics that the run mirrors: those of the migration without those that other runs cut over
    :param requested: the topics given for the run; none means all remaining topics
    """
    if mode.rolls_back:
        return () if ledger.cutovers else (_nothing_to_roll_back(ledger, migration),)
    moved = sorted(ledger.moved_topics().intersection((*topics, *requested)))
    if not mode.mirrors or not ledger.cutovers or (topics and not moved):
        return ()
    last = ledger.cutovers[-1]
    return (
        Finding(
            Code.ALREADY_CUT_OVER,
            f"migration {migration}" + (f", topics {some(moved)}" if moved else ""),
            f"cut over, last at {last.at} by {last.run}",
            f"mode {Mode.VALIDATE}, or topics that were not cut over",
            "If all topics were cut over, pause the schedules of this migration. Otherwise trigger the run for the "
            "topics that remain. Mode validate is allowed in both cases.",
            happened=f"Topics of migration {migration} were cut over, last at {last.at} by {last.run}, and mode {mode} "
            "would mirror them again.",
            matters="Producers now write to the target, so mirroring would mix their records with the copy.",
        ),
    )


def _nothing_to_roll_back(ledger: Ledger, migration: str) -> Finding:
    last = ledger.rollbacks[-1] if ledger.rollbacks else None
    taken_back = f": rolled back at {last.at} by {last.run}" if last else ""
    return Finding(
        Code.NOTHING_TO_ROLL_BACK,
        f"migration {migration}",
        f"phase {ledger.phase}{taken_back}",
        "topics that were cut over",
        "If `sync_offsets` failed after it moved groups, see `kafka-migration explain OFFSETS_NOT_WRITTEN`. "
        "Otherwise nothing has to be done.",
        happened=f"Migration {migration} has no cut-over topics; its phase is {ledger.phase}{taken_back}.",
        matters="Producers and consumers still use the source cluster, so nothing was changed.",
    )
