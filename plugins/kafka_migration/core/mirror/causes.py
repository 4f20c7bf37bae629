"""What ends or stalls MirrorMaker: one table from the words of its log to a code, a meaning and a remedy.

Both engines use the same clients of Kafka, so one cause has one code, however it shows: a dead process, a dead worker,
a failed task, a partition without a task or without progress.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.mirror.log_entries import LONGEST_QUOTE, from_exception, root_exception, telling_lines
from kafka_migration.core.mirror.uncopyable import ACTS, CERTAIN, CODES, Reason
from kafka_migration.core.text.shortened import capitalized, sentence

# A broker refused a batch of several records. The producer then splits it and retries, forever if one record is too
# large. Meanwhile MirrorMaker 1 commits records that never arrived (Kafka 3.9.1, KAFKA-19479).
SPLITTING = "splitting and retrying"
# The worker of MirrorMaker 2 has ended. Its process waits for itself in its own shutdown, and copies nothing.
WORKER_ENDED = "Uncaught exception in herder work thread, exiting"
# The connector that copies was not created; MirrorMaker 2 does not try it again.
CONNECTOR_REFUSED = "Failed to configure MirrorSourceConnector connector"
# A thread may have ended for it, such as the one that sends; the others continue.
OUT_OF_MEMORY = "OutOfMemoryError"

_EACH_START = "Each further start would end in the same way. Until the cause is removed, no more records are copied."
_UNTIL_CORRECTED = "Until the cause is removed, the records that remain on the source are not copied."
_AGAIN = "Then trigger the run again. Copied records are kept."
_IN_CONNECTION = "Correct the Airflow connection of the cluster that MirrorMaker's log names."
_ON_HOST = "mirrormaker.log on the host"


def repair(log: str = _ON_HOST) -> str:
    """Return what to do about an unknown cause; `log` is where its details are."""
    return f"Remove the cause; {log} and stop.json in the evidence have the details. {_AGAIN}"


@dataclass(frozen=True, slots=True)
class Cause:
    """One row of the table.

    `is_certain`: wherever the words stand in the log, they tell the cause; others count only if they end MirrorMaker.
    `is_lasting`: each further start would end in the same way. `remedy` may name the present heap as `{heap_mb}`;
    `on_workers` is the remedy if MirrorMaker runs in workers of Kafka Connect, empty if it is the same.
    """

    code: Code
    pattern: re.Pattern[str]
    what: str
    expected: str
    remedy: str
    is_certain: bool = True
    is_lasting: bool = False
    on_workers: str = ""

    def remedy_for(self, heap_mb: int | None) -> str:
        """Return the remedy for MirrorMaker with this heap, `None` if it runs in workers of Kafka Connect."""
        if heap_mb is None:
            return self.on_workers or self.remedy
        return self.remedy.replace("{heap_mb}", f"{heap_mb:,}")


@dataclass(frozen=True, slots=True)
class Sign:
    """A cause, and MirrorMaker's own words of it."""

    cause: Cause
    quote: str


def _row(
    code: Code,
    words: re.Pattern[str],
    what: str,
    expected: str,
    remedy: str,
    on_workers: str = "",
    is_certain: bool = True,
    is_lasting: bool = False,
) -> Cause:
    on_workers = on_workers and f"{on_workers} {_AGAIN}"
    return Cause(code, words, what, expected, f"{remedy} {_AGAIN}", is_certain, is_lasting, on_workers)


def _login(
    code: Code,
    words: re.Pattern[str],
    what: str,
    expected: str,
    remedy: str = _IN_CONNECTION,
    on_workers: str = "",
    is_lasting: bool = True,
) -> Cause:
    return _row(code, words, what, expected, remedy, on_workers, is_lasting=is_lasting)


_OF_RECORDS = {
    Reason.TOO_LARGE: "a record is too large for the target",
    Reason.NO_KEY: "a compacted topic on the target refuses a record without a key",
    Reason.TIME: "a cluster refuses the timestamp of a record",
}

# Why a login fails, the exact reasons first.
_LOGINS = (
    _login(
        Code.CERTIFICATE_EXPIRED,
        re.compile(r"CertificateExpiredException"),
        "a certificate has expired",
        "a valid certificate",
        "Renew the certificate: that of the brokers, or ssl.certificate.pem in the Airflow connection of the cluster.",
    ),
    _login(
        Code.CERTIFICATE_OF_OTHER_HOST,
        re.compile(r"No subject alternative|No name matching"),
        "a broker shows the certificate of another host",
        "a certificate that contains the broker's advertised name",
        "Use a name from the certificate in bootstrap.servers and advertised.listeners, or renew the certificate.",
    ),
    _login(
        Code.CERTIFICATE_NOT_TRUSTED,
        re.compile(r"PKIX path|unable to find valid certification path|SunCertPathBuilderException"),
        "MirrorMaker does not trust a broker's certificate",
        "a certificate signed by the authority in the connection",
    ),
    _login(
        Code.CLIENT_CERTIFICATE_REFUSED,
        re.compile(r"Received fatal alert: (?:bad_certificate|certificate_|unknown_ca|access_denied)"),
        "a broker refuses MirrorMaker's certificate",
        "a client certificate that the brokers trust",
    ),
    _login(
        Code.PROTOCOL_DIFFERS,
        re.compile(r"Unsupported or unrecognized SSL message|Unexpected handshake request with client mechanism"),
        "the listener expects another security.protocol",
        "the security.protocol of the listener",
    ),
    _login(
        Code.MECHANISM_NOT_OFFERED,
        re.compile(r"UnsupportedSaslMechanism|Client SASL mechanism .{1,100} not enabled"),
        "the listener does not offer the SASL mechanism",
        "a mechanism that the listener offers",
    ),
    _login(
        Code.KERBEROS_FAILED,
        re.compile(r"GSSException|KrbException|javax\.security\.auth\.login\.LoginException"),
        "MirrorMaker's Kerberos login failed",
        "a ticket for MirrorMaker's principal",
        "Check the keytab and /etc/krb5.conf on the MirrorMaker host, and the principal in the Airflow connection.",
        "Check the keytab and /etc/krb5.conf on each worker, and the principal in the Airflow connection.",
        is_lasting=False,
    ),
    _login(
        Code.LOGIN_REFUSED,
        re.compile(r"SaslAuthentication|AuthenticationException|SSL handshake failed|failed authentication due to"),
        "MirrorMaker cannot log in",
        "a login that the cluster accepts",
        is_lasting=False,
    ),
)

# Names of Java exceptions and texts of Kafka's clients, brokers and Connect (2.4.1 to 4.2.0); the first match counts.
CAUSES = (
    *(_row(CODES[r], CERTAIN[r], _OF_RECORDS[r], "records that MirrorMaker can copy", ACTS[r]) for r in Reason),
    _row(
        Code.MIRROR_TOPIC_UNFIT,
        re.compile(r"supplied via the '[\w.]{1,100}' property is required to have"),
        "a topic of MirrorMaker's own exists on the target with other settings than MirrorMaker needs",
        "topics of MirrorMaker's own with the settings that its words name",
        "Set cleanup.policy=compact on the topic that MirrorMaker's words name, with kafka-configs.sh. If its "
        "partition count is wrong, delete it instead while no MirrorMaker runs.",
        is_lasting=True,
    ),
    _row(
        Code.MIRROR_HOST_OUT_OF_MEMORY,
        # The JVM's words (Java 8 to 21); the heap is not what is missing.
        re.compile(
            r"unable to create (?:new )?native thread|insufficient memory for the Java Runtime"
            r"|Could not (?:reserve enough space|allocate (?:compressed|metaspace))"
        ),
        "the machine refuses memory or threads to MirrorMaker",
        "a machine with enough memory, and limits of its user that are high enough",
        "Free memory on the MirrorMaker host, or raise the limits of its user (`ulimit -a` there). Otherwise lower "
        "mirror.heap_mb in the migration file, which is {heap_mb} now.",
        "Free memory on the machine of the worker, or raise the limits of its user (`ulimit -a` there). Otherwise "
        "lower mirror.tasks.",
    ),
    _row(
        Code.MIRROR_OUT_OF_MEMORY,
        re.compile(OUT_OF_MEMORY),
        "MirrorMaker is out of memory",
        "enough Java heap for MirrorMaker",
        "Raise mirror.heap_mb in the migration file, which is {heap_mb} now, if the host has free memory. Otherwise "
        "lower mirror.tasks.",
        "Raise the heap of the workers (KAFKA_HEAP_OPTS). Otherwise lower mirror.tasks.",
    ),
    _row(
        Code.RIGHT_MISSING,
        re.compile(r"AuthorizationException|AUTHORIZATION_FAILED|Not authorized"),
        "MirrorMaker's user lacks a right",
        "all rights that `kafka-migration acls` prints",
        "Grant the right on the resource in MirrorMaker's words; `kafka-migration acls` prints the commands.",
    ),
    *_LOGINS,
    _row(
        Code.MIRROR_JAVA_TOO_OLD,
        re.compile(r"UnsupportedClassVersionError"),
        "the Java is too old for this MirrorMaker",
        "a Java that runs this Kafka version",
        "Name a newer Java in mirror.java_home.",
        "Run the workers with a newer Java.",
        is_lasting=True,
    ),
    _row(
        Code.BROKERS_TOO_OLD,
        re.compile(r"UnsupportedVersionException"),
        "a cluster is too old for this MirrorMaker",
        "brokers that support what MirrorMaker requests",
        "Use MirrorMaker of a Kafka 3.9 release (mirror.kafka_home).",
        "Use workers of a Kafka 3.9 release.",
        is_lasting=True,
    ),
    _row(
        Code.MIRROR_SETTING_REFUSED,
        re.compile(r"config\.ConfigException|ClassNotFoundException|Invalid value .{1,300} for configuration"),
        "MirrorMaker refuses a setting",
        "settings that MirrorMaker accepts",
        "Correct the setting that MirrorMaker's words name, in mirror.properties, mirror.naming or the Airflow "
        "connection.",
        is_lasting=True,
    ),
    _row(
        Code.REPLICATION_BELOW_MIN_INSYNC,
        re.compile(r"NotEnoughReplicas|NOT_ENOUGH_REPLICAS"),
        "the target has not enough replicas in sync",
        "as many replicas in sync as min.insync.replicas of the target topic",
        "Start the missing brokers of the target, or lower min.insync.replicas of the topic.",
        is_certain=False,
    ),
    _row(
        Code.TARGET_TOPIC_MISSING,
        re.compile(r"UnknownTopicOrPartition|UNKNOWN_TOPIC_OR_PARTITION"),
        "a topic does not exist",
        "each topic of the migration on both clusters",
        "Find out who deleted the topic that MirrorMaker's words name. If the target had copied records of it, copy it "
        "with a second migration file. Otherwise a new run creates it on the target.",
        is_certain=False,
    ),
    _row(
        Code.MIRROR_TASK_FAILED,
        re.compile(r"CorruptRecord|CORRUPT_MESSAGE|InvalidRecord|INVALID_RECORD|INVALID_TIMESTAMP"),
        "a cluster rejects a record",
        "records that both clusters accept",
        "Find the record in the topic that MirrorMaker's words name, or remove the topic from the migration file so "
        "that the others continue.",
        is_certain=False,
    ),
    _row(
        Code.CLUSTER_UNREACHABLE,
        re.compile(
            r"could not be established|Bootstrap broker .{0,300} disconnected|UnknownHost|Failed to connect to and desc"
        ),
        "a cluster is unreachable",
        "both clusters reachable from MirrorMaker",
        "Make sure that the MirrorMaker host reaches the address in MirrorMaker's words.",
        "Make sure that each worker reaches the address in MirrorMaker's words.",
        is_certain=False,
    ),
    _row(
        Code.CLUSTER_UNREACHABLE,
        re.compile(r"TimeoutException|REQUEST_TIMED_OUT"),
        "a cluster answers too late",
        "answers of both clusters in time",
        "Check the load of the clusters, and the network between them and the MirrorMaker host.",
        "Check the load of the clusters, and the network between them and the workers.",
        is_certain=False,
    ),
)


def newest_sign(log: str) -> Sign | None:
    """Return the newest sign of any cause in a log: of a stall the newest words are the likely cause."""
    return _newest(log, CAUSES)


def certain_sign(log: str) -> Sign | None:
    """Return the newest words in a log that tell a cause by themselves."""
    return _newest(log, [cause for cause in CAUSES if cause.is_certain])


def sign_of_end(log: str) -> Sign | None:
    """Return the cause of an end: certain words anywhere, or else the exception that ended MirrorMaker."""
    return certain_sign(log) or next(_signs([root_exception(log)], CAUSES), None)


def _newest(log: str, rows: Iterable[Cause]) -> Sign | None:
    lines = telling_lines(log)
    sign = next(_signs(lines, rows), None)
    if sign is None or sign.cause.code is not Code.LOGIN_REFUSED:
        return sign
    # Only some of the lines about one failed login have its reason.
    return next(_signs(lines, [row for row in rows if row in _LOGINS and row is not sign.cause]), sign)


def _signs(lines: Iterable[str], causes: Iterable[Cause]) -> Iterator[Sign]:
    rows = tuple(causes)
    for line in lines:
        for cause in rows:
            if found := cause.pattern.search(line):
                yield Sign(cause, from_exception(line, found.start())[:LONGEST_QUOTE])
                break


def cause_finding(sign: Sign, subject: str, found: str, heap_mb: int | None) -> Finding:
    """Return the finding of a cause; `found` is what MirrorMaker did, and its own words follow if they are missing.

    `heap_mb` is its heap, `None` if it runs in workers of Kafka Connect.
    """
    said = "" if sign.quote in found else f"; MirrorMaker says: {sign.quote}"
    cause = sign.cause
    # A death that its own log explains begins with the cause.
    ended = f"{found.removeprefix(f'{cause.what}; ')}{said}"
    return Finding(
        cause.code,
        subject,
        f"{cause.what}: {ended}",
        cause.expected,
        cause.remedy_for(heap_mb),
        happened=sentence(f"{capitalized(cause.what)}; {ended}"),
        matters=_EACH_START if cause.is_lasting else _UNTIL_CORRECTED,
    )
