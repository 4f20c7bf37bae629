"""How long producers and consumers stand still in a cutover, by phase; a rehearsal's figures are the forecast."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.terminal_text import duration


class StillPhase(StrEnum):
    """The phases in which clients stand still, in their order; consumers only do in the last three."""

    FENCE = "fence"
    COPY = "copy"
    STOP = "stop of MirrorMaker"
    VALIDATION = "validation"
    CONSUMERS = "waiting for consumers"
    TRANSLATION = "translation"
    PLAN = "plan"
    WRITING = "writing"


@dataclass(frozen=True, slots=True)
class PhaseTime(Document):
    """How many seconds a phase took; `None`: not measured."""

    phase: StillPhase
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Still(Document):
    """From when to when clients stood still (ISO 8601), and the time of each phase, in order and without gaps.

    `person_s` are the seconds in which the run waited for an answer; they belong to no phase. `None`: not known.
    """

    began_at: str | None
    ended_at: str | None
    phases: tuple[PhaseTime, ...]
    person_s: float | None

    @property
    def seconds(self) -> float:
        """The time of the measured phases together."""
        return sum(each.seconds or 0 for each in self.phases)

    @property
    def unknown(self) -> tuple[StillPhase, ...]:
        """The phases that were not measured."""
        return tuple(each.phase for each in self.phases if each.seconds is None)

    @property
    def is_measured(self) -> bool:
        """Whether at least one phase was measured."""
        return len(self.unknown) < len(self.phases)

    @property
    def together(self) -> str:
        """The time of all phases; it is a lower limit if a phase was not measured."""
        if not self.is_measured:
            return "not known"
        return f"{'at least ' if self.unknown else ''}{duration(self.seconds)}"

    def since(self, local: LocalTime) -> str:
        """Say when the clients stopped."""
        began = "not known" if self.began_at is None else local.second(self.began_at)
        return f"{began}{' or earlier' if self.phases[0].seconds is None else ''}"

    def __str__(self) -> str:
        known = [f"{each.phase} {duration(each.seconds)}" for each in self.phases if each.seconds is not None]
        unknown = f"not measured: {', '.join(self.unknown)}" if self.unknown else ""
        person = "" if self.person_s is None else f"besides, {duration(self.person_s)} for an answer"
        return f"{self.together} ({'; '.join(filter(None, (', '.join(known), unknown, person)))})"


@dataclass(frozen=True, slots=True)
class StandStill(Document):
    """The two times that a cutover costs: without producers on the source, and without consumers."""

    producers: Still
    consumers: Still

    def since(self, local: LocalTime) -> tuple[str, ...]:
        """Say since when clients of a cutover stand still, as far as that is known."""
        sides = {"Producers": self.producers, "Consumers": self.consumers}
        return tuple(
            f"{clients} stand still since {side.since(local)}." for clients, side in sides.items() if side.began_at
        )

    @property
    def forecast(self) -> tuple[str, str]:
        """What a rehearsal forecasts, as two sentences."""
        return (
            f"Producers would stand still for {self.producers}.",
            f"Consumers would stand still for {self.consumers}.",
        )


_NO_FORECAST = ("How long producers and consumers would stand still is not known: no rehearsal has measured it.",)


def forecast_lines(rehearsed: StandStill | None) -> tuple[str, ...]:
    """Return the forecast of the newest rehearsal; that it is unknown, without one that measured it."""
    return rehearsed.forecast if rehearsed else _NO_FORECAST
