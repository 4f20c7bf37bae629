"""One Spark driver that stays: a `spark-submit` that hands its work to a process whose JVM is warm.

A cold `spark-submit` spends half a minute of processor time in starting, and a lane of whole runs submits a job per
run. Here each job still gets a Spark application of its own, with the settings of its command line; only the JVM and
Python's modules are those of the job before. The tests of the validation job use the real `spark-submit`, also from a
real task (`test_validate_place.py`), and so does every campaign.
"""

from __future__ import annotations

import io
import json
import os
import runpy
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox import jars
from sandbox.environment import search_path
from sandbox.kafka import SHORT_LIVED
from sandbox.shared_classes import spark_options
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
# What the options of `spark-submit` that our tasks use are called among Spark's settings.
SETTINGS = {
    "--master": "spark.master",
    "--name": "spark.app.name",
    "--py-files": "spark.submit.pyFiles",
    "--deploy-mode": "spark.submit.deployMode",
}
# What the real one says after three seconds of Java; preflight asks for it.
VERSIONS = {"spark": "4.0.0", "scala": "2.13.16"}
# The warm JVM has these already: the same connector for all jobs.
IGNORED = {"--jars"}
CLIENT = """\
#!{python} -ES
import json, os, socket, sys

if sys.argv[1:] == ["--version"]:
    sys.exit(print("version {spark}, Using Scala version {scala}"))
with socket.socket(socket.AF_UNIX) as channel:
    channel.connect({address!r})
    channel.sendall(json.dumps({{"arguments": sys.argv[1:], "cwd": os.getcwd()}}).encode() + b"\\n")
    for line in channel.makefile():
        told = json.loads(line)
        if "exit" in told:
            sys.exit(told["exit"])
        print(told["text"], end="", flush=True)
sys.exit("the warm driver ended before the job did")
"""


@dataclass
class Submission:
    """What a command line of `spark-submit` asks for."""

    application: str
    arguments: Sequence[str]
    settings: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, words: Sequence[str]) -> Submission:
        """Read a command line. Raises `ValueError` for an option that this driver does not know."""
        settings: dict[str, str] = {}
        files: list[str] = []
        rest = list(words)
        while rest and rest[0].startswith("-"):
            option, value, *rest = rest
            if option == "--conf":
                name, _, setting = value.partition("=")
                settings[name] = setting
            elif option == "--properties-file":
                files.append(value)
            elif option in SETTINGS:
                settings[SETTINGS[option]] = value
            elif option not in IGNORED:
                raise ValueError(f"the warm driver does not know the option {option}")
        return cls(rest[0], rest[1:], settings, files)


class Told(io.TextIOBase):
    """What a job prints, sent to whoever submitted it."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    def write(self, text: str) -> int:
        """Send a piece of text as it is."""
        self.send({"text": text})
        return len(text)

    def send(self, document: dict[str, Any]) -> None:
        """Send one line of JSON."""
        self._channel.sendall(json.dumps(document).encode() + b"\n")


def serve(address: str) -> None:
    """Run one job after the other, each in a Spark application of its own, until the process is ended."""
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(8)
        while True:
            channel, _ = listener.accept()
            with channel:
                request = json.loads(channel.makefile().readline())
                told = Told(channel)
                with redirect_stdout(told), redirect_stderr(told):
                    code = run(SparkContext._jvm, request["arguments"], request["cwd"])
                told.send({"exit": code})


def run(jvm: Any, words: Sequence[str], cwd: str) -> int:
    """Run the job of a command line as `spark-submit` would; return its exit code."""
    os.chdir(cwd)
    path = list(sys.path)
    try:
        submission = Submission.of(words)
        with system_properties(jvm, settings_of(jvm, submission)):
            sys.argv = [submission.application, *submission.arguments]
            runpy.run_path(submission.application, run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        sys.path[:] = path
    return 0


def settings_of(jvm: Any, submission: Submission) -> dict[str, str]:
    """Return Spark's settings of a submission: those of its command line win over those of its files."""
    found: dict[str, str] = {}
    for file in submission.files:
        properties, stream = jvm.java.util.Properties(), jvm.java.io.FileInputStream(file)
        properties.load(stream)
        stream.close()
        found |= {name: properties.getProperty(name).strip() for name in properties.stringPropertyNames()}
    return found | submission.settings


@contextmanager
def system_properties(jvm: Any, settings: dict[str, str]) -> Iterator[None]:
    """Give the JVM these settings, from which each new Spark application takes its own; take them away afterwards."""
    system = jvm.java.lang.System
    for name, value in settings.items():
        system.setProperty(name, value)
    try:
        yield
    finally:
        for name in settings:
            system.clearProperty(name)


@contextmanager
def warm_driver(folder: Path) -> Iterator[dict[str, str]]:
    """Start the driver; give the environment in which `spark-submit` leads to it. `folder` is empty and private."""
    (folder / "bin").mkdir()
    address = str(folder / "socket")
    client = folder / "bin" / "spark-submit"
    client.write_text(CLIENT.format(python=sys.executable, address=address, **VERSIONS))
    client.chmod(0o700)
    connector = ",".join(str(jar) for jar in jars.spark_jars())
    options = " ".join((*spark_options(), *SHORT_LIVED))
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "spark_jobs"),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": f"--jars {connector} --driver-java-options '{options}' "
        "--conf spark.log.level=WARN pyspark-shell",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with (folder / "log").open("wb") as log:
        command = (sys.executable, "-m", "tests.live.warm_spark", address)
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: Path(address).exists() or server.poll() is not None, 240, "the warm driver")
        assert server.poll() is None, (folder / "log").read_text()
        yield {"PATH": f"{client.parent}{os.pathsep}{search_path()}"}
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    serve(sys.argv[1])
