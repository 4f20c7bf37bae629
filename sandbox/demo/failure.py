"""How the demo ends when it does not pass."""

from __future__ import annotations


class DemoFailed(Exception):
    """The demo did not see what it should; the text is one line for the demo's last line."""

    def __init__(self, why: str) -> None:
        super().__init__(" ".join(why.split()))
