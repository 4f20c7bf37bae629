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
        "A file of the name that a proposed migration would have is there already; none is ever written over.",
    )
    RUN_CONF_INVALID = "RUN_CONF_INVALID", "The run was triggered with a field or value that is not known."
    NOT_SCHEDULED = (
        "NOT_SCHEDULED",
        "The nightly DAG was triggered by hand, or its migration file has no section nightly.",
    )
    MIGRATIONS_OVERLAP = (
        "MIGRATIONS_OVERLAP",
        "Another migration file copies the same topic, or writes to the same topic of the target.",
    )
    REPLICATION_LOOP = (
        "REPLICATION_LOOP",
        "Another migration file copies in the other direction a topic that this one writes, or the other way round.",
    )
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
        "A Kafka connection gives up a protection; without the migration file's consent it is refused.",
    )
    KAFKA_CLIENT_WITHOUT_KERBEROS = (
        "KAFKA_CLIENT_WITHOUT_KERBEROS",
        "A connection logs in by Kerberos (GSSAPI), and the Kafka client of this Airflow was built without it.",
    )
    CLUSTER_UNREACHABLE = "CLUSTER_UNREACHABLE", "A Kafka cluster did not answer in time."
    ALERTS_INVALID = (
        "ALERTS_INVALID",
        "A notifier cannot be made, or the file that names the notifiers breaks a rule of its format.",
    )
    SAME_CLUSTER = "SAME_CLUSTER", "Source and target are the same Kafka cluster."
    # Topics
    SOURCE_TOPIC_MISSING = "SOURCE_TOPIC_MISSING", "A topic of the migration does not exist on the source."
    TOPIC_PARTITIONS_DIFFER = (
        "TOPIC_PARTITIONS_DIFFER",
        "A target topic has another partition count than its source.",
    )
    TARGET_TOPIC_NOT_EMPTY = (
        "TARGET_TOPIC_NOT_EMPTY",
        "A target topic holds records that no run of this migration wrote.",
    )
    REPLICATION_FACTOR_TOO_HIGH = (
        "REPLICATION_FACTOR_TOO_HIGH",
        "More replicas are asked for than the target has brokers.",
    )
    TARGET_TOPIC_MISSING = "TARGET_TOPIC_MISSING", "A topic to be copied into does not exist on the target."
    TOPIC_NOT_CREATED = "TOPIC_NOT_CREATED", "The target refused to create a topic."
    TOPIC_NOT_CONFIGURED = "TOPIC_NOT_CONFIGURED", "A cluster refused to change the configuration of a topic."
    # The MirrorMaker host
    SSH_UNREACHABLE = "SSH_UNREACHABLE", "The MirrorMaker host did not answer over SSH."
    SSH_AUTH_FAILED = "SSH_AUTH_FAILED", "The MirrorMaker host refused the login."
    SSH_HOST_KEY_UNKNOWN = "SSH_HOST_KEY_UNKNOWN", "The host's key is not pinned in the connection."
    SSH_HOST_KEY_CHANGED = "SSH_HOST_KEY_CHANGED", "The host shows another key than the pinned one."
    HOST_REPLY_UNREADABLE = "HOST_REPLY_UNREADABLE", "The host's answer holds no mirrorctl reply."
    HOST_REFUSED = "HOST_REFUSED", "mirrorctl on the MirrorMaker host refused a request."
    HOST_TOOL_MISSING = "HOST_TOOL_MISSING", "The MirrorMaker host lacks a tool that mirrorctl needs."
    JAVA_MISSING = "JAVA_MISSING", "No Java was found on the MirrorMaker host."
    MM_BINARY_NOT_FOUND = (
        "MM_BINARY_NOT_FOUND",
        "KAFKA_HOME on the MirrorMaker host holds no Kafka libraries.",
    )
    RESERVED_BY = "RESERVED_BY", "Another run holds the reservation of this migration."
    NOT_RESERVED = (
        "NOT_RESERVED",
        "An acting step found that its run does not hold the reservation (any more).",
    )
    ALREADY_RUNNING = "ALREADY_RUNNING", "A MirrorMaker of this migration is alive already."
    GENERATION_STOPPED = "GENERATION_STOPPED", "This generation was stopped; it must not start again."
    GENERATION_UNEXPECTED = "GENERATION_UNEXPECTED", "The host is at another generation than the run expects."
    HOST_LOCKED = "HOST_LOCKED", "Another mirrorctl call holds the lock of this migration."
    PROBE_TIMED_OUT = "PROBE_TIMED_OUT", "One of Kafka's tools did not end in time on the MirrorMaker host."
    # MirrorMaker and its settings
    MIRROR_VERSION_UNKNOWN = (
        "MIRROR_VERSION_UNKNOWN",
        "Nobody can tell which Kafka MirrorMaker is from, so nobody can tell what it would ignore.",
    )
    MIRROR_KEY_UNSUPPORTED = (
        "MIRROR_KEY_UNSUPPORTED",
        "MirrorMaker on the host is from a Kafka that would ignore or misread a setting.",
    )
    MIRROR_KAFKA_TOO_OLD = (
        "MIRROR_KAFKA_TOO_OLD",
        "The Kafka on the MirrorMaker host is too old to be trusted with a login.",
    )
    MIRROR_SETTING_UNSAFE = (
        "MIRROR_SETTING_UNSAFE",
        "A setting of the migration file would make MirrorMaker send more than the target's topics take.",
    )
    MM1_REMOVED = "MM1_REMOVED", "MirrorMaker 1 is asked for from a Kafka that no longer has it."
    TOPIC_NEVER_COPIED = (
        "TOPIC_NEVER_COPIED",
        "MirrorMaker 2 would leave a topic out, or copy it to another name, without a word.",
    )
    # Mirroring
    MIRROR_DEAD = "MIRROR_DEAD", "MirrorMaker ended by itself while it should have been copying."
    MIRROR_TASK_FAILED = "MIRROR_TASK_FAILED", "A MirrorMaker task is in state FAILED."
    MIRROR_STALLED = "MIRROR_STALLED", "A partition made no progress for the stall time."
    MIRROR_TIMEOUT = "MIRROR_TIMEOUT", "The goal was not reached within the time limit."
    UNREACHABLE = (
        "UNREACHABLE",
        "A cluster, the MirrorMaker host or the evidence store did not answer for too long while MirrorMaker ran.",
    )
    STOP_REQUESTED = "STOP_REQUESTED", "A person asked to end mirroring while a cutover was under way."
    CUTOVER_ABORTED = "CUTOVER_ABORTED", "A person ended the cutover when asked whether the producers have stopped."
    NOTHING_TO_STOP = "NOTHING_TO_STOP", "No MirrorMaker of this migration is open, so none can be asked to stop."
    BEHIND = "BEHIND", "The time for mirroring was over before everything was copied; the next run goes on."
    MIRROR_NOT_STOPPED = "MIRROR_NOT_STOPPED", "MirrorMaker was told to stop and is still alive."
    RECORD_TOO_LARGE = (
        "RECORD_TOO_LARGE",
        "The target takes no batch of this size; MirrorMaker splits and sends it again for ever.",
    )
    PARTITION_NOT_ASSIGNED = "PARTITION_NOT_ASSIGNED", "No task of MirrorMaker copies a partition that it should copy."
    CONFIG_NOT_EFFECTIVE = "CONFIG_NOT_EFFECTIVE", "MirrorMaker runs with another configuration than was rendered."
    GAP = "GAP", "Source records were deleted before they were copied."
    GAP_DURING_RUN = "GAP_DURING_RUN", "The source deleted records while MirrorMaker was about to copy them."
    SOURCE_TOPIC_RECREATED = (
        "SOURCE_TOPIC_RECREATED",
        "A source topic is another one than the one that was copied.",
    )
    STALE_MIRROR_STATE = (
        "STALE_MIRROR_STATE",
        "MirrorMaker has stored positions of topics that this migration has not copied yet.",
    )
    POSITION_MISSING = (
        "POSITION_MISSING",
        "MirrorMaker's stored position, which the last stop certificate knows, is gone.",
    )
    POSITION_BEYOND_END = (
        "POSITION_BEYOND_END",
        "MirrorMaker's stored position lies beyond the end of the source.",
    )
    POSITION_CHANGED = (
        "POSITION_CHANGED",
        "MirrorMaker's stored position differs from the last stop certificate.",
    )
    TARGET_WRITTEN_BY_OTHERS = "TARGET_WRITTEN_BY_OTHERS", "The target grew while no MirrorMaker of ours ran."
    # Validation
    SPARK_CONNECTION_MISSING = (
        "SPARK_CONNECTION_MISSING",
        "The Spark connection does not exist (Airflow would fall back to YARN).",
    )
    SPARK_NOT_PROTECTED = (
        "SPARK_NOT_PROTECTED",
        "The Spark cluster does not authenticate its processes, or does not encrypt what they send.",
    )
    SPARK_KAFKA_TOO_OLD = (
        "SPARK_KAFKA_TOO_OLD",
        "The Kafka client that Spark gets is too old to be trusted with a login.",
    )
    EVIDENCE_ROOTS_DIFFER = (
        "EVIDENCE_ROOTS_DIFFER",
        "The two settings of the evidence root, Airflow's and Spark's, cannot mean one place.",
    )
    EVIDENCE_ROOT_LOCAL = (
        "EVIDENCE_ROOT_LOCAL",
        "The evidence root is a local folder, and Spark's driver runs on another machine.",
    )
    SPARK_FAILED = "SPARK_FAILED", "The Spark job ended with an error; nothing was judged."
    RECORDS_DELETED_MEANWHILE = (
        "RECORDS_DELETED_MEANWHILE",
        "A cluster deleted records while the validation read them; nothing was judged.",
    )
    VALIDATION_RESULT_MISSING = (
        "VALIDATION_RESULT_MISSING",
        "The Spark job ended without a whole result document.",
    )
    VALIDATION_PENDING = (
        "VALIDATION_PENDING",
        "The time for validating was over before every window was measured; the next run does it.",
    )
    COPY_DIFFERS = "COPY_DIFFERS", "The copy differs from its source."
    TIMESTAMPS_NOT_COMPARED = (
        "TIMESTAMPS_NOT_COMPARED",
        "Timestamps were not compared: the target makes its own (LogAppendTime), or the migration file says so.",
    )
    KEYS_IN_SEVERAL_PARTITIONS = (
        "KEYS_IN_SEVERAL_PARTITIONS",
        "The source holds keys in several partitions; their order was compared within each of them.",
    )
    RECORDS_REPLAYED = (
        "RECORDS_REPLAYED",
        "The target holds records twice, which MirrorMaker sent again after a generation that ended ungracefully.",
    )
    RECORDS_COMPACTED = (
        "RECORDS_COMPACTED",
        "Compaction has deleted records on one side; what remains is equal, and so is the newest record of each key.",
    )
    ORDER_NOT_COMPARED = (
        "ORDER_NOT_COMPARED",
        "Compaction explains what differs in a window; the order between keys of what remains could not be compared.",
    )
    ABORTED_RECORDS_COPIED = (
        "ABORTED_RECORDS_COPIED",
        "The target holds records of transactions that were aborted on the source.",
    )
    RECORDS_NOT_VERIFIABLE = (
        "RECORDS_NOT_VERIFIABLE",
        "Records of a window can no longer be read, or not be attributed.",
    )
    TARGET_TOPIC_RECREATED = (
        "TARGET_TOPIC_RECREATED",
        "A target topic has another topic id than when it was copied.",
    )
    # Answers for an interval
    INTERVAL_NOT_COPIED = "INTERVAL_NOT_COPIED", "Records of the interval are not copied yet."
    INTERVAL_NOT_VALIDATED = (
        "INTERVAL_NOT_VALIDATED",
        "Records of the interval are copied, but no run has judged the copy yet.",
    )
    INTERVAL_NOT_RETAINED = (
        "INTERVAL_NOT_RETAINED",
        "The source deleted records of the interval before they were copied, or before anybody asked where it begins.",
    )
    # Moving the consumer groups
    ALREADY_CUT_OVER = (
        "ALREADY_CUT_OVER",
        "The topics were cut over: their consumers read on the target; only mode validate is allowed for them.",
    )
    FENCE_MOVING = "FENCE_MOVING", "Records still arrived at the source after its producers should have stopped."
    FENCE_OPEN_TRANSACTION = (
        "FENCE_OPEN_TRANSACTION",
        "A transaction is still open on a source partition that should stand still.",
    )
    GROUP_ACTIVE = "GROUP_ACTIVE", "A consumer group still has members, so its offsets cannot be moved."
    GROUP_IN_LATER_CUTOVER = (
        "GROUP_IN_LATER_CUTOVER",
        "A consumer group reads topics that this cutover moves and others that it leaves on the source.",
    )
    GROUP_OFFSETS_LOST = (
        "GROUP_OFFSETS_LOST",
        "A consumer group that an earlier cutover left behind has lost its offsets on the source since.",
    )
    STALE_TARGET_OFFSET = (
        "STALE_TARGET_OFFSET",
        "A consumer group has an offset on a target partition where it has none on the source.",
    )
    MOVED_TOPIC_CHANGED = (
        "MOVED_TOPIC_CHANGED",
        "A topic that was cut over is not as it was left, so groups that stayed behind cannot be moved over it.",
    )
    GROUPS_NOT_DRAINED = (
        "GROUPS_NOT_DRAINED",
        "Consumer groups did not finish reading on the source within cutover.drain_groups.",
    )
    OFFSETS_REWOUND = (
        "OFFSETS_REWOUND",
        "A consumer group stands further on the target than where it would be put, so it would read records again.",
    )
    OFFSET_NEVER_COMMITTED = (
        "OFFSET_NEVER_COMMITTED",
        "A group committed nothing on a partition; it is left unset on the target.",
    )
    OFFSET_BEYOND_END = "OFFSET_BEYOND_END", "A group committed an offset beyond the end of the source partition."
    OFFSET_AHEAD_OF_COPY = (
        "OFFSET_AHEAD_OF_COPY",
        "A group has read further on the source than the copy reaches.",
    )
    OFFSET_UNPROVED = (
        "OFFSET_UNPROVED",
        "It could not be proved that a group goes on with the same record on the target.",
    )
    OFFSETS_NOT_WRITTEN = (
        "OFFSETS_NOT_WRITTEN",
        "A cluster did not take a group's offsets, or holds others than were written.",
    )
    TARGET_OFFSETS_CHANGED = (
        "TARGET_OFFSETS_CHANGED",
        "A group's offsets where they are to be written are neither those recorded before nor the proposed ones.",
    )
    OFFSET_STAYS = "OFFSET_STAYS", "An offset that the cutover wrote stays on the target, where there was none before."
    GROUP_NOT_MOVED = (
        "GROUP_NOT_MOVED",
        "A group has offsets on both sides and was moved by no cutover, so a rollback leaves it as it is.",
    )
    NOTHING_TO_ROLL_BACK = "NOTHING_TO_ROLL_BACK", "A rollback was asked for, and nothing is cut over."
    TARGET_ONLY_RECORDS = (
        "TARGET_ONLY_RECORDS",
        "The target holds records of a topic that was cut over which the source does not have.",
    )
    HOOK_NOT_FOUND = "HOOK_NOT_FOUND", "A function that the migration file names as a hook cannot be imported."
    APPROVAL_REFUSED = "APPROVAL_REFUSED", "A person rejected the plan; nothing was written."
    APPROVAL_TIMED_OUT = "APPROVAL_TIMED_OUT", "Nobody answered in time; that is no approval."
    APPROVAL_STALE = (
        "APPROVAL_STALE",
        "The plan changed after the approval was asked for; the question shows another plan.",
    )
    EVIDENCE_CHANGED = (
        "EVIDENCE_CHANGED",
        "What the run relies on is not what it was: a document of its evidence was changed, deleted or added, or the "
        "clusters changed after the approval.",
    )
    FOUR_EYES = (
        "FOUR_EYES",
        "The person who approved is the one who triggered the run, or Airflow cannot tell that they are two.",
    )
    NOT_AN_APPROVER = "NOT_AN_APPROVER", "The person who approved is not one whom `cutover.approvers` names."
    # Runs and evidence
    MIGRATION_UNKNOWN = "MIGRATION_UNKNOWN", "The evidence store knows no migration of this name."
    EVIDENCE_UNREADABLE = (
        "EVIDENCE_UNREADABLE",
        "A document in the evidence root is too large, nested too deeply, cut off, or of another form than expected.",
    )
    LEDGER_BROKEN = (
        "LEDGER_BROKEN",
        "An entry of the ledger is missing, was changed, or is there twice; nothing is started over such a ledger.",
    )
    EVIDENCE_ROOT_UNREACHABLE = (
        "EVIDENCE_ROOT_UNREACHABLE",
        "The command line cannot read or write the evidence root, or a file that it was given.",
    )
    AIRFLOW_MISSING = "AIRFLOW_MISSING", "The command line needs Airflow or a provider, and it cannot be imported."
    COMMAND_INVALID = "COMMAND_INVALID", "The command line was called with an argument that it does not understand."
    COMMAND_FAILED = "COMMAND_FAILED", "The command line met an error that it does not expect."
    EVIDENCE_MISSING = "EVIDENCE_MISSING", "A document that an earlier task should have written is not there."
    CHECK_FAILED = (
        "CHECK_FAILED",
        "A check of preflight ended in an error that it does not know, so nobody can tell what it would have found.",
    )
    TASK_NOT_SUCCESSFUL = (
        "TASK_NOT_SUCCESSFUL",
        "A task of the run failed or was skipped without a recorded reason.",
    )
