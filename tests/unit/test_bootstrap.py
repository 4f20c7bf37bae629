"""The bootstrap's rules: what is missing is said at once, and nothing interrupted is taken for whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import bootstrap, jars, prerequisites
from sandbox.jars import JarsError, JarSet
from sandbox.parts import exit_words, summary
from sandbox.prerequisites import Missing

pytestmark = pytest.mark.unit

JAVA = Missing("Java 17 or 21: no java on the PATH", "openjdk-17-jre-headless")
SSH = Missing("OpenSSH: no sshd", "openssh-server")
PLATFORM = Missing("Linux with /proc; this is darwin")
SMALL = JarSet("small", ("org.example:one:1.0", "org.example:two:2.0"), transitive=True)


@pytest.fixture
def jars_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty jars folder, with `SMALL` as the only declared set."""
    monkeypatch.setattr(jars, "JARS_FOLDER", tmp_path / "jars")
    monkeypatch.setattr(jars, "declared", lambda: (SMALL,))
    return tmp_path / "jars"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "11.0.22" 2024-01-16', 11),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "21.0.2" 2024-01-16', 21),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
    ],
)
def test_java_version_is_the_feature_release(text: str, expected: int | None):
    """`java -version` says 1.8 for Java 8 and the release itself since 9; anything else is no Java."""
    assert expected == prerequisites.java_version(text)


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_supported_pythons_are_accepted(version: tuple[int, int]):
    """The Pythons of pyproject's requires-python are accepted."""
    assert prerequisites.python_refusal(version) == ""


@pytest.mark.parametrize("version", [(3, 9), (3, 10), (3, 14)])
def test_other_pythons_are_refused_by_name(version: tuple[int, int]):
    """The refusal names the version found, the supported ones and how to choose another."""
    text = prerequisites.python_refusal(version)

    assert f"Python {version[0]}.{version[1]}" in text
    assert "3.11, 3.12, 3.13" in text
    assert "make PYTHON=" in text


def test_all_refusals_come_together_with_one_command(monkeypatch: pytest.MonkeyPatch):
    """On Debian, not as root: everything missing, then the one command that brings it, with sudo."""
    _pretend(monkeypatch, apt=True, user=1000)

    text = prerequisites.refusal([JAVA, SSH])

    assert JAVA.text in text
    assert SSH.text in text
    packages = f"{JAVA.package} {SSH.package}"
    assert f"  sudo apt-get update && sudo apt-get install -y {packages}\n" in text


def test_without_apt_the_packages_are_named_but_no_command(monkeypatch: pytest.MonkeyPatch):
    """Elsewhere no command is made up."""
    _pretend(monkeypatch, apt=False, user=1000)

    text = prerequisites.refusal([JAVA])

    assert "apt-get" not in text
    assert "Debian calls openjdk-17-jre-headless" in text


@pytest.mark.parametrize(
    ("missing", "apt", "user", "expected"),
    [
        ([JAVA, SSH], True, 0, True),
        ([JAVA, SSH], True, 1000, False),
        ([JAVA, SSH], False, 0, False),
        ([JAVA, PLATFORM], True, 0, False),
    ],
)
def test_only_root_with_apt_installs_and_only_when_that_is_enough(
    monkeypatch: pytest.MonkeyPatch, missing: list[Missing], apt: bool, user: int, expected: bool
):
    """Nothing is installed on a machine that would be refused anyway."""
    _pretend(monkeypatch, apt=apt, user=user)

    assert expected == prerequisites.can_install(missing)


def test_a_java_of_another_release_is_missing_with_its_release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """JAVA_HOME wins over the PATH, and a wrong release is named."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "java"
    program.write_text("#!/bin/sh\necho 'openjdk version \"11.0.22\"' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    texts = [item.text for item in prerequisites.find_missing()]

    assert any("Java 17 or 21" in text and f"{program} is 11" in text for text in texts)


def test_an_unsupported_python_can_still_read_the_refusal():
    """The files that refuse a Python hold no syntax newer than the annotations' import (3.7)."""
    import ast

    for name in ("bootstrap.py", "prerequisites.py", "jars.py", "__init__.py"):
        ast.parse((jars.PROJECT / "sandbox" / name).read_text(), feature_version=(3, 8))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("3.12.1 abc", "keep"),
        ("3.12.1 other-lock", "update"),
        ("3.11.7 abc", "rebuild"),
        (None, "rebuild"),
        ("", "rebuild"),
    ],
)
def test_only_a_whole_environment_is_kept(found: str | None, expected: str):
    """Without a stamp, or with another Python's, the environment is built anew; with another lock it is updated."""
    assert expected == bootstrap.plan(found, "3.12.1 abc")


def test_stamp_follows_every_lock_file_and_the_python(tmp_path: Path):
    """A change of either lock file or of the Python makes another stamp."""
    stamps = set()
    for bootstrap_lock, lock, python in (
        ("a", "b", "3.12.1"),
        ("x", "b", "3.12.1"),
        ("a", "x", "3.12.1"),
        ("a", "b", "3.11.7"),
    ):
        (tmp_path / "requirements-bootstrap.txt").write_text(bootstrap_lock)
        (tmp_path / "requirements.lock").write_text(lock)
        stamps.add(bootstrap.stamp(tmp_path, python))

    assert len(stamps) == 4


def test_an_interrupted_installation_has_no_stamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The stamp is removed before the first change: an update that fails half-way is rebuilt the next time."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    stamp = tmp_path / ".complete"
    stamp.write_text(f"{'.'.join(map(str, sys.version_info[:3]))} of-an-older-lock")
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "STAMP", stamp)
    monkeypatch.setattr(bootstrap, "_install", _interrupted)

    with pytest.raises(KeyboardInterrupt):
        bootstrap._prepare_environment()

    assert not stamp.exists()
    assert bootstrap.plan(bootstrap._read_stamp(), "whatever") == "rebuild"


def test_an_interrupted_download_is_not_taken_for_whole(jars_folder: Path, monkeypatch: pytest.MonkeyPatch):
    """What a download left behind when it was cut lies in no set's place, and is removed where that was possible."""

    def write_one_and_stop(command: list[str], _: JarSet) -> None:
        _write_jars(command, "one-1.0.jar")
        raise KeyboardInterrupt

    monkeypatch.setattr(jars, "_run", write_one_and_stop)
    with pytest.raises(KeyboardInterrupt):
        jars.ensure(print)

    assert not SMALL.is_whole()
    assert list(jars_folder.iterdir()) == []


def test_a_set_that_lacks_a_declared_jar_is_fetched_again(jars_folder: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder without all declared jars (somebody deleted one) is replaced as a whole."""
    SMALL.libs.mkdir(parents=True)
    (SMALL.libs / "one-1.0.jar").touch()
    monkeypatch.setattr(jars, "_run", lambda command, _: _write_jars(command, "one-1.0.jar", "two-2.0.jar"))
    said: list[str] = []

    jars.ensure(said.append)

    assert SMALL.is_whole()
    assert "jars small: 2 files" in said[-1]


def test_a_whole_set_is_left_alone_in_silence(jars_folder: Path, monkeypatch: pytest.MonkeyPatch):
    """The second run fetches nothing and says nothing."""
    SMALL.libs.mkdir(parents=True)
    for name in ("one-1.0.jar", "two-2.0.jar"):
        (SMALL.libs / name).touch()
    monkeypatch.setattr(jars, "_run", _interrupted)
    said: list[str] = []

    jars.ensure(said.append)

    assert said == []


def test_a_fetch_that_brings_too_little_is_an_error(jars_folder: Path, monkeypatch: pytest.MonkeyPatch):
    """A tool that ends well without all declared jars is not believed."""
    monkeypatch.setattr(jars, "_run", lambda command, _: _write_jars(command, "one-1.0.jar"))

    with pytest.raises(JarsError, match="small"):
        jars.ensure(print)


def test_declared_sets_are_those_that_the_code_names():
    """jars.json declares the two sets, every artifact with group, name and version."""
    document = json.loads((jars.PROJECT / "sandbox" / "jars.json").read_text())

    assert {jars.KAFKA_SET, jars.SPARK_SET} == set(document)
    assert all(len(artifact.split(":")) == 3 for entry in document.values() for artifact in entry["artifacts"])


def test_maven_and_ivy_are_asked_for_the_same_artifacts():
    """Both renderings hold each coordinate; a set without dependencies says so to Ivy."""
    for declared in jars.declared():
        pom, module = jars.maven_pom(declared), jars.ivy_module(declared)
        for group, name, version in (artifact.split(":") for artifact in declared.artifacts):
            assert f"<groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>" in pom
            assert f'org="{group}" name="{name}" rev="{version}"' in module
        assert f'transitive="{str(declared.transitive).lower()}"' in module


def test_lock_files_hold_hashes_and_no_address():
    """Every locked package has a hash, and no registry is named."""
    for name in bootstrap.LOCKS:
        text = (jars.PROJECT / name).read_text()

        assert "://" not in text
        assert "--index-url" not in text.replace("--no-emit-index-url", "")
        assert text.count("==") <= text.count("--hash=sha256:")


def test_help_lists_every_target():
    """`make` alone lists the targets with a sentence each."""
    done = subprocess.run(("make", "-s"), cwd=jars.PROJECT, capture_output=True, text=True, check=True)
    listed = [line.split()[0] for line in done.stdout.splitlines()]

    assert {"demo", "up", "down", "test", "test-fast", "test-live", "lint", "bench", "lock", "clean"} <= set(listed)
    assert all(len(line.split()) > 2 for line in done.stdout.splitlines())


def test_summary_of_a_java_log_shows_the_cause_without_its_stack():
    """The exceptions' classes and texts come first; stack lines are left out, and so is what a log line mentions."""
    log = (
        "[x] ERROR Exiting Kafka (kafka.Kafka$)\n"
        "java.lang.RuntimeException: Received a fatal error\n"
        "\tat kafka.server.BrokerServer.startup(BrokerServer.scala:1)\n"
        "Caused by: java.net.BindException: Address already in use\n"
        "\t... 5 more\n"
        "[x] INFO shut down because of RejectedExecutionException (Controller)\n"
    )

    text = summary(log)

    assert text.splitlines()[:3] == [
        "Exceptions in its log, the last one at the end:",
        "  java.lang.RuntimeException: Received a fatal error",
        "  java.net.BindException: Address already in use",
    ]
    assert "BrokerServer.scala" not in text
    assert text.endswith("shut down because of RejectedExecutionException (Controller)")


def test_summary_of_a_python_log_shows_class_and_text():
    """A Python traceback ends with its exception."""
    log = (
        'Traceback (most recent call last):\n  File "x.py", line 1\nairflow.exceptions.AirflowConfigException: no key\n'
    )

    assert "  airflow.exceptions.AirflowConfigException: no key" in summary(log).splitlines()


@pytest.mark.parametrize(("code", "expected"), [(3, "exit code 3"), (-9, "signal SIGKILL")])
def test_exit_words(code: int, expected: str):
    """A negative code is a signal, as subprocess counts."""
    assert expected == exit_words(code)


def _pretend(monkeypatch: pytest.MonkeyPatch, *, apt: bool, user: int) -> None:
    found = "/usr/bin/apt-get" if apt else None
    monkeypatch.setattr(prerequisites.shutil, "which", lambda name, **_: found if name == "apt-get" else None)
    monkeypatch.setattr(prerequisites.os, "geteuid", lambda: user)


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def _write_jars(command: list[str], *names: str) -> None:
    libs = next(
        argument.partition("=")[2] or argument.rpartition("/")[0]
        for argument in command
        if argument.startswith("-DoutputDirectory=") or "/libs/" in argument
    )
    for name in names:
        (Path(libs) / name).touch()
