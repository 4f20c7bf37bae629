"""Starting a MirrorMaker that died again, as the next generation; the trigger calls it once per poll.

Every step leaves a document before it is done, so a trigger that was itself restarted goes on where the last stopped:
the death is evidence (`restart`), the dead generation's certificate and the next start are in the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import MirrorFailed, Refused
from kafka_migration.core.evidence import Kind
from kafka_migration.core.generations import Generation
from kafka_migration.core.host import HostReply
from kafka_migration.core.migration import RunIdentity
from kafka_migration.core.revival import Death, dead_for_good, stopped_by_others, was_told_to_stop
from kafka_migration.orchestration.run import MigrationRun
from kafka_migration.orchestration.starting import end_generation, start_generation


@dataclass(eq=False)
class Reviver:
    """Brings the dead generation of a run to a next one that lives."""

    run: MigrationRun

    def generation(self, first: int) -> int:
        """Return the number of the run's newest generation; `first` is the one that `start_mirror` started."""
        return max((g.number for g in self._mine()), default=first)

    def renew(self, generation: int) -> HostReply:
        """Renew the lease of the run's newest generation and return what is true.

        Where its start was cut short before it reached the host, that is what is true of the one before.
        """
        try:
            return self.run.host.renew(self.run.identity.holder, generation)
        except Refused:
            reply = self.run.host.status()
            if reply.generation >= generation:
                raise
            return reply

    def step(self, reply: HostReply) -> str:
        """Do what can be done now for a generation that is dead; return in words what it waits for.

        Raises `MirrorFailed` (`MIRROR_DEAD`) when it was told to stop or died too often, `Refused` when something
        forbids a start, and `TransientError` while its end cannot be certified.
        """
        deaths = self._deaths(reply)
        now, death = self.run.clock.now(), deaths[-1]
        if now < death.start_after:
            return f"{death}; it is started again in {(death.start_after - now).total_seconds():.0f} s"
        self._certify(death)
        try:
            started = start_generation(self.run)
        except MirrorFailed as error:
            if any(finding.code is not Code.MIRROR_DEAD for finding in error.findings):
                raise
            return f"generation {self.generation(death.generation)} ended at its start"
        return f"started again as generation {started.generation}"

    def _deaths(self, reply: HostReply) -> list[Death]:
        """Return the deaths of this attempt, the present one recorded as the last."""
        deaths = [Death.from_document(d) for d in self.run.evidence.of_attempt(Kind.RESTART)]
        if deaths and deaths[-1].generation == reply.generation:
            return deaths
        if was_told_to_stop(reply) and not self._is_of_earlier_attempt(reply.generation):
            raise MirrorFailed([stopped_by_others(reply)])
        deaths.append(Death.of(reply, self.run.clock.now(), earlier=len(deaths)))
        restarts = self.run.migration.mirror.restarts
        if len(deaths) > restarts:
            raise MirrorFailed([dead_for_good(deaths, restarts)])
        self.run.evidence.write(Kind.RESTART, deaths[-1].to_document())
        return deaths

    def _certify(self, death: Death) -> None:
        """Make sure that nothing of the run lives, and write the certificate that is missing, if one is."""
        generation = self.run.ledger.read().open_generation
        if generation is None:
            return
        grace_s = self.run.migration.mirror.stop_grace_s
        reply = self.run.host.stop(self.run.identity.holder, generation.number, grace_s)
        is_dead = generation.number == death.generation
        end_generation(self.run, generation, reply, f"died ({death.reason})" if is_dead else "died at its start")

    def _is_of_earlier_attempt(self, generation: int) -> bool:
        holders = [g.start.run for g in self._mine() if g.number == generation]
        return any(RunIdentity.from_holder(h).is_earlier_attempt_of(self.run.identity) for h in holders)

    def _mine(self) -> list[Generation]:
        """Return the generations that any attempt of this run started."""
        ledger = self.run.ledger.read()
        return [g for g in ledger.generations if RunIdentity.from_holder(g.start.run).is_same_run(self.run.identity)]
