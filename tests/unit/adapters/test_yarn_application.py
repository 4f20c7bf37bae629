"""Rules of the command with which YARN is asked to end an application."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from kafka_migration.adapters.system.yarn_application import ask_to_end, kill_command
from tests.waiting import wait_until


def program(path: Path, text: str = "") -> Path:
    """Write a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_command_of_the_cluster_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command `yarn` is used if there is one, else the client in Spark's jars, else none."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    own = program(tmp_path / "spark" / "bin" / "spark-class")
    client = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
    assert [] == kill_command("application_1_2", None)
    arguments = ["application", "-kill", "application_1_2"]
    assert [str(own), client, *arguments] == kill_command("application_1_2", str(tmp_path / "spark"))

    yarn = program(tmp_path / "bin" / "yarn")
    assert [str(yarn), *arguments] == kill_command("application_1_2", None)


def test_machine_without_a_client_says_what_may_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a client the log names the application that may still run."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert ask_to_end("application_1_2", None) is None
    assert "application_1_2 may still run" in caplog.text


def test_answer_is_awaited_for_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that has time waits until YARN's client has ended, but not for one that does not end."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    program(tmp_path / "bin" / "yarn", f"touch {tmp_path / 'asked'}")
    await_answer = ask_to_end("application_1_2", None)
    assert await_answer
    await_answer(60)

    assert (tmp_path / "asked").exists()

    (tmp_path / "asked").unlink()
    await_answer = ask_to_end("application_1_2", None, after_s=0.01)
    assert await_answer
    await_answer(60)

    assert (tmp_path / "asked").exists()

    program(tmp_path / "bin" / "yarn", f"echo $$ > {tmp_path / 'pid'}; exec sleep 600")
    await_answer = ask_to_end("application_1_2", None)
    assert await_answer
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"))
    await_answer(0.01)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
