"""What of the output of `spark-submit` the task's log shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

# Spark's own lines, as its default layout writes them: `25/11/22 20:14:03 WARN Utils: …`.
_LINE = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?P<level>[A-Z]+) [\w.$]+: ")
_NOISE = re.compile(
    # Each partition has its own consumer by design; Spark warns about it every second.
    r" WARN (InternalKafkaConsumerPool: Pool exceeds|NativeCodeLoader: |Utils: (Your hostname|Set SPARK_LOCAL_IP)"
    r"|(Admin|Consumer)Config: )"
    r"|^(WARNING: Using incubator|Using Spark's default log4j|Setting (default|Spark) log|To adjust logging)"
)


def unheard(line: str) -> None:
    """Do nothing."""


class SparkLog:
    """A logger that drops Spark's routine lines, and logs warnings and errors with their level.

    :param program: the job; its own lines begin with this name
    :param heard: gets each of its own lines
    """

    def __init__(self, log: Any, program: str, heard: Callable[[str], None] = unheard) -> None:
        self._log = log
        self._heard = heard
        self._own = f"{program}: "
        self.last_said = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def info(self, text: str, *arguments: Any) -> None:
        """Log the hook's lines, and of Spark's lines (which have no arguments) those that matter."""
        if arguments:
            self._log.info(text, *arguments)
        elif text.startswith(self._own):
            self.last_said = text.removeprefix(self._own)
            self._log.info("%s", text)
            self._heard(self.last_said)
        else:
            self._tell(text)

    def _tell(self, text: str) -> None:
        spark = _LINE.match(text)
        level = spark["level"] if spark else ""
        if _NOISE.search(text) or level in {"INFO", "DEBUG", "TRACE"}:
            return
        tell = {"WARN": self._log.warning, "ERROR": self._log.error, "FATAL": self._log.error}
        tell.get(level, self._log.info)("%s", text)
