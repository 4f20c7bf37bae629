"""The logging configurations keep the log bounded and complete, with the logging libraries of each Kafka."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from kafka_migration.core.mirror.host import LOG4J2_FILE, LOG4J_FILE, LOG_FILE
from kafka_migration.engines.launching import LOGGING_FILES
from sandbox.environment import base_environment, java
from sandbox.jars import KAFKA_VERSION, fetched_kafka
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

MEGABYTE = 1_000_000
# It writes 140 MB, and one more line a while after the JVM was asked to end, as MirrorMaker does.
CHATTY = """\
import org.slf4j.LoggerFactory;

public class Chatty {
    public static void main(String[] words) throws Exception {
        var log = LoggerFactory.getLogger("chatty");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try { Thread.sleep(2_000); } catch (InterruptedException e) { }
            log.info("the last line");
        }));
        for (int n = 0; n < 14_000; n++) log.info("x".repeat(10_000));
        System.out.println("written");
        Thread.sleep(600_000);
    }
}
"""


@pytest.mark.parametrize("kafka", [KAFKA_VERSION, "4.0.0", "4.1.1", "4.2.0"])
def test_log_is_bounded_and_has_the_last_line(tmp_path: Path, kafka: str) -> None:
    """Five files of 20 MB are kept, and the last line of a program that ends slowly is written."""
    for name, text in LOGGING_FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "Chatty.java").write_text(CHATTY)
    environment = base_environment("log")
    options = (
        f"-Dmirror.log.dir={tmp_path}",
        f"-Dlog4j.configuration=file:{tmp_path / LOG4J_FILE}",
        f"-Dlog4j2.configurationFile=file:{tmp_path / LOG4J2_FILE}",
        # Log4j 2 takes Kafka's libraries for those of a web application, and then has no shutdown hook of its own.
        "-Dlog4j2.isWebapp=false",
    )
    command = (java(environment), *options, "-cp", f"{fetched_kafka(kafka)}/libs/*", str(tmp_path / "Chatty.java"))
    console = tmp_path / "console.log"
    with console.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        wait_until(lambda: "written" in console.read_text(), 240, "the lines to be written")
        os.kill(process.pid, signal.SIGTERM)
        process.wait(60)
    finally:
        process.kill()

    sizes = {path.name: path.stat().st_size for path in tmp_path.glob(f"{LOG_FILE}*")}
    assert {LOG_FILE, *(f"{LOG_FILE}.{n}" for n in range(1, 5))} == set(sizes)
    assert all(size < 22 * MEGABYTE for size in sizes.values()), sizes
    last = (tmp_path / LOG_FILE).read_text().splitlines()[-1]
    assert re.fullmatch(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] INFO the last line \(chatty\)", last)
