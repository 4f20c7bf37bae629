"""What a person does first about each code, for who looks one up in the middle of the night.

`docs/error-codes.md` shows these texts beside the meanings. They say whether anything was started, written or lost
where that is the same for every finding of the code; each finding's own remedy is more exact.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_migration.core.findings.codes import Code

_NOTHING_STARTED = "Nothing was started."
_NOT_STARTED = "MirrorMaker was not started."
_LEFT_OUT = "Nothing was written for this group."
_WARNING = "Only a warning."

ACTS: Mapping[Code, str] = {
    # The migration file
    Code.MIGRATION_FILE_MISSING: "Put the file there, or correct `[kafka_migration] migrations_folder`. "
    f"{_NOTHING_STARTED}",
    Code.MIGRATION_FILE_INVALID: f"Correct the field that the finding names. {_NOTHING_STARTED}",
    Code.MIGRATION_FILE_EXISTS: "Name another `--prefix` or folder, or remove the file. No file was written.",
    Code.RUN_CONF_INVALID: f"Correct the field and trigger the run again. {_NOTHING_STARTED}",
    Code.NOT_SCHEDULED: "To mirror now, trigger `kafka_migration__<name>` in mode `sync`; without a section `nightly`, "
    f"pause the nightly DAG. {_NOTHING_STARTED}",
    Code.MIGRATIONS_OVERLAP: f"Take the topic out of the file that has not copied it. {_NOTHING_STARTED}",
    Code.REPLICATION_LOOP: f"Take the topic out of one of the two files, or give both prefixed names. "
    f"{_NOTHING_STARTED}",
    # Connections and clusters
    Code.CONNECTION_MISSING: "Create the connection, or correct its name in the migration file.",
    Code.CONNECTION_INVALID: "Correct the setting, the login or the right that the finding names.",
    Code.CONNECTION_INSECURE: "Correct the connection; or allow it in the migration file (`source.insecure`, "
    "`target.insecure`), then it is a warning.",
    Code.KAFKA_CLIENT_WITHOUT_KERBEROS: f"Log in by SCRAM, PLAIN or a client certificate. {_NOTHING_STARTED}",
    Code.CLUSTER_UNREACHABLE: "Check that the brokers run, and that Airflow reaches their advertised addresses; then "
    f"trigger the run again. {_NOTHING_STARTED}",
    Code.ALERTS_INVALID: "Correct the notifier, or the alerts file, or install the notifier's provider on workers and "
    f"triggerer. {_NOTHING_STARTED}",
    Code.SAME_CLUSTER: f"Correct one of the two connections. {_NOTHING_STARTED}",
    # Topics
    Code.SOURCE_TOPIC_MISSING: "Correct the topic's name, or grant Describe on it. If somebody deleted it, keep the "
    "topic on the target: it holds what was copied.",
    Code.TOPIC_PARTITIONS_DIFFER: f"Recreate the topic on the target, or leave it out of the migration. {_NOT_STARTED}",
    Code.TARGET_TOPIC_NOT_EMPTY: "Find out whose records these are before you delete the topic on the target. "
    f"{_NOT_STARTED}",
    Code.REPLICATION_FACTOR_TOO_HIGH: f"Lower `target.replication_factor`, or add brokers. {_NOTHING_STARTED}",
    Code.TARGET_TOPIC_MISSING: "Find out who deleted it. Before MirrorMaker's start a new run creates it again; later "
    "copy the topic by a migration file with another name.",
    Code.TOPIC_NOT_CREATED: "Grant the right that the broker names, or create the topic by hand with the source's "
    f"number of partitions. {_NOT_STARTED}",
    Code.TOPIC_NOT_CONFIGURED: "Grant AlterConfigs and clear the task, or set the values by hand. No record and no "
    "offset is concerned.",
    # The MirrorMaker host
    Code.SSH_UNREACHABLE: "Check that the host runs and that Airflow reaches it. A MirrorMaker that runs there goes "
    "on, and stops when its lease is over.",
    Code.SSH_AUTH_FAILED: "Correct user, key or password in the connection. It was tried once, so that no account gets "
    "locked.",
    Code.SSH_HOST_KEY_UNKNOWN: "Compare the fingerprint on the host itself; if it is the same, pin the key that the "
    "finding shows.",
    Code.SSH_HOST_KEY_CHANGED: "Find out why. Pin the new key only if you saw its fingerprint on the host itself.",
    Code.HOST_REPLY_UNREADABLE: "Read what the host said instead: its login prints something, its disk is full, or it "
    "printed more than 8 MiB. The task tries again by itself.",
    Code.HOST_REFUSED: "Mend on the host what the message names (folder, rights, disk space), then run again.",
    Code.HOST_TOOL_MISSING: f"Install the tool on the host. {_NOT_STARTED}",
    Code.JAVA_MISSING: f"Install Java on the host, or name its folder in `mirror.java_home`. {_NOT_STARTED}",
    Code.MM_BINARY_NOT_FOUND: f"Name Kafka's folder on the host in `mirror.kafka_home`. {_NOT_STARTED}",
    Code.RESERVED_BY: "Wait for the run that the finding names, or mark it failed. A run that fails with it in "
    "`reserve` started nothing.",
    Code.NOT_RESERVED: "Wait for the run that acts now, and trigger a new one. This task wrote nothing.",
    Code.ALREADY_RUNNING: "Mark the run failed that started it, or clear its task `stop_mirror` and nothing else. No "
    "second one was started.",
    Code.GENERATION_STOPPED: f"Trigger a new run: this start came too late. {_NOT_STARTED}",
    Code.GENERATION_UNEXPECTED: "Make sure that the connection leads to the host, the user and the work folder of the "
    f"earlier runs. {_NOT_STARTED}",
    Code.HOST_LOCKED: "Wait: the task tries again by itself. If it stays, look on the host for the process that the "
    "message names.",
    Code.PROBE_TIMED_OUT: "Nothing: only the names of producers that still write are missing from the finding beside "
    "it.",
    # MirrorMaker and its settings
    Code.MIRROR_VERSION_UNKNOWN: f"Run MirrorMaker from a Kafka 3.9 release (`mirror.kafka_home`). {_NOT_STARTED}",
    Code.MIRROR_KEY_UNSUPPORTED: f"Run MirrorMaker from a Kafka 3.9 release (`mirror.kafka_home`). {_NOT_STARTED}",
    Code.MIRROR_KAFKA_TOO_OLD: f"Run MirrorMaker from Kafka 3.9.1 or 3.9.2 (`mirror.kafka_home`). {_NOT_STARTED}",
    Code.MIRROR_SETTING_UNSAFE: "Lower the setting, or raise `max.message.bytes` of the topics on the target. "
    f"{_NOT_STARTED}",
    Code.MM1_REMOVED: "Run it from a Kafka 3.9 release (`mirror.kafka_home`), or choose engine `mirrormaker2`. "
    f"{_NOT_STARTED}",
    Code.TOPIC_NEVER_COPIED: "Change engine or names as the finding says, or take the topic out of the file. "
    f"{_NOTHING_STARTED}",
    # Mirroring
    Code.MIRROR_DEAD: "Mend the cause that the log in the finding names, and trigger the run again. Nothing is "
    "running; what was copied stays.",
    Code.MIRROR_TASK_FAILED: "Mend the cause that the finding names, and trigger the run again. What was copied stays.",
    Code.MIRROR_STALLED: "Mend the likely cause that the finding ends with, and trigger the run again. What was copied "
    "stays.",
    Code.MIRROR_TIMEOUT: "Trigger the run again to go on, or raise `watch.time_limit`. What was copied stays.",
    Code.UNREACHABLE: "Find out whether what the finding names runs, and whether Airflow reaches its address. "
    "MirrorMaker was stopped, or is by its lease; what was copied stays.",
    Code.STOP_REQUESTED: "Start the producers again if they were stopped, and trigger a new cutover later. No group "
    "was touched.",
    Code.CUTOVER_ABORTED: "Start the producers on the source again if they were stopped, and trigger a new cutover "
    "later. No group was touched.",
    Code.NOTHING_TO_STOP: "Look at `kafka-migration status`. A run that has not started MirrorMaker yet is stopped by "
    "marking it failed.",
    Code.BEHIND: "Let the next run go on; what was copied is kept. If it grows from night to night: a longer window, "
    "more `mirror.tasks`, or mode `sync` at a quiet time.",
    Code.MIRROR_NOT_STOPPED: "Look at the process on the MirrorMaker host. Start no other run before it is gone.",
    Code.RECORD_TOO_LARGE: "Raise `max.message.bytes` of the topic on the target to at least the source's, and trigger "
    "the run again.",
    Code.PARTITION_NOT_ASSIGNED: "Look at MirrorMaker's log: its user may not describe the topic, or a task did not "
    "come up. What was copied stays.",
    Code.CONFIG_NOT_EFFECTIVE: "Find out what else writes into MirrorMaker's configuration topic, and end it before "
    "the next run.",
    Code.GAP: "Raise the source's retention now, and delete nothing: the range that the finding names is lost to this "
    f"copy, and the target holds the only copy of what came before. {_NOT_STARTED}",
    Code.GAP_DURING_RUN: "Raise the source's retention now, and delete nothing: the range that the finding names is "
    "lost to this copy. MirrorMaker is stopped.",
    Code.SOURCE_TOPIC_RECREATED: "Find out by whom, and delete nothing: the target may hold the only copy; after a "
    "cutover stay there. MirrorMaker was not started, and no group was moved.",
    Code.STALE_MIRROR_STATE: "Make sure that nothing uses these positions, and run the command that the finding ends "
    f"with. {_NOT_STARTED}",
    Code.POSITION_MISSING: "Run the command that the finding ends with, if it has one; else copy the topic by a "
    f"migration file with another name. {_NOT_STARTED}",
    Code.POSITION_BEYOND_END: "Find out who deleted and created the source topic; copy it by a migration file with "
    f"another name. {_NOT_STARTED}",
    Code.POSITION_CHANGED: "Find out what moved MirrorMaker's position; put it back to the certified one. "
    f"{_NOT_STARTED}",
    Code.TARGET_WRITTEN_BY_OTHERS: "Find what writes to the target topic, or created it again, and stop it. Then copy "
    f"the topic again by a migration file with another name (runbook, A topic is copied again). {_NOT_STARTED}",
    # Validation
    Code.SPARK_CONNECTION_MISSING: f"Create the connection, or correct its name. {_NOTHING_STARTED}",
    Code.SPARK_NOT_PROTECTED: "Switch on Spark's authentication and encryption, or declare in the migration file that "
    f"nobody else reaches the cluster. {_NOTHING_STARTED}",
    Code.SPARK_KAFKA_TOO_OLD: f"Name a newer `kafka-clients` in `[kafka_migration] spark_jars`. {_NOTHING_STARTED}",
    Code.EVIDENCE_ROOTS_DIFFER: f"Correct one of the two settings, or leave out `spark_evidence_root`. "
    f"{_NOTHING_STARTED}",
    Code.EVIDENCE_ROOT_LOCAL: "Set the evidence root to an object store, or the connection's deploy mode to `client`. "
    f"{_NOTHING_STARTED}",
    Code.SPARK_FAILED: "Read the lines of the task's log before it; then clear the task with downstream. The copy is "
    "as it was.",
    Code.RECORDS_DELETED_MEANWHILE: "Clear the task with downstream: it then knows what is left. Lengthen the topic's "
    "retention if it happens again. The copy is as it was.",
    Code.VALIDATION_RESULT_MISSING: "Check that Airflow and Spark see the same evidence root, then clear the task with "
    "downstream. Nothing was judged or moved.",
    Code.VALIDATION_PENDING: "Let the next run validate it, or clear `validate_topics` with downstream to do it now. "
    "The copy is made, and not proved yet.",
    Code.COPY_DIFFERS: "Move no group, and look at both sides with the commands of the finding. Find the cause, then "
    "copy the topic again by a migration file with another name (runbook, A topic is copied again).",
    Code.TIMESTAMPS_NOT_COMPARED: f"{_WARNING} If timestamps do not matter, say so in `validation.timestamps`: then "
    "the verdict is `PASS`.",
    Code.KEYS_IN_SEVERAL_PARTITIONS: f"{_WARNING} Nothing is to be done.",
    Code.RECORDS_REPLAYED: f"{_WARNING} Tell the owners of consumers on the target that they get these records twice.",
    Code.RECORDS_COMPACTED: f"{_WARNING} Nothing is to be done.",
    Code.ORDER_NOT_COMPARED: f"{_WARNING} Trigger mode `validate` when less is compacted, if that order matters.",
    Code.ABORTED_RECORDS_COPIED: f"{_WARNING} With `mirror.isolation_level: read_committed` later runs leave such "
    "records out.",
    Code.RECORDS_NOT_VERIFIABLE: "Read in the finding what could not be told. If it can be now, trigger mode "
    "`validate`; until then move no group.",
    Code.TARGET_TOPIC_RECREATED: "Find out by whom. What is in it is not what was copied: copy the topic by a "
    f"migration file with another name. {_NOT_STARTED}",
    # Answers for an interval
    Code.INTERVAL_NOT_COPIED: "Let the next nightly run copy it, then ask again with `--reprocess-behavior completed`.",
    Code.INTERVAL_NOT_VALIDATED: "Let the next run validate it, then ask again with `--reprocess-behavior completed`.",
    Code.INTERVAL_NOT_RETAINED: "Nothing brings it back: the source has deleted it, so it stays unproved. Let nightly "
    "runs come more often than the source deletes.",
    # Moving the consumer groups
    Code.ALREADY_CUT_OVER: "Pause the schedules of this migration, or name topics that are left. Nothing was started; "
    "only mode `validate` is allowed.",
    Code.FENCE_MOVING: "Stop the producers that the finding names and trigger a new cutover; until then all may go on "
    "at the source. No group was touched.",
    Code.FENCE_OPEN_TRANSACTION: "Let its producer end the transaction, or abort it, and trigger a new cutover. No "
    "group was touched.",
    Code.GROUP_ACTIVE: f"Stop the consumers that the finding names, then trigger a new run. {_LEFT_OUT}",
    Code.GROUP_IN_LATER_CUTOVER: "Leave it: the cutover that takes the last of its topics moves it. Its consumers read "
    "on at the source.",
    Code.GROUP_OFFSETS_LOST: "Set the group's offsets by hand; `offsets-before-source.csv` of that cutover has what it "
    "had on the source. The group was left as it is.",
    Code.STALE_TARGET_OFFSET: "Find out who committed it; delete it on the target, or let the group commit on the "
    f"source. {_LEFT_OUT}",
    Code.MOVED_TOPIC_CHANGED: "Move groups that stayed behind and read this topic by hand; other groups are not "
    f"concerned. {_LEFT_OUT}",
    Code.GROUPS_NOT_DRAINED: "Let its consumers read on at the source and trigger the cutover again, or take the group "
    "out of it. No group was touched.",
    Code.OFFSETS_REWOUND: "Find out who committed for the group on the target; if it is meant, name the group in "
    f"`cutover.may_rewind`. {_LEFT_OUT}",
    Code.OFFSET_NEVER_COMMITTED: "As a rule nothing: there the group begins where its `auto.offset.reset` says. If the "
    "group was left out, say so in `cutover.uncommitted`.",
    Code.OFFSET_BEYOND_END: "Set the group's offset on the source to where it shall go on, then trigger a new run. "
    f"{_LEFT_OUT}",
    Code.OFFSET_AHEAD_OF_COPY: "In a rehearsal nothing. In a cutover find out what wrote to the source after its "
    f"producers had stopped. {_LEFT_OUT}",
    Code.OFFSET_UNPROVED: f"Do what the finding ends with: stop its consumers, or validate the whole copy. {_LEFT_OUT}",
    Code.OFFSETS_NOT_WRITTEN: "Look where the group stands before anything else; what stood there before is in "
    "`offsets-before-*.csv`. Clearing the task is safe.",
    Code.TARGET_OFFSETS_CHANGED: "Find out who commits for the group before you trigger a new run. Nothing was written "
    "for it; in a rollback's plan it is only a warning.",
    Code.OFFSET_STAYS: f"{_WARNING} Delete the offset with `kafka-consumer-groups --delete-offsets` if the group must "
    "not go on from there.",
    Code.GROUP_NOT_MOVED: f"Move the group by hand if it is to follow the others. {_LEFT_OUT}",
    Code.NOTHING_TO_ROLL_BACK: "Nothing: consumers and truth are on the source. Nothing was changed.",
    Code.TARGET_ONLY_RECORDS: "Copy these records back by `reverse-migration.yaml` of the evidence, or let go of them "
    "by naming the topic in `leave_records_of`. Nothing was written.",
    Code.HOOK_NOT_FOUND: "Correct the path. If the hook is `stop_producers`, trigger a new cutover: no group was "
    "touched; with the others the groups have moved: clear the task with downstream.",
    Code.APPROVAL_REFUSED: "Ask who rejected it; start the producers again where they were. Nothing was written.",
    Code.APPROVAL_TIMED_OUT: "Start the producers again where they were, and trigger a new run when somebody can "
    "answer. Nothing was written.",
    Code.APPROVAL_STALE: "Trigger a new run; it asks about its own plan. Nothing was written.",
    Code.EVIDENCE_CHANGED: "The finding names what changed: a document of the evidence, or what somebody writes or "
    "commits on the clusters. Find out who does it, and trigger a new run. This try wrote nothing; the finding says "
    "whether an earlier one may have.",
    Code.FOUR_EYES: "Clear `approve` with downstream, and let another person answer. A run that was triggered on "
    "Airflow's command line under Airflow's own login cannot be approved: trigger a new one in the UI. Nothing was "
    "written.",
    Code.NOT_AN_APPROVER: "Clear `approve` with downstream, and let a person answer whom the file names. Nothing was "
    "written.",
    # Runs and evidence
    Code.MIGRATION_UNKNOWN: "Correct the name, or name the evidence root that Airflow writes to (`--evidence-root`). "
    "Nothing was changed.",
    Code.EVIDENCE_UNREADABLE: "Look at the document that the finding names. Restore it from a backup, or "
    "trigger a new run.",
    Code.LEDGER_BROKEN: "Find out who wrote to the ledger's folder. Restore the folder as a whole from a backup.",
    Code.EVIDENCE_ROOT_UNREACHABLE: "See whether the place that the finding names exists, and whether the user of the "
    "command may read and write there.",
    Code.AIRFLOW_MISSING: "Run the command with the Python of Airflow, or name a plain folder with `--evidence-root`.",
    Code.COMMAND_INVALID: "Look at `kafka-migration VERB --help`. Nothing was done.",
    Code.COMMAND_FAILED: "Report it with the whole line. Look at Airflow's own pages meanwhile.",
    Code.EVIDENCE_MISSING: "Clear the run from the task that the finding names on, or trigger a new run.",
    Code.CHECK_FAILED: f"Read the task's log, which has the whole error, and report it. {_NOTHING_STARTED}",
    Code.TASK_NOT_SUCCESSFUL: "Read the log of the task that is named.",
}
