"""Starts the next generation, ends an open one, and restarts a MirrorMaker that died; used by tasks and the trigger.

Each step of a restart writes a document before it acts, so a restarted trigger continues where the previous one
stopped: the death is in the evidence (`restart`), the dead generation's stop certificate and the next start are in the
ledger.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace

from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, MirrorFailed, Refused, TransientError
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.ledger.generations import Generation, GenerationStart, StopCertificate
from kafka_migration.core.ledger.ledger import phase_findings
from kafka_migration.core.mirror.diagnosis import with_causes
from kafka_migration.core.mirror.engine import DEFAULT_MAX_MESSAGE_BYTES, LaunchFacts
from kafka_migration.core.mirror.mirror_process import ProcessEnding, ProcessReply, ProcessState
from kafka_migration.core.mirror.restart_policy import Death, dead_for_good, stopped_by_others
from kafka_migration.core.report.metrics import MetricsOf
from kafka_migration.core.stored.stored_documents import NOTHING_TO_COPY, MirrorNotStarted, MirrorStarted, Stored
from kafka_migration.core.target.target_topics import missing_target_findings, missing_topic_findings
from kafka_migration.steps.mirror.guides import Noticing
from kafka_migration.steps.mirror.state import mirror_state, state_findings, topic_ids
from kafka_migration.steps.mirror.stop_certificate import certify
from kafka_migration.steps.run.copy_scope import record_basis, require_same_basis
from kafka_migration.steps.run.migration_run import MigrationRun, partitions_of
from kafka_migration.steps.run.task_frame import Summary

log = logging.getLogger(__name__)

NOTHING_PROVED: Offsets = {}
# A transaction that a killed MirrorMaker left open was observed to end after 66 s (Kafka 3.9.1).
SETTLE_LIMIT_S = 150.0
SETTLE_PAUSE_S = 2.0


def start_mirror(run: MigrationRun) -> Summary:
    """Adopt the running process, or close what a dead run left open and start the next generation."""
    plan = run.evidence.require(Stored.PLAN)
    if not plan.offsets_to_copy and not run.request.mode.follows_source:
        return _not_started(run, NOTHING_TO_COPY)
    reply = _present(run)
    if reply is None and (reason := run.run_window.still_at(run.clock.now())):
        return _not_started(run, reason)
    reply = reply or _start(run)
    run.evidence.write(Stored.START, MirrorStarted(run.now(), reply.generation, reply.pid))
    run.deployment.send_metrics(MetricsOf(run.name).watched(run.clock.now()))
    log.info("MirrorMaker generation %d is running%s", reply.generation, f" with pid {reply.pid}" if reply.pid else "")
    return {"generation": reply.generation, "pid": reply.pid}


def _start(run: MigrationRun) -> ProcessReply:
    try:
        return start_generation(run)
    except MirrorFailed as error:
        # The refusal ends with MirrorMaker's log, or with the traces of its tasks.
        raise MirrorFailed(with_causes(error.findings, "", run.migration.mirror.own_heap_mb)) from None


def _not_started(run: MigrationRun, reason: str) -> Summary:
    log.info("MirrorMaker is not started: %s.", reason)
    run.evidence.write(Stored.START, MirrorNotStarted(run.now(), reason))
    return {"generation": None, "pid": None}


def _present(run: MigrationRun) -> ProcessReply | None:
    """Return the running process of this attempt; stop and certify one that an earlier run left open."""
    generation = run.ledger.known().open_generation
    if generation is None:
        return None
    reply = run.process.status()
    if generation.start.run == run.identity.holder and reply.is_running:
        return reply
    end_when_settled(run, generation, stop_generation(run, generation), f"left open by {generation.start.run}")
    return None


def start_generation(run: MigrationRun) -> ProcessReply:
    """Start the next generation. No MirrorMaker process of this migration may be alive.

    The present state is written to the ledger first. Raises `Refused` if something changed since the last stop, records
    were lost or a setting is unsafe. Raises `MirrorFailed` if the process ends at once; its generation number is then
    used up.
    Untrusted positions are only reset here, once nothing forbids the start.
    """
    basis = require_same_basis(run)
    ledger = run.ledger.known()
    source, target = run.describe("source"), run.describe("target")
    state = mirror_state(run, ledger, source, target)
    findings = (
        *phase_findings(ledger, run.name, run.request.mode, run.migration.topics),
        *missing_topic_findings(run.migration, source),
        *missing_target_findings(run.migration, target),
        *state_findings(run, ledger, state),
    )
    if findings:
        raise Refused(findings)
    _set_back(run, ledger.rewind)
    last = ledger.last_generation
    generation = max(run.process.status().generation, last.number if last else 0) + 1
    launch = _launch_of(run, generation, len(partitions_of(source)))
    run.target.delete_topics(run.engine.stale_topics(generation, run.target.topic_names()))
    start = GenerationStart(
        generation,
        run.identity.holder,
        run.now(),
        state.mirror_positions,
        state.target_end_offsets,
        state.source_topic_ids,
        topic_ids(target),
    )
    if run.has_left.is_set():
        raise TransientError("the watch has ended, so this generation is not started")
    record_basis(run, basis)
    run.ledger.append(start.to_document())
    return run.process.start(run.identity.holder, generation, launch)


@dataclass(frozen=True, slots=True)
class StoppedGeneration:
    """The reply to a stop, and how the generation ended. `at_once`: by force, because its positions are distrusted."""

    reply: ProcessReply
    ending: ProcessEnding
    at_once: bool


def stop_generation(run: MigrationRun, generation: Generation) -> StoppedGeneration:
    """Stop a generation; return when none of its processes is alive.

    A generation that may have lost records is ended with KILL, because an orderly stop would store positions beyond
    them. Raises `MirrorFailed` (`MIRROR_NOT_STOPPED`) if the process survives.
    """
    at_once = run.engine.ending(run.process.status()).distrusts_positions
    grace_s = 0 if at_once else run.migration.mirror.stop_grace_s
    reply = run.process.stop(run.identity.holder, generation.number, grace_s)
    if reply.is_running:
        raise MirrorFailed([_not_stopped(reply)])
    ending = run.engine.ending(reply)
    # What made it distrust them may be in an older part of the log than the reply has.
    return StoppedGeneration(reply, replace(ending, distrusts_positions=at_once or ending.distrusts_positions), at_once)


def end_generation(
    run: MigrationRun,
    generation: Generation,
    stopped: StoppedGeneration,
    reason: str,
    proved: Offsets = NOTHING_PROVED,
) -> StopCertificate:
    """Write the stop certificate of a generation whose process is dead into the ledger, and return it.

    `proved` are the offsets up to which a watch that is still active proved that everything is copied. Raises
    `TransientError` while an open transaction or replication still changes the target.
    """
    if not stopped.ending.is_clean:
        _require_still_ends(run, generation)
    certificate = certify(run, generation, stopped.reply, stopped.ending, reason, proved)
    run.ledger.append(certificate.to_document())
    return certificate


def end_when_settled(
    run: MigrationRun, generation: Generation, stopped: StoppedGeneration, reason: str
) -> StopCertificate:
    """Certify a generation as soon as the target has stopped changing after the end of its process."""
    deadline = run.clock.monotonic_s() + SETTLE_LIMIT_S
    while True:
        try:
            return end_generation(run, generation, stopped, reason)
        except TransientError:
            if run.clock.monotonic_s() >= deadline:
                raise
        time.sleep(SETTLE_PAUSE_S)


def _require_still_ends(run: MigrationRun, generation: Generation) -> None:
    """Read the target's ends twice: after a KILL they keep rising while a follower catches up."""
    partitions = partitions_of(run.describe("target", {p.topic for p in generation.start.mirror_positions}))
    before = run.target.log_end_offsets(partitions, "read_uncommitted")
    time.sleep(SETTLE_PAUSE_S)
    if run.target.log_end_offsets(partitions, "read_uncommitted") != before:
        raise TransientError("the target's log end offsets are still rising although MirrorMaker is dead")


def _launch_of(run: MigrationRun, generation: int, partitions: int) -> object:
    """Return what the process needs to start a generation that copies this many partitions."""
    migration = run.migration
    limits = run.target.effective_configs(migration.topics, "max.message.bytes")
    source, target = (
        java_properties(side.connection, run.deployment.client_settings(side))
        for side in (migration.source, migration.target)
    )
    known = (int(each["max.message.bytes"]) for each in limits.values() if "max.message.bytes" in each)
    smallest = min(known, default=DEFAULT_MAX_MESSAGE_BYTES)
    return run.engine.launch(generation, LaunchFacts(source, target, smallest, partitions))


def _set_back(run: MigrationRun, positions: Offsets) -> None:
    """Store these positions; positions that are already stored are skipped."""
    stored = run.engine.stored_positions({p.topic for p in positions}) if positions else {}
    pending = {p: offset for p, offset in positions.items() if stored.get(p) != offset}
    try:
        if pending:
            run.engine.rewind(pending)
    except Refused as error:
        if any(finding.code is not Code.GROUP_ACTIVE for finding in error.findings):
            raise
        # A killed MirrorMaker remains a member of its group until its session times out. A broker up to 2.4.1 may keep
        # it longer (KAFKA-9752); then the retries end and the task fails.
        raise TransientError(str(error)) from None


def _not_stopped(reply: ProcessReply) -> Finding:
    return Finding(
        Code.MIRROR_NOT_STOPPED,
        "MirrorMaker",
        f"pid {reply.pid} alive after TERM, grace time and KILL",
        "no process",
        "Log in to the MirrorMaker host and end the process. When it is gone, clear the task with its downstream "
        "tasks. Start no other run before.",
        happened=f"MirrorMaker did not end: its process {reply.pid} is alive after TERM, the grace time and KILL.",
        matters="It may still copy records, so it is unknown up to which offsets it copied.",
    )


@dataclass(eq=False)
class Reviver(Noticing):
    """Replaces a run's dead generation by a new one; its notices have each death once, with its log lines."""

    run: MigrationRun

    def newest(self) -> Generation:
        """Return the newest generation that any attempt of the run started; `start_mirror` has started one."""
        return self._mine()[-1]

    def renew(self, generation: int) -> ProcessReply:
        """Renew the lease of the run's newest generation and return its status.

        If its start was interrupted before it reached the host, this is the status of the previous generation.
        """
        try:
            return self.run.process.renew(self.run.identity.holder, generation)
        except Refused as error:
            if any(finding.code is not Code.GENERATION_UNEXPECTED for finding in error.findings):
                raise
            reply = self.run.process.status()
            if reply.generation >= generation:
                raise
            return reply

    def step(self, reply: ProcessReply, proved: Offsets) -> str:
        """Take the next step to replace a dead generation; return what it waits for as text.

        Raises `MirrorFailed` (`MIRROR_DEAD`) if it was stopped on purpose or died too often, `Refused` if a start is
        not allowed, and `TransientError` while its end cannot be certified.
        """
        return self.pause(reply) or self.restart(reply, proved)

    def pause(self, reply: ProcessReply) -> str:
        """Record the death once; return the remaining pause before the restart as text, empty if it is over."""
        now, death = self.run.clock.now(), self._deaths(reply)[-1]
        if now < death.start_after:
            return f"{death}; it is started again in {(death.start_after - now).total_seconds():.0f} s"
        return ""

    def restart(self, reply: ProcessReply, proved: Offsets) -> str:
        """Certify the dead generation and start the next one; return the outcome as text. See `step`."""
        self._certify(self._deaths(reply)[-1], proved)
        try:
            started = start_generation(self.run)
        except MirrorFailed as error:
            if any(finding.code is not Code.MIRROR_DEAD for finding in error.findings):
                raise
            return f"generation {self.newest().number} ended at its start"
        return f"started again as generation {started.generation}"

    def _deaths(self, reply: ProcessReply) -> list[Death]:
        """Return the deaths of this attempt; record the present one as the last."""
        deaths = self.run.evidence.of_attempt(Stored.RESTART)
        if deaths and deaths[-1].generation == reply.generation:
            return deaths
        if reply.state is ProcessState.STOPPED and not self._is_of_earlier_attempt(reply.generation):
            raise MirrorFailed([stopped_by_others(reply)])
        failures = sum(death.is_failure for death in deaths)
        deaths.append(Death.of(reply, self.run.clock.now(), earlier=failures))
        restarts = 0 if deaths[-1].ends_each_start else self.run.migration.mirror.restarts
        failures += deaths[-1].is_failure
        if failures > restarts:
            raise MirrorFailed([dead_for_good(deaths, restarts, self.run.migration.mirror.abilities)])
        self.run.evidence.write(Stored.RESTART, deaths[-1])
        which = f"restart {failures} of {restarts}" if deaths[-1].is_failure else "the next generation"
        self._notices.append(f"{deaths[-1].with_log}; {which} follows")
        return deaths

    def _certify(self, death: Death, proved: Offsets) -> None:
        """Ensure that no MirrorMaker process of the run is alive, and write a missing stop certificate."""
        generation = self.run.ledger.read().open_generation
        if generation is None:
            return
        stopped = stop_generation(self.run, generation)
        is_dead = generation.number == death.generation
        reason = f"died ({death.reason})" if is_dead else "its start was cut short"
        end_generation(self.run, generation, stopped, reason, proved)

    def _is_of_earlier_attempt(self, generation: int) -> bool:
        holders = [g.start.run for g in self._mine() if g.number == generation]
        return any(self.run.identity.follows(holder) for holder in holders)

    def _mine(self) -> list[Generation]:
        """Return the generations that any attempt of this run started."""
        ledger = self.run.ledger.read()
        return [g for g in ledger.generations if self.run.identity.has_attempt(g.start.run)]
