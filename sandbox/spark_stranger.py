"""A Spark session without the cluster's secret: it requests data from other sessions.

`CANARY=… python -m sandbox.spark_stranger HOST PORT…` prints, as JSON, under which names it got the canary. The file
needs pyspark only, so it also runs as `python - HOST PORT…` in a container that has nothing else of the project.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from pyspark.sql import SparkSession

ANSWER_S = 20
BLOCKS = 12
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.rpc.askTimeout": "5s",
    "spark.network.timeout": "10s",
    "spark.network.timeoutInterval": "5s",
    "spark.executor.heartbeatInterval": "2s",
    "spark.shuffle.io.maxRetries": "0",
}


def main(canary: str, host: str, ports: list[int]) -> None:
    """Request the file and the first blocks from every port; any error counts as no answer."""
    builder = SparkSession.builder.master("local[1]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    found = [name for name, ask in questions(session._jvm, host, ports) if canary.encode() in answer(ask)]
    sys.stdout.write(f"{json.dumps(found)}\n")


def questions(jvm: Any, host: str, ports: list[int]) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the requests to each port, by name."""
    environment, read = jvm.org.apache.spark.SparkEnv.get(), jvm.org.apache.commons.io.IOUtils.toByteArray

    def file(port: int) -> bytes:
        channel = environment.rpcEnv().openChannel(f"spark://{host}:{port}/files/clients.json")
        return bytes(read(jvm.java.nio.channels.Channels.newInputStream(channel)))

    def block(port: int, name: str) -> bytes:
        service = environment.blockManager().blockTransferService()
        return bytes(read(service.fetchBlockSync(host, port, "driver", name, None).createInputStream()))

    for port in ports:
        yield "file", partial(file, port)
        for number in range(BLOCKS):
            yield "block", partial(block, port, f"broadcast_{number}_piece0")


def answer(ask: Callable[[], bytes]) -> bytes:
    """Return the answers that arrive in time."""
    answers: list[bytes] = []

    def note() -> None:
        try:
            answers.append(ask())
        except Exception as error:
            sys.stderr.write(f"{type(error).__name__}: {str(error).splitlines()[-1:]}\n")

    thread = threading.Thread(target=note, daemon=True)
    thread.start()
    thread.join(ANSWER_S)
    return b"".join(answers)


if __name__ == "__main__":
    main(os.environ["CANARY"], sys.argv[1], [int(port) for port in sys.argv[2:]])
