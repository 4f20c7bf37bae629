"""The protection of Kafka logins and traffic between Spark's processes, and the Kafka client that Spark must use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.spark.spark_versions import Version, numbers_of
from kafka_migration.core.spark.yarn_report import YarnReport
from kafka_migration.core.text.shortened import sentence

CRYPTO, TLS = "spark.network.crypto.enabled", "spark.ssl.rpc.enabled"
_CIPHER, _GCM = "spark.network.crypto.cipher", "AES/GCM/NoPadding"
# Older versions ignore the settings of TLS between Spark's processes.
_TLS_SINCE: Version = (4, 0)
# Per release, the first version in which AES/GCM works. Others do not know it, or lose messages (SPARK-56227).
_GCM_SINCE: tuple[Version, ...] = ((3, 5, 9), (4, 0, 4), (4, 1, 3))
_TLS_SETTINGS = ("spark.ssl.rpc", "spark.ssl")
_TLS_VERSIONS = ("TLS", "TLSv1.2", "TLSv1.3")
_STRONG_CIPHER = re.compile(r"TLS_(?!\w*(?:anon|NULL|EXPORT|MD5))\w*(?:AES|CHACHA20)_\w+", re.IGNORECASE)
NOTICES_CHANGES = (
    f"encryption that notices changes: {TLS} (from Spark {_TLS_SINCE[0]}.{_TLS_SINCE[1]}), or {_CIPHER}={_GCM} "
    f"(from Spark {', '.join('.'.join(map(str, version)) for version in _GCM_SINCE)})"
)


def is_true(settings: Mapping[str, str], name: str) -> bool:
    """Whether a boolean setting is true."""
    return settings.get(name, "").strip().lower() == "true"


def depends_on_version(settings: Mapping[str, str]) -> bool:
    """Whether Spark's version decides if these settings protect the traffic."""
    return is_true(settings, TLS) or (is_true(settings, CRYPTO) and settings.get(_CIPHER, "").strip() == _GCM)


def lacking_encryption(settings: Mapping[str, str], spark: Version) -> Iterator[str]:
    """Return what a cluster's encryption lacks, one text each; nothing if strangers cannot read the traffic.

    :param settings: Spark's effective settings
    :param spark: Spark's version; empty if it is unknown, which is judged like the oldest
    """
    if _is_tls(settings, spark):
        yield from _lacking_tls(settings)
    elif not is_true(settings, CRYPTO):
        yield f"{CRYPTO}=true (or {TLS}=true, from Spark {_TLS_SINCE[0]}.{_TLS_SINCE[1]})"


def weak_cipher(settings: Mapping[str, str], spark: Version) -> str:
    """Return with which cipher strangers could change Spark's own encryption unnoticed; empty if they could not.

    Parameters are those of `lacking_encryption`. The default cipher of all versions is a weak one (CVE-2025-55039).
    """
    if _is_tls(settings, spark) or not is_true(settings, CRYPTO):
        return ""
    cipher = settings.get(_CIPHER, "").strip()
    if cipher != _GCM:
        return f"{_CIPHER}={cipher}" if cipher else f"no {_CIPHER}, which is AES/CTR/NoPadding"
    since = next((version for version in _GCM_SINCE if version[:2] == spark[:2]), max(_GCM_SINCE))
    return "" if spark >= since else f"{_GCM} with Spark {'.'.join(map(str, spark)) or 'of unknown version'}"


def _is_tls(settings: Mapping[str, str], spark: Version) -> bool:
    """Whether Spark uses TLS; it then ignores the settings of its own encryption."""
    return is_true(settings, TLS) and spark >= _TLS_SINCE


def _lacking_tls(settings: Mapping[str, str]) -> Iterator[str]:
    # Without one, Spark accepts every certificate.
    if not _tls_setting(settings, "trustStore"):
        yield "spark.ssl.rpc.trustStore"
    if _tls_setting(settings, "protocol") not in ("", *_TLS_VERSIONS):
        yield f"spark.ssl.rpc.protocol of {', '.join(_TLS_VERSIONS)}"
    ciphers = [name.strip() for name in _tls_setting(settings, "enabledAlgorithms").split(",")]
    if any(name and not _STRONG_CIPHER.fullmatch(name) for name in ciphers):
        yield "spark.ssl.rpc.enabledAlgorithms with AES or CHACHA20 only"


def _tls_setting(settings: Mapping[str, str], name: str) -> str:
    """Return a setting of TLS; that of the RPC comes before that of all of Spark."""
    return next((settings[place].strip() for prefix in _TLS_SETTINGS if (place := f"{prefix}.{name}") in settings), "")


SETTING_PREFIX = "spark."
# The first version of Apache Kafka's clients with the fixes of CVE-2025-27817 and CVE-2025-27818.
SAFE_KAFKA = (3, 9, 1)
_LOCAL = re.compile(r"local(\[\s*(\d+|\*)\s*(,\s*\d+\s*)?\])?")
_KUBERNETES = "k8s://"
_YARN = "yarn"
CLUSTER = "cluster"
_AUTHENTICATE, _SECRET = "spark.authenticate", "spark.authenticate.secret"
# Spark's UI ends with the job, and its INFO lines would hide the task's own lines.
QUIET = {"spark.ui.enabled": "false"}
_LEVEL = {"spark.log.level": "WARN"}
# Encrypts Spark's files on disk with a key that exists only while the application runs.
_ON_DISK = {"spark.io.encryption.enabled": "true"}
# Spark also listens on ports in local mode, and generates the secret itself there.
_IN_ONE_PROCESS = {_AUTHENTICATE: "true", CRYPTO: "true"}
# Otherwise an attacker on the network can make Spark fall back to a login without encryption.
_NO_FALLBACK = {"spark.network.crypto.saslFallback": "false"}
# The shuffle service of a node manager may know only that login.
_SHUFFLE_SERVICE = "spark.shuffle.service.enabled"


@dataclass(frozen=True, slots=True)
class SparkTarget:
    """The Spark master of a connection.

    `settings` are Spark's effective settings as far as Airflow's worker knows them: those of `spark-defaults.conf`,
    then those of the connection. `own` are only the connection's settings. `defaults` is the text of
    `spark-defaults.conf`, `binary` the command that submits. `deploy_mode` is the effective one, `None` if nothing
    sets it (Spark then uses `client`).
    """

    connection: str
    master: str
    deploy_mode: str | None = None
    own: Mapping[str, str] = field(default_factory=dict, repr=False)
    defaults: str = field(default="", repr=False)
    binary: str = "spark-submit"

    @property
    def is_local(self) -> bool:
        """Whether driver and executors are one process; `local-cluster[…]` is a cluster."""
        return _LOCAL.fullmatch(self.master) is not None

    @property
    def needs_version(self) -> bool:
        """Whether Spark's version decides if others can read or change the traffic."""
        return not self.is_local and depends_on_version(self.settings)

    @property
    def makes_secrets(self) -> bool:
        """Whether Spark generates a secret for each application if authentication is on."""
        return self.is_local or self.master == _YARN or self.master.startswith(_KUBERNETES)

    @property
    def settings(self) -> dict[str, str]:
        """Spark's effective settings."""
        return {**parsed_properties(self.defaults), **self.own}

    @property
    def is_yarn(self) -> bool:
        """Whether the master is YARN."""
        return self.master == _YARN

    @property
    def ships_files(self) -> bool:
        """Whether the driver runs in the cluster and gets its files from the worker."""
        return self.deploy_mode == CLUSTER

    def is_on(self, name: str) -> bool:
        """Whether a boolean setting is true."""
        return is_true(self.settings, name)


def protecting_settings(target: SparkTarget) -> dict[str, str]:
    """Return the settings for each application; none of them is secret."""
    fallback = {} if target.is_on(_SHUFFLE_SERVICE) else _NO_FALLBACK
    return {**_ON_DISK, **fallback, **(_IN_ONE_PROCESS if target.is_local else {}), **_of_yarn(target)}


def settings_of_task(target: SparkTarget, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a task with those that keep its log short; the task's own win.

    On YARN the level is left to the job, which sets it once it runs: Spark says at INFO why an application waits.
    """
    level = {} if target.is_yarn else _LEVEL
    return {**QUIET, **level, **settings}


def _of_yarn(target: SparkTarget) -> dict[str, str]:
    """Return the settings with which `spark-submit` waits for its application, which begins once only.

    Airflow repeats a job; YARN would start a driver again that has no logins, and write another one's result.
    """
    if not target.is_yarn or not target.ships_files:
        return {}
    return {"spark.yarn.maxAppAttempts": "1", "spark.yarn.submit.waitAppCompletion": "true"}


def unprotected_findings(target: SparkTarget, spark: Version, *, declared: bool) -> tuple[Finding, ...]:
    """Return why other clients could read Kafka's logins from Spark; empty if they cannot.

    :param spark: the version of Spark; empty if it is unknown. Not used for a local master.
    :param declared: whether the migration file accepts it
    """
    lacking = [] if target.is_local else [*_lacking_login(target), *lacking_encryption(target.settings, spark)]
    if not lacking:
        return ()
    return (
        Finding(
            Code.SPARK_NOT_PROTECTED,
            f"connection {target.connection} (validation.spark_connection), master {target.master}",
            f"no {', no '.join(lacking)}",
            "a Spark cluster with authentication and encryption between its processes",
            "No action is needed: the migration file accepts this (validation.spark_unprotected)."
            if declared
            else _remedy(target),
            happened=f"The Spark cluster {target.master} of the connection {target.connection} has no "
            f"{', no '.join(lacking)}.",
            matters="Any client that reaches Spark's ports can read the logins of both Kafka clusters.",
        ),
    )


def cipher_findings(target: SparkTarget, spark: Version) -> tuple[Finding, ...]:
    """Return the finding about a cipher that does not notice changes; empty without one, or if nothing is encrypted.

    :param spark: the version of Spark; empty if it is unknown. Not used for a local master.
    """
    weak = "" if target.is_local else weak_cipher(target.settings, spark)
    if not weak:
        return ()
    return (
        Finding(
            Code.SPARK_CIPHER_WEAK,
            f"connection {target.connection} (validation.spark_connection), master {target.master}",
            weak,
            NOTICES_CHANGES,
            f"Set up {NOTICES_CHANGES}, on the cluster and in the connection's extra. If no one can change the traffic "
            "of this network, accept the code in the migration file (accept).",
            happened=f"The encryption of the Spark cluster {target.master} of the connection {target.connection} does "
            f"not notice changes: {weak}.",
            matters="An attacker between Spark's machines could change the verdict (CVE-2025-55039).",
        ),
    )


def _remedy(target: SparkTarget) -> str:
    names = (_AUTHENTICATE, CRYPTO, *(() if target.makes_secrets else (_SECRET,)))
    return (
        f"Set {', '.join(names)} on the cluster, and the same in the connection's extra or in spark-defaults.conf. "
        "If no other client can reach the ports, accept this in the migration file: validation.spark_unprotected: true."
    )


def _lacking_login(target: SparkTarget) -> Iterable[str]:
    if not target.is_on(_AUTHENTICATE):
        yield f"{_AUTHENTICATE}=true"
    if not target.makes_secrets and not target.settings.get(_SECRET):
        yield _SECRET


def shipping_findings(target: SparkTarget) -> tuple[Finding, ...]:
    """Return why a file with logins must not be shipped to the driver; empty if it is not shipped, or only by YARN.

    YARN copies the file to the driver's container. On Kubernetes the driver serves it to every client without a login,
    whatever `spark.authenticate` says. Other masters accept no Python application in this mode.
    """
    if not target.ships_files or target.is_yarn:
        return ()
    return (
        Finding(
            Code.SPARK_LOGIN_SHIPPED,
            f"connection {target.connection} (validation.spark_connection), master {target.master}",
            f"deploy mode {CLUSTER}, with a login to Kafka",
            f"deploy mode client, or the master {_YARN}",
            "Set deploy-mode in the connection's extra to client.",
            happened=f"The connection {target.connection} has deploy mode {CLUSTER} and the master {target.master}, "
            "and the Spark job needs a login to Kafka.",
            matters="Spark would serve the file with the logins to every client that reaches its driver.",
        ),
    )


def failure_finding(said: str, exit_code: str, yarn: YarnReport | None = None) -> Finding:
    """Return why a job gave no result: its last line, `CODE: what happened`, or else what `spark-submit` said."""
    named, _, text = said.partition(": ")
    if named in _FAILURES and text:
        return _failure(Code(named), text)
    reason = (_of_submission(yarn) if yarn else "") or said
    return _failure(Code.SPARK_FAILED, reason or f"exit code {exit_code} of spark-submit without a reason from the job")


def no_resources_finding(target: SparkTarget, yarn: YarnReport, limit_s: float) -> Finding:
    """Return the finding about a job that has not begun within its time."""
    what = yarn.words if yarn.application else f"no application began on {target.master}"
    page = f" ({yarn.page})" if yarn.page else ""
    return _failure(Code.SPARK_NO_RESOURCES, f"{what}{page}, {limit_s:.0f} s after the submission")


def _of_submission(yarn: YarnReport) -> str:
    """Return why YARN or `spark-submit` ended, if they said it."""
    page = f" ({yarn.page})" if yarn.page and yarn.application else ""
    reason = f"{yarn.words}{page}" if yarn.application and yarn.diagnostics else yarn.error
    return f"spark-submit says: {reason}" if reason else ""


def _failure(code: Code, found: str) -> Finding:
    return Finding(
        code,
        "the Spark job",
        found,
        "a complete result document",
        _FAILURES[code],
        happened=sentence(f"The Spark job ended without a result: {found}"),
        matters="Without its result the copy is not proved, and no group is moved.",
    )


_FAILURES = {
    Code.CLUSTER_UNREACHABLE: "Check that the brokers run and that Spark reaches their advertised listeners. Then "
    "clear the task with its downstream tasks.",
    Code.RECORDS_DELETED_MEANWHILE: "Clear the task with its downstream tasks. The next attempt leaves out what was "
    "deleted.",
    Code.SPARK_NO_RESOURCES: "Free resources of the queue or the cluster, or name another queue (queue in the "
    "connection's extra). If waiting is right, raise [kafka_migration] spark_start_limit. Then clear the task with its "
    "downstream tasks.",
    Code.SPARK_VERSION_MISMATCH: "Install the version that it asks for. Then clear the task with its downstream tasks.",
    Code.SPARK_FAILED: "The log of this task names the cause. Remove the cause, then clear the task with its "
    "downstream tasks.",
}


def own_settings(extra: Mapping[str, object]) -> dict[str, str]:
    """Return Spark's settings in a connection's extra, by their prefix."""
    named = {name: value for name, value in extra.items() if name.startswith(SETTING_PREFIX)}
    return {name: _text(value) for name, value in named.items() if value is not None}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def parsed_properties(text: str) -> dict[str, str]:
    """Return the settings of a Java properties file."""
    # An odd number of backslashes at the end of a line continues it.
    whole = re.sub(r"(?<!\\)((?:\\\\){0,500})\\\r?\n[ \t\f]*", r"\1", text)
    lines = (line.strip() for line in whole.splitlines())
    found = (re.match(r"((?:\\.|[^\s=:\\])+)\s*[=:]?\s*(.*)", line) for line in lines if line and line[0] not in "#!")
    return {_unescaped(match[1]): _unescaped(match[2]) for match in found if match}


def properties_text(defaults: str, own: Mapping[str, str]) -> str:
    """Return a Java properties file with these settings after, and therefore over, the defaults."""
    lines = (f"{_escaped(name)}={_escaped(value)}" for name, value in sorted(own.items()))
    # The empty line ends a default that a trailing backslash would continue.
    return "\n".join([defaults, "", *lines, ""])


def _unescaped(text: str) -> str:
    known = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"\\(.)", lambda match: known.get(match[1], match[1]), text)


def _escaped(text: str) -> str:
    known = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
    return re.sub(r"[\n\r\t\f\\=:#! ]", lambda match: known.get(match[0], f"\\{match[0]}"), text)


def has_login(options: Mapping[str, str]) -> bool:
    """Whether the options of Spark's Kafka reader contain a login: SASL, or a client key."""
    return not {"kafka.sasl.jaas.config", "kafka.ssl.keystore.key"}.isdisjoint(options)


def kafka_client_findings(versions: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return the finding about unsafe Kafka clients in `spark_jars`, for a validation that uses a login."""
    wanted = ".".join(map(str, SAFE_KAFKA))
    found = ", ".join(
        f"{jar} of version {version}" for jar, version in versions.items() if numbers_of(version)[:3] < SAFE_KAFKA
    )
    if versions and not found:
        return ()
    return (
        Finding(
            Code.SPARK_KAFKA_TOO_OLD,
            "[kafka_migration] spark_jars",
            found or "no jar of kafka-clients whose version can be read",
            f"kafka-clients {wanted} or newer, because the connections have logins (CVE-2025-27817, CVE-2025-27818)",
            f"Replace the older jar by kafka-clients-{wanted}.jar and name it in spark_jars.",
            happened=f"The setting spark_jars names {found or 'no jar of kafka-clients whose version can be read'}, "
            "and the connections have logins.",
            matters=f"Settings of a login can make Kafka clients before {wanted} read files, call addresses or run "
            "code on Spark's hosts (CVE-2025-27817, CVE-2025-27818).",
        ),
    )
