"""Rules of the protection of Kafka's logins in Spark, from preflight to the command line."""

from __future__ import annotations

import json
import stat
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.sdk.exceptions import AirflowException

from kafka_digest.runtime.letters import enclosed, place_of
from kafka_migration.adapters.system.class_archives import keep, new_archive
from kafka_migration.airflow_adapters import airflow_settings
from kafka_migration.airflow_adapters import installed_spark as spark_adapter
from kafka_migration.airflow_adapters.spark_archive import archive_key
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.spark import spark_target as spark_rules
from kafka_migration.core.spark.driver_java import DEFAULT_OPTIONS
from kafka_migration.core.spark.spark_target import SparkTarget, parsed_properties, unprotected_findings
from kafka_migration.core.spark.spark_versions import SparkVersions
from kafka_migration.orchestration.operators import driver_letters, spark_submission
from kafka_migration.orchestration.operators.spark_submission import SparkSubmission
from kafka_migration.orchestration.task.failures import FailedForGood, FailedForNow
from tests.airflow.world import World, result_in
from tests.present import present
from tests.steps.world import P0, RECORD
from tests.waiting import wait_until

MASTER = "spark://spark:7077"
SETTINGS = {
    "spark.authenticate": "true",
    "spark.authenticate.secret": "canary-spark-4c1d",
    "spark.network.crypto.enabled": "true",
}
STRONG = {**SETTINGS, "spark.network.crypto.cipher": "AES/GCM/NoPadding"}
LOGIN = {
    "bootstrap.servers": "a:1",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "u",
    "sasl.password": "canary-kafka-7e02",
}
DECLARED = "  spark_unprotected: true\n"


@pytest.mark.parametrize("master", [MASTER, "local-cluster[1,1,1024]", "yarn", "k8s://https://a:1"])
def test_preflight_refuses_an_unprotected_cluster(world: World, master: str) -> None:
    """A Spark cluster without protection is refused before anything starts."""
    world.spark = SparkTarget("spark", master)

    world.refuses("preflight", match="SPARK_NOT_PROTECTED · connection spark")


def test_protected_cluster_passes(world: World) -> None:
    """A Spark cluster whose connection has all settings is accepted, if its version works with the cipher."""
    world.spark_versions = SparkVersions("spark-submit", "4.0.4", "2.13")
    world.spark = SparkTarget("spark", MASTER, own=STRONG)

    world.do("preflight")
    assert [] == world.run.evidence.require(Kind.PREFLIGHT)["warnings"]


def test_declared_cluster_is_a_warning(world: World) -> None:
    """An unprotected cluster that the migration file declares is a warning in the report."""
    world.extend_file(DECLARED)
    world.spark = SparkTarget("spark", MASTER)
    world.do("preflight")

    assert ["SPARK_NOT_PROTECTED"] == [f["code"] for f in world.run.evidence.require(Kind.PREFLIGHT)["warnings"]]
    world.finish()
    report = world.report
    assert "SPARK_NOT_PROTECTED" in report.partition("## Worth knowing")[2]


def test_unknown_version_refuses_no_protected_cluster(world: World) -> None:
    """Where the version decides, preflight says that it is unknown, and the task asks again; else it is not asked."""
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})
    world.spark_versions = SparkVersions("x", unknown="no memory")
    world.spark = SparkTarget("spark", MASTER, own=STRONG)

    world.refuses("preflight", match="SPARK_VERSION_MISMATCH .*The version that .* has is unknown: no memory")
    with pytest.raises(TransientError, match="the version of Spark is unknown, because x failed: no memory"):
        world.do("validate_topics")
    world.spark = SparkTarget("spark", MASTER, own=SETTINGS)
    world.refuses("preflight", match="SPARK_CIPHER_WEAK · connection spark")


def test_weak_cipher_is_refused(world: World) -> None:
    """Preflight and the task refuse Spark's default cipher, and one that does not work in this version."""
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})
    world.spark_versions = SparkVersions("x", "4.0.0", "2.13")

    for settings in (SETTINGS, STRONG):
        world.spark = SparkTarget("spark", MASTER, own=settings)
        world.refuses("preflight", match="SPARK_CIPHER_WEAK · connection spark")
        world.refuses("validate_topics", match="SPARK_CIPHER_WEAK · connection spark")


@pytest.mark.parametrize("text", ["accept: [SPARK_CIPHER_WEAK]\n", DECLARED])
def test_weak_cipher_may_be_accepted(world: World, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """If the migration file accepts the code, or declares the cluster isolated, preflight and the task go on."""
    world.extend_file(text)
    world.spark = SparkTarget("spark", MASTER, "client", SETTINGS)
    world.do("preflight")
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})
    monkeypatch.setattr(SparkSubmitHook, "submit", lambda *_: None)

    # Spark was started, and wrote nothing.
    world.refuses("validate_topics", match="VALIDATION_RESULT_MISSING")


def test_submission_asks_for_the_version_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protection and connector depend on Spark's version, which the task asks for once, because it starts Java."""
    asked: list[str] = []

    def answer(binary: str) -> SparkVersions:
        asked.append(binary)
        return SparkVersions(binary, "4.0.4", "2.13")

    monkeypatch.setattr(spark_submission, "spark_versions", answer)
    monkeypatch.setattr(SparkSubmitHook, "submit", lambda *_: None)
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__SPARK_JARS", "")
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})
    world.spark = SparkTarget("spark", MASTER, "client", STRONG)

    world.refuses("validate_topics", match="VALIDATION_RESULT_MISSING")
    assert ["spark-submit"] == asked


def test_progress_that_a_job_tells_is_published(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the provider's hook reads of the job's own lines is the progress of the step."""

    def tell(hook: SparkSubmitHook, *_: object) -> None:
        lines = ("WARN: 1 of at most 2 records read", "validate_topics: 5 of at most 20 records read (25 %)")
        hook._process_spark_submit_log(iter(lines))

    monkeypatch.setattr(SparkSubmitHook, "submit", tell)
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})
    world.refuses("validate_topics", match="VALIDATION_RESULT_MISSING")
    reading = present(present(world.run.news.progress())["reading"])

    assert (5, 20) == (reading["read"], reading["at_most"])


@pytest.mark.parametrize("declared", ["", DECLARED])
def test_login_is_not_shipped_on_kubernetes(world: World, declared: str) -> None:
    """In mode `cluster` on Kubernetes, preflight and the task refuse a login, whatever the file declares."""
    world.extend_file(declared)
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})
    world.spark, world.has_login = SparkTarget("spark", "k8s://https://a:1", "cluster", SETTINGS), True
    world.deployed["client_settings"] = lambda cluster: LOGIN

    world.refuses("preflight", match="SPARK_LOGIN_SHIPPED · connection spark")
    world.refuses("validate_topics", match="SPARK_LOGIN_SHIPPED · connection spark")


def test_connection_that_changed_after_preflight_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark is not started if the connection has become unprotected after preflight."""
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})
    world.spark = SparkTarget("spark", MASTER)
    monkeypatch.setattr(SparkSubmitHook, "submit", lambda *_: pytest.fail("Spark was started"))

    world.refuses("validate_topics", match="SPARK_NOT_PROTECTED")


def jar(folder: Path, version: str) -> str:
    """Write a jar of a Kafka client of this version."""
    with zipfile.ZipFile(folder / "client.jar", "w") as archive:
        archive.writestr("kafka/kafka-version.properties", f"version={version}\n")
    return str(folder / "client.jar")


@pytest.mark.parametrize("version", ["3.9.0", "3.9.1"])
def test_login_needs_a_newer_client(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """With a login preflight refuses a Kafka client older than 3.9.1."""
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__SPARK_JARS", f"{jar(tmp_path, version)},/none/other.jar")
    world.do("preflight")

    world.has_login = True
    if version == "3.9.1":
        world.do("preflight")
    else:
        world.refuses("preflight", match=r"SPARK_KAFKA_TOO_OLD .*client\.jar of version 3\.9\.0")


def test_login_is_not_given_to_an_old_client(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task refuses an old client too, because workers may have other jars."""
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__SPARK_JARS", jar(tmp_path, "3.8.1"))
    world.deployed["client_settings"] = lambda cluster: LOGIN

    world.refuses("validate_topics", match="SPARK_KAFKA_TOO_OLD")


@pytest.mark.parametrize(
    ("jars", "expected"),
    [
        ("/none/kafka-clients-3.9.0.jar", {"kafka-clients-3.9.0.jar": "3.9.0"}),
        ("s3a://b/kafka-clients-4.0.0.jar,s3a://b/commons.jar", {"kafka-clients-4.0.0.jar": "4.0.0"}),
        ("hdfs://n/kafka-clients-3.9.1-test.jar", {"kafka-clients-3.9.1-test.jar": "3.9.1"}),
        ("/none/commons-pool2-2.12.0.jar", {}),
    ],
)
def test_jars_elsewhere_are_known_by_name(jars: str, expected: dict[str, str]) -> None:
    """A jar that the worker cannot open has the version of its name."""
    assert expected == spark_adapter.kafka_client_versions(jars)


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Set Airflow's connection `spark`, and the defaults that `spark-submit` would read."""

    def make(defaults: str = "", **fields: Any) -> SparkTarget:
        monkeypatch.setenv("AIRFLOW_CONN_SPARK", json.dumps({"conn_type": "spark", **fields}))
        monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
        (tmp_path / "spark-defaults.conf").write_text(defaults)
        return spark_adapter.spark_target("spark")

    return make


def test_settings_of_connection_and_defaults_count(connection: Any) -> None:
    """The connection's extra and `spark-defaults.conf` together protect a cluster."""
    target = connection("spark.authenticate true\n", host=MASTER, extra={"deploy-mode": "client"})
    assert (MASTER, "client", {"spark.authenticate": "true"}) == (target.master, target.deploy_mode, target.settings)
    assert () != unprotected_findings(target, (4, 0, 0), declared=False)

    target = connection("spark.authenticate true\n", host="spark://spark", port=7077, extra=SETTINGS)
    assert (MASTER, SETTINGS) == (target.master, target.settings)
    assert () == unprotected_findings(target, (4, 0, 0), declared=False)


@pytest.mark.parametrize(
    ("extra", "defaults", "environment", "expected"),
    [
        ({}, "", "", None),
        ({}, "", "cluster", "cluster"),
        ({}, "spark.submit.deployMode cluster ", "client", "cluster"),
        ({"spark.submit.deployMode": " client"}, "spark.submit.deployMode cluster", "", "client"),
        ({"deploy-mode": "client", "spark.submit.deployMode": "cluster"}, "", "cluster", "client"),
    ],
)
def test_deploy_mode_is_the_one_of_spark_submit(
    connection: Any,
    monkeypatch: pytest.MonkeyPatch,
    extra: dict[str, str],
    defaults: str,
    environment: str,
    expected: str | None,
) -> None:
    """The extra comes before Spark's settings, these before the environment."""
    monkeypatch.setenv("DEPLOY_MODE", environment)

    assert expected == connection(defaults, host="yarn", extra=extra).deploy_mode


@pytest.mark.parametrize("extra", [{"spark-binary": "/bin/sh"}, {"spark-home": "/x"}, {"rest-port": "x"}])
def test_connection_that_the_provider_refuses_is_a_finding(connection: Any, extra: dict[str, str]) -> None:
    """A connection that the provider's hook refuses is a finding."""
    with pytest.raises(Refused, match="CONNECTION_INVALID · connection spark"):
        connection(host=MASTER, extra=extra)


@pytest.mark.parametrize("home", ["SPARK_HOME", None])
def test_defaults_are_those_of_spark_submit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: str | None) -> None:
    """Without `SPARK_CONF_DIR` the defaults are in `conf` of the home that `spark-submit` uses."""
    for name in ("SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spark-submit").touch(mode=0o755)
    if home:
        monkeypatch.setenv(home, str(tmp_path))
    else:
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    assert tmp_path / "conf" / "spark-defaults.conf" == spark_adapter._defaults_file("spark-submit")


def test_defaults_of_pyspark_are_in_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The home of a Spark that pip has installed is its package."""
    import importlib.util

    for name in ("SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    package = importlib.util.find_spec("pyspark")
    assert package
    assert package.origin

    assert Path(package.origin).parent / "conf" / "spark-defaults.conf" == spark_adapter._defaults_file("spark-submit")


@dataclass
class Submitting:
    """A `spark-submit` that keeps its command and the files of the run, and does the job's work."""

    work: Callable[[list[str]], None]
    command: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    modes: set[int] = field(default_factory=set)
    output: list[str] = field(default_factory=list)
    code: int = 0

    def __call__(self, command: list[str], **_options: Any) -> SimpleNamespace:
        """Start the process."""
        self.command = command
        files = [path for path in self.folder.iterdir() if path.suffix != ".zip"]
        self.texts = {path.name: path.read_text() for path in files}
        self.modes = {stat.S_IMODE(path.stat().st_mode) for path in (*files, self.folder)}
        if not self.code:
            self.work(self.command)
        return SimpleNamespace(stdout=iter(self.output), wait=lambda: self.code, poll=lambda: self.code)

    @property
    def folder(self) -> Path:
        """The folder of the run's files."""
        return Path(self.command[self.command.index("--py-files") + 1]).parent


@pytest.fixture
def submitting(world: World, monkeypatch: pytest.MonkeyPatch) -> Submitting:
    """A `spark-submit` on a protected cluster, and a connection to Kafka with a login."""
    world.spark_versions = SparkVersions("spark-submit", "4.0.4", "2.13")
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})
    made = Submitting(lambda arguments: world.validated(result=result_in(arguments)))
    monkeypatch.setattr("airflow.providers.apache.spark.hooks.spark_submit.subprocess.Popen", made)
    world.deployed["client_settings"] = lambda cluster: LOGIN
    extra = {"deploy-mode": "client", **STRONG}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK", json.dumps({"conn_type": "spark", "host": MASTER, "extra": extra}))
    world.spark = SparkTarget("spark", MASTER, "client", STRONG, "spark.eventLog.enabled true")
    return made


def test_no_secret_is_on_the_command_line(world: World, submitting: Submitting) -> None:
    """Kafka's logins and Spark's secret are in files that only their owner may read, not in the command."""
    world.do("validate_topics")

    assert "canary" not in " ".join(submitting.command)
    assert "--files" not in submitting.command
    assert "client" == submitting.command[submitting.command.index("--deploy-mode") + 1]
    assert "canary-kafka-7e02" in submitting.texts["clients.json"]
    assert STRONG | {"spark.eventLog.enabled": "true"} == parsed_properties(submitting.texts["spark.properties"])
    assert {0o600, 0o700} == submitting.modes
    assert "spark.io.encryption.enabled=true" in submitting.command


@pytest.fixture
def known_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folders of a Spark and of a Java, and one for archives, which is returned."""
    for name in ("java/release", "java/lib/modules", "java/lib/server/libjvm.so", "java/bin/java", "spark/jars/a.jar"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__CLASS_ARCHIVES", str(tmp_path / "archives"))
    return tmp_path / "archives"


def test_driver_gets_the_class_archive_and_the_quick_compiler(
    world: World, submitting: Submitting, known_spark: Path
) -> None:
    """The task's command names the archive for this Spark, and the quick compiler for its few records."""
    with new_archive(known_spark) as path:
        path.write_bytes(b"classes")
        archive, _ = keep(path, archive_key(world.spark))
    world.do("validate_topics")

    shared = f"-XX:SharedArchiveFile={archive} -Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"
    assert f"{DEFAULT_OPTIONS}={shared} -XX:TieredStopAtLevel=1" in submitting.command


def test_without_an_archive_the_job_starts_as_before(world: World, submitting: Submitting, known_spark: Path) -> None:
    """A missing archive is no failure, and the task makes none."""
    world.do("validate_topics")

    assert f"{DEFAULT_OPTIONS}=-XX:TieredStopAtLevel=1" in submitting.command
    assert not known_spark.exists()


@pytest.mark.parametrize("place", ["operator", "connection", "unknown"])
def test_java_options_of_others_stay(
    world: World, submitting: Submitting, known_spark: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """If the setting is taken, or the place of Spark and therefore its defaults are unknown, nothing is set."""
    if place == "connection":
        world.spark = replace(world.spark, own={**STRONG, DEFAULT_OPTIONS: "-Dours=no"})
    elif place == "operator":
        monkeypatch.setattr(spark_rules, "QUIET", {DEFAULT_OPTIONS: "-Dours=no"})
    else:
        monkeypatch.setenv("SPARK_HOME", "/nowhere")
    world.do("validate_topics")

    wanted = [f"{DEFAULT_OPTIONS}=-Dours=no"] if place == "operator" else []
    assert wanted == [word for word in submitting.command if word.startswith(DEFAULT_OPTIONS)]


def test_nothing_secret_is_left(world: World, submitting: Submitting) -> None:
    """The folder with the files is deleted at the end of the task, also if Spark failed."""
    submitting.code = 1
    world.refuses("validate_topics")

    assert not submitting.folder.exists()


@pytest.mark.parametrize("code", [Code.CLUSTER_UNREACHABLE, Code.RECORDS_DELETED_MEANWHILE, Code.SPARK_FAILED])
def test_failure_of_the_job_is_a_finding(world: World, submitting: Submitting, code: Code) -> None:
    """The job's last message is the finding of the task, without its command line."""
    submitting.code, submitting.output = 1, [f"validate_topics: {code}: it was so", "25/11/22 20:14:03 INFO X: end"]

    with pytest.raises(
        FailedForGood, match=f"{code} · the Spark job: The Spark job ended without a result: it was so"
    ) as raised:
        world.do("validate_topics")

    assert "clients" not in str(raised.value)
    assert [code] == world.refusal_codes


def test_failure_before_the_last_try_is_tried_again(world: World, submitting: Submitting) -> None:
    """While Airflow has tries left, a failure of the job is not recorded as a refusal."""
    submitting.code, submitting.output = 1, ["validate_topics: CLUSTER_UNREACHABLE: it was so"]
    world.task_instance.try_number, world.task_instance.max_tries = 1, 2

    with pytest.raises(FailedForNow, match="CLUSTER_UNREACHABLE"):
        world.do("validate_topics")
    assert [] == world.refusal_codes

    world.task_instance.try_number = 3
    world.refuses("validate_topics", match="CLUSTER_UNREACHABLE")


def test_killed_spark_is_no_finding(world: World, submitting: Submitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that was stopped says so, and records no finding."""
    operator = world.task("validate_topics")
    submitting.code, submitting.output = -9, ["x"]
    made = SparkSubmission._get_hook

    def stopped_meanwhile(submission: SparkSubmission) -> SparkSubmitHook:
        hook = made(submission)
        operator.on_kill()
        return hook

    monkeypatch.setattr(SparkSubmission, "_get_hook", stopped_meanwhile)
    with pytest.raises(AirflowException, match="spark-submit ended with code -9: it was stopped"):
        operator.execute(world.context())
    assert [] == world.refusal_codes


def on_yarn(world: World, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """Let the connection name YARN."""
    monkeypatch.setenv("AIRFLOW_CONN_SPARK", json.dumps({"conn_type": "spark", "host": "yarn"}))
    world.spark = SparkTarget("spark", "yarn", mode, STRONG)


def letter_of_driver(submitting: Submitting, *lines: str) -> None:
    """Write the letter of a driver in a cluster that has said these lines."""
    place = place_of(submitting.command[submitting.command.index("--result") + 1].removeprefix("file:"), "driver")
    says = {"told": len(lines), "lines": lines, "key": ""}
    Path(place).write_text(json.dumps(enclosed(submitting.texts["task-word"], "driver", says)))


def test_driver_elsewhere_gets_no_login_by_file(
    world: World, submitting: Submitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In deploy mode `cluster` on YARN only a word is shipped, also if only Spark's defaults set the mode."""
    on_yarn(world, monkeypatch, "cluster")
    world.do("validate_topics")

    assert str(submitting.folder / "task-word") == submitting.command[submitting.command.index("--files") + 1]
    assert "task-word" == submitting.command[submitting.command.index("--task-word") + 1]
    assert "cluster" == submitting.command[submitting.command.index("--deploy-mode") + 1]
    assert "canary-kafka-7e02" not in "".join(submitting.texts.values())


def test_what_a_driver_elsewhere_says_is_heard(
    world: World, submitting: Submitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines of a driver in a container are in the task's log, and the last one decides the finding."""
    on_yarn(world, monkeypatch, "cluster")

    def work(_command: list[str]) -> None:
        letter_of_driver(submitting, "CLUSTER_UNREACHABLE: it was so")
        submitting.code = 1

    submitting.work = work
    world.refuses("validate_topics", match="CLUSTER_UNREACHABLE · the Spark job: .* it was so")
    assert [] == list(world.run.evidence.folder.rglob("*.letter"))


@pytest.mark.parametrize(
    ("mode", "has_begun", "asked_after"),
    [
        ("cluster", True, [spark_submission.DRIVER_ENDS_WITHIN_S]),
        ("cluster", False, [0]),
        ("client", True, []),
        ("client", False, [0]),
    ],
)
def test_application_that_outlives_its_submission_is_ended(
    world: World,
    submitting: Submitting,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    has_begun: bool,
    asked_after: list[float],
) -> None:
    """A killed task asks YARN itself, once, to end an application whose driver does not end with `spark-submit`.

    A driver that reads letters has time before to end by itself, because it then leaves no quota and no letter.
    """
    on_yarn(world, monkeypatch, mode)
    monkeypatch.setattr(driver_letters, "EVERY_S", 0.01)
    asked: list[tuple[str, float]] = []

    def ask(application: str, _home: str, after_s: float) -> Callable[[float], None]:
        asked.append((application, after_s))
        return lambda _: None

    monkeypatch.setattr(spark_submission, "ask_to_end", ask)
    operator = world.task("validate_topics")
    submitting.code = 143
    says = "validate_topics: Spark 4.0.0 runs this job on yarn as application_1_2"

    def killed() -> Iterator[str]:
        yield "26/11/28 20:48:32 INFO Client: Application report for application_1_2 (state: RUNNING)"
        if has_begun and mode == "client":
            yield says
        submission = present(operator._submission)
        if has_begun and mode == "cluster":
            letter_of_driver(submitting, says)
            wait_until(lambda: present(submission._letters).has_driver)
        for _ in range(2):
            operator.on_kill()

    submitting.output = killed()  # type: ignore[assignment]
    with pytest.raises(AirflowException, match="it was stopped"):
        operator.execute(world.context())

    assert [("application_1_2", after_s) for after_s in asked_after] == asked


def test_job_that_does_not_begin_is_a_finding(
    world: World, submitting: Submitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job without a word within its time is stopped, and the finding says in which state its application waits.

    The task waits for YARN's answer, because a container that ends with it would end YARN's client too.
    """
    on_yarn(world, monkeypatch, "client")
    is_asked, awaited = threading.Event(), list[float]()

    def ask(_application: str, _home: str, _after_s: float) -> Callable[[float], None]:
        is_asked.set()
        return awaited.append

    monkeypatch.setattr(spark_submission, "ask_to_end", ask)
    monkeypatch.setattr(airflow_settings, "spark_start_limit_s", lambda: 0.01)
    submitting.code = 143

    def waiting() -> Iterator[str]:
        yield "26/11/28 20:48:32 INFO Client: Application report for application_1_2 (state: ACCEPTED)"
        assert is_asked.wait(60)
        yield "26/11/28 20:50:32 INFO Client: Application report for application_1_2 (state: KILLED)"

    submitting.output = waiting()  # type: ignore[assignment]
    world.refuses("validate_topics", match="SPARK_NO_RESOURCES · the Spark job: .*application_1_2 is ACCEPTED")
    assert [spark_submission.ENDS_WITHIN_S] == awaited
