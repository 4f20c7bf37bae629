"""What mirrorctl reports about its host, what a command line contains, and what it removes."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost, mirrorctl_text
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import MirrorFailed, Refused
from tests.contract.local_host import MAIN_CLASS, LocalTransport, Machine
from tests.contract.process_contract import ME, codes
from tests.contract.test_mirrorctl_faults import HOSTILE, generation_dir, journal
from tests.programs import compile_jar, java_home

pytestmark = pytest.mark.live

ECHO_CLASS = """\
package org.apache.kafka.connect.mirror;
public class MirrorMaker {
    public static void main(String[] words) throws Exception {
        for (String word : words) System.out.write(("<" + word + ">\\n").getBytes("UTF-8"));
        System.out.flush();
    }
}
"""


def host_of(machine: Machine) -> ScriptMirrorHost:
    """The host that the machine is."""
    return ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home))


def test_fingerprint_tells_what_the_host_is(any_machine: Machine) -> None:
    """Versions come from files beside Java and Kafka; mirrorctl tells the digest of the text that runs."""
    facts = host_of(any_machine).fingerprint(str(any_machine.kafka_home), str(any_machine.java_home)).facts

    assert {"kafka", "java", "java_path", "kafka_home", "base", "mirrorctl", "user", "kernel"} == set(facts)
    assert ("3.9.1", "17.0.1", str(any_machine.home)) == (facts["kafka"], facts["java"], facts["base"])
    assert hashlib.sha256(mirrorctl_text().encode()).hexdigest() == facts["mirrorctl"]
    assert os.uname().release == facts["kernel"]


def test_unknown_versions_are_empty(machine: Machine, host: ScriptMirrorHost) -> None:
    """Where no file and no program tells a version, it is unknown."""
    (machine.java_home / "release").unlink()
    (machine.java_home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    (machine.kafka_home / "libs" / "kafka-clients-3.9.1.jar").rename(machine.kafka_home / "libs" / "other.jar")

    facts = host.fingerprint(str(machine.kafka_home), str(machine.java_home)).facts

    assert ("", "") == (facts["kafka"], facts["java"])


@pytest.mark.parametrize(("missing", "code"), [("java", Code.JAVA_MISSING), ("kafka", Code.MM_BINARY_NOT_FOUND)])
def test_fingerprint_refuses_like_start(machine: Machine, host: ScriptMirrorHost, missing: str, code: Code) -> None:
    """A host without Java or Kafka has no fingerprint."""
    homes = {"kafka": str(machine.kafka_home), "java": str(machine.java_home), missing: "/nowhere"}

    with pytest.raises(Refused, match="/nowhere") as error:
        host.fingerprint(homes["kafka"], homes["java"])
    assert {code} == codes(error)


def test_clean_leaves_records(machine: Machine, host: ScriptMirrorHost) -> None:
    """Cleaning is on record, and leaves the journal and the folder of a generation that lives."""
    host.reserve(ME)
    for generation in (1, 2):
        host.start(ME, generation, machine.launch())
        if generation == 1:
            host.stop(ME, 1, 0)

    host.clean(ME, 0)

    assert "cleaned gen-1" == journal(machine)[-1][5]
    assert (False, True) == tuple(generation_dir(machine, generation).exists() for generation in (1, 2))
    assert host.status().is_running


@pytest.mark.parametrize(
    "option",
    [
        "-javaagent:/x.jar",
        "-XX:OnOutOfMemoryError=touch HACKED",
        "-XX:+HeapDumpOnOutOfMemoryError",
        "-Xmx1g -javaagent:/x.jar",
        "-Xmxg",
        "-Xmx01g",
        "-Dmirror.log.dir=/tmp",
        "-Dorg.apache.kafka.automatic.config.providers=",
        "-Dorg.apache.kafka.automatic.config.providers=a b",
        "-Djava.security.krb5.conf=krb5.conf",
        "-Djava.security.auth.login.config=/x",
        "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=",
        "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://",
        "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=file:///etc/passwd",
        "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://a/x,file:///etc/passwd",
        "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://a/x,http://b",
        "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://a/x,",
        "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://a b",
        "-cp",
        "@/x",
        "",
    ],
)
def test_java_option_is_refused(machine: Machine, host: ScriptMirrorHost, option: str) -> None:
    """Only options that are known to be harmless reach the JVM; another is named, and nothing is started."""
    host.reserve(ME)

    with pytest.raises(Refused, match="is not allowed") as error:
        host.start(ME, 1, replace(machine.launch(), java_options=("-Xms1g", option)))
    assert {Code.HOST_REFUSED} == codes(error)
    assert f"Java option {option} is" in str(error.value)
    assert 0 == host.status().generation


def test_allowed_java_options_arrive(machine: Machine, host: ScriptMirrorHost) -> None:
    """Heap, log folder, allow-lists of providers and token endpoints, and Kerberos' configuration reach the JVM."""
    options = (
        "-Xms16m",
        "-Xmx1G",
        "-XX:+ExitOnOutOfMemoryError",
        "-Dmirror.log.dir=@GENERATION_DIR@",
        "-Dorg.apache.kafka.automatic.config.providers=a.B,c.D",
        "-Djava.security.krb5.conf=@GENERATION_DIR@/krb5.conf",
        "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://a.example:8443/x,https://b/token_1",
    )
    host.reserve(ME)
    host.start(ME, 1, replace(machine.launch(), java_options=options))

    console = (generation_dir(machine) / "console.log").read_text()
    placed = [option.replace("@GENERATION_DIR@", str(generation_dir(machine))) for option in options]
    assert all(f"argument <{option}>" in console for option in placed)


@pytest.mark.parametrize("alarm", ["", "two\nlines"])
def test_alarm_must_be_one_line(machine: Machine, host: ScriptMirrorHost, alarm: str) -> None:
    """An alarm that would be found in every line is refused."""
    host.reserve(ME)

    with pytest.raises(Refused, match="one line"):
        host.start(ME, 1, replace(machine.launch(), alarms=("good", alarm)))


def test_alarm_is_a_fixed_text_among_the_newest(slow_machine: Machine) -> None:
    """An alarm is no pattern, is cut to 500 characters, and counts while it is in the newest 256 KiB."""
    host = host_of(slow_machine)
    host.reserve(ME)
    host.start(ME, 1, replace(slow_machine.launch(), alarms=("a.b [c]",)))
    slow_machine.log("axb c")
    missed = host.status().alarm
    line = 'an "a.b [c]" \\ ' + 600 * "x"
    slow_machine.log(line)
    found = host.status().alarm
    slow_machine.log("\n".join(99 * "y" for _ in range(2700)))

    assert ("", line[:500], "") == (missed, found, host.status().alarm)


@pytest.mark.parametrize(("version", "shown"), [("17.0.1", False), ("1.8.0_412", True), ("9", False)])
def test_private_arguments_are_in_no_command_line(
    machine: Machine, host: ScriptMirrorHost, version: str, shown: bool
) -> None:
    """With private arguments a process list shows a file's name; only a Java before 9 gets them as they are."""
    (machine.java_home / "release").write_text(f'JAVA_VERSION="{version}"\n')
    host.reserve(ME)
    launch = replace(machine.launch(), private_arguments=True)
    host.start(ME, 1, replace(launch, arguments=(*launch.arguments, "canary-topic")))
    lines = machine.shown("cmdline")
    file = generation_dir(machine) / f"{MAIN_CLASS}.args"
    there = file.exists()
    host.stop(ME, 1, 0)

    assert shown is any(b"canary-topic" in line for line in lines)
    assert (shown, False) == (not there, file.exists())


def test_real_java_reads_the_argument_file(slow_machine: Machine, tmp_path: Path) -> None:
    """Every special character in an argument reaches a real Java through its argument file."""
    (tmp_path / "MirrorMaker.java").write_text(ECHO_CLASS)
    compile_jar(tmp_path / "MirrorMaker.java", slow_machine.kafka_home / "libs" / "echo.jar")
    words = (
        "",
        "a b",
        "\"quoted\" \\ # 'x' $(id) *",
        "@file",
        "two\nlines\tand\rmore",
        HOSTILE.encode("ascii", "ignore").decode(),
    )
    launch = replace(slow_machine.launch(), arguments=words, java_home=str(java_home()), private_arguments=True)
    host = host_of(slow_machine)
    host.reserve(ME)

    with pytest.raises(MirrorFailed):
        host.start(ME, 1, launch)

    console = (generation_dir(slow_machine) / "console.log").read_bytes()
    assert "".join(f"<{word}>\n" for word in words).encode() in console
