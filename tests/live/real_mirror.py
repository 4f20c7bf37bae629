"""A real MirrorMaker as a plain process, started from a rendered launch as mirrorctl would start it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from kafka_migration.core.mirror.host import GENERATION_DIR, LOG4J2_FILE, LOG4J_FILE, LOG_FILE, MirrorLaunch
from sandbox.environment import java
from sandbox.jars import KAFKA_VERSION, fetched_kafka
from sandbox.shared_classes import kafka_options
from tests.contract.logging_mirror import LoggingMirror

STOP_TIMEOUT_S = 90


class RealMirror(LoggingMirror):
    """One generation of a real MirrorMaker below a folder of its own; the host's part is not played."""

    def __init__(
        self, folder: Path, launch: MirrorLaunch, environment: Mapping[str, str], kafka: str = KAFKA_VERSION
    ) -> None:
        """Write the launch's files and start the process, of a Kafka version, in a session of its own."""
        self.launch = launch
        self._folder = folder
        self._kafka = kafka
        for name, text in launch.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._here(text))
        with (folder / "console.log").open("wb") as console:
            self._process = subprocess.Popen(
                self._command(launch, environment),
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def log(self) -> str:
        """Return what it has logged so far; what it printed where it never came to log."""
        for name in (LOG_FILE, "console.log"):
            with contextlib.suppress(FileNotFoundError):
                if text := (self._folder / name).read_text(errors="replace"):
                    return text
        return ""

    def stop(self) -> None:
        """TERM, and wait for the end."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """KILL, and wait for the end."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self.is_alive:
            os.killpg(self._process.pid, number)
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            raise

    def _command(self, launch: MirrorLaunch, environment: Mapping[str, str]) -> list[str]:
        options = [*kafka_options(self._kafka), *(self._here(option) for option in launch.java_options)]
        arguments = [self._here(argument) for argument in launch.arguments]
        logging = (
            f"-Dlog4j.configuration=file:{self._folder / LOG4J_FILE}",
            f"-Dlog4j2.configurationFile=file:{self._folder / LOG4J2_FILE}",
        )
        libs = f"{fetched_kafka(self._kafka)}/libs/*"
        return [java(environment), *options, *logging, "-cp", libs, launch.main_class, *arguments]

    def _here(self, text: str) -> str:
        return text.replace(GENERATION_DIR, str(self._folder))
