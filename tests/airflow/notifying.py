"""Notifiers of the small world: one that keeps its alerts, and one that fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from airflow.sdk import BaseNotifier

from tests.airflow.world import World

SECTION = """\
alerts:
  notifiers:
    - notifier: tests.airflow.notifying.Broken
    - notifier: tests.airflow.notifying.Recorder
      arguments:
        text: "{{ alert.kind }} · {{ alert.text }} · {{ alert.run }}"
"""


class Recorder(BaseNotifier):  # type: ignore[misc]
    """Keeps the rendered texts in `sent`."""

    template_fields = ("text",)
    sent: ClassVar[list[str]] = []

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def notify(self, context: Mapping[str, Any]) -> None:
        """Keep the text."""
        self.sent.append(self.text)


class Broken(BaseNotifier):  # type: ignore[misc]
    """A notifier whose mail server does not answer."""

    def notify(self, context: Mapping[str, Any]) -> None:
        """Fail."""
        raise ConnectionRefusedError("no mail server")


class Adding(BaseNotifier):  # type: ignore[misc]
    """Adds a receiver to those of its arguments."""

    def __init__(self, people: list[str]) -> None:
        super().__init__()
        self.people = people

    def notify(self, context: Mapping[str, Any]) -> None:
        """Keep the receivers."""
        self.people.append("operator")
        Recorder.sent.append(", ".join(self.people))


def kinds(sent: list[str]) -> list[str]:
    """Return the kinds of alerts that were sent."""
    return [text.partition(" · ")[0] for text in sent]


def with_alerts(world: World, section: str = SECTION) -> list[str]:
    """Give the migration file a section `alerts`; return the list of what is sent from now on."""
    world.extend_file(section)
    Recorder.sent.clear()
    return Recorder.sent
