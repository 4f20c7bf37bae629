"""What of Spark's output a person needs in the task's log, and the last that the job said."""

from __future__ import annotations

import re
from typing import Any

# Spark's own lines, as its default layout writes them: `25/11/22 20:14:03 WARN Utils: …`.
_LINE = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?P<level>[A-Z]+) [\w.$]+: ")
_NOISE = re.compile(
    # Each partition has a consumer of its own on purpose; Spark says so every second.
    r" WARN (InternalKafkaConsumerPool: Pool exceeds|NativeCodeLoader: |Utils: (Your hostname|Set SPARK_LOCAL_IP)"
    r"|(Admin|Consumer)Config: )"
    r"|^(WARNING: Using incubator|Using Spark's default log4j|Setting (default|Spark) log|To adjust logging)"
)


class SparkLog:
    """A logger that keeps Spark's chatter to itself, and gives warnings and errors their level.

    :param program: the job, whose own lines begin with its name
    """

    def __init__(self, log: Any, program: str) -> None:
        self._log = log
        self._own = f"{program}: "
        self.last_said = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def info(self, text: str, *arguments: Any) -> None:
        """Tell what the hook says; of Spark's lines, which come without arguments, what is no noise."""
        if arguments:
            self._log.info(text, *arguments)
        elif text.startswith(self._own):
            self.last_said = text.removeprefix(self._own)
            self._log.info("%s", text)
        else:
            self._tell(text)

    def _tell(self, text: str) -> None:
        spark = _LINE.match(text)
        level = spark["level"] if spark else ""
        if _NOISE.search(text) or level in {"INFO", "DEBUG", "TRACE"}:
            return
        tell = {"WARN": self._log.warning, "ERROR": self._log.error, "FATAL": self._log.error}
        tell.get(level, self._log.info)("%s", text)
