"""The stable codes of refusals and findings: one row says everything about a code.

The manual's page of error codes is generated from this table. A code is never renamed or re-used.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from kafka_migration.core.findings import more_steps
from kafka_migration.core.text.row_enum import RowEnum

_NOTHING_STARTED = "Nothing was started."
_NOT_STARTED = "MirrorMaker was not started."
_LEFT_OUT = "Nothing was written for this group."
_WARNING = "Only a warning."


class _AreaRow(NamedTuple):
    """What `CodeArea` says of an area, for its table."""

    heading: str
    commands: tuple[str, ...]


class CodeArea(RowEnum):
    """What codes are about: a heading, and the commands that help with most of them."""

    heading: str
    commands: tuple[str, ...]

    FILE = _AreaRow("The migration file", ("check NAME", "preflight NAME"))
    CLUSTER = _AreaRow("Connections and clusters", ("preflight NAME",))
    TOPIC = _AreaRow("Topics", ("preflight NAME",))
    HOST = _AreaRow("The MirrorMaker host", ("preflight NAME",))
    ENGINE = _AreaRow("MirrorMaker and its settings", ("preflight NAME",))
    MIRROR = _AreaRow("Mirroring", ("status NAME",))
    VALIDATION = _AreaRow("Validation", ("verdict NAME",))
    INTERVAL = _AreaRow("Answers for an interval", ("verdict NAME",))
    GROUP = _AreaRow("Moving the consumer groups", ("plan NAME --mode cutover", "ready NAME"))
    EVIDENCE = _AreaRow("Runs and evidence", ("status NAME",))
    COMMAND = _AreaRow("The command line", ("--help",))


class _CodeRow(NamedTuple):
    """What `Code` says of a code, for its table."""

    area: CodeArea
    meaning: str
    act: str
    cause: str = ""
    more: str = ""
    commands: tuple[str, ...] = ()
    accepted: str = ""
    one_by_one: bool = False
    contradicts: bool = False
    late: str = ""
    of_a_cutover: bool = False
    is_unanswered: bool = False


_file = partial(_CodeRow, CodeArea.FILE)
_cluster = partial(_CodeRow, CodeArea.CLUSTER)
_topic = partial(_CodeRow, CodeArea.TOPIC)
_host = partial(_CodeRow, CodeArea.HOST)
_engine = partial(_CodeRow, CodeArea.ENGINE)
_mirror = partial(_CodeRow, CodeArea.MIRROR)
_validation = partial(_CodeRow, CodeArea.VALIDATION)
_interval = partial(_CodeRow, CodeArea.INTERVAL)
_group = partial(_CodeRow, CodeArea.GROUP)
_evidence = partial(_CodeRow, CodeArea.EVIDENCE)
_command = partial(_CodeRow, CodeArea.COMMAND)


class Code(RowEnum):
    """A stable code with everything that is the same for all its findings.

    `meaning` says when it is raised, and `cause` why that can be, unless the meaning says so. `act` is the first thing
    to do, and says whether anything was started, written or lost if that is the same for every finding; the remedy of a
    finding is more exact. `more` is what to do if that is not enough. `commands` are the related ones, without the name
    of the program, if they are not those of its area.

    `accepted` is what a migration file says with the code in `accept`; without a text, the code is not acceptable. A
    code is acceptable only if a person can know more than the check does, and if no record can be lost, doubled or
    skipped unseen: later steps still find what goes wrong. The exception is a network that a person has to judge.

    `one_by_one`: findings of one cause are not merged, because each is read or corrected on its own. `contradicts`: it
    is about the present copy and invalidates what earlier runs proved. `late` is the outcome of a run that only ended
    before everything was done. `of_a_cutover`: people or producers ended the cutover, which is no failure of
    MirrorMaker. `is_unanswered`: a question got no answer, so it is unknown whether something is wrong.
    """

    area: CodeArea
    meaning: str
    act: str
    cause: str
    more: str
    commands: tuple[str, ...]
    accepted: str
    one_by_one: bool
    contradicts: bool
    late: str
    of_a_cutover: bool
    is_unanswered: bool

    # The migration file
    MIGRATION_FILE_MISSING = _file(
        "The migration file does not exist or cannot be read.",
        f"Put the file there, or correct `[kafka_migration] migrations_folder`. {_NOTHING_STARTED}",
        cause="The name is wrong, or the folder of the files is not on this machine.",
    )
    MIGRATION_FILE_INVALID = _file(
        "The migration file breaks a rule of its format.",
        f"Correct the field that the finding names. {_NOTHING_STARTED}",
        one_by_one=True,
    )
    MIGRATION_FILE_EXISTS = _command(
        "A proposed migration has the same file name as an existing file. Existing files are never overwritten.",
        "Use another name (`--prefix`, `--name`) or folder, or remove the file. No file was written.",
        commands=("waves --help", "import --help"),
    )
    MIGRATION_FILE_NOT_WRITTEN = _command(
        "A proposed migration file could not be written.",
        "Create the folder, or correct its permissions. No file was written.",
        commands=("waves --help", "import --help"),
    )
    RUN_CONF_INVALID = _file(
        "The run was triggered with an unknown field or an invalid value.",
        f"Correct the field and trigger the run again. {_NOTHING_STARTED}",
        commands=("trigger --help",),
    )
    NOT_SCHEDULED = _file(
        "The nightly DAG was triggered manually, or its migration file has no section nightly.",
        "To mirror now, trigger `kafka_migration__<name>` in mode `sync`; without a section `nightly`, "
        f"pause the nightly DAG. {_NOTHING_STARTED}",
        commands=("trigger NAME --mode sync",),
    )
    MIGRATIONS_OVERLAP = _file(
        "Another migration file copies the same topic, or writes to the same target topic.",
        f"Remove the topic from the migration file that has not copied it. {_NOTHING_STARTED}",
    )
    PATTERN_MATCHES_NOTHING = _file(
        "A pattern of the migration file matches no topic of the source.",
        f"Correct or remove the pattern, or grant Describe on the topics. {_NOTHING_STARTED}",
        cause="The pattern is wrong, its topics were deleted, or the user of the connection may not describe them.",
        commands=("plan NAME",),
    )
    TOPIC_NAME_IMPOSSIBLE = _file(
        "The source lists a topic with a name that Kafka forbids.",
        "Only a warning. Find out what answers at the address of the source.",
        commands=("plan NAME",),
    )
    TOPICS_TOO_MANY = _file(
        "The patterns of the migration file match more topics than one run can copy.",
        f"Divide the topics among several migration files. {_NOTHING_STARTED}",
        commands=("plan NAME",),
    )
    SOURCE_TOPIC_VANISHED = _file(
        "A topic that a pattern took and a run copied no longer exists on the source.",
        "If the topic was deleted on purpose, add an `exclude` item for it. Only a warning, "
        "but a rehearsal and a cutover are refused.",
        cause="The topic was deleted, or the user of the connection may no longer describe it.",
        commands=("plan NAME",),
    )
    TOPICS_REMOVED = _file(
        "The migration file no longer takes topics that earlier runs copied and that were not cut over.",
        "To continue their copy, add the topics again. Otherwise accept the code. Only a warning: "
        "their copies stay as they are.",
        accepted="The copies of the removed topics may stay as they are, and no group moves to them.",
        commands=("plan NAME",),
    )
    REPLICATION_LOOP = _file(
        "Two migration files copy a topic in opposite directions: one writes the topic that the other one copies.",
        f"Remove the topic from one of the two files, or use prefixed names in both. {_NOTHING_STARTED}",
    )
    AIRFLOW_TOO_OLD = _file(
        "The installed Airflow lacks what the package needs.",
        f"Upgrade Airflow on all components. {_NOTHING_STARTED}",
    )
    # Connections and clusters
    CONNECTION_MISSING = _cluster(
        "An Airflow connection named in the migration file does not exist.",
        "Create the connection, or correct its name in the migration file.",
        cause="Its name is misspelt, or it is in a place that this process does not read.",
    )
    CONNECTION_INVALID = _cluster(
        "An Airflow connection has the wrong type, or a setting that is missing, wrong or not accepted.",
        "Correct the setting that the finding names.",
        more=more_steps.ACCEPTED_SETTINGS,
    )
    CONNECTION_INSECURE = _cluster(
        "A Kafka connection disables a protection, and the migration file does not allow this.",
        "Correct the connection, or allow it in the migration file (`source.insecure`, "
        "`target.insecure`). Then it is only a warning.",
    )
    SECRET_NOT_MASKED = _cluster(
        "Warning: a password or key of a connection is too short or too common, so Airflow's logs may show it.",
        f"Give the account a longer password, and store it in the connection. {_WARNING}",
    )
    KAFKA_CLIENT_WITHOUT_KERBEROS = _cluster(
        "A connection uses Kerberos (GSSAPI), but Airflow's Kafka client was built without Kerberos support.",
        f"Install confluent-kafka with Kerberos, or log in with SCRAM or a client certificate. {_NOTHING_STARTED}",
        more=more_steps.WITH_KERBEROS,
    )
    CLUSTER_UNREACHABLE = _cluster(
        "A Kafka cluster did not answer in time.",
        "Check that the brokers run and that Airflow reaches their advertised listeners. Then "
        f"trigger the run again. {_NOTHING_STARTED}",
        cause="Its brokers are down, a firewall is in between, or they advertise addresses that this machine cannot "
        "reach.",
        more=more_steps.ADVERTISED_ADDRESSES,
        is_unanswered=True,
    )
    PROTOCOL_DIFFERS = _cluster(
        "The listener of a Kafka cluster requires another `security.protocol` than the connection sets.",
        "Set `security.protocol` in the connection to the protocol that the finding names, or use "
        "the address of another listener.",
    )
    CERTIFICATE_EXPIRED = _cluster(
        "A certificate of a Kafka listener or of the connection has ended.",
        "Renew the certificate. If it is valid, correct the clock of the Airflow worker.",
    )
    CERTIFICATE_NOT_YET_VALID = _cluster(
        "A certificate of a Kafka listener or of the connection is not valid yet.",
        "Correct the clock of the Airflow worker. If it is right, wait or renew the certificate.",
    )
    CERTIFICATE_ENDS_SOON = _cluster(
        "A certificate of a broker or of a connection ends within 30 days.",
        f"{_WARNING} Renew the certificate in time.",
        accepted="You renew the certificate in time.",
    )
    CERTIFICATE_ENDS_IN_RUN = _cluster(
        "The client certificate of a connection ends before the run may end.",
        f"Renew the certificate in the connection, or shorten `watch.time_limit`. {_NOTHING_STARTED}",
        accepted="The run ends before the certificate does, or its login may fail during the run.",
    )
    CERTIFICATE_OF_OTHER_HOST = _cluster(
        "The certificate of a Kafka listener is not for the host that the connection names.",
        "Use a host name from the certificate in `bootstrap.servers` and in the brokers' `advertised.listeners`.",
    )
    CERTIFICATE_NOT_TRUSTED = _cluster(
        "The certificate of a Kafka listener was not issued by a CA that the connection trusts.",
        "Make sure that the address is right. Then set `ssl.ca.pem` to the certificate of the brokers' CA.",
    )
    CLIENT_CERTIFICATE_REFUSED = _cluster(
        "A Kafka listener requires a client certificate, and refused the one of the connection or received none.",
        "Set `ssl.certificate.pem` and `ssl.key.pem` to a valid certificate of a CA that the brokers trust.",
    )
    MECHANISM_NOT_OFFERED = _cluster(
        "A Kafka listener does not offer the SASL mechanism that the connection sets.",
        "Set `sasl.mechanism` to one that the finding names.",
    )
    KERBEROS_FAILED = _cluster(
        "Kerberos gave Airflow's Kafka client no ticket for a cluster for another reason, or the cluster refused it.",
        "Check `/etc/krb5.conf`, `sasl.kerberos.service.name`, the Kerberos server and the clocks of the brokers.",
    )
    KERBEROS_KEYTAB_WRONG = _cluster(
        "Airflow's Kafka client has no keytab, or the Kerberos server does not know its principal or its key.",
        "Test the keytab on the worker with `kinit -kt`, and correct `KRB5_CLIENT_KTNAME`.",
    )
    KERBEROS_TICKET_EXPIRED = _cluster(
        "The Kerberos ticket of Airflow's Kafka client has ended.",
        "Renew the ticket: set `KRB5_CLIENT_KTNAME` to a keytab, or run `k5start`.",
    )
    KERBEROS_CLOCK_SKEW = _cluster(
        "The clock of the Airflow worker differs too much from that of the Kerberos server.",
        "Correct the clock of the worker, or that of the Kerberos server.",
    )
    TOKEN_ENDPOINT_NOT_ALLOWED = _cluster(
        "A connection names an OAuth token endpoint that Airflow's configuration does not allow.",
        "Correct the address, or add it to `token_endpoints` in Airflow's configuration.",
    )
    TOKEN_NOT_GIVEN = _cluster(
        "The OAuth token endpoint gave Airflow's Kafka client no token.",
        "Correct client id, secret and scope in the connection, and `https.ca.pem` if the endpoint's CA is not public.",
    )
    REGISTRY_REFUSED = _cluster(
        "A schema registry refused a request, or another service answered at its address.",
        "Correct address, login and `ssl.ca.pem` of the HTTP connection, or the user's rights. In "
        "preflight: nothing was started.",
    )
    REGISTRY_UNREACHABLE = _cluster(
        "A schema registry did not answer.",
        f"Check that the registry runs and that Airflow reaches it. {_NOTHING_STARTED}",
        is_unanswered=True,
    )
    MANAGER_REFUSED = _command(
        "Ambari or Cloudera Manager refused a request, or another service answered at its address.",
        "Correct address, login and `ssl.ca.pem` of the HTTP connection, or the user's rights.",
        commands=("discover --help",),
    )
    MANAGER_UNREACHABLE = _command(
        "Ambari or Cloudera Manager did not answer.",
        "Check that the server runs and that this machine reaches it. Then try again.",
        commands=("discover --help",),
    )
    MANAGER_ANSWER_UNREADABLE = _command(
        "An answer of Ambari or Cloudera Manager lacks a field, or a field has an unexpected value.",
        "Check the address of the HTTP connection. If it is right, use "
        "`kafka-migration discover` with `--preset` and `--bootstrap`.",
        commands=("discover --help",),
    )
    MANAGED_CLUSTER_UNKNOWN = _command(
        "Ambari or Cloudera Manager has no Kafka cluster with this name, or several and none was named.",
        "Pass one of the listed clusters with `--cluster`.",
        commands=("discover --help",),
    )
    LOGIN_REFUSED = _cluster(
        "A Kafka cluster refused the login of the connection.",
        "Correct user and password in the connection, or create the user on the cluster.",
        cause="User or password is wrong, or the user does not exist on this cluster.",
    )
    RIGHT_MISSING = _cluster(
        "A Kafka cluster refused a request because the user lacks a right.",
        "Grant the right that the finding names to the user of the connection. `kafka-migration acls` "
        "prints all of them.",
        commands=("acls NAME", "preflight NAME"),
    )
    ALERTS_INVALID = _cluster(
        "A notifier cannot be created, or the alerts file breaks a rule of its format.",
        "Correct the notifier or the alerts file, or install the notifier's provider on the workers "
        f"and the triggerer. {_NOTHING_STARTED}",
        one_by_one=True,
        more=more_steps.WITHOUT_ALERTS,
    )
    CLUSTER_CHANGED = _cluster(
        "A connection leads to another Kafka cluster than in earlier runs, or source and target were exchanged.",
        "Correct the connection so that it leads to the cluster of earlier runs, or write a "
        f"migration file with another name. {_NOTHING_STARTED}",
        cause="An address was changed, a name leads to another cluster, or a cluster was installed again.",
    )
    COPY_BASIS_CHANGED = _cluster(
        "The migration file changed a setting on which the copy of earlier runs depends: engine, alias or topic names.",
        f"Set the field as in earlier runs, or write a migration file with another name. {_NOTHING_STARTED}",
    )
    SAME_CLUSTER = _cluster(
        "Source and target are the same Kafka cluster.",
        f"Correct one of the two connections. {_NOTHING_STARTED}",
    )
    # Topics
    SOURCE_TOPIC_MISSING = _topic(
        "A topic of the migration does not exist on the source.",
        "Correct the topic's name, or grant Describe on it. If the topic was deleted, keep the "
        "target topic: it holds the copied records.",
    )
    TOPIC_PARTITIONS_DIFFER = _topic(
        "A target topic and its source topic have different partition counts.",
        f"Recreate the topic on the target, or remove it from the migration. {_NOT_STARTED}",
    )
    TOPIC_CREATION_UNCLEAR = _topic(
        "A run was interrupted while it created a target topic, and the topic is not as that run announced it.",
        "If the records of the topic are not needed, delete it on the target; the next run "
        "creates it. Otherwise give the empty topic the settings of the finding, or take it out of the migration file.",
        cause="Another client created or changed the topic meanwhile.",
        more=more_steps.ADOPT_TOPIC,
    )
    TOPIC_CONFIG_DIFFERS = _topic(
        "Warning: an existing topic of the target has other settings than a run would give it.",
        "If the difference is not intended, run the command that the finding gives.",
        accepted="The topics on the target have their settings on purpose.",
    )
    TOPIC_NAME_COLLIDES = _topic(
        "The target has a topic whose name differs only by a dot and an underscore, so Kafka refuses the new topic.",
        "Leave one of the topics out, or rename the copies with `mirror.topic_names`.",
    )
    REPLICATION_BELOW_MIN_INSYNC = _topic(
        "A topic would have fewer replicas than its `min.insync.replicas`, so brokers would refuse every record.",
        "Raise `replication_factor`, or set `min.insync.replicas` in `configs`.",
        accepted="You change the topic before MirrorMaker writes to it. Otherwise it stalls.",
    )
    RECORD_LIMIT_LOWER = _topic(
        "Warning: MirrorMaker may send only smaller records than the source topic takes.",
        "Raise `max.message.bytes` of the topic on the target.",
        accepted="No record is larger than the target's limit. Otherwise MirrorMaker stops.",
    )
    TARGET_RETENTION_SHORTER = _topic(
        "Warning: an existing topic of the target keeps records for a shorter time, or fewer of them, than its source.",
        "Raise the retention of the topic on the target until the cutover.",
        accepted="The target may delete copied records. Validation names them as not verifiable.",
    )
    TIMESTAMPS_LIMITED = _topic(
        "Warning: a topic of the target refuses records with old or late timestamps.",
        "Remove the limit of the topic on the target until the cutover.",
        accepted="No record is older than the limit. Otherwise MirrorMaker stops.",
    )
    RECORD_ABOVE_LIMIT = _topic(
        "A sampled record of the source is larger than the target takes, so MirrorMaker cannot copy it.",
        f"Raise `max.message.bytes` of the topics on the target (`configs`). {_NOTHING_STARTED}",
    )
    TARGET_COMPACTS = _topic(
        "Warning: a topic of the target is or would be compacted, and its source topic is not.",
        "Set `cleanup.policy` of the topic on the target (`configs`).",
        accepted="The target may delete records whose key has a newer record.",
    )
    REPLICATION_AT_MIN_INSYNC = _topic(
        "Warning: a topic has as many replicas as its `min.insync.replicas`, so one broker that is down stops writes.",
        "Raise `replication_factor`, or lower `min.insync.replicas`.",
        accepted="A run may wait for a broker that is down.",
    )
    TOPICS_AUTO_CREATED = _topic(
        "Warning: brokers of the target create each topic that a client asks for (`auto.create.topics.enable`).",
        "Set `auto.create.topics.enable` to `false` on the target until the cutover.",
        accepted="No client asks for a topic before it is copied.",
    )
    KEYS_PARTITIONED_OTHERWISE = _topic(
        "Warning: producers do not use Kafka's default partitioner, so MirrorMaker 1 moves keys to other partitions.",
        "Use engine `mirrormaker2`, which keeps partitions.",
        accepted="The order of a key across the cutover does not matter.",
    )
    OTHER_MIRRORMAKER = _topic(
        "Warning: another MirrorMaker seems to be at work between the same clusters.",
        "Find out who runs it, and stop it before this migration copies the topics.",
    )
    TARGET_TOPIC_NOT_EMPTY = _topic(
        "A target topic holds records that no run of this migration wrote.",
        f"Find out whose records these are before you delete the topic on the target. {_NOT_STARTED}",
        cause="Another client or another migration wrote to the topic, or the ledger of its copy is lost.",
        more=more_steps.WHOSE_RECORDS,
    )
    REPLICATION_FACTOR_TOO_HIGH = _topic(
        "The replication factor is higher than the number of target brokers.",
        f"Lower `target.replication_factor`, or add brokers. {_NOTHING_STARTED}",
    )
    TARGET_TOPIC_MISSING = _topic(
        "A topic that the run copies to does not exist on the target.",
        "Find out who deleted it. If MirrorMaker had not started yet, a new run creates it "
        "again. Otherwise copy the topic with a second migration file.",
        contradicts=True,
        cause="The topic was deleted on the target, or the user of the connection may no longer describe it.",
    )
    TOPIC_NOT_CREATED = _topic(
        "The target refused to create a topic.",
        "Grant the permission that the broker names, or create the topic manually with the "
        f"source's partition count. {_NOT_STARTED}",
        accepted="The target creates the topic when the run asks. Otherwise `create_topics` is refused.",
        cause="The user of the connection may not create topics, or a rule of the target forbids this one.",
        commands=("acls NAME", "preflight NAME"),
    )
    TOPIC_NOT_CONFIGURED = _topic(
        "A cluster refused to change the configuration of a topic.",
        "Grant AlterConfigs and clear the task, or set the values manually. Records and offsets are not affected.",
        cause="The user of the connection may not alter configurations, or a rule of the cluster forbids the values.",
        more=more_steps.SETTINGS_BY_HAND,
        commands=("acls NAME", "preflight NAME"),
    )
    # The MirrorMaker host
    SSH_UNREACHABLE = _host(
        "The MirrorMaker host did not answer over SSH.",
        "Check that the host runs and that Airflow reaches it. A MirrorMaker process there continues "
        "until its lease expires.",
        cause="The host or its SSH server is down, or the network between Airflow and the host is interrupted.",
        more=more_steps.HOST_IS_SILENT,
        commands=("status NAME",),
        is_unanswered=True,
    )
    SSH_AUTH_FAILED = _host(
        "The MirrorMaker host refused the login.",
        "Correct the user, key or password in the connection. The login was tried only once, so that "
        "no account is locked.",
    )
    SSH_HOST_KEY_UNKNOWN = _host(
        "The host's key is not pinned in the connection.",
        "Compare the fingerprint with the one on the host itself. If they match, pin the key that the finding shows.",
    )
    SSH_HOST_KEY_CHANGED = _host(
        "The host key differs from the pinned key.",
        "Find out why. Pin the new key only after you have checked its fingerprint on the host itself.",
        cause="Another machine answers, or the host was installed again and has lost its base folder "
        "(`GENERATION_UNEXPECTED` follows).",
        more=more_steps.KEY_CHANGED,
    )
    HOST_ANSWERS_OTHERWISE = _host(
        "The MirrorMaker host let the login in, but something else than mirrorctl answered.",
        "Read the output in the finding. Correct the forced command of the key, the login "
        "shell or its start files. The task retries automatically.",
        more=more_steps.WHAT_ANSWERS,
    )
    HOST_REPLY_UNREADABLE = _host(
        "The reply of mirrorctl on the MirrorMaker host was lost, too long or broken.",
        "Check the network path, and the load and the disk of the host. The task retries automatically.",
    )
    HOST_REFUSED = _host(
        "mirrorctl on the MirrorMaker host refused a request.",
        "On the host, fix the problem that the message names (folder, permissions, disk space). Then "
        "trigger the run again.",
        more=more_steps.HOST_SYSTEM,
    )
    HOST_TOOL_MISSING = _host(
        "The MirrorMaker host lacks a tool that mirrorctl needs.",
        f"Install the tool on the host. {_NOT_STARTED}",
    )
    HOST_CANNOT_RESOLVE = _host(
        "The MirrorMaker host finds no address for the advertised name of a broker.",
        f"Add the lines that the finding shows to `/etc/hosts` on the host, or correct its DNS. {_NOTHING_STARTED}",
    )
    HOST_CANNOT_CONNECT = _host(
        "A broker did not answer the MirrorMaker host at its advertised address.",
        "Check firewall and routes from the MirrorMaker host to the brokers that the finding "
        f"names. {_NOTHING_STARTED}",
    )
    HOST_DISK_FULL = _host(
        "The disk of the MirrorMaker host has too little space for the logs of a run.",
        f"Free space on the disk of the base folder. {_NOTHING_STARTED}",
    )
    HOST_FILE_LIMIT = _host(
        "The MirrorMaker host allows too few open files for MirrorMaker's connections.",
        f"Raise the limit `nofile` of the host's user, or lower `mirror.tasks`. {_NOTHING_STARTED}",
        accepted="MirrorMaker opens fewer files than the rule expects. Otherwise it stops.",
    )
    CLOCKS_DIFFER = _host(
        "The clock of the MirrorMaker host differs from that of Airflow or of a cluster.",
        f"{_WARNING} Let NTP set the clocks.",
        accepted="The logins work with these clocks, and you know which times are wrong.",
    )
    TARGET_SPACE_TOO_SMALL = _host(
        "The target's log directories have less free space than the copy needs.",
        f"Add disks or brokers, or lower `target.replication_factor`. {_NOTHING_STARTED}",
        accepted="The copy will be smaller, or the target gets disks in time. Otherwise brokers stop.",
    )
    QUOTA_SLOWS_MIRROR = _host(
        "A quota on a cluster may slow MirrorMaker.",
        f"{_WARNING} Raise the quota for the migration if the copy would take too long.",
        accepted="The run has time for this rate.",
    )
    MIRROR_TASKS_FEW = _host(
        "At the round trip between the MirrorMaker host and a cluster, `mirror.tasks` may be too few.",
        f"{_WARNING} Raise `mirror.tasks` as the finding says, if the copy is too slow.",
        accepted="The copy is fast enough, or the network is slower than 1 Gbit/s.",
    )
    MIRROR_HEAP_SMALL = _host(
        "The full buffers of MirrorMaker's clients need more than `mirror.heap_mb`.",
        f"{_WARNING} Raise `mirror.heap_mb` as the finding says.",
        accepted="Records are larger than 100 bytes, so the buffers take less. Otherwise MirrorMaker may end for lack "
        "of memory, and a restart copies up to 5 s of records again.",
    )
    SOURCE_TRANSACTION_OPEN = _host(
        "A transaction on a source topic is open: the offsets after its first record are not copied yet.",
        f"{_WARNING} End the transaction, or abort it if its producer no longer runs.",
        accepted="You know the transaction. A run does not copy what follows it, and still says so.",
        more=more_steps.OPEN_TRANSACTION,
        commands=("status NAME", "plan NAME"),
    )
    FACT_UNKNOWN = _host(
        "A fact that a check of preflight needs could not be read.",
        f"{_WARNING} Do what the finding says; until then the check says nothing.",
        accepted="You know the fact that the check could not read.",
        is_unanswered=True,
    )
    JAVA_MISSING = _host(
        "No Java was found on the MirrorMaker host.",
        f"Install Java on the host, or name its folder in `mirror.java_home`. {_NOT_STARTED}",
    )
    MM_BINARY_NOT_FOUND = _host(
        "KAFKA_HOME on the MirrorMaker host holds no Kafka libraries.",
        f"Set `mirror.kafka_home` to the Kafka folder on the host. {_NOT_STARTED}",
    )
    RESERVED_BY = _host(
        "Another run holds the reservation of this migration.",
        "Wait for the run that the finding names, or mark it failed. A run that fails with this code in "
        "`reserve` started nothing.",
        cause="Another run of the migration is active, or a person reserved it by hand.",
        more=more_steps.HOLDER,
        commands=("status NAME",),
    )
    NOT_RESERVED = _host(
        "A task that changes something found that its run does not hold the reservation, or no longer holds it.",
        "Wait for the run that holds the reservation, then trigger a new one. This task wrote nothing.",
        cause="Another run took over the reservation after this run had ended, or this run was cleared in part.",
        commands=("status NAME",),
    )
    ALREADY_RUNNING = _host(
        "A MirrorMaker process of this migration is already running.",
        "Mark the run that started it as failed, or clear only its task `stop_mirror`. No second process was started.",
        cause="An earlier run started it, and its end is not certified.",
        more=more_steps.STILL_RUNS,
        commands=("status NAME",),
    )
    GENERATION_STOPPED = _host(
        "This generation was stopped; it must not start again.",
        f"Trigger a new run: this start came too late. {_NOT_STARTED}",
        cause="The run was ended while it started MirrorMaker.",
        commands=("status NAME",),
    )
    GENERATION_UNEXPECTED = _host(
        "The generation on the host, or on the Connect cluster, is not the one that the run expects.",
        "Check that the connection uses the host, the user and the work folder of the earlier runs, or their Connect "
        f"cluster. {_NOT_STARTED}",
        cause="Another host or Connect cluster answers at the same address, or the user of the host or "
        "`KAFKA_MIGRATION_HOME` has changed.",
        more=more_steps.OTHER_HOST,
    )
    HOST_LOCKED = _host(
        "Another mirrorctl call holds the lock of this migration.",
        "Wait: the task retries automatically. If the lock remains, look on the host for the process "
        "that the message names.",
        commands=("status NAME",),
    )
    # MirrorMaker and its settings
    MIRROR_VERSION_UNKNOWN = _engine(
        "The MirrorMaker version could not be determined, so unsupported settings cannot be detected.",
        f"Run MirrorMaker from a Kafka 3.9 release (`mirror.kafka_home`). {_NOT_STARTED}",
    )
    MIRROR_VERSION_UNTESTED = _engine(
        "MirrorMaker on the host, or a worker of Kafka Connect, is newer than the newest tested version. A later minor "
        "version is a warning.",
        "If it is a warning: nothing, the copy is validated as usual. Otherwise run "
        "MirrorMaker from a tested release (`mirror.kafka_home`).",
    )
    MIRROR_JAVA_TOO_OLD = _engine(
        "The Java on the MirrorMaker host is too old for MirrorMaker of this Kafka version.",
        f"Set `mirror.java_home` to a newer Java on the host. {_NOT_STARTED}",
    )
    MIRROR_KEY_UNSUPPORTED = _engine(
        "The MirrorMaker version on the host would ignore or misread a setting.",
        f"Run MirrorMaker from a Kafka 3.9 release (`mirror.kafka_home`). {_NOT_STARTED}",
    )
    MIRROR_KAFKA_TOO_OLD = _engine(
        "The Kafka version on the MirrorMaker host is too old to be given credentials.",
        f"Run MirrorMaker from Kafka 3.9.1 or newer (`mirror.kafka_home`). {_NOT_STARTED}",
    )
    MIRROR_SETTING_UNSAFE = _engine(
        "A setting of the migration file allows MirrorMaker to send larger batches than the target topics accept.",
        f"Lower the setting, or raise `max.message.bytes` of the topics on the target. {_NOT_STARTED}",
    )
    BROKERS_TOO_OLD = _engine(
        "Brokers are too old for the MirrorMaker on the host.",
        f"Run MirrorMaker from a Kafka 3.9 release (`mirror.kafka_home`). {_NOT_STARTED}",
        accepted="The brokers run Kafka 2.1 or newer with an older `inter.broker.protocol.version`.",
    )
    MM1_REMOVED = _engine(
        "The migration uses MirrorMaker 1, but the Kafka version on the host no longer contains it.",
        f"Run it from a Kafka 3.9 release (`mirror.kafka_home`), or choose engine `mirrormaker2`. {_NOT_STARTED}",
    )
    TOPIC_NEVER_COPIED = _engine(
        "MirrorMaker 2 would silently skip a topic, or copy it under another name.",
        f"Change engine or names as the finding says, or remove the topic from the file. {_NOTHING_STARTED}",
    )
    # Kafka Connect
    CONNECT_UNREACHABLE = _engine(
        "No worker of the Kafka Connect cluster answered.",
        f"Check that the workers run and that Airflow reaches their REST interface. {_NOTHING_STARTED}",
        is_unanswered=True,
    )
    CONNECT_TOO_OLD = _engine(
        "A worker of the Kafka Connect cluster is older than 3.7.",
        f"Upgrade the workers to 3.7 or newer, or use engine `mirrormaker2`. {_NOTHING_STARTED}",
        cause="Before 3.7 a connector cannot be created without starting (KIP-980), so a reservation would copy.",
    )
    CONNECT_OTHER_KAFKA = _engine(
        "The workers of the Kafka Connect cluster use another Kafka cluster than the target.",
        f"Name workers in `mirror.connection` whose own Kafka cluster is the target. {_NOTHING_STARTED}",
        cause="MirrorMaker's connector writes with the producer of the workers, so its records would go to their "
        "cluster.",
    )
    CONNECT_PLUGIN_MISSING = _engine(
        "A worker of the Kafka Connect cluster has no MirrorMaker connector, or has another version of it than others.",
        "Put the same MirrorMaker libraries into `plugin.path` of every worker, and restart the workers. "
        f"{_NOTHING_STARTED}",
    )
    CONNECT_CONFIG_REFUSED = _engine(
        "Kafka Connect refuses the configuration of the connector.",
        f"Change the setting that the finding names, or the workers' rule that refuses it. {_NOT_STARTED}",
        cause="The workers forbid overrides (`connector.client.config.override.policy`), do not support exactly-once "
        "sources, or do not know a value.",
    )
    CONNECT_SECRET_PLAIN = _engine(
        "A secret would stand in plain text in the configuration of the connector.",
        f"Put the secret into a file of the workers, and name it in `mirror.connect.secrets`. {_NOT_STARTED}",
        cause="Everyone who reaches the REST API can read the configuration of a connector, and the workers store it "
        "in a topic.",
        accepted="Everyone who reaches the REST API or reads the workers' topics may know the secrets of both "
        "connections.",
    )
    CONNECT_TOPIC_UNSAFE = _engine(
        "An internal topic of the workers that the migration file names is missing, is not compacted, or has too few "
        "replicas.",
        f"Correct the name in `mirror.connect`, or the topic as the finding says. {_NOTHING_STARTED}",
        cause="Without compaction, or with one lost broker, the workers forget connectors and their states.",
    )
    CONNECT_UNKNOWN = _engine(
        "Warning: a worker does not answer Airflow, or a setting of the workers is unknown: REST does not tell it, and "
        "the migration file does not name it.",
        f"{_WARNING} Let Airflow reach the worker, or name the setting in `mirror.connect`; until then the check says "
        "nothing.",
        accepted="You know the workers and the settings that the finding names, and they are safe.",
        is_unanswered=True,
    )
    CONNECT_NO_LEASE = _engine(
        "Warning: no host keeps a lease. If Airflow dies, the connector copies until the next run or until a person "
        "stops it.",
        f"{_WARNING} After a failure of Airflow, run `kafka-migration stop NAME --now`.",
        accepted="A person stops the connector if Airflow fails.",
        commands=("stop NAME --now", "status NAME"),
    )
    CONNECT_OPERATOR = _engine(
        "Warning: the names of the workers look like those of Strimzi, whose operator deletes connectors that REST "
        "created.",
        f"{_WARNING} Remove the annotation `strimzi.io/use-connector-resources` from the resource KafkaConnect.",
        accepted="The operator leaves connectors alone that REST created.",
    )
    CONNECT_REST_PLAIN = _engine(
        "Warning: Airflow reaches the REST API of Kafka Connect without encryption.",
        f"{_WARNING} Use `https` in the connection, and a listener with TLS on the workers.",
        accepted="No one else can read or change what Airflow and the workers send.",
    )
    CONNECT_TASKS = _engine(
        "Warning: another number of tasks fits the partitions and the workers of the Kafka Connect cluster better.",
        f"{_WARNING} Set `mirror.tasks` as the finding says.",
        accepted="The copy is fast enough with this number of tasks.",
    )
    # Mirroring
    CONNECTOR_CHANGED = _mirror(
        "A connector of this migration was changed or deleted on the Kafka Connect cluster, not by a run.",
        "Find out who did it, then trigger the run again. Nothing was started over the change. Copied records are "
        "kept.",
        cause="A person, a script or the operator of Strimzi acted on the connector.",
    )
    MIRROR_DEAD = _mirror(
        "The MirrorMaker process exited while it should have been copying.",
        "Fix the cause that the exception in the finding names, then trigger the run again. MirrorMaker "
        "is not running. Copied records are kept.",
        cause="MirrorMaker ended with the exception that the finding names, or was stopped by hand.",
        more=more_steps.NO_RESTART,
    )
    MIRROR_OUT_OF_MEMORY = _mirror(
        "MirrorMaker has too little Java heap.",
        "Raise `mirror.heap_mb`, then trigger the run again. Copied records are kept.",
    )
    MIRROR_HOST_OUT_OF_MEMORY = _mirror(
        "The MirrorMaker host does not give MirrorMaker the memory or the threads that it asks for.",
        "Free memory on the host, raise the limits of its user (`ulimit -a`), or lower "
        "`mirror.heap_mb`, then trigger the run again. Copied records are kept.",
    )
    MIRROR_SETTING_REFUSED = _mirror(
        "MirrorMaker refuses one of its settings, so it cannot start.",
        "Correct the setting in MirrorMaker's words (`mirror.properties` or the connection), "
        "then trigger the run again.",
    )
    MIRROR_TOPIC_UNFIT = _mirror(
        "A topic of MirrorMaker's own exists on the target with settings with which MirrorMaker does not work.",
        "Correct or delete the topic as the finding says, then trigger the run again. Copied records are kept.",
    )
    MIRROR_TASK_FAILED = _mirror(
        "A MirrorMaker task is in state FAILED.",
        "Fix the cause that the finding names, then trigger the run again. Copied records are kept.",
        more=more_steps.WHOLE_LOG,
    )
    MIRROR_STALLED = _mirror(
        "A partition made no progress during the stall time.",
        "Fix the likely cause at the end of the finding, then trigger the run again. Copied records are kept.",
        cause="The end of the finding names the likely cause, if MirrorMaker's log shows one.",
        more=more_steps.WHOLE_LOG,
    )
    MIRROR_TIMEOUT = _mirror(
        "The goal was not reached within the time limit.",
        "Trigger the run again to continue, or raise `watch.time_limit`. Copied records are kept.",
        cause="The copy takes longer than the limit allows, or the source grows as fast as it is copied.",
    )
    UNREACHABLE = _mirror(
        "A cluster, the MirrorMaker host, the Connect cluster or the evidence store was unreachable for too long "
        "while MirrorMaker ran.",
        "Check that the service in the finding runs and that Airflow reaches its address. "
        "MirrorMaker was stopped, or stops when its lease ends; Kafka Connect has no lease. Copied records are kept.",
        cause="The service is down, or the network to it is interrupted.",
        is_unanswered=True,
    )
    STOP_REQUESTED = _mirror(
        "An operator asked to stop mirroring during a cutover.",
        "Start the producers again if they were stopped, and trigger a new cutover later. No group was touched.",
        of_a_cutover=True,
    )
    CUTOVER_ABORTED = _mirror(
        "An operator ended the cutover when asked whether the producers have stopped.",
        "Start the producers on the source again if they were stopped, and trigger a new cutover "
        "later. No group was touched.",
        of_a_cutover=True,
    )
    NOTHING_TO_STOP = _command(
        "This migration has no running MirrorMaker process that could be stopped.",
        "Run `kafka-migration status`. To stop a run that has not started MirrorMaker yet, mark it failed.",
        commands=("status NAME",),
    )
    BEHIND = _mirror(
        "The mirroring time ended before everything was copied. The next run continues.",
        "Let the next run continue; copied records are kept. If the lag grows every night, use a longer "
        "window, more `mirror.tasks`, or mode `sync` at a quiet time.",
        late="behind",
        cause="The copy takes longer than the window, or the run was asked to stop.",
        more=more_steps.LONGER_WINDOW,
        commands=("status NAME", "trigger NAME --mode sync"),
    )
    MIRROR_NOT_STOPPED = _mirror(
        "MirrorMaker was asked to stop and is still running, or nothing proves that it has stopped.",
        "Check the process on the MirrorMaker host, or the Connect worker that the finding names. Do not start another "
        "run before it has ended.",
        more=more_steps.STILL_RUNS,
        commands=("status NAME", "stop NAME --wait"),
    )
    RECORD_TOO_LARGE = _mirror(
        "A record is larger than MirrorMaker may send or the target topic takes, so MirrorMaker cannot copy it.",
        "Raise the limit that the finding names, or remove the topic from the migration file so "
        "that the others continue. Then trigger the run again.",
        more=more_steps.TOO_LARGE,
    )
    RECORD_WITHOUT_KEY = _mirror(
        "The target topic is compacted and refuses a record without a key, so MirrorMaker cannot copy it.",
        "Set `cleanup.policy` of the topic on the target to `delete` until the cutover, or remove "
        "the topic from the migration file so that the others continue.",
        more=more_steps.ONE_RECORD,
    )
    RECORD_TIME_REFUSED = _mirror(
        "Kafka's client or the target topic refuses the timestamp of a record, so MirrorMaker cannot copy it.",
        "Remove the target topic's limit if the finding names one. Otherwise remove the topic "
        "from the migration file so that the others continue.",
        more=more_steps.ONE_RECORD,
    )
    PARTITION_NOT_ASSIGNED = _mirror(
        "A partition that should be copied is not assigned to any MirrorMaker task.",
        "Grant Describe on the topic to MirrorMaker's user, or find the reason in its log. Copied records are kept.",
        commands=("acls NAME", "preflight NAME"),
    )
    CONFIG_NOT_EFFECTIVE = _mirror(
        "MirrorMaker runs with a configuration that differs from the rendered one.",
        "Find out what else writes to MirrorMaker's configuration topic, and stop it before the next run.",
    )
    GAP = _mirror(
        "Source records were deleted before they were copied.",
        "Raise the source's retention now and delete nothing. The range in the finding was never copied; the "
        f"target holds the only copy of earlier records. {_NOT_STARTED}",
        contradicts=True,
        cause="The source's retention is shorter than the time since the last run, or a client deleted records.",
        more=more_steps.ONLY_COPY,
        commands=("verdict NAME", "plan NAME"),
    )
    GAP_DURING_RUN = _mirror(
        "The source deleted records while MirrorMaker was about to copy them.",
        "Raise the source's retention now and delete nothing. The finding of "
        "`stop_mirror` has the range that is missing from the copy. MirrorMaker is stopped.",
        contradicts=True,
        cause="The source's retention deletes faster than MirrorMaker copies, or a client deleted records.",
        more=more_steps.SKIPPED_RECORDS,
    )
    SOURCE_TOPIC_RECREATED = _mirror(
        "A source topic was deleted and created again after it was copied, or while MirrorMaker ran.",
        "Find out who recreated it. Delete nothing: the target may hold the only copy. After "
        "a cutover, remain on the target. To copy the other topics, remove this one from the migration file.",
        contradicts=True,
        more=more_steps.NEW_SOURCE_TOPIC,
        commands=("verdict NAME", "plan NAME"),
    )
    STALE_MIRROR_STATE = _mirror(
        "MirrorMaker has stored positions for topics that this migration has not copied yet.",
        "If the finding ends with a command, run it once nothing uses these positions. "
        f"Otherwise copy the topic with a second migration file. {_NOT_STARTED}",
        contradicts=True,
        cause="An earlier migration with this name left the positions, or the ledger of the copy is lost.",
        commands=("verdict NAME", "plan NAME"),
    )
    POSITION_MISSING = _mirror(
        "MirrorMaker's stored position is missing, although the last stop certificate records one.",
        "If the finding ends with a command, run it. Otherwise copy the topic with a "
        f"second migration file. {_NOT_STARTED}",
        contradicts=True,
        cause="With MirrorMaker 1 the position expires after `offsets.retention.minutes`. A client may also have "
        "deleted it.",
        more=more_steps.LOST_POSITION,
        commands=("verdict NAME", "plan NAME"),
    )
    SOURCE_TRUNCATED = _mirror(
        "A source topic lost records that were copied: its id is the same, and the last copied record is gone.",
        "Delete nothing: the target holds the lost records. Copy the topic with a second "
        f"migration file. {_NOT_STARTED}",
        contradicts=True,
        cause="The brokers lost records, for example in an unclean election of a leader.",
        more=more_steps.NEW_SOURCE_TOPIC,
        commands=("verdict NAME", "plan NAME"),
    )
    POSITION_BEYOND_END = _mirror(
        "MirrorMaker's stored position is beyond the log end offset of the source.",
        f"Find out who deleted and recreated the source topic. Copy it with a second migration file. {_NOT_STARTED}",
        contradicts=True,
        cause="The source topic was deleted and created again, or its brokers lost records.",
        more=more_steps.NEW_SOURCE_TOPIC,
        commands=("verdict NAME", "plan NAME"),
    )
    POSITION_CHANGED = _mirror(
        "MirrorMaker's stored position differs from the last stop certificate.",
        f"Find out what changed MirrorMaker's position, and reset it to the certified position. {_NOT_STARTED}",
        contradicts=True,
        cause="Another MirrorMaker uses the same group or topic for its positions, or a person reset the position.",
        more=more_steps.LOST_POSITION,
        commands=("verdict NAME", "plan NAME"),
    )
    TARGET_WRITTEN_BY_OTHERS = _mirror(
        "The target topic grew while no MirrorMaker process of this migration ran.",
        "Find and stop the client that writes to the target topic or recreated it. Then "
        f"copy the topic with a new migration file (`kafka-migration explain COPY_DIFFERS`). {_NOT_STARTED}",
        contradicts=True,
        cause="A producer or another mirror writes to the target topic, or a tool truncated or recreated it.",
        more=more_steps.FOREIGN_CLIENT,
        commands=("verdict NAME", "plan NAME"),
    )
    # Validation
    SPARK_CONNECTION_MISSING = _validation(
        "The Spark connection does not exist (Airflow would fall back to YARN).",
        f"Create the connection, or correct its name. {_NOTHING_STARTED}",
        commands=("preflight NAME",),
    )
    SPARK_NOT_PROTECTED = _validation(
        "The Spark cluster does not authenticate its processes, or does not encrypt their traffic.",
        "Enable Spark's authentication and encryption, or declare in the migration file that "
        f"the cluster is isolated. {_NOTHING_STARTED}",
        commands=("preflight NAME",),
    )
    SPARK_CIPHER_WEAK = _validation(
        "Spark does not notice if an attacker on the network changes its encrypted traffic.",
        "Use TLS or a newer Spark with AES/GCM/NoPadding, or accept the code in the migration "
        f"file. {_NOTHING_STARTED}",
        accepted="No one can change the traffic of the network between Spark's machines.",
        commands=("preflight NAME",),
    )
    SPARK_LOGIN_SHIPPED = _validation(
        "In this deploy mode, Spark would serve Kafka's credentials to other clients.",
        f"Set `deploy-mode` of the Spark connection to `client`. {_NOTHING_STARTED}",
        commands=("preflight NAME",),
    )
    SPARK_KAFKA_TOO_OLD = _validation(
        "The Kafka client that Spark uses is too old to be given credentials.",
        f"Set a newer `kafka-clients` in `[kafka_migration] spark_jars`. {_NOTHING_STARTED}",
        commands=("preflight NAME",),
    )
    SPARK_VERSION_MISMATCH = _validation(
        "Spark, its Kafka connector or its Python have versions that do not work together.",
        "Correct the version that the finding names (installation, Spark). The copy is unchanged.",
        commands=("preflight NAME",),
    )
    CLASS_ARCHIVE_NOT_MADE = _command(
        "`kafka-migration spark-archive` made no class archive for Spark's driver.",
        "Correct what the finding names, or do without: Spark jobs then start some seconds later. Nothing was changed.",
        commands=("spark-archive --help",),
    )
    EVIDENCE_ROOTS_DIFFER = _validation(
        "Airflow and Spark are configured with different evidence roots.",
        f"Set `spark_evidence_root` to the place of `evidence_root`, as Spark spells it. {_NOTHING_STARTED}",
        commands=("preflight NAME",),
    )
    EVIDENCE_ROOT_LOCAL = _validation(
        "The evidence root is a local folder, and Spark's driver runs on another machine.",
        f"Set the evidence root to an object store, or the connection's deploy mode to `client`. {_NOTHING_STARTED}",
        commands=("preflight NAME",),
    )
    SPARK_FAILED = _validation(
        "The Spark job ended with an error; nothing was judged.",
        "Read the preceding lines of the task log, then clear the task with downstream. The copy is unchanged.",
    )
    SPARK_NO_RESOURCES = _validation(
        "The Spark cluster gave the job no resources in time: no driver, or no executor. Nothing was judged.",
        "Free resources of the queue or the cluster, or let the Spark connection name another queue, then clear the "
        "task with downstream. The copy is unchanged.",
        cause="Other applications use the queue or the cluster, or a container of the connection's size never fits.",
    )
    RECORDS_DELETED_MEANWHILE = _validation(
        "A cluster deleted records while the validation read them, and no other topic could be read. Nothing was "
        "judged.",
        "Clear the task with downstream: it then reads only the remaining records. If it "
        "happens again, increase the topic's retention. The copy is unchanged.",
        cause="The retention of a topic deletes records sooner than the validation reads them.",
    )
    VALIDATION_RESULT_MISSING = _validation(
        "The Spark job ended without a complete result document.",
        "Check that Airflow and Spark see the same evidence root, then clear the task with "
        "downstream. Nothing was judged or moved.",
        cause="Spark's driver writes to another place than Airflow reads, it was killed, or the package was "
        "upgraded in the middle of the run.",
        more=more_steps.TWO_SPELLINGS,
    )
    VALIDATION_PENDING = _validation(
        "The validation time ended before every window was read. The next run validates the remaining windows.",
        "Let the next run validate it, or clear `validate_topics` with downstream to do it now. "
        "The copy is complete but not validated yet.",
        late="validation pending",
        more=more_steps.MORE_TIME,
        commands=("verdict NAME", "trigger NAME --mode validate"),
    )
    COPY_DIFFERS = _validation(
        "The copy differs from its source.",
        "Do not move any group. Inspect both clusters with the commands in the finding. Find the cause, "
        "then copy the topic with a new migration file.",
        one_by_one=True,
        contradicts=True,
        cause="Another client wrote to the target topic, or records were lost, repeated or changed on the way. The "
        "labels of the differences tell them apart.",
        more=more_steps.WRONG_COPY,
        commands=("verdict NAME", "trigger NAME --mode validate"),
    )
    SCHEMA_MISSING = _validation(
        "Copied records have a schema id that the target's registry does not have.",
        "Copy the schemas with their ids to the target's registry, then clear `judge` with "
        "downstream. Do not move consumers before that. The copy itself is not affected.",
        one_by_one=True,
    )
    SCHEMA_DIFFERS = _validation(
        "Copied records have a schema id to which the target's registry gives another schema than the source's.",
        "Use a target registry whose ids come from the source's registry. Do not move consumers "
        "before that. The copy itself is not affected.",
        one_by_one=True,
    )
    SCHEMA_IDS_UNKNOWN = _validation(
        "Records begin with numbers that look like schema ids and cannot be compared.",
        "Check the connection of the source's registry. If these records have no schema ids, "
        "leave them out with `schema_registry.parts`. A warning, except in a cutover or rehearsal.",
        one_by_one=True,
    )
    SCHEMA_IDS_NOT_READ = _validation(
        "Not all records of the copy were read for their schema ids.",
        "Trigger a run in mode `validate`. A warning, except in a cutover or rehearsal.",
        one_by_one=True,
        commands=("verdict NAME", "trigger NAME --mode validate"),
    )
    TIMESTAMPS_NOT_COMPARED = _validation(
        "Timestamps were not compared: the target sets its own (LogAppendTime), or the migration file disables it.",
        f"{_WARNING} If timestamps do not matter, set `timestamps: false` in the item "
        "of `topics`. Then the verdict is `PASS`.",
    )
    RECORDS_WITHOUT_TIMESTAMP = _validation(
        "The source has records without a timestamp; their copies have the time of the copy.",
        f"{_WARNING} Consumers of the target see the time of the copy. If that does not "
        "matter, set `timestamps: false` in the item of `topics`. Then the verdict is `PASS`.",
    )
    KEYS_IN_SEVERAL_PARTITIONS = _validation(
        "The source has the same key in several partitions. The order was compared within each partition.",
        f"{_WARNING} No action is needed.",
    )
    RECORDS_REPLAYED = _validation(
        "The target holds duplicates: MirrorMaker, or one of its tasks, did not stop cleanly, and the next one sent "
        "records again.",
        f"{_WARNING} Inform the owners of consumers on the target that they receive these records twice.",
    )
    RECORDS_COMPACTED = _validation(
        "Compaction deleted records on one side. The remaining records and the newest record of each key are equal.",
        f"{_WARNING} No action is needed.",
    )
    ORDER_NOT_COMPARED = _validation(
        "Compaction explains the differences in a window. The order of the remaining records could not be compared "
        "between keys.",
        f"{_WARNING} If that order matters, trigger mode `validate` when less is compacted.",
        commands=("verdict NAME", "trigger NAME --mode validate"),
    )
    ABORTED_RECORDS_COPIED = _validation(
        "The target holds records of transactions that were aborted on the source.",
        f"{_WARNING} With `mirror.isolation_level: read_committed`, later runs skip such records.",
    )
    RECORDS_NOT_VERIFIABLE = _validation(
        "Records of a window can no longer be read, or cannot be matched to their source.",
        "The finding names what could not be read or matched. When that is fixed, trigger "
        "mode `validate`. Until then, do not move a group that reads the topic.",
        one_by_one=True,
        contradicts=True,
        cause="Records were deleted before they were compared, a transaction is open, MirrorMaker was killed, or "
        "the target's range is longer than the source's.",
        more=more_steps.NOT_COMPARED,
        commands=("verdict NAME", "trigger NAME --mode validate"),
    )
    RECORD_UNREADABLE = _validation(
        "Spark cannot read a record of the topic, so the topic was not compared. The other topics were.",
        "The finding names the record. Leave its topic out of the run and move its groups by hand, "
        "or wait until the source no longer holds such records and copy the topic again.",
        contradicts=True,
        cause="Its timestamp is beyond Spark's range, as of a producer that writes nanoseconds. Or it does not fit "
        "into memory, or is damaged.",
        more=more_steps.BAD_RECORD,
        commands=("verdict NAME", "trigger NAME --mode validate"),
    )
    TARGET_TOPIC_RECREATED = _validation(
        "A target topic was deleted and created again after it was copied, or while MirrorMaker ran.",
        "Find out who recreated it. Its content is not the copy: copy the topic with a "
        "migration file that has another name. Remove it from this file to copy the others. MirrorMaker was stopped or "
        "not started.",
        contradicts=True,
        more=more_steps.WHOSE_RECORDS,
    )
    # Answers for an interval
    INTERVAL_NOT_COPIED = _interval(
        "Records of the interval are not copied yet.",
        "Let the next nightly run copy it, then ask again with `--reprocess-behavior completed`.",
    )
    INTERVAL_NOT_VALIDATED = _interval(
        "Records of the interval are copied, but no run has judged the copy yet.",
        "Let the next run validate it, then ask again with `--reprocess-behavior completed`.",
    )
    INTERVAL_NOT_RETAINED = _interval(
        "The source deleted records of the interval before they were copied, or before its start offset was recorded.",
        "The source has deleted these records; they cannot be validated any more. Run the "
        "nightly DAG more often than the source deletes.",
    )
    # Moving the consumer groups
    ALREADY_CUT_OVER = _group(
        "The topics were cut over and their consumers read on the target. Only mode validate is allowed for them.",
        "Pause the schedules of this migration, or choose topics that are not cut over. Nothing was "
        "started; only mode `validate` is allowed.",
        commands=("status NAME", "trigger NAME --mode validate"),
    )
    FENCE_MOVING = _group(
        "Records still arrived at the source after its producers should have stopped.",
        "Stop the producers that write to the named partitions, then trigger a new cutover. Until then, "
        "clients may continue on the source. No group was touched.",
        of_a_cutover=True,
        cause="A producer was forgotten, or was started again.",
        more=more_steps.PRODUCER_GOES_ON,
        commands=("status NAME", "trigger NAME --mode cutover"),
    )
    FENCE_OPEN_TRANSACTION = _group(
        "A transaction is still open on a source partition that should receive no more records.",
        "Let its producer end the transaction. If that producer no longer runs, abort it with "
        "the command in the finding. Then trigger a new cutover. No group was touched.",
        of_a_cutover=True,
        cause="A transactional producer still runs, or ended without ending its transaction.",
        more=more_steps.TRANSACTION_GOES_ON,
        commands=("status NAME", "trigger NAME --mode cutover"),
    )
    GROUP_ACTIVE = _group(
        "A consumer group still has members, so its offsets cannot be moved.",
        f"Stop the consumers that the finding names, then trigger a new run. {_LEFT_OUT}",
        cause="Its consumers run. A broker of Kafka 2.4.1 or older may also keep a consumer that died while it "
        "joined the group (KAFKA-9752).",
        more=more_steps.GROUP_RUNS,
    )
    GROUP_UNREADABLE = _group(
        "A consumer group cannot be read: its id is the empty text, a right is missing, or its coordinator fails.",
        "Grant the missing right, or repair the group's coordinator, and trigger a new run. Of a "
        f"group without an id set the offsets manually, under a new id. {_LEFT_OUT}",
    )
    GROUP_IN_LATER_CUTOVER = _group(
        "A consumer group reads topics of this cutover and topics that remain on the source.",
        "Nothing: the cutover of the group's last topic moves it. Until then its consumers continue on the source.",
    )
    GROUP_OFFSETS_LOST = _group(
        "A consumer group that remained on the source in an earlier cutover has since lost its source offsets.",
        "Set the group's offsets manually. `offsets-before-source.csv` of that cutover has its "
        "offsets on the source. The group was left unchanged.",
        cause="The offsets expired on the source, or were deleted there.",
        more=more_steps.BY_HAND,
    )
    STALE_TARGET_OFFSET = _group(
        "A consumer group has a committed offset on a target partition but none on the source partition.",
        f"Find out who committed it. Delete it on the target, or let the group commit on the source. {_LEFT_OUT}",
        cause="A test or a consumer committed on the target; no cutover did.",
        more=more_steps.FOREIGN_OFFSETS,
    )
    MOVED_TOPIC_CHANGED = _group(
        "A topic changed after its cutover, so groups that remained on the source cannot be moved for it.",
        "Manually move groups that remain on the source and read this topic. Other groups are "
        f"not affected. {_LEFT_OUT}",
        contradicts=True,
        more=more_steps.BY_HAND,
    )
    GROUPS_NOT_DRAINED = _group(
        "Consumer groups did not finish reading on the source within cutover.drain_groups.",
        "Let the groups continue on the source and trigger the cutover again, or exclude the "
        "groups that did not finish. No group was touched.",
        cause="The consumers are stopped, or too slow for their lag.",
        more=more_steps.CATCH_UP,
        commands=("status NAME", "trigger NAME --mode cutover"),
    )
    OFFSETS_REWOUND = _group(
        "A consumer group's target offset is ahead of its planned offset, so it would read records again.",
        "Find out who committed for the group on the target. If this is intended, add the group to "
        f"`cutover.may_rewind`. {_LEFT_OUT}",
        cause="A test or a consumer committed on the target; no cutover did.",
        more=more_steps.FOREIGN_OFFSETS,
    )
    OFFSET_NEVER_COMMITTED = _group(
        "A group has no committed offset on a partition. Where the source has a record of it, none is written on the "
        "target, or the group is left out.",
        "Start the consumers of the group before the producers: with "
        "`auto.offset.reset=latest` it may miss records that are written before it reads there. `cutover.uncommitted` "
        "sets an offset instead, also if the group was left out.",
    )
    UNREAD_RECORDS_DELETED = _group(
        "The source deleted records before a group read them, and the copy does not hold them.",
        "Nothing on the clusters: neither of them has the records. If the group needs them, "
        "produce them again from another copy of the data.",
    )
    OFFSETS_KEPT_ELSEWHERE = _group(
        "A group looks like one of an application that keeps offsets or state outside of the group.",
        "Ask the owner of the application. Do what the finding says before the application "
        "starts on the target. The offsets of the group are moved all the same.",
    )
    OFFSET_BEYOND_END = _group(
        "A group's committed offset is beyond the log end offset of the source partition.",
        f"Set the group's offset on the source to where it should continue, then trigger a new run. {_LEFT_OUT}",
        cause="The source topic was recreated or lost records after the commit, or a person set the offset.",
    )
    OFFSET_AHEAD_OF_COPY = _group(
        "A group's committed offset on the source is ahead of the copy.",
        "In a rehearsal, nothing. In a cutover, find out what wrote to the source after its "
        f"producers had stopped. {_LEFT_OUT}",
        cause="The group has read records that were written after the end of the copy.",
    )
    OFFSET_UNPROVED = _group(
        "It could not be proved that a group continues with the same record on the target.",
        f"Follow the end of the finding: stop its consumers, or validate the whole copy. {_LEFT_OUT}",
        cause="The first unread record is not the same on both sides, a copy is missing or out of order, or the "
        "group committed while Spark searched.",
        more=more_steps.COMMITTED_MEANWHILE,
    )
    OFFSETS_NOT_WRITTEN = _group(
        "A cluster rejected a group's offsets, or holds offsets that differ from those written.",
        "First check the group's current offsets. `offsets-before-*.csv` has its previous ones. "
        "Clearing the task is safe.",
        more=more_steps.OUTCOME_UNKNOWN,
        commands=("status NAME",),
    )
    TARGET_OFFSETS_CHANGED = _group(
        "A group's current offsets match neither the saved snapshot nor the plan. Another client committed in between.",
        "Find out who commits for the group before you trigger a new run. Nothing was written "
        "for it. In a rollback's plan it is only a warning.",
        cause="Probably a consumer was started too early.",
        more=more_steps.TOO_EARLY,
        commands=("status NAME",),
    )
    OFFSET_STAYS = _group(
        "The cutover wrote an offset on the target where none existed before. The rollback leaves it.",
        f"{_WARNING} If the group must not continue from this offset, delete it with "
        "`kafka-consumer-groups --delete-offsets`.",
        commands=("status NAME", "decommission NAME"),
    )
    GROUP_NOT_MOVED = _group(
        "A group has offsets on both clusters, but no cutover moved it. A rollback leaves it unchanged.",
        f"Move the group manually if it should follow the others. {_LEFT_OUT}",
        commands=("status NAME", "decommission NAME"),
    )
    NOTHING_TO_ROLL_BACK = _group(
        "A rollback was requested, but nothing is cut over.",
        "Nothing: the source is the source of truth. If `sync_offsets` failed after it moved "
        "groups, see `OFFSETS_NOT_WRITTEN`. Nothing was changed.",
        commands=("status NAME",),
    )
    TARGET_ONLY_RECORDS = _group(
        "The target topic of a cutover holds records that are missing on the source.",
        "Copy these records back with `reverse-migration.yaml` of the evidence, or give them up "
        "by adding the topic to `leave_records_of`. Nothing was written.",
        cause="Producers wrote to the target after the cutover.",
        more=more_steps.ONLY_ON_TARGET,
        commands=("trigger NAME --mode fail_back --leave-records-of TOPIC", "decommission NAME"),
    )
    HOOK_NOT_FOUND = _group(
        "A function that the migration file names as a hook cannot be imported.",
        "Correct the path. If the hook is `stop_producers`, no group was touched: trigger a new "
        "cutover. With the other hooks the groups have moved: clear the task with downstream.",
        commands=("status NAME", "trigger NAME --mode cutover"),
    )
    APPROVAL_REFUSED = _group(
        "An approver rejected the plan. Nothing was written.",
        "Ask the person who rejected it. Start the producers again where they were. Nothing was written.",
        more=more_steps.PRODUCERS_AGAIN,
        commands=("status NAME", "trigger NAME --mode cutover"),
    )
    APPROVAL_TIMED_OUT = _group(
        "The approval was not answered in time, so the plan is not approved.",
        "Start the producers again where they were. Trigger a new run when an approver is "
        "available. Nothing was written.",
        more=more_steps.PRODUCERS_AGAIN,
        commands=("status NAME", "trigger NAME --mode cutover"),
    )
    APPROVAL_STALE = _group(
        "The plan changed after the approval was requested, so the question shows an outdated plan.",
        "Trigger a new run; it asks about its own plan. Nothing was written.",
        commands=("status NAME", "trigger NAME --mode cutover"),
    )
    EVIDENCE_CHANGED = _group(
        "A document of the run's evidence was changed, deleted or added, or the clusters changed after the approval.",
        "The finding names the change: a document of the evidence, or records or offsets on the "
        "clusters. Find its cause and trigger a new run. This attempt wrote nothing; the finding says whether an "
        "earlier one may have.",
        cause="A consumer or producer continued after the plan, a program or person changed the evidence, or the "
        "package was upgraded in the middle of the run.",
        more=more_steps.CHANGED_PLAN,
        commands=("status NAME",),
    )
    FOUR_EYES = _group(
        "The approver also triggered the run, or Airflow cannot prove that they are different people.",
        "Clear `approve` with downstream and let another person answer. A run triggered on Airflow's "
        "command line with Airflow's own login cannot be approved: trigger a new one in the UI. Nothing was written.",
        commands=("status NAME",),
    )
    NOT_AN_APPROVER = _group(
        "The person who approved is not listed in `cutover.approvers`.",
        "Clear `approve` with downstream and let a listed approver answer. Nothing was written.",
        commands=("status NAME",),
    )
    # Runs and evidence
    MIGRATION_UNKNOWN = _evidence(
        "The evidence root contains no migration with this name.",
        "Correct the name, or pass the evidence root that Airflow writes to (`--evidence-root`). Nothing was changed.",
        cause="The name is wrong, no run of it has started, or the command reads another place than Airflow writes to.",
        more=more_steps.WHERE_AIRFLOW_WRITES,
    )
    RUN_UNKNOWN = _evidence(
        "The migration has no run with this id, or several runs have this part of an id.",
        "Name one run of those that the finding lists. Nothing was changed.",
        cause="The id is of another migration, mistyped, or too short to mean one run.",
        commands=("status NAME",),
    )
    REPORT_MISSING = _evidence(
        "The run has no report: it has not ended, its report could not be written, or the report was deleted.",
        "If the run is active, wait until it has ended. Otherwise read the log of its task `finish`.",
        cause="The run is active, `finish` did not write its result, or another program deleted it.",
        commands=("status NAME",),
    )
    EVIDENCE_UNREADABLE = _evidence(
        "A document in the evidence root is too large, truncated, no regular file, or has an unexpected structure.",
        "Check the document that the finding names. Restore it from a backup, or trigger a new run.",
        cause="Another program or the disk changed the document.",
        more=more_steps.DOCUMENT_GONE,
    )
    TRY_RUNS_TWICE = _evidence(
        "Airflow started one try of a task in two processes. The first one makes the try; this one did nothing.",
        "Nothing, if the task ends well. Airflow tries it again if it needs to.",
        cause="The executor or the broker of the workers delivered the task twice, or a scheduler gave a task that "
        "already ran to another worker.",
        commands=("status NAME",),
    )
    LEDGER_BROKEN = _evidence(
        "A ledger entry is missing, changed, duplicated, a link, or not announced to Airflow. No run starts with such "
        "a ledger.",
        "Find out who wrote to the ledger's folder. Restore the whole folder from a backup.",
        cause="Another program wrote to its folder, the disk lost files, or the evidence root comes from another "
        "Airflow.",
        more=more_steps.WHOSE_ENTRIES,
        commands=("status NAME", "verdict NAME"),
    )
    EVIDENCE_ROOT_UNREACHABLE = _evidence(
        "A task or the command line cannot read the evidence root, or the command line a given file.",
        "Check that the location in the finding exists, and that the user of the "
        "task or the command has read and write access.",
    )
    EVIDENCE_NOT_WRITABLE = _evidence(
        "A task or the command line cannot write to the evidence root, for example because its disk is full.",
        "Free space in the folder that the finding names, or give access to it. Then clear the "
        "task with downstream, or trigger a new run. MirrorMaker is stopped all the same.",
        cause="The disk is full or read-only, the user may not write there, or a link is in the place of a folder.",
        more=more_steps.NOT_RECORDED,
    )
    AIRFLOW_MISSING = _command(
        "The command line cannot import Airflow or a provider that it needs.",
        "Run the command with Airflow's Python, or pass a local folder with `--evidence-root`.",
        cause="The command runs with another Python than Airflow's.",
        commands=("status NAME --evidence-root FOLDER",),
    )
    COMMAND_INVALID = _command(
        "The command line was called with an invalid argument.",
        "See `kafka-migration VERB --help`. Nothing was done.",
    )
    COMMAND_FAILED = _command(
        "The command line failed with an unexpected error.",
        "Report it with the whole line. Meanwhile use the Airflow UI.",
        commands=("--version",),
    )
    MIRROR_FILE_UNREADABLE = _command(
        "`kafka-migration lint` or `import` cannot read a file; it is empty, too large, or no file of MirrorMaker.",
        "Correct the path, name the kind of the file with `--kind`, or split the file.",
        commands=("lint --help", "import --help"),
    )
    MIRROR_FILE_NOT_IMPORTED = _command(
        "`kafka-migration import` cannot express the topics of the files, or several flows are enabled.",
        "Name the flow with `--flow`, or change the patterns in a copy of the file.",
        commands=("lint --help", "import --help"),
    )
    AIRFLOW_API_REFUSED = _command(
        "Airflow's REST API refused a request of the command line, or another service answered at its address.",
        "Correct the address or the login, or give the user the right to trigger the DAG.",
        commands=("trigger --help",),
    )
    AIRFLOW_API_UNREACHABLE = _command(
        "Airflow's REST API did not answer the command line.",
        "Check that Airflow's API server runs and that this machine reaches it. A run that "
        "was already created keeps running.",
        commands=("trigger --help",),
    )
    TRIGGER_NOT_CONFIRMED = _command(
        "Airflow did not answer when the command line triggered a run, so the run may exist.",
        "Look for the run id in Airflow. Trigger again only if there is no such run.",
        commands=("status NAME",),
    )
    EVIDENCE_MISSING = _evidence(
        "A document that an earlier task should have written is missing.",
        "Clear the task that the finding names with downstream, or trigger a new run.",
        cause="A task was skipped or marked by hand, or another program or the disk removed the document.",
        more=more_steps.DOCUMENT_GONE,
    )
    CHECK_FAILED = _evidence(
        "A preflight check failed with an unexpected error, so its result is unknown.",
        f"Read the whole error in the task log and report it. {_NOTHING_STARTED}",
        commands=("preflight NAME",),
    )
    TASK_NOT_SUCCESSFUL = _evidence(
        "A task of the run failed or was skipped without a recorded reason.",
        "Read the log of the named task.",
    )


ACCEPTABLE = tuple(code for code in Code if code.accepted)
