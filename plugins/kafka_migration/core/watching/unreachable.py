"""Hosts and clusters that do not answer while MirrorMaker runs: since when, when to alert, and when to give up."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, OutcomeUnknown
from kafka_migration.core.text.shortened import sentence
from kafka_migration.core.text.terminal_text import duration, moment


class Party(StrEnum):
    """A system that a poll asks."""

    HOST = "MirrorMaker host"
    CONNECT = "Connect cluster"
    SOURCE = "source cluster"
    TARGET = "target cluster"
    EVIDENCE = "evidence store"
    CLUSTER = "cluster"


def party_of(error: Exception, asked: Party | None = None) -> Party | None:
    """Return which party did not answer, by the error; `asked` is the default if the error does not name one.

    Errors of a cluster start with its side, as `target (new_kafka, kafka:9092)`, those of the host with a code. An
    unknown outcome is one of the place where MirrorMaker runs.
    """
    if isinstance(error, OSError):
        return Party.EVIDENCE
    text = str(error)
    if text.startswith(("SSH_", "HOST_")):
        return Party.HOST
    if isinstance(error, OutcomeUnknown) or text.startswith(f"the {Party.CONNECT}"):
        return Party.CONNECT if str(Party.CONNECT) in text else Party.HOST
    sides = {"source (": Party.SOURCE, "target (": Party.TARGET}
    return next((party for start, party in sides.items() if text.startswith(start)), asked)


@dataclass(frozen=True, slots=True)
class Silence(Document):
    """A party that does not answer, since when, and the error of the last attempt."""

    party: Party
    since: datetime
    reason: str
    is_told: bool = False

    def __str__(self) -> str:
        return f"no answer from the {self.party} since {moment(self.since)}: {self.reason}"


@dataclass(slots=True)
class SilenceWatch:
    """The parties that do not answer now. A party that a poll did not ask keeps its state.

    After `told_after_s` an alert is due, once per silence. After `limit_s` the watch gives up. `setting` is the name of
    the limit, `act` the last part of the remedy.
    """

    told_after_s: float
    limit_s: float
    silences: dict[Party, Silence] = field(default_factory=dict)
    setting: str = "watch.unreachable_after"
    act: str = "Then trigger the run again. Copied records are kept."

    def take(self, heard: Collection[Party], silent: Mapping[Party, str], since: datetime) -> tuple[Silence, ...]:
        """Add a poll that started at `since`; return the silences that it ended."""
        ended = tuple(self.silences.pop(p) for p in heard if p in self.silences and p not in silent)
        for party, reason in silent.items():
            known = self.silences.get(party) or Silence(party, since.replace(microsecond=0), reason)
            self.silences[party] = replace(known, reason=reason)
        return ended

    def take_untold(self, now: datetime) -> tuple[Silence, ...]:
        """Return the silences for which an alert is due now."""
        untold = [s for s in self._lasting(now, self.told_after_s) if not s.is_told]
        for each in untold:
            self.silences[each.party] = replace(each, is_told=True)
        return tuple(untold)

    def too_long(self, now: datetime) -> tuple[Finding, ...]:
        """Return the findings with which the watch fails; none while no silence has reached its limit."""
        return self.causes() if self._lasting(now, self.limit_s) else ()

    def causes(self) -> tuple[Finding, ...]:
        """Return a finding for each party that is silent now: it may be the cause of other failures."""
        return tuple(self._finding(silence) for silence in self.silences.values())

    def gives_up_at(self, silence: Silence) -> datetime:
        """Return when the watch ends unless an answer comes."""
        return silence.since + timedelta(seconds=self.limit_s)

    def _lasting(self, now: datetime, seconds: float) -> list[Silence]:
        return [s for s in self.silences.values() if (now - s.since).total_seconds() >= seconds]

    def _finding(self, silence: Silence) -> Finding:
        answers = silence.reason.startswith(Code.HOST_ANSWERS_OTHERWISE)
        remedy = _OF_ANOTHER_PROGRAM if answers else _REMEDIES[silence.party]
        return Finding(
            Code.UNREACHABLE,
            str(silence.party),
            f"no answer since {moment(silence.since)} ({silence.reason})",
            f"an answer within {duration(self.limit_s)} ({self.setting})",
            f"{remedy} {self.act}",
            happened=sentence(
                f"There was no answer from the {silence.party} since {moment(silence.since)}: {silence.reason}"
            ),
            matters=f"{_MATTERS[silence.party]} The task fails after {duration(self.limit_s)} of silence "
            f"({self.setting}).",
        )


_OF_ANOTHER_PROGRAM = (
    "Another program than mirrorctl answers on the host. Correct the forced command of the key, the login shell or its "
    "start files there."
)
_OF_A_CLUSTER = "Check that the brokers run, and that Airflow's workers and triggerer reach their addresses."
_REMEDIES = {
    Party.HOST: "Check that the host runs and that Airflow reaches it by SSH.",
    Party.CONNECT: "Check that a worker runs at the address of the Airflow connection, and that Airflow reaches it.",
    Party.SOURCE: _OF_A_CLUSTER,
    Party.TARGET: _OF_A_CLUSTER,
    Party.CLUSTER: _OF_A_CLUSTER,
    Party.EVIDENCE: "Check that Airflow's triggerer can read and write the evidence root.",
}
_LAG_UNKNOWN = "How much is left to read or to copy is unknown."
_MATTERS = {
    Party.HOST: "Whether MirrorMaker still runs is unknown. The host itself stops it when its lease expires "
    "(mirror.lease).",
    Party.CONNECT: "Whether MirrorMaker still runs is unknown. Nothing stops its connector but a run, or "
    "`kafka-migration stop NAME --now`.",
    Party.SOURCE: _LAG_UNKNOWN,
    Party.TARGET: _LAG_UNKNOWN,
    Party.CLUSTER: _LAG_UNKNOWN,
    Party.EVIDENCE: "The run can record neither its progress nor its end.",
}


def silences_of(documents: Iterable[object]) -> dict[Party, Silence]:
    """Read saved silences back, for a watch that continues after a restart of the triggerer."""
    known = (Silence.from_document(document) for document in documents)
    return {silence.party: silence for silence in known}
