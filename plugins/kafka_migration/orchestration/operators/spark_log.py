"""What of the output of `spark-submit` the task's log shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from kafka_migration.core.spark.yarn_report import YarnReport

# Spark's own lines, as its default layout writes them: `25/11/22 20:14:03 WARN Utils: …`.
_LINE = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?P<level>[A-Z]+) [\w.$]+:( |$)")
_NOISE = re.compile(
    # Each partition has its own consumer by design; Spark warns about it every second.
    r" WARN (InternalKafkaConsumerPool: Pool exceeds|NativeCodeLoader: |Utils: (Your hostname|Set SPARK_LOCAL_IP)"
    r"|(Admin|Consumer)Config: )"
    r"|^(WARNING: Using incubator|Using Spark's default log4j|Setting (default|Spark) log|To adjust logging)"
    # The lines of a report of YARN. `_note_application` logs one line for them.
    r"|^(client token|diagnostics|ApplicationMaster (host|RPC port)|queue|start time|final status|tracking URL|user): "
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
        self._shown = ""
        self.last_said = ""
        self.yarn = YarnReport()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def info(self, text: str, *arguments: Any) -> None:
        """Log the hook's lines, and of Spark's lines (which have no arguments) those that matter."""
        if arguments:
            self._of_hook(text, *arguments)
        elif text.startswith(self._own):
            self.say(text.removeprefix(self._own))
        else:
            self._note_application(text)
            self._tell(text)

    def say(self, line: str) -> None:
        """Log a line of the job, wherever its driver runs."""
        self.last_said = line
        self._log.info("%s%s", self._own, line)
        self._heard(line)

    def _of_hook(self, text: str, *arguments: Any) -> None:
        # The hook names the application again with each report of YARN.
        if not text.startswith("Identified spark application"):
            self._log.info(text, *arguments)

    def _note_application(self, line: str) -> None:
        """Log each new state of an application on YARN, with its page, which comes last in a report."""
        before, self.yarn = self.yarn, self.yarn.heard(line)
        is_whole = before is not self.yarn and self.yarn.page and "tracking URL" in line
        if is_whole and self.yarn.words != self._shown:
            self._shown = self.yarn.words
            self._log.info("YARN: %s. YARN's page: %s", self.yarn.words, self.yarn.page)

    def _tell(self, text: str) -> None:
        spark = _LINE.match(text)
        level = spark["level"] if spark else ""
        if _NOISE.search(text) or level in {"INFO", "DEBUG", "TRACE"}:
            return
        tell = {"WARN": self._log.warning, "ERROR": self._log.error, "FATAL": self._log.error}
        tell.get(level, self._log.info)("%s", text)
