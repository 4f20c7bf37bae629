"""The stable codes of refusals and findings, with one sentence on what each means.

`docs/error-codes.md` is generated from this table. A code is never renamed or re-used.
"""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """A stable code; its `meaning` says when it is raised."""

    meaning: str

    def __new__(cls, code: str, meaning: str = "") -> Code:
        """Make a member that is its code and carries its meaning."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    # The migration file
    MIGRATION_FILE_MISSING = "MIGRATION_FILE_MISSING", "The migration file does not exist or cannot be read."
    MIGRATION_FILE_INVALID = "MIGRATION_FILE_INVALID", "The migration file breaks a rule of its format."
    MIGRATION_FILE_EXISTS = (
        "MIGRATION_FILE_EXISTS",
        "A proposed migration has the same file name as an existing file. Existing files are never overwritten.",
    )
    MIGRATION_FILE_NOT_WRITTEN = "MIGRATION_FILE_NOT_WRITTEN", "A proposed migration file could not be written."
    RUN_CONF_INVALID = "RUN_CONF_INVALID", "The run was triggered with an unknown field or an invalid value."
    NOT_SCHEDULED = (
        "NOT_SCHEDULED",
        "The nightly DAG was triggered manually, or its migration file has no section nightly.",
    )
    MIGRATIONS_OVERLAP = (
        "MIGRATIONS_OVERLAP",
        "Another migration file copies the same topic, or writes to the same target topic.",
    )
    PATTERN_MATCHES_NOTHING = (
        "PATTERN_MATCHES_NOTHING",
        "A pattern of the migration file matches no topic of the source.",
    )
    TOPIC_NAME_IMPOSSIBLE = "TOPIC_NAME_IMPOSSIBLE", "The source lists a topic with a name that Kafka forbids."
    TOPICS_TOO_MANY = "TOPICS_TOO_MANY", "The patterns of the migration file match more topics than one run can copy."
    SOURCE_TOPIC_VANISHED = (
        "SOURCE_TOPIC_VANISHED",
        "A topic that a pattern took and a run copied no longer exists on the source.",
    )
    TOPICS_REMOVED = (
        "TOPICS_REMOVED",
        "The migration file no longer takes topics that earlier runs copied and that were not cut over.",
    )
    REPLICATION_LOOP = (
        "REPLICATION_LOOP",
        "Two migration files copy a topic in opposite directions: one writes the topic that the other one copies.",
    )
    AIRFLOW_TOO_OLD = "AIRFLOW_TOO_OLD", "The installed Airflow lacks what the package needs."
    # Connections and clusters
    CONNECTION_MISSING = (
        "CONNECTION_MISSING",
        "An Airflow connection named in the migration file does not exist.",
    )
    CONNECTION_INVALID = (
        "CONNECTION_INVALID",
        "An Airflow connection has the wrong type, or a setting that is missing, wrong or not accepted.",
    )
    CONNECTION_INSECURE = (
        "CONNECTION_INSECURE",
        "A Kafka connection disables a protection, and the migration file does not allow this.",
    )
    SECRET_NOT_MASKED = (
        "SECRET_NOT_MASKED",
        "Warning: a password or key of a connection is too short or too common, so Airflow's logs may show it.",
    )
    KAFKA_CLIENT_WITHOUT_KERBEROS = (
        "KAFKA_CLIENT_WITHOUT_KERBEROS",
        "A connection uses Kerberos (GSSAPI), but Airflow's Kafka client was built without Kerberos support.",
    )
    CLUSTER_UNREACHABLE = "CLUSTER_UNREACHABLE", "A Kafka cluster did not answer in time."
    PROTOCOL_DIFFERS = (
        "PROTOCOL_DIFFERS",
        "The listener of a Kafka cluster requires another `security.protocol` than the connection sets.",
    )
    CERTIFICATE_EXPIRED = "CERTIFICATE_EXPIRED", "A certificate of a Kafka listener or of the connection has ended."
    CERTIFICATE_NOT_YET_VALID = (
        "CERTIFICATE_NOT_YET_VALID",
        "A certificate of a Kafka listener or of the connection is not valid yet.",
    )
    CERTIFICATE_ENDS_SOON = "CERTIFICATE_ENDS_SOON", "A certificate of a broker or of a connection ends within 30 days."
    CERTIFICATE_ENDS_IN_RUN = (
        "CERTIFICATE_ENDS_IN_RUN",
        "The client certificate of a connection ends before the run may end.",
    )
    CERTIFICATE_OF_OTHER_HOST = (
        "CERTIFICATE_OF_OTHER_HOST",
        "The certificate of a Kafka listener is not for the host that the connection names.",
    )
    CERTIFICATE_NOT_TRUSTED = (
        "CERTIFICATE_NOT_TRUSTED",
        "The certificate of a Kafka listener was not issued by a CA that the connection trusts.",
    )
    CLIENT_CERTIFICATE_REFUSED = (
        "CLIENT_CERTIFICATE_REFUSED",
        "A Kafka listener requires a client certificate, and refused the one of the connection or received none.",
    )
    MECHANISM_NOT_OFFERED = (
        "MECHANISM_NOT_OFFERED",
        "A Kafka listener does not offer the SASL mechanism that the connection sets.",
    )
    KERBEROS_FAILED = (
        "KERBEROS_FAILED",
        "Kerberos gave Airflow's Kafka client no ticket for a cluster for another reason, or the cluster refused it.",
    )
    KERBEROS_KEYTAB_WRONG = (
        "KERBEROS_KEYTAB_WRONG",
        "Airflow's Kafka client has no keytab, or the Kerberos server does not know its principal or its key.",
    )
    KERBEROS_TICKET_EXPIRED = "KERBEROS_TICKET_EXPIRED", "The Kerberos ticket of Airflow's Kafka client has ended."
    KERBEROS_CLOCK_SKEW = (
        "KERBEROS_CLOCK_SKEW",
        "The clock of the Airflow worker differs too much from that of the Kerberos server.",
    )
    TOKEN_ENDPOINT_NOT_ALLOWED = (
        "TOKEN_ENDPOINT_NOT_ALLOWED",
        "A connection names an OAuth token endpoint that Airflow's configuration does not allow.",
    )
    TOKEN_NOT_GIVEN = "TOKEN_NOT_GIVEN", "The OAuth token endpoint gave Airflow's Kafka client no token."
    REGISTRY_REFUSED = (
        "REGISTRY_REFUSED",
        "A schema registry refused a request, or another service answered at its address.",
    )
    REGISTRY_UNREACHABLE = "REGISTRY_UNREACHABLE", "A schema registry did not answer."
    MANAGER_REFUSED = (
        "MANAGER_REFUSED",
        "Ambari or Cloudera Manager refused a request, or another service answered at its address.",
    )
    MANAGER_UNREACHABLE = "MANAGER_UNREACHABLE", "Ambari or Cloudera Manager did not answer."
    MANAGER_ANSWER_UNREADABLE = (
        "MANAGER_ANSWER_UNREADABLE",
        "An answer of Ambari or Cloudera Manager lacks a field, or a field has an unexpected value.",
    )
    MANAGED_CLUSTER_UNKNOWN = (
        "MANAGED_CLUSTER_UNKNOWN",
        "Ambari or Cloudera Manager has no Kafka cluster with this name, or several and none was named.",
    )
    LOGIN_REFUSED = "LOGIN_REFUSED", "A Kafka cluster refused the login of the connection."
    RIGHT_MISSING = "RIGHT_MISSING", "A Kafka cluster refused a request because the user lacks a right."
    ALERTS_INVALID = (
        "ALERTS_INVALID",
        "A notifier cannot be created, or the alerts file breaks a rule of its format.",
    )
    CLUSTER_CHANGED = (
        "CLUSTER_CHANGED",
        "A connection leads to another Kafka cluster than in earlier runs, or source and target were exchanged.",
    )
    COPY_BASIS_CHANGED = (
        "COPY_BASIS_CHANGED",
        "The migration file changed a setting on which the copy of earlier runs depends: engine, alias or topic names.",
    )
    SAME_CLUSTER = "SAME_CLUSTER", "Source and target are the same Kafka cluster."
    # Topics
    SOURCE_TOPIC_MISSING = "SOURCE_TOPIC_MISSING", "A topic of the migration does not exist on the source."
    TOPIC_PARTITIONS_DIFFER = (
        "TOPIC_PARTITIONS_DIFFER",
        "A target topic and its source topic have different partition counts.",
    )
    TOPIC_CREATION_UNCLEAR = (
        "TOPIC_CREATION_UNCLEAR",
        "A run was interrupted while it created a target topic, and the topic is not as that run announced it.",
    )
    TOPIC_CONFIG_DIFFERS = (
        "TOPIC_CONFIG_DIFFERS",
        "Warning: an existing topic of the target has other settings than a run would give it.",
    )
    TOPIC_NAME_COLLIDES = (
        "TOPIC_NAME_COLLIDES",
        "The target has a topic whose name differs only by a dot and an underscore, so Kafka refuses the new topic.",
    )
    REPLICATION_BELOW_MIN_INSYNC = (
        "REPLICATION_BELOW_MIN_INSYNC",
        "A topic would have fewer replicas than its `min.insync.replicas`, so brokers would refuse every record.",
    )
    RECORD_LIMIT_LOWER = (
        "RECORD_LIMIT_LOWER",
        "Warning: MirrorMaker may send only smaller records than the source topic takes.",
    )
    TARGET_RETENTION_SHORTER = (
        "TARGET_RETENTION_SHORTER",
        "Warning: an existing topic of the target keeps records for a shorter time, or fewer of them, than its source.",
    )
    TIMESTAMPS_LIMITED = (
        "TIMESTAMPS_LIMITED",
        "Warning: a topic of the target refuses records with old or late timestamps.",
    )
    RECORD_ABOVE_LIMIT = (
        "RECORD_ABOVE_LIMIT",
        "A sampled record of the source is larger than the target takes, so MirrorMaker cannot copy it.",
    )
    TARGET_COMPACTS = (
        "TARGET_COMPACTS",
        "Warning: a topic of the target is or would be compacted, and its source topic is not.",
    )
    REPLICATION_AT_MIN_INSYNC = (
        "REPLICATION_AT_MIN_INSYNC",
        "Warning: a topic has as many replicas as its `min.insync.replicas`, so one broker that is down stops writes.",
    )
    TOPICS_AUTO_CREATED = (
        "TOPICS_AUTO_CREATED",
        "Warning: brokers of the target create each topic that a client asks for (`auto.create.topics.enable`).",
    )
    KEYS_PARTITIONED_OTHERWISE = (
        "KEYS_PARTITIONED_OTHERWISE",
        "Warning: producers do not use Kafka's default partitioner, so MirrorMaker 1 moves keys to other partitions.",
    )
    OTHER_MIRRORMAKER = (
        "OTHER_MIRRORMAKER",
        "Warning: another MirrorMaker seems to be at work between the same clusters.",
    )
    TARGET_TOPIC_NOT_EMPTY = (
        "TARGET_TOPIC_NOT_EMPTY",
        "A target topic holds records that no run of this migration wrote.",
    )
    REPLICATION_FACTOR_TOO_HIGH = (
        "REPLICATION_FACTOR_TOO_HIGH",
        "The replication factor is higher than the number of target brokers.",
    )
    TARGET_TOPIC_MISSING = "TARGET_TOPIC_MISSING", "A topic that the run copies to does not exist on the target."
    TOPIC_NOT_CREATED = "TOPIC_NOT_CREATED", "The target refused to create a topic."
    TOPIC_NOT_CONFIGURED = "TOPIC_NOT_CONFIGURED", "A cluster refused to change the configuration of a topic."
    # The MirrorMaker host
    SSH_UNREACHABLE = "SSH_UNREACHABLE", "The MirrorMaker host did not answer over SSH."
    SSH_AUTH_FAILED = "SSH_AUTH_FAILED", "The MirrorMaker host refused the login."
    SSH_HOST_KEY_UNKNOWN = "SSH_HOST_KEY_UNKNOWN", "The host's key is not pinned in the connection."
    SSH_HOST_KEY_CHANGED = "SSH_HOST_KEY_CHANGED", "The host key differs from the pinned key."
    HOST_ANSWERS_OTHERWISE = (
        "HOST_ANSWERS_OTHERWISE",
        "The MirrorMaker host let the login in, but something else than mirrorctl answered.",
    )
    HOST_REPLY_UNREADABLE = (
        "HOST_REPLY_UNREADABLE",
        "The reply of mirrorctl on the MirrorMaker host was lost, too long or broken.",
    )
    HOST_REFUSED = "HOST_REFUSED", "mirrorctl on the MirrorMaker host refused a request."
    HOST_TOOL_MISSING = "HOST_TOOL_MISSING", "The MirrorMaker host lacks a tool that mirrorctl needs."
    HOST_CANNOT_RESOLVE = (
        "HOST_CANNOT_RESOLVE",
        "The MirrorMaker host finds no address for the advertised name of a broker.",
    )
    HOST_CANNOT_CONNECT = (
        "HOST_CANNOT_CONNECT",
        "A broker did not answer the MirrorMaker host at its advertised address.",
    )
    HOST_DISK_FULL = (
        "HOST_DISK_FULL",
        "The disk of the MirrorMaker host has too little space for the logs of a run.",
    )
    HOST_FILE_LIMIT = "HOST_FILE_LIMIT", "The MirrorMaker host allows too few open files for MirrorMaker's connections."
    CLOCKS_DIFFER = "CLOCKS_DIFFER", "The clock of the MirrorMaker host differs from that of Airflow or of a cluster."
    TARGET_SPACE_TOO_SMALL = (
        "TARGET_SPACE_TOO_SMALL",
        "The target's log directories have less free space than the copy needs.",
    )
    QUOTA_SLOWS_MIRROR = "QUOTA_SLOWS_MIRROR", "A quota on a cluster may slow MirrorMaker."
    SOURCE_TRANSACTION_OPEN = (
        "SOURCE_TRANSACTION_OPEN",
        "A transaction on a source topic is open: the offsets after its first record are not copied yet.",
    )
    FACT_UNKNOWN = "FACT_UNKNOWN", "A fact that a check of preflight needs could not be read."
    JAVA_MISSING = "JAVA_MISSING", "No Java was found on the MirrorMaker host."
    MM_BINARY_NOT_FOUND = (
        "MM_BINARY_NOT_FOUND",
        "KAFKA_HOME on the MirrorMaker host holds no Kafka libraries.",
    )
    RESERVED_BY = "RESERVED_BY", "Another run holds the reservation of this migration."
    NOT_RESERVED = (
        "NOT_RESERVED",
        "A task that changes something found that its run does not hold the reservation, or no longer holds it.",
    )
    ALREADY_RUNNING = "ALREADY_RUNNING", "A MirrorMaker process of this migration is already running."
    GENERATION_STOPPED = "GENERATION_STOPPED", "This generation was stopped; it must not start again."
    GENERATION_UNEXPECTED = "GENERATION_UNEXPECTED", "The generation on the host is not the one that the run expects."
    HOST_LOCKED = "HOST_LOCKED", "Another mirrorctl call holds the lock of this migration."
    # MirrorMaker and its settings
    MIRROR_VERSION_UNKNOWN = (
        "MIRROR_VERSION_UNKNOWN",
        "The MirrorMaker version could not be determined, so unsupported settings cannot be detected.",
    )
    MIRROR_VERSION_UNTESTED = (
        "MIRROR_VERSION_UNTESTED",
        "MirrorMaker on the host is newer than the newest tested version. A later minor version is a warning.",
    )
    MIRROR_JAVA_TOO_OLD = (
        "MIRROR_JAVA_TOO_OLD",
        "The Java on the MirrorMaker host is too old for MirrorMaker of this Kafka version.",
    )
    MIRROR_KEY_UNSUPPORTED = (
        "MIRROR_KEY_UNSUPPORTED",
        "The MirrorMaker version on the host would ignore or misread a setting.",
    )
    MIRROR_KAFKA_TOO_OLD = (
        "MIRROR_KAFKA_TOO_OLD",
        "The Kafka version on the MirrorMaker host is too old to be given credentials.",
    )
    MIRROR_SETTING_UNSAFE = (
        "MIRROR_SETTING_UNSAFE",
        "A setting of the migration file allows MirrorMaker to send larger batches than the target topics accept.",
    )
    BROKERS_TOO_OLD = "BROKERS_TOO_OLD", "Brokers are too old for the MirrorMaker on the host."
    MM1_REMOVED = (
        "MM1_REMOVED",
        "The migration uses MirrorMaker 1, but the Kafka version on the host no longer contains it.",
    )
    TOPIC_NEVER_COPIED = (
        "TOPIC_NEVER_COPIED",
        "MirrorMaker 2 would silently skip a topic, or copy it under another name.",
    )
    # Mirroring
    MIRROR_DEAD = "MIRROR_DEAD", "The MirrorMaker process exited while it should have been copying."
    MIRROR_OUT_OF_MEMORY = "MIRROR_OUT_OF_MEMORY", "MirrorMaker has too little Java heap."
    MIRROR_HOST_OUT_OF_MEMORY = (
        "MIRROR_HOST_OUT_OF_MEMORY",
        "The MirrorMaker host does not give MirrorMaker the memory or the threads that it asks for.",
    )
    MIRROR_SETTING_REFUSED = "MIRROR_SETTING_REFUSED", "MirrorMaker refuses one of its settings, so it cannot start."
    MIRROR_TOPIC_UNFIT = (
        "MIRROR_TOPIC_UNFIT",
        "A topic of MirrorMaker's own exists on the target with settings with which MirrorMaker does not work.",
    )
    MIRROR_TASK_FAILED = "MIRROR_TASK_FAILED", "A MirrorMaker task is in state FAILED."
    MIRROR_STALLED = "MIRROR_STALLED", "A partition made no progress during the stall time."
    MIRROR_TIMEOUT = "MIRROR_TIMEOUT", "The goal was not reached within the time limit."
    UNREACHABLE = (
        "UNREACHABLE",
        "A cluster, the MirrorMaker host or the evidence store was unreachable for too long while MirrorMaker ran.",
    )
    STOP_REQUESTED = "STOP_REQUESTED", "An operator asked to stop mirroring during a cutover."
    CUTOVER_ABORTED = "CUTOVER_ABORTED", "An operator ended the cutover when asked whether the producers have stopped."
    NOTHING_TO_STOP = "NOTHING_TO_STOP", "This migration has no running MirrorMaker process that could be stopped."
    BEHIND = "BEHIND", "The mirroring time ended before everything was copied. The next run continues."
    MIRROR_NOT_STOPPED = "MIRROR_NOT_STOPPED", "MirrorMaker was asked to stop and is still running."
    RECORD_TOO_LARGE = (
        "RECORD_TOO_LARGE",
        "A record is larger than MirrorMaker may send or the target topic takes, so MirrorMaker cannot copy it.",
    )
    RECORD_WITHOUT_KEY = (
        "RECORD_WITHOUT_KEY",
        "The target topic is compacted and refuses a record without a key, so MirrorMaker cannot copy it.",
    )
    RECORD_TIME_REFUSED = (
        "RECORD_TIME_REFUSED",
        "Kafka's client or the target topic refuses the timestamp of a record, so MirrorMaker cannot copy it.",
    )
    PARTITION_NOT_ASSIGNED = (
        "PARTITION_NOT_ASSIGNED",
        "A partition that should be copied is not assigned to any MirrorMaker task.",
    )
    CONFIG_NOT_EFFECTIVE = (
        "CONFIG_NOT_EFFECTIVE",
        "MirrorMaker runs with a configuration that differs from the rendered one.",
    )
    GAP = "GAP", "Source records were deleted before they were copied."
    GAP_DURING_RUN = "GAP_DURING_RUN", "The source deleted records while MirrorMaker was about to copy them."
    SOURCE_TOPIC_RECREATED = (
        "SOURCE_TOPIC_RECREATED",
        "A source topic was deleted and created again after it was copied, or while MirrorMaker ran.",
    )
    STALE_MIRROR_STATE = (
        "STALE_MIRROR_STATE",
        "MirrorMaker has stored positions for topics that this migration has not copied yet.",
    )
    POSITION_MISSING = (
        "POSITION_MISSING",
        "MirrorMaker's stored position is missing, although the last stop certificate records one.",
    )
    SOURCE_TRUNCATED = (
        "SOURCE_TRUNCATED",
        "A source topic lost records that were copied: its id is the same, and the last copied record is gone.",
    )
    POSITION_BEYOND_END = (
        "POSITION_BEYOND_END",
        "MirrorMaker's stored position is beyond the log end offset of the source.",
    )
    POSITION_CHANGED = (
        "POSITION_CHANGED",
        "MirrorMaker's stored position differs from the last stop certificate.",
    )
    TARGET_WRITTEN_BY_OTHERS = (
        "TARGET_WRITTEN_BY_OTHERS",
        "The target topic grew while no MirrorMaker process of this migration ran.",
    )
    # Validation
    SPARK_CONNECTION_MISSING = (
        "SPARK_CONNECTION_MISSING",
        "The Spark connection does not exist (Airflow would fall back to YARN).",
    )
    SPARK_NOT_PROTECTED = (
        "SPARK_NOT_PROTECTED",
        "The Spark cluster does not authenticate its processes, or does not encrypt their traffic.",
    )
    SPARK_CIPHER_WEAK = (
        "SPARK_CIPHER_WEAK",
        "Spark does not notice if an attacker on the network changes its encrypted traffic.",
    )
    SPARK_LOGIN_SHIPPED = (
        "SPARK_LOGIN_SHIPPED",
        "In this deploy mode, Spark would serve Kafka's credentials to other clients.",
    )
    SPARK_KAFKA_TOO_OLD = (
        "SPARK_KAFKA_TOO_OLD",
        "The Kafka client that Spark uses is too old to be given credentials.",
    )
    SPARK_VERSION_MISMATCH = (
        "SPARK_VERSION_MISMATCH",
        "Spark, its Kafka connector or its Python have versions that do not work together.",
    )
    EVIDENCE_ROOTS_DIFFER = (
        "EVIDENCE_ROOTS_DIFFER",
        "Airflow and Spark are configured with different evidence roots.",
    )
    EVIDENCE_ROOT_LOCAL = (
        "EVIDENCE_ROOT_LOCAL",
        "The evidence root is a local folder, and Spark's driver runs on another machine.",
    )
    SPARK_FAILED = "SPARK_FAILED", "The Spark job ended with an error; nothing was judged."
    RECORDS_DELETED_MEANWHILE = (
        "RECORDS_DELETED_MEANWHILE",
        "A cluster deleted records while the validation read them, and no other topic could be read. Nothing was "
        "judged.",
    )
    VALIDATION_RESULT_MISSING = (
        "VALIDATION_RESULT_MISSING",
        "The Spark job ended without a complete result document.",
    )
    VALIDATION_PENDING = (
        "VALIDATION_PENDING",
        "The validation time ended before every window was read. The next run validates the remaining windows.",
    )
    COPY_DIFFERS = "COPY_DIFFERS", "The copy differs from its source."
    SCHEMA_MISSING = "SCHEMA_MISSING", "Copied records have a schema id that the target's registry does not have."
    SCHEMA_DIFFERS = (
        "SCHEMA_DIFFERS",
        "Copied records have a schema id to which the target's registry gives another schema than the source's.",
    )
    SCHEMA_IDS_UNKNOWN = (
        "SCHEMA_IDS_UNKNOWN",
        "Records begin with numbers that look like schema ids and cannot be compared.",
    )
    SCHEMA_IDS_NOT_READ = (
        "SCHEMA_IDS_NOT_READ",
        "Not all records of the copy were read for their schema ids.",
    )
    TIMESTAMPS_NOT_COMPARED = (
        "TIMESTAMPS_NOT_COMPARED",
        "Timestamps were not compared: the target sets its own (LogAppendTime), or the migration file disables it.",
    )
    RECORDS_WITHOUT_TIMESTAMP = (
        "RECORDS_WITHOUT_TIMESTAMP",
        "The source has records without a timestamp; their copies have the time of the copy.",
    )
    KEYS_IN_SEVERAL_PARTITIONS = (
        "KEYS_IN_SEVERAL_PARTITIONS",
        "The source has the same key in several partitions. The order was compared within each partition.",
    )
    RECORDS_REPLAYED = (
        "RECORDS_REPLAYED",
        "The target holds duplicates that MirrorMaker sent after a generation that did not stop cleanly.",
    )
    RECORDS_COMPACTED = (
        "RECORDS_COMPACTED",
        "Compaction deleted records on one side. The remaining records and the newest record of each key are equal.",
    )
    ORDER_NOT_COMPARED = (
        "ORDER_NOT_COMPARED",
        "Compaction explains the differences in a window. The order of the remaining records could not be compared "
        "between keys.",
    )
    ABORTED_RECORDS_COPIED = (
        "ABORTED_RECORDS_COPIED",
        "The target holds records of transactions that were aborted on the source.",
    )
    RECORDS_NOT_VERIFIABLE = (
        "RECORDS_NOT_VERIFIABLE",
        "Records of a window can no longer be read, or cannot be matched to their source.",
    )
    RECORD_UNREADABLE = (
        "RECORD_UNREADABLE",
        "Spark cannot read a record of the topic, so the topic was not compared. The other topics were.",
    )
    TARGET_TOPIC_RECREATED = (
        "TARGET_TOPIC_RECREATED",
        "A target topic was deleted and created again after it was copied, or while MirrorMaker ran.",
    )
    # Answers for an interval
    INTERVAL_NOT_COPIED = "INTERVAL_NOT_COPIED", "Records of the interval are not copied yet."
    INTERVAL_NOT_VALIDATED = (
        "INTERVAL_NOT_VALIDATED",
        "Records of the interval are copied, but no run has judged the copy yet.",
    )
    INTERVAL_NOT_RETAINED = (
        "INTERVAL_NOT_RETAINED",
        "The source deleted records of the interval before they were copied, or before its start offset was recorded.",
    )
    # Moving the consumer groups
    ALREADY_CUT_OVER = (
        "ALREADY_CUT_OVER",
        "The topics were cut over and their consumers read on the target. Only mode validate is allowed for them.",
    )
    FENCE_MOVING = "FENCE_MOVING", "Records still arrived at the source after its producers should have stopped."
    FENCE_OPEN_TRANSACTION = (
        "FENCE_OPEN_TRANSACTION",
        "A transaction is still open on a source partition that should receive no more records.",
    )
    GROUP_ACTIVE = "GROUP_ACTIVE", "A consumer group still has members, so its offsets cannot be moved."
    GROUP_UNREADABLE = (
        "GROUP_UNREADABLE",
        "A consumer group cannot be read: its id is the empty text, a right is missing, or its coordinator fails.",
    )
    GROUP_IN_LATER_CUTOVER = (
        "GROUP_IN_LATER_CUTOVER",
        "A consumer group reads topics of this cutover and topics that remain on the source.",
    )
    GROUP_OFFSETS_LOST = (
        "GROUP_OFFSETS_LOST",
        "A consumer group that remained on the source in an earlier cutover has since lost its source offsets.",
    )
    STALE_TARGET_OFFSET = (
        "STALE_TARGET_OFFSET",
        "A consumer group has a committed offset on a target partition but none on the source partition.",
    )
    MOVED_TOPIC_CHANGED = (
        "MOVED_TOPIC_CHANGED",
        "A topic changed after its cutover, so groups that remained on the source cannot be moved for it.",
    )
    GROUPS_NOT_DRAINED = (
        "GROUPS_NOT_DRAINED",
        "Consumer groups did not finish reading on the source within cutover.drain_groups.",
    )
    OFFSETS_REWOUND = (
        "OFFSETS_REWOUND",
        "A consumer group's target offset is ahead of its planned offset, so it would read records again.",
    )
    OFFSET_NEVER_COMMITTED = (
        "OFFSET_NEVER_COMMITTED",
        "A group has no committed offset on a partition. Where the source has a record of it, none is written on the "
        "target, or the group is left out.",
    )
    UNREAD_RECORDS_DELETED = (
        "UNREAD_RECORDS_DELETED",
        "The source deleted records before a group read them, and the copy does not hold them.",
    )
    OFFSETS_KEPT_ELSEWHERE = (
        "OFFSETS_KEPT_ELSEWHERE",
        "A group looks like one of an application that keeps offsets or state outside of the group.",
    )
    OFFSET_BEYOND_END = (
        "OFFSET_BEYOND_END",
        "A group's committed offset is beyond the log end offset of the source partition.",
    )
    OFFSET_AHEAD_OF_COPY = (
        "OFFSET_AHEAD_OF_COPY",
        "A group's committed offset on the source is ahead of the copy.",
    )
    OFFSET_UNPROVED = (
        "OFFSET_UNPROVED",
        "It could not be proved that a group continues with the same record on the target.",
    )
    OFFSETS_NOT_WRITTEN = (
        "OFFSETS_NOT_WRITTEN",
        "A cluster rejected a group's offsets, or holds offsets that differ from those written.",
    )
    TARGET_OFFSETS_CHANGED = (
        "TARGET_OFFSETS_CHANGED",
        "A group's current offsets match neither the saved snapshot nor the plan. Another client committed in between.",
    )
    OFFSET_STAYS = (
        "OFFSET_STAYS",
        "The cutover wrote an offset on the target where none existed before. The rollback leaves it.",
    )
    GROUP_NOT_MOVED = (
        "GROUP_NOT_MOVED",
        "A group has offsets on both clusters, but no cutover moved it. A rollback leaves it unchanged.",
    )
    NOTHING_TO_ROLL_BACK = "NOTHING_TO_ROLL_BACK", "A rollback was requested, but nothing is cut over."
    TARGET_ONLY_RECORDS = (
        "TARGET_ONLY_RECORDS",
        "The target topic of a cutover holds records that are missing on the source.",
    )
    HOOK_NOT_FOUND = "HOOK_NOT_FOUND", "A function that the migration file names as a hook cannot be imported."
    APPROVAL_REFUSED = "APPROVAL_REFUSED", "An approver rejected the plan. Nothing was written."
    APPROVAL_TIMED_OUT = "APPROVAL_TIMED_OUT", "The approval was not answered in time, so the plan is not approved."
    APPROVAL_STALE = (
        "APPROVAL_STALE",
        "The plan changed after the approval was requested, so the question shows an outdated plan.",
    )
    EVIDENCE_CHANGED = (
        "EVIDENCE_CHANGED",
        "A document of the run's evidence was changed, deleted or added, or the clusters changed after the approval.",
    )
    FOUR_EYES = (
        "FOUR_EYES",
        "The approver also triggered the run, or Airflow cannot prove that they are different people.",
    )
    NOT_AN_APPROVER = "NOT_AN_APPROVER", "The person who approved is not listed in `cutover.approvers`."
    # Runs and evidence
    MIGRATION_UNKNOWN = "MIGRATION_UNKNOWN", "The evidence root contains no migration with this name."
    EVIDENCE_UNREADABLE = (
        "EVIDENCE_UNREADABLE",
        "A document in the evidence root is too large, truncated, no regular file, or has an unexpected structure.",
    )
    LEDGER_BROKEN = (
        "LEDGER_BROKEN",
        "A ledger entry is missing, changed, duplicated, a link, or not announced to Airflow. No run starts with such "
        "a ledger.",
    )
    EVIDENCE_ROOT_UNREACHABLE = (
        "EVIDENCE_ROOT_UNREACHABLE",
        "A task or the command line cannot read the evidence root, or the command line a given file.",
    )
    EVIDENCE_NOT_WRITABLE = (
        "EVIDENCE_NOT_WRITABLE",
        "A task or the command line cannot write to the evidence root, for example because its disk is full.",
    )
    AIRFLOW_MISSING = "AIRFLOW_MISSING", "The command line cannot import Airflow or a provider that it needs."
    COMMAND_INVALID = "COMMAND_INVALID", "The command line was called with an invalid argument."
    COMMAND_FAILED = "COMMAND_FAILED", "The command line failed with an unexpected error."
    MIRROR_FILE_UNREADABLE = (
        "MIRROR_FILE_UNREADABLE",
        "`kafka-migration lint` or `import` cannot read a file; it is empty, too large, or no file of MirrorMaker.",
    )
    MIRROR_FILE_NOT_IMPORTED = (
        "MIRROR_FILE_NOT_IMPORTED",
        "`kafka-migration import` cannot express the topics of the files, or several flows are enabled.",
    )
    AIRFLOW_API_REFUSED = (
        "AIRFLOW_API_REFUSED",
        "Airflow's REST API refused a request of the command line, or another service answered at its address.",
    )
    AIRFLOW_API_UNREACHABLE = "AIRFLOW_API_UNREACHABLE", "Airflow's REST API did not answer the command line."
    TRIGGER_NOT_CONFIRMED = (
        "TRIGGER_NOT_CONFIRMED",
        "Airflow did not answer when the command line triggered a run, so the run may exist.",
    )
    EVIDENCE_MISSING = "EVIDENCE_MISSING", "A document that an earlier task should have written is missing."
    CHECK_FAILED = (
        "CHECK_FAILED",
        "A preflight check failed with an unexpected error, so its result is unknown.",
    )
    TASK_NOT_SUCCESSFUL = (
        "TASK_NOT_SUCCESSFUL",
        "A task of the run failed or was skipped without a recorded reason.",
    )
