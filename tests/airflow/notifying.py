"""Notifiers of the small world: one that keeps what it was to send, and one that cannot send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from airflow.sdk import BaseNotifier

from tests.airflow.conftest import World

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


class Changing(Recorder):
    """Puts each text that it sends into a list that it got as argument."""

    def __init__(self, texts: list[str]) -> None:
        texts.append("sent")
        super().__init__(" and ".join(texts))


class Broken(BaseNotifier):  # type: ignore[misc]
    """A mail server that is away."""

    def notify(self, context: Mapping[str, Any]) -> None:
        """Fail."""
        raise ConnectionRefusedError("no mail server")


def with_alerts(world: World, section: str = SECTION) -> list[str]:
    """Give the migration file a section `alerts`; return the list of what is sent from now on."""
    path = world.migrations / "shop.yaml"
    path.write_text(path.read_text() + section)
    Recorder.sent.clear()
    return Recorder.sent
