"""The bootstrap's rules: what is missing is said at once, and nothing interrupted is taken for whole."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import bootstrap, jars, prerequisites
from sandbox.jars import JarsError, JarSet
from sandbox.parts import exit_words, summary
from sandbox.prerequisites import Missing
from tests.syntax import parsed
from tests.waiting import wait_until

JAVA = Missing("Java 17 or 21: no java on the PATH", "openjdk-17-jre-headless")
SSH = Missing("OpenSSH: no sshd", "openssh-server")
PLATFORM = Missing("Linux with /proc; this is darwin")
SMALL = JarSet("small", ("org.example:one:1.0", "org.example:two:2.0"), transitive=True)
# What `one` depends on.
NEEDED = "org.example:three:3.0"
ALL_OF_SMALL = ("one-1.0.jar", "two-2.0.jar", "three-3.0.jar")


@pytest.fixture
def jars_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty jars folder, with `SMALL` as the only declared set; every locked jar is an empty file."""
    monkeypatch.setattr(jars, "JARS_FOLDER", tmp_path / "jars")
    monkeypatch.setattr(jars, "declared", lambda: (SMALL,))
    monkeypatch.setattr(jars, "LOCK", tmp_path / "lock.json")
    empty = hashlib.sha512(b"").hexdigest()
    (tmp_path / "lock.json").write_text(json.dumps({"small": dict.fromkeys([*SMALL.artifacts, NEEDED], empty)}))
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
def test_java_version_is_the_feature_release(text: str, expected: int | None) -> None:
    """`java -version` says 1.8 for Java 8 and the release itself since 9; anything else is no Java."""
    assert expected == prerequisites.java_version(text)


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_supported_pythons_are_accepted(version: tuple[int, int]) -> None:
    """The Pythons of pyproject's requires-python are accepted."""
    assert prerequisites.python_refusal(version) == ""


@pytest.mark.parametrize("version", [(3, 9), (3, 10), (3, 14)])
def test_other_pythons_are_refused_by_name(version: tuple[int, int]) -> None:
    """The refusal names the version found, the supported ones and how to choose another."""
    text = prerequisites.python_refusal(version)

    assert all(part in text for part in (f"Python {version[0]}.{version[1]}", "3.11, 3.12, 3.13", "make PYTHON="))


def test_all_refusals_come_together_with_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Debian, a user who is not root reads what is missing and the command that installs it, with sudo."""
    _pretend(monkeypatch, apt=True, user=1000)

    text = prerequisites.refusal([JAVA, SSH])

    command = f"  sudo apt-get update && sudo apt-get install -y {JAVA.package} {SSH.package}\n"
    assert all(part in text for part in (JAVA.text, SSH.text, command))


def test_without_apt_the_packages_are_named_but_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
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
) -> None:
    """Nothing is installed on a machine that would be refused anyway."""
    _pretend(monkeypatch, apt=apt, user=user)

    assert expected == prerequisites.can_install(missing)


def test_install_0_forbids_the_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    """`INSTALL=0` prints the command and installs nothing, also as root on Debian."""
    _pretend(monkeypatch, apt=True, user=0)
    monkeypatch.setenv("INSTALL", "0")

    assert not prerequisites.can_install([SSH])
    assert "  apt-get update && apt-get install -y openssh-server\n" in prerequisites.refusal([SSH])


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's rule on starting services; commands of installations are only noted."""
    _pretend(monkeypatch, apt=True, user=0)
    commands: list[str] = []
    (tmp_path / "commands").touch()

    def note(command: tuple[str, ...], **_: object) -> subprocess.CompletedProcess[str]:
        rule = "held" if (tmp_path / "policy-rc.d").exists() else "free"
        commands.append(f"{rule}: {' '.join(command)}")
        (tmp_path / "commands").write_text("\n".join(commands))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr("sandbox.prerequisites.subprocess.run", note)
    monkeypatch.setattr(prerequisites, "POLICY_FILE", tmp_path / "policy-rc.d")
    return tmp_path / "policy-rc.d"


def test_only_what_is_missing_is_installed_after_it_was_announced(policy: Path) -> None:
    """Missing and installed packages are printed first; no service starts meanwhile; the rule is removed at the end."""
    said: list[str] = []

    prerequisites.install([SSH], lambda text: said.append(text + (policy.parent / "commands").read_text()))

    assert ["This machine lacks:", "  - OpenSSH: no sshd"] == said[0].splitlines()
    assert said[1].startswith("Installing openssh-server with apt-get")
    assert "held: apt-get" not in said[1]
    installed = [line for line in (policy.parent / "commands").read_text().splitlines() if " install " in line]
    assert ["held: apt-get -q install -y --no-upgrade --no-install-recommends openssh-server"] == installed
    assert not policy.exists()


@pytest.mark.parametrize(
    ("package", "switched_off"),
    [
        ("openssh-server", ["ssh.service ssh.socket"]),
        ("prometheus", ["prometheus.service"]),
        ("openjdk-17-jre-headless", []),
    ],
)
def test_a_killed_installation_is_cleaned_up_by_the_next_start(
    policy: Path, monkeypatch: pytest.MonkeyPatch, package: str, switched_off: list[str]
) -> None:
    """Packages are set up under the rule of a dead process, then the rule is removed, with a message.

    A service is switched off only where its package was about to come; one that the machine had goes on.
    """
    monkeypatch.setattr("sandbox.prerequisites.shutil.which", lambda name, **_: f"/usr/bin/{name}")
    gone = _gone_process()
    policy.write_text(f"#!/bin/sh\n{prerequisites.POLICY_MARK}{gone}: {package}\nexit 101\n")
    said: list[str] = []

    prerequisites.recover(said.append)

    commands = (policy.parent / "commands").read_text().splitlines()
    assert "held: dpkg --configure -a" in commands
    stopped = "held: systemctl disable --now "
    assert switched_off == [line.removeprefix(stopped) for line in commands if line.startswith(stopped)]
    assert not policy.exists()
    assert str(policy) in said[0]


@pytest.mark.parametrize("rule", ["#!/bin/sh\nexit 101\n", "#!/bin/sh\n# of another program\nexit 101\n"])
def test_the_rule_of_another_program_stays(policy: Path, rule: str) -> None:
    """A machine that has a rule of its own keeps it, without a message."""
    policy.write_text(rule)

    prerequisites.recover(print)
    with prerequisites._no_service_starts(["openssh-server"]):
        pass

    assert rule == policy.read_text()
    assert not (policy.parent / "commands").read_text()


def test_the_rule_is_known_again_after_a_kill(policy: Path) -> None:
    """The next start recognizes the rule of an installation whose process has died."""
    with prerequisites._no_service_starts(["openssh-server"]):
        written = policy.read_text()
    policy.write_text(written.replace(str(os.getpid()), str(_gone_process())))

    prerequisites.recover(lambda _: None)

    assert not policy.exists()


@pytest.mark.parametrize("module", ["sandbox.bootstrap", "sandbox.for_tests", "sandbox.kerberos_client"])
def test_the_rule_of_an_installation_under_way_stays(policy: Path, module: str) -> None:
    """Two `make` at once do not take each other's rule away."""
    under_way = subprocess.Popen((sys.executable, "-c", "import sys; sys.stdin.read()", module), stdin=subprocess.PIPE)
    # Its command line is empty for a moment after its start.
    command = Path("/proc", str(under_way.pid), "cmdline")
    wait_until(lambda: module.encode() in command.read_bytes(), what="the command line of the other process")
    policy.write_text(f"#!/bin/sh\n{prerequisites.POLICY_MARK}{under_way.pid}: openssh-server\nexit 101\n")

    prerequisites.recover(print)

    assert policy.exists()
    under_way.communicate()


def _gone_process() -> int:
    process = subprocess.Popen(("true",))
    process.wait()
    return process.pid


def test_a_java_of_another_release_is_missing_with_its_release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """JAVA_HOME wins over the PATH, and a wrong release is named."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "java"
    program.write_text("#!/bin/sh\necho 'openjdk version \"11.0.22\"' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    texts = [item.text for item in prerequisites.find_missing()]

    assert any("Java 17 or 21" in text and f"{program} is 11" in text for text in texts)


@pytest.mark.parametrize(("user", "is_missing"), [(0, True), (1000, False)])
def test_only_root_needs_setpriv(monkeypatch: pytest.MonkeyPatch, user: int, is_missing: bool) -> None:
    """PostgreSQL refuses root, so root runs it as another user; other users need no such program."""
    _pretend(monkeypatch, apt=True, user=user)

    assert is_missing == any("setpriv" in item.text for item in prerequisites.find_missing())


def test_an_unsupported_python_can_still_read_the_refusal() -> None:
    """The files that refuse a Python hold no syntax newer than the annotations' import (3.7)."""
    for name in ("bootstrap.py", "prerequisites.py", "jars.py", "__init__.py"):
        parsed((jars.PROJECT / "sandbox" / name).read_text(), feature_version=(3, 8))


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
def test_only_a_whole_environment_is_kept(found: str | None, expected: str) -> None:
    """Without a stamp or with another Python, the environment is rebuilt; with another lock, it is updated."""
    assert expected == bootstrap.plan(found, "3.12.1 abc")


def test_stamp_follows_every_lock_file_and_the_python(tmp_path: Path) -> None:
    """A change of any lock file or of the Python makes another stamp."""
    for name in bootstrap.LOCKS:
        (tmp_path / name).write_text("a")
    stamps = {bootstrap.stamp(tmp_path, "3.12.1"), bootstrap.stamp(tmp_path, "3.11.7")}
    for name in bootstrap.LOCKS:
        (tmp_path / name).write_text("x")
        stamps.add(bootstrap.stamp(tmp_path, "3.12.1"))

    assert len(stamps) == 2 + len(bootstrap.LOCKS)


def test_an_interrupted_installation_has_no_stamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_interrupted_download_is_not_taken_for_whole(jars_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted download leaves no set, and its files are removed if possible."""

    def write_one_and_stop(command: list[str], _: JarSet) -> None:
        _write_jars(command, "one-1.0.jar")
        raise KeyboardInterrupt

    monkeypatch.setattr(jars, "_run", write_one_and_stop)
    with pytest.raises(KeyboardInterrupt):
        jars.ensure(print)

    assert not SMALL.is_whole()
    assert list(jars_folder.iterdir()) == []


@pytest.mark.parametrize(
    ("there", "said_first"),
    [
        ({"one-1.0.jar": b"", "two-2.0.jar": b""}, "three-3.0.jar is missing"),
        (dict.fromkeys(ALL_OF_SMALL, b"") | {"two-2.0.jar": b"other"}, "two-2.0.jar has not the SHA-512"),
        (dict.fromkeys(ALL_OF_SMALL, b"") | {"four-4.0.jar": b""}, "four-4.0.jar is not in lock.json"),
    ],
)
def test_a_set_that_is_not_the_locked_one_is_fetched_again(
    jars_folder: Path, monkeypatch: pytest.MonkeyPatch, there: dict[str, bytes], said_first: str
) -> None:
    """A folder that lacks a jar, or holds another one, or a changed one, is named and replaced as a whole."""
    SMALL.libs.mkdir(parents=True)
    for name, content in there.items():
        (SMALL.libs / name).write_bytes(content)
    monkeypatch.setattr(jars, "_run", lambda command, _: _write_jars(command, *ALL_OF_SMALL))
    said: list[str] = []

    jars.ensure(said.append)

    assert SMALL.is_whole()
    assert said_first in said[0]
    assert "jars small: 3 files" in said[-1]


def test_a_whole_set_is_left_alone_in_silence(jars_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run fetches nothing and says nothing."""
    SMALL.libs.mkdir(parents=True)
    for name in ALL_OF_SMALL:
        (SMALL.libs / name).touch()
    monkeypatch.setattr(jars, "_run", _interrupted)

    jars.ensure(pytest.fail)


@pytest.mark.parametrize(
    ("fetched", "error"),
    [
        (("one-1.0.jar",), r"small: of what was fetched, three-3\.0\.jar is missing"),
        (ALL_OF_SMALL, r"two-2\.0\.jar has not the SHA-512"),
    ],
)
def test_a_fetch_of_other_jars_is_an_error(
    jars_folder: Path, monkeypatch: pytest.MonkeyPatch, fetched: tuple[str, ...], error: str
) -> None:
    """A fetch that lacks a locked jar, or brings one with another SHA-512, fails and leaves nothing."""

    def fetch(command: list[str], _: JarSet) -> None:
        _write_jars(command, *fetched)
        for jar in jars_folder.rglob("two-2.0.jar"):
            jar.write_bytes(b"changed on the way")

    monkeypatch.setattr(jars, "_run", fetch)

    with pytest.raises(JarsError, match=error):
        jars.ensure(print)

    assert list(jars_folder.iterdir()) == []


def test_every_locked_jar_is_asked_for_by_itself(jars_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is resolved by a fetch: each locked jar is named, and none brings others along."""
    asked: list[str] = []

    def remember(command: list[str], _: JarSet) -> None:
        asked.extend(path.read_text() for path in jars_folder.rglob("*.xml"))
        _write_jars(command, *ALL_OF_SMALL)

    monkeypatch.setattr(jars, "_run", remember)
    monkeypatch.setattr("sandbox.jars.shutil.which", lambda _: "/usr/bin/mvn")

    jars.ensure(print)

    assert all(f"<artifactId>{name}</artifactId>" in asked[0] for name in ("one", "two", "three"))


def test_a_set_on_demand_is_fetched_only_when_it_is_asked_for(
    jars_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bootstrap and the sandbox do not wait for other Kafka versions."""
    asked: list[str] = []
    rare = JarSet("kafka-9.9.9", SMALL.artifacts, transitive=True, on_demand=True)
    monkeypatch.setattr(jars, "declared", lambda: (rare,))
    monkeypatch.setattr(jars, "fetch", lambda each: asked.append(each.name))

    monkeypatch.setattr(JarSet, "is_whole", lambda _: False)

    jars.ensure(pytest.fail)
    assert [] == asked

    jars.ensure_kafka(["9.9.9"], print)
    assert ["kafka-9.9.9"] == asked


def test_the_lock_file_holds_every_declared_jar() -> None:
    """Each declared set is locked; a digest has the length of a SHA-512, and no address of a registry is named."""
    for declared in jars.declared():
        assert set(declared.artifacts) < set(declared.locked()) or not declared.transitive
        assert all(re.fullmatch("[0-9a-f]{128}", digest) for digest in declared.locked().values())
    assert "/" not in jars.LOCK.read_text()


def test_a_declared_jar_without_a_sum_is_an_error(jars_folder: Path) -> None:
    """A version changed in the list without `make lock-jars` fetches nothing."""
    newer = JarSet("small", ("org.example:one:1.1",), transitive=True)

    with pytest.raises(JarsError, match="make lock-jars"):
        newer.is_whole()


def test_declared_sets_are_those_that_the_code_names() -> None:
    """jars.json declares the two sets of the bootstrap, every artifact with group, name, version and any classifier."""
    document = json.loads((jars.PROJECT / "sandbox" / "jars.json").read_text())

    assert {jars.KAFKA_SET, jars.SPARK_SET} == {each.name for each in jars.declared() if not each.on_demand}
    assert all(len(artifact.split(":")) in {3, 4} for entry in document.values() for artifact in entry["artifacts"])


def test_maven_and_ivy_are_asked_for_the_same_artifacts() -> None:
    """Both renderings hold each coordinate; a set without dependencies says so to Ivy."""
    for declared in jars.declared():
        pom, module = jars.maven_pom(declared), jars.ivy_module(declared)
        for group, name, version, *classifier in (artifact.split(":") for artifact in declared.artifacts):
            assert f"<groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>" in pom
            assert f'org="{group}" name="{name}" rev="{version}"' in module
            for each in classifier:
                assert f"<version>{version}</version><classifier>{each}</classifier>" in pom
                assert f'm:classifier="{each}"' in module
        assert ("<exclusions>" in pom) is not declared.transitive
        assert f'transitive="{str(declared.transitive).lower()}"' in module


def test_lock_files_hold_hashes_and_no_address() -> None:
    """Every locked package has a hash, and neither a registry nor a path of a machine is named."""
    for name in bootstrap.LOCKS:
        text = (jars.PROJECT / name).read_text()

        assert "://" not in text
        assert not re.search(r"(^|\s)/\w", text)
        assert "--index-url" not in text.replace("--no-emit-index-url", "")
        assert text.count("==") <= text.count("--hash=sha256:")


def test_what_builds_pyspark_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """pyspark comes as source: setuptools and wheel, which build it, are installed with hashes only, as is all else."""
    commands: list[tuple[str, ...]] = []
    monkeypatch.setattr(bootstrap, "run", lambda *command: commands.append(command))

    bootstrap._install()

    sync = next(command for command in commands if "sync" in command)
    pinned = Path(sync[sync.index("--build-constraints") + 1]).read_text()
    assert {"setuptools", "wheel"} <= set(re.findall(r"^([a-z]+)==", pinned, re.MULTILINE))
    assert all("--require-hashes" in command for command in commands)
    in_images = (jars.PROJECT / "docker" / "install-python").read_text()
    assert '--require-hashes --build-constraints /opt/build/requirements-build.txt "$lock"' in in_images


def test_help_lists_every_target() -> None:
    """`make` alone lists the targets with a sentence each."""
    done = subprocess.run(("make", "-s"), cwd=jars.PROJECT, capture_output=True, text=True, check=True)
    listed = [line.split()[0] for line in done.stdout.splitlines()]

    assert {"demo", "up", "down", "test", "test-fast", "test-live", "lint", "bench", "lock", "clean"} <= set(listed)
    assert all(len(line.split()) > 2 for line in done.stdout.splitlines())


def test_summary_of_a_java_log_shows_the_cause_without_its_stack() -> None:
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


def test_summary_of_a_python_log_shows_class_and_text() -> None:
    """A Python traceback ends with its exception."""
    log = (
        'Traceback (most recent call last):\n  File "x.py", line 1\nairflow.exceptions.AirflowConfigException: no key\n'
    )

    assert "  airflow.exceptions.AirflowConfigException: no key" in summary(log).splitlines()


@pytest.mark.parametrize(("code", "expected"), [(3, "exit code 3"), (-9, "signal SIGKILL")])
def test_exit_words(code: int, expected: str) -> None:
    """A negative code is a signal, as subprocess counts."""
    assert expected == exit_words(code)


def _pretend(monkeypatch: pytest.MonkeyPatch, *, apt: bool, user: int) -> None:
    found = "/usr/bin/apt-get" if apt else None
    monkeypatch.setattr("sandbox.prerequisites.shutil.which", lambda name, **_: found if name == "apt-get" else None)
    monkeypatch.setattr("sandbox.prerequisites.os.geteuid", lambda: user)


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


def test_nothing_is_cleaned_up_with_install_0(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`INSTALL=0` only prints the command, also after an installation that was killed."""
    policy.write_text(f"#!/bin/sh\n{prerequisites.POLICY_MARK}{_gone_process()}: openssh-server\nexit 101\n")
    monkeypatch.setenv("INSTALL", "0")
    monkeypatch.setattr(prerequisites, "find_missing", lambda: ())

    assert "" == bootstrap.missing(prerequisites.find_missing)
    assert policy.exists()
