"""Restarts a MirrorMaker that died, as the next generation; the trigger calls it once per poll.

Each step writes a document before it acts, so a restarted trigger continues where the previous one stopped: the death
is in the evidence (`restart`), the dead generation's stop certificate and the next start are in the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import MirrorFailed, Refused
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.ledger.generations import Generation
from kafka_migration.core.mirror.mirror_process import ProcessReply, ProcessState
from kafka_migration.core.mirror.restart_policy import Death, dead_for_good, stopped_by_others
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.steps.mirror.guides import Noticing
from kafka_migration.steps.mirror.start_stop import end_generation, start_generation, stop_generation
from kafka_migration.steps.run.migration_run import MigrationRun


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

        `proved` are the offsets up to which the watch proved that everything is copied.

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
        deaths.append(Death.of(reply, self.run.clock.now(), earlier=len(deaths)))
        restarts = 0 if deaths[-1].ends_each_start else self.run.migration.mirror.restarts
        if len(deaths) > restarts:
            raise MirrorFailed([dead_for_good(deaths, restarts)])
        self.run.evidence.write(Stored.RESTART, deaths[-1])
        self._notices.append(f"{deaths[-1].with_log}; restart {len(deaths)} of {restarts} follows")
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
