"""The error of the demo."""

from __future__ import annotations


class DemoFailed(Exception):
    """A check of the demo failed; the text is used in the demo's last line."""

    def __init__(self, why: str) -> None:
        super().__init__(" ".join(why.split()))
