"""Polls a running MirrorMaker; the trigger runs it in a thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from kafka_migration.adapters.store.run_status_store import StopRequestStore
from kafka_migration.adapters.system.deadlines import Aside, at_most, no_limit
from kafka_migration.core.clock import Clock
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, FindingsError, OutcomeUnknown, TransientError
from kafka_migration.core.kafka.cluster import KafkaCluster, Probe, Side
from kafka_migration.core.kafka.offsets import Known, Offsets, TopicPartition
from kafka_migration.core.migration.settings import Migration, Mode
from kafka_migration.core.mirror.diagnosis import ENDS, explained, likely_cause, may_follow, with_causes
from kafka_migration.core.mirror.engine import AnyEngine
from kafka_migration.core.mirror.mirror_process import AnyProcess, ProcessReply
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.core.run.task_steps import TaskId
from kafka_migration.core.stored.stored_documents import PlanDocument
from kafka_migration.core.text.shortened import sentence
from kafka_migration.core.text.terminal_text import duration, moment
from kafka_migration.core.watching.drain import Drain, PartitionReading, TopicLag, drain_of, expected_next
from kafka_migration.core.watching.fence import held_offsets
from kafka_migration.core.watching.unreachable import Party, Silence, SilenceWatch, silences_of
from kafka_migration.core.watching.watch import Aim, Outcome, Poll, Watch, WatchResult
from kafka_migration.steps.mirror.answering_parties import NO_ANSWER, RollCall, TopicIdentity, with_refused_records
from kafka_migration.steps.mirror.guides import Guide, Noticing
from kafka_migration.steps.mirror.start_stop import Reviver
from kafka_migration.steps.mirror.state import probe_held

# The part of a poll's time limit that is reserved for the call in progress when the time is over.
POLL_RESERVE_S = 2.0
# The maximum time for reading stop requests: the poll has not renewed the lease yet.
STORE_S = 5.0
# The last lines of MirrorMaker's log, which are searched for the cause of a stalled partition.
CAUSE_LOG_LINES = 400
_SIDES: tuple[tuple[Party, Side], ...] = ((Party.TARGET, "target"), (Party.SOURCE, "source"))


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchNews(Document):
    """The document of a run's progress, as its watch writes it; `None` means *unknown*, or *not ended*."""

    schema: int = 1
    run: str
    mode: Mode
    generation: int
    at: str
    step: TaskId = TaskId.WATCH_LAG
    step_at: str
    stage: str
    copied: int
    total: int
    lag: int | None
    rate: float | None
    eta_s: float | None
    behind: tuple[TopicLag, ...]
    line: str
    silent: tuple[Silence, ...]
    outcome: Outcome | None
    poll_interval_s: float
    timezone: str


@dataclass(eq=False)
class MirrorWatcher(Noticing):
    """Polls a run's MirrorMaker and restarts it as the next generation if it died.

    Not thread-safe: one poll at a time.
    """

    migration: Migration
    first_generation: int
    plan: PlanDocument
    source: KafkaCluster
    engine: AnyEngine
    process: AnyProcess
    reviver: Reviver
    stop_requests: StopRequestStore
    clock: Clock
    deadline: datetime | None
    guide: Guide
    generation: int = field(init=False, default=0)
    begin: Offsets = field(init=False)
    watch: Watch = field(init=False)
    silence: SilenceWatch = field(init=False)
    result: WatchResult | None = field(init=False, default=None)
    _identity: TopicIdentity = field(init=False)
    # The evidence store may hang, and the lease must still be renewed.
    store: Aside = field(init=False, default_factory=Aside)
    _roll: RollCall = field(init=False, default_factory=RollCall)
    _step_at: str = field(init=False)

    def __post_init__(self) -> None:
        settings = self.migration.watch
        started_s, plan = self.clock.monotonic_s(), self.plan
        held_back = held_offsets(plan.held_back or {})
        self.watch = Watch(plan.positions, plan.goals, settings.stall_after_s, started_s, held_back)
        # What was told before a restart of the triggerer.
        run = self.reviver.run
        known = run.news.known_progress(run.identity.holder)
        self._step_at = known.get("step_at") or run.now()
        self.silence = SilenceWatch(
            settings.stall_after_s, settings.unreachable_after_s, _known_silences(known.get("silent", ()))
        )
        self._take_up()

    @property
    def progress(self) -> str:
        """The progress line of the last poll."""
        return self.watch.progress

    def take_notices(self) -> list[str]:
        """Return the new notices for the log since the last call."""
        return [*super().take_notices(), *self.reviver.take_notices(), *self.guide.take_notices()]

    def take_untold(self) -> tuple[Silence, ...]:
        """Return the silences that need an alert now; add a notice for each."""
        untold = self.silence.take_untold(self.clock.now())
        self._notices += [f"{silence}. {self._outlook(silence)}" for silence in untold]
        return untold

    def news(self) -> WatchNews:
        """Return the result of the last poll, for readers outside Airflow such as the CLI."""
        run, meter, lag = self.reviver.run, self.watch.meter, self.watch.lag
        known = lag.offsets if isinstance(lag, Known) else None
        return WatchNews(
            run=run.identity.holder,
            mode=run.request.mode,
            generation=self.generation,
            at=run.now(),
            step_at=self._step_at,
            stage=self.guide.stage,
            copied=meter.copied,
            total=meter.total,
            lag=known,
            rate=None if known is None else meter.rate,
            eta_s=None if known is None else meter.eta_s,
            behind=self.watch.behind,
            line=self.progress,
            silent=tuple(self.silence.silences.values()),
            outcome=None if self.result is None else self.result.outcome,
            poll_interval_s=self.migration.watch.poll_interval_s,
            timezone=run.local.zone,
        )

    def poll(self) -> WatchResult | None:
        """Read the host and the clusters once; return the result when the watch is over.

        An unreachable party means an unknown value, and a failure after `watch.unreachable_after`. Read calls end after
        `watch.poll_interval` + 10 s at the latest. A call that restarts MirrorMaker takes as long as its host needs.
        """
        begun, self._roll = self.clock.now(), RollCall()
        with at_most(self.migration.watch.poll_limit_s - POLL_RESERVE_S):
            self.result = self._polled(begun)
        return self.result

    def _polled(self, begun: datetime) -> WatchResult | None:
        asked, remark = self._asked()
        ending = self.guide.ending(asked)
        try:
            poll = self._poll(revives=ending is None)
            result = self.watch.take(replace(poll, remark=remark), self.clock.monotonic_s())
        except FindingsError as error:
            return WatchResult(Outcome.FAILED, self.progress, self._with_causes(self._explained(error.findings)))
        self._take_silence(begun)
        if result is not None:
            findings = self._with_causes(self._explained(result.findings))
            return replace(result, fence=self.guide.proof(), findings=findings)
        # If everything has just reached its goal, the next poll may prove it.
        if ending is not None and not self.watch.passes:
            return self.watch.end(ending)
        if findings := self.silence.too_long(self.clock.now()):
            return WatchResult(Outcome.FAILED, self.progress, findings, proved=dict(self.watch.proved))
        if self.deadline is not None and self.clock.now() >= self.deadline:
            return WatchResult(Outcome.FAILED, self.progress, self._with_causes((self._too_late(),)))
        self._tell_guide()
        return None

    def _tell_guide(self) -> None:
        try:
            self.guide.took(self.watch.lag)
        except NO_ANSWER as error:
            # The next poll repeats it.
            self._notices.append(f"The evidence could not be written: {type(error).__name__}: {error}")

    def _asked(self) -> tuple[StopRequest | None, str]:
        """Return the request to end mirroring, if there is one, and the error if requests cannot be read."""
        try:
            # A request names the generation that was running then; it may have died since.
            generations = range(self.first_generation, self.generation + 1)
            asked = self.store.call(
                lambda: next(filter(None, map(self.stop_requests.find, generations)), None), STORE_S
            )
        except Exception as error:
            # An object store may raise anything. An unknown request is no reason to end.
            problem = f"{type(error).__name__}: {error}"
            self._roll.silent[Party.EVIDENCE] = problem
            return None, f"stop requests cannot be read ({problem})"
        self._roll.heard.add(Party.EVIDENCE)
        return asked, ""

    def _poll(self, *, revives: bool) -> Poll:
        place = Party.HOST if self.migration.mirror.abilities.needs_host else Party.CONNECT
        reply = self._roll.ask(place, lambda: self.reviver.renew(self.generation))
        if reply is None:
            return self._waiting()
        try:
            if not reply.is_running:
                # Do not restart MirrorMaker just to end it.
                return self._waiting(self._revive(reply) if revives else "MirrorMaker is dead")
            # The guide may also write evidence; such an error names no cluster.
            aim = self.guide.aim() or self.watch.aim
        except NO_ANSWER as error:
            self._roll.missed(error, Party.SOURCE if reply.is_running else None)
            return self._waiting(str(error))
        renewed = self._identity.look(self._roll)
        if renewed is None:
            return self._waiting()
        if renewed:
            # Whatever their offsets say now is not about the copy.
            return replace(self._waiting(f"{renewed[0].subject} was created again"), findings=renewed)
        readings = self._readings(aim)
        health = None
        if readings is not None:
            health = self._roll.ask(self._keeper, lambda: self.engine.health(self.generation, reply))
        if readings is None or health is None:
            return self._waiting()
        return Poll(readings, health, reply.alarm, aim=aim)

    def _waiting(self, reason: str = "") -> Poll:
        """Return a poll without readings; its reason starts with long silences, or else with the present ones."""
        now = self._roll.silent.values()
        known = [f"since {moment(s.since)}: {s.reason}" for s in self.silence.silences.values() if s.is_told]
        reasons = dict.fromkeys([*(known or now), *([reason] if reason and reason not in now else [])])
        aim = replace(self.watch.aim, stage=self.guide.stage)
        return Poll(readings={}, unreachable="; ".join(reasons), aim=aim)

    @property
    def _keeper(self) -> Party:
        """The cluster that stores MirrorMaker's positions: the target in its topics, or the source as group commits."""
        return Party.TARGET if self.engine.position_topics() else Party.SOURCE

    def _take_silence(self, begun: datetime) -> None:
        ended = self.silence.take(self._roll.heard, self._roll.silent, begun)
        self._notices += [
            f"The {silence.party} answers again, after {duration((begun - silence.since).total_seconds())}."
            for silence in ended
            if silence.is_told
        ]

    def _outlook(self, silence: Silence) -> str:
        return (
            "The progress of the copy is unknown. MirrorMaker was not stopped. The run fails at "
            f"{moment(self.silence.gives_up_at(silence))} unless an answer arrives (watch.unreachable_after)."
        )

    def _with_causes(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Put the findings about silent parties before those that they may cause."""
        if not findings:
            return findings
        followers = tuple(filter(may_follow, findings))
        return (*(f for f in findings if f not in followers), *self.silence.causes(), *followers)

    def _revive(self, reply: ProcessReply) -> str:
        """Restart a dead MirrorMaker once its pause is over and both clusters answer; may take longer than a poll.

        Raises `Refused` if a cluster refuses the login of its connection as Airflow has it now. MirrorMaker would read
        it for the restart, and clients that are still connected do not notice.
        """
        if pause := self.reviver.pause(reply):
            return pause
        for party, side in _SIDES:
            if self._roll.ask(party, partial(self.reviver.run.facts_by_new_login, side)) is None:
                return "MirrorMaker is dead"
        try:
            with no_limit():
                return self.reviver.restart(reply, self.watch.proved)
        finally:
            # If the evidence cannot be read now, the next poll finds the process dead again and retries.
            with suppress(OSError):
                self._take_up()

    def _take_up(self) -> None:
        """Switch to the run's newest generation and its start positions, which may lie before the proved offsets."""
        newest = self.reviver.newest()
        if newest.number != self.generation:
            self.watch.proved.clear()
            self._identity = TopicIdentity(self.reviver.run, newest.start)
        self.generation, self.begin = newest.number, newest.start.mirror_positions

    def _readings(self, aim: Aim) -> Mapping[TopicPartition, PartitionReading] | None:
        """Return the reading of each partition, or `None` if a cluster did not answer. Both are always asked."""
        with at_most(self.migration.watch.poll_limit_s / 2):
            stored = self._roll.ask(self._keeper, lambda: self.engine.stored_positions(self.migration.topics))
        log_start = self._roll.ask(Party.SOURCE, lambda: self.source.log_start_offsets(tuple(aim.goals)))
        if stored is None or log_start is None:
            return None
        self._note_missing(aim, log_start)
        # A partition that is missing from the start was added later and begins at offset 0.
        positions = expected_next({p: self.begin.get(p, 0) for p in aim.goals}, stored, self.watch.proved)
        readings = {
            partition: PartitionReading(
                goal, None if partition in aim.unread else log_start.get(partition), positions.get(partition)
            )
            for partition, goal in aim.goals.items()
        }
        probes = self._roll.ask(Party.SOURCE, lambda: self._probes(readings))
        if probes is None:
            return None
        return {
            partition: PartitionReading(r.goal, r.source_log_start, r.expected_next, probes.get(partition))
            for partition, r in readings.items()
        }

    def _note_missing(self, aim: Aim, log_start: Offsets) -> None:
        """Record partitions that cannot be read: they make the lag unknown even if the cluster answers."""
        missing = sorted({*aim.unread, *(set(aim.goals) - set(log_start))})
        if missing:
            self._roll.silent[Party.SOURCE] = f"{len(missing)} partition(s) cannot be read, such as {missing[0]}"

    def _probes(self, readings: Mapping[TopicPartition, PartitionReading]) -> Mapping[TopicPartition, Probe]:
        start = {
            partition: reading.expected_next
            for partition, reading in readings.items()
            if reading.expected_next is not None
            and drain_of(reading) is Drain.COPYING
            and self.watch.needs_probe(partition, reading.expected_next)
        }
        return probe_held(self.source, start, self.migration.mirror.isolation_level)

    def _too_late(self) -> Finding:
        return Finding(
            Code.MIRROR_TIMEOUT,
            TaskId.WATCH_LAG,
            self.progress or "no reading yet",
            f"the goal reached within {self.migration.watch.time_limit_s:,.0f} s (watch.time_limit)",
            "Trigger the run again: it continues where this one ended. If it ends so again, raise watch.time_limit.",
            happened=sentence(
                f"The copy did not reach its goal within {self.migration.watch.time_limit_s:,.0f} s "
                f"(watch.time_limit): {self.progress or 'no reading yet'}"
            ),
            matters="The records that are left are not on the target yet; those that were copied are validated.",
        )

    def _explained(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Name the record or another cause that ended MirrorMaker, or else the likely cause of a stall."""
        if not any(finding.code in ENDS for finding in findings):
            return findings
        reply: ProcessReply | None = None
        with suppress(FindingsError, TransientError, OutcomeUnknown):
            reply = self.process.logs(self.generation, CAUSE_LOG_LINES)
        log = (reply and reply.log) or ""
        # Where MirrorMaker may have stored positions of records that it lost, the record may be before them.
        is_trusted = reply is None or not self.engine.ending(reply).distrusts_positions
        named = with_refused_records(self.reviver.run, findings, log, self.begin, is_trusted=is_trusted)
        return with_causes(self._with_stall_causes(named, log), log, self.migration.mirror.own_heap_mb)

    def _with_stall_causes(self, findings: tuple[Finding, ...], log: str) -> tuple[Finding, ...]:
        """Add the likely cause to the finding of each stalled partition; return the findings as they are if unknown."""
        stalled = [p for p in self.watch.goals if any(_is_stall_of(f, p) for f in findings)]
        if not stalled or not log:
            return findings
        try:
            high_watermarks = self.source.log_end_offsets(stalled, "read_uncommitted")
            stable = self.source.log_end_offsets(stalled, "read_committed")
        except (FindingsError, TransientError, OutcomeUnknown):
            return findings
        is_read_committed = self.migration.mirror.isolation_level == "read_committed"
        causes = {
            str(p): likely_cause(log, open_transaction=is_read_committed and p in stable and stable[p] < high)
            for p, high in high_watermarks.items()
        }
        return explained(findings, causes)


def _known_silences(told: Iterable[object]) -> dict[Party, Silence]:
    """Return the silences that were told, which keep their start time."""
    try:
        return silences_of(told)
    except (TypeError, ValueError):
        return {}


def _is_stall_of(finding: Finding, partition: TopicPartition) -> bool:
    return finding.code is Code.MIRROR_STALLED and finding.subject == str(partition)
