"""Asks YARN to end an application, with YARN's own client: the command `yarn`, or the one inside Spark."""

from __future__ import annotations

import logging
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

log = logging.getLogger(__name__)

# What the command `yarn` starts, with all of its arguments.
_CLIENT = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
# Becomes the command that follows, after as many seconds as its first argument says.
_WAITING = ("sh", "-c", 'sleep "$0" && exec "$@"')


def kill_command(application: str, spark_home: str | None) -> list[str]:
    """Return the command that ends an application; empty if this machine has no client of YARN."""
    arguments = ["application", "-kill", application]
    if yarn := shutil.which("yarn"):
        return [yarn, *arguments]
    own = Path(spark_home, "bin", "spark-class") if spark_home else None
    return [str(own), _CLIENT, *arguments] if own and own.is_file() else []


def ask_to_end(application: str, spark_home: str | None, after_s: float = 0) -> Callable[[float], None] | None:
    """Ask YARN to end an application; return what waits for its answer, at most for so many seconds.

    `after_s` is the time in which the application may end by itself. Returns `None` if this machine cannot ask, and
    says so in the log.

    Airflow ends a killed task within seconds, in which Java may not even start. So the client is a process of its own,
    which outlives the task where the machine or the container outlives it.
    """
    command = kill_command(application, spark_home)
    if not command:
        log.warning("%s may still run: this machine has neither the command yarn nor spark-class.", application)
        return None
    log.info("YARN is asked to end %s%s.", application, f" if it still runs in {after_s:.0f} s" if after_s else "")
    try:
        client = subprocess.Popen(
            [*_WAITING, str(after_s), *command] if after_s else command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        log.warning("%s may still run: %s.", application, error)
        return None
    return partial(_wait, client)


def _wait(client: subprocess.Popen[bytes], limit_s: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        client.wait(limit_s)
