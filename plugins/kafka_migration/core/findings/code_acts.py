"""The first thing to do about each code.

`docs/error-codes.md` shows these texts next to the meanings. They say whether anything was started, written or lost
if that is the same for every finding of the code. The remedy of each finding is more exact.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_migration.core.findings.codes import Code

_NOTHING_STARTED = "Nothing was started."
_AGAIN = 'the page "Runbook", section "A topic is copied again"'
_NOT_STARTED = "MirrorMaker was not started."
_LEFT_OUT = "Nothing was written for this group."
_WARNING = "Only a warning."

ACTS: Mapping[Code, str] = {
    # The migration file
    Code.MIGRATION_FILE_MISSING: "Put the file there, or correct `[kafka_migration] migrations_folder`. "
    f"{_NOTHING_STARTED}",
    Code.MIGRATION_FILE_INVALID: f"Correct the field that the finding names. {_NOTHING_STARTED}",
    Code.MIGRATION_FILE_EXISTS: "Use another name (`--prefix`, `--name`) or folder, or remove the file. No file was "
    "written.",
    Code.MIGRATION_FILE_NOT_WRITTEN: "Create the folder, or correct its permissions. No file was written.",
    Code.RUN_CONF_INVALID: f"Correct the field and trigger the run again. {_NOTHING_STARTED}",
    Code.NOT_SCHEDULED: "To mirror now, trigger `kafka_migration__<name>` in mode `sync`; without a section `nightly`, "
    f"pause the nightly DAG. {_NOTHING_STARTED}",
    Code.MIGRATIONS_OVERLAP: f"Remove the topic from the migration file that has not copied it. {_NOTHING_STARTED}",
    Code.PATTERN_MATCHES_NOTHING: f"Correct or remove the pattern, or grant Describe on the topics. {_NOTHING_STARTED}",
    Code.TOPIC_NAME_IMPOSSIBLE: "Only a warning. Find out what answers at the address of the source.",
    Code.TOPICS_TOO_MANY: f"Divide the topics among several migration files. {_NOTHING_STARTED}",
    Code.SOURCE_TOPIC_VANISHED: "If the topic was deleted on purpose, add an `exclude` item for it. Only a warning, "
    "but a rehearsal and a cutover are refused.",
    Code.TOPICS_REMOVED: "To continue their copy, add the topics again. Otherwise accept the code. Only a warning: "
    "their copies stay as they are.",
    Code.REPLICATION_LOOP: f"Remove the topic from one of the two files, or use prefixed names in both. "
    f"{_NOTHING_STARTED}",
    Code.AIRFLOW_TOO_OLD: f"Upgrade Airflow on all components. {_NOTHING_STARTED}",
    # Connections and clusters
    Code.CONNECTION_MISSING: "Create the connection, or correct its name in the migration file.",
    Code.CONNECTION_INVALID: "Correct the setting that the finding names.",
    Code.CONNECTION_INSECURE: "Correct the connection, or allow it in the migration file (`source.insecure`, "
    "`target.insecure`). Then it is only a warning.",
    Code.SECRET_NOT_MASKED: f"Give the account a longer password, and store it in the connection. {_WARNING}",
    Code.KAFKA_CLIENT_WITHOUT_KERBEROS: "Install confluent-kafka with Kerberos, or log in with SCRAM or a client "
    f"certificate. {_NOTHING_STARTED}",
    Code.CLUSTER_UNREACHABLE: "Check that the brokers run and that Airflow reaches their advertised listeners. Then "
    f"trigger the run again. {_NOTHING_STARTED}",
    Code.PROTOCOL_DIFFERS: "Set `security.protocol` in the connection to the protocol that the finding names, or use "
    "the address of another listener.",
    Code.CERTIFICATE_EXPIRED: "Renew the certificate. If it is valid, correct the clock of the Airflow worker.",
    Code.CERTIFICATE_NOT_YET_VALID: "Correct the clock of the Airflow worker. If it is right, wait or renew the "
    "certificate.",
    Code.CERTIFICATE_ENDS_SOON: f"{_WARNING} Renew the certificate in time.",
    Code.CERTIFICATE_ENDS_IN_RUN: "Renew the certificate in the connection, or shorten `watch.time_limit`. "
    f"{_NOTHING_STARTED}",
    Code.CERTIFICATE_OF_OTHER_HOST: "Use a host name from the certificate in `bootstrap.servers` and in the brokers' "
    "`advertised.listeners`.",
    Code.CERTIFICATE_NOT_TRUSTED: "Make sure that the address is right. Then set `ssl.ca.pem` to the certificate of "
    "the brokers' CA.",
    Code.CLIENT_CERTIFICATE_REFUSED: "Set `ssl.certificate.pem` and `ssl.key.pem` to a valid certificate of a CA that "
    "the brokers trust.",
    Code.MECHANISM_NOT_OFFERED: "Set `sasl.mechanism` to one that the finding names.",
    Code.KERBEROS_FAILED: "Check `/etc/krb5.conf`, `sasl.kerberos.service.name`, the Kerberos server and the clocks "
    "of the brokers.",
    Code.KERBEROS_KEYTAB_WRONG: "Test the keytab on the worker with `kinit -kt`, and correct `KRB5_CLIENT_KTNAME`.",
    Code.KERBEROS_TICKET_EXPIRED: "Renew the ticket: set `KRB5_CLIENT_KTNAME` to a keytab, or run `k5start`.",
    Code.KERBEROS_CLOCK_SKEW: "Correct the clock of the worker, or that of the Kerberos server.",
    Code.TOKEN_ENDPOINT_NOT_ALLOWED: "Correct the address, or add it to `token_endpoints` in Airflow's configuration.",
    Code.TOKEN_NOT_GIVEN: "Correct client id, secret and scope in the connection, and `https.ca.pem` if the endpoint's "
    "CA is not public.",
    Code.REGISTRY_REFUSED: "Correct address, login and `ssl.ca.pem` of the HTTP connection, or the user's rights. In "
    "preflight: nothing was started.",
    Code.REGISTRY_UNREACHABLE: f"Check that the registry runs and that Airflow reaches it. {_NOTHING_STARTED}",
    Code.MANAGER_REFUSED: "Correct address, login and `ssl.ca.pem` of the HTTP connection, or the user's rights.",
    Code.MANAGER_UNREACHABLE: "Check that the server runs and that this machine reaches it. Then try again.",
    Code.MANAGER_ANSWER_UNREADABLE: "Check the address of the HTTP connection. If it is right, use "
    "`kafka-migration discover` with `--preset` and `--bootstrap`.",
    Code.MANAGED_CLUSTER_UNKNOWN: "Pass one of the listed clusters with `--cluster`.",
    Code.LOGIN_REFUSED: "Correct user and password in the connection, or create the user on the cluster.",
    Code.RIGHT_MISSING: "Grant the right that the finding names to the user of the connection. `kafka-migration acls` "
    "prints all of them.",
    Code.ALERTS_INVALID: "Correct the notifier or the alerts file, or install the notifier's provider on the workers "
    f"and the triggerer. {_NOTHING_STARTED}",
    Code.CLUSTER_CHANGED: "Correct the connection so that it leads to the cluster of earlier runs, or write a "
    f"migration file with another name. {_NOTHING_STARTED}",
    Code.COPY_BASIS_CHANGED: "Set the field as in earlier runs, or write a migration file with another name. "
    f"{_NOTHING_STARTED}",
    Code.SAME_CLUSTER: f"Correct one of the two connections. {_NOTHING_STARTED}",
    # Topics
    Code.SOURCE_TOPIC_MISSING: "Correct the topic's name, or grant Describe on it. If the topic was deleted, keep the "
    "target topic: it holds the copied records.",
    Code.TOPIC_PARTITIONS_DIFFER: f"Recreate the topic on the target, or remove it from the migration. {_NOT_STARTED}",
    Code.TOPIC_CREATION_UNCLEAR: "If the records of the topic are not needed, delete it on the target; the next run "
    "creates it. Otherwise give the empty topic the settings of the finding, or take it out of the migration file.",
    Code.TOPIC_CONFIG_DIFFERS: "If the difference is not intended, run the command that the finding gives.",
    Code.TOPIC_NAME_COLLIDES: "Leave one of the topics out, or rename the copies with `mirror.topic_names`.",
    Code.REPLICATION_BELOW_MIN_INSYNC: "Raise `replication_factor`, or set `min.insync.replicas` in `configs`.",
    Code.RECORD_LIMIT_LOWER: "Raise `max.message.bytes` of the topic on the target.",
    Code.TARGET_RETENTION_SHORTER: "Raise the retention of the topic on the target until the cutover.",
    Code.TIMESTAMPS_LIMITED: "Remove the limit of the topic on the target until the cutover.",
    Code.RECORD_ABOVE_LIMIT: f"Raise `max.message.bytes` of the topics on the target (`configs`). {_NOTHING_STARTED}",
    Code.TARGET_COMPACTS: "Set `cleanup.policy` of the topic on the target (`configs`).",
    Code.REPLICATION_AT_MIN_INSYNC: "Raise `replication_factor`, or lower `min.insync.replicas`.",
    Code.TOPICS_AUTO_CREATED: "Set `auto.create.topics.enable` to `false` on the target until the cutover.",
    Code.KEYS_PARTITIONED_OTHERWISE: "Use engine `mirrormaker2`, which keeps partitions.",
    Code.OTHER_MIRRORMAKER: "Find out who runs it, and stop it before this migration copies the topics.",
    Code.TARGET_TOPIC_NOT_EMPTY: "Find out whose records these are before you delete the topic on the target. "
    f"{_NOT_STARTED}",
    Code.REPLICATION_FACTOR_TOO_HIGH: f"Lower `target.replication_factor`, or add brokers. {_NOTHING_STARTED}",
    Code.TARGET_TOPIC_MISSING: "Find out who deleted it. If MirrorMaker had not started yet, a new run creates it "
    "again. Otherwise copy the topic with a migration file of another name.",
    Code.TOPIC_NOT_CREATED: "Grant the permission that the broker names, or create the topic manually with the "
    f"source's partition count. {_NOT_STARTED}",
    Code.TOPIC_NOT_CONFIGURED: "Grant AlterConfigs and clear the task, or set the values manually. Records and offsets "
    "are not affected.",
    # The MirrorMaker host
    Code.SSH_UNREACHABLE: "Check that the host runs and that Airflow reaches it. A MirrorMaker process there continues "
    "until its lease expires.",
    Code.SSH_AUTH_FAILED: "Correct the user, key or password in the connection. The login was tried only once, so that "
    "no account is locked.",
    Code.SSH_HOST_KEY_UNKNOWN: "Compare the fingerprint with the one on the host itself. If they match, pin the key "
    "that the finding shows.",
    Code.SSH_HOST_KEY_CHANGED: "Find out why. Pin the new key only after you have checked its fingerprint on the host "
    "itself.",
    Code.HOST_ANSWERS_OTHERWISE: "Read the output in the finding. Correct the forced command of the key, the login "
    "shell or its start files. The task retries automatically.",
    Code.HOST_REPLY_UNREADABLE: "Check the network path, and the load and the disk of the host. The task retries "
    "automatically.",
    Code.HOST_REFUSED: "On the host, fix the problem that the message names (folder, permissions, disk space). Then "
    "trigger the run again.",
    Code.HOST_TOOL_MISSING: f"Install the tool on the host. {_NOT_STARTED}",
    Code.HOST_CANNOT_RESOLVE: "Add the lines that the finding shows to `/etc/hosts` on the host, or correct its DNS. "
    f"{_NOTHING_STARTED}",
    Code.HOST_CANNOT_CONNECT: "Check firewall and routes from the MirrorMaker host to the brokers that the finding "
    f"names. {_NOTHING_STARTED}",
    Code.HOST_DISK_FULL: f"Free space on the disk of the base folder. {_NOTHING_STARTED}",
    Code.HOST_FILE_LIMIT: f"Raise the limit `nofile` of the host's user, or lower `mirror.tasks`. {_NOTHING_STARTED}",
    Code.CLOCKS_DIFFER: f"{_WARNING} Let NTP set the clocks.",
    Code.TARGET_SPACE_TOO_SMALL: f"Add disks or brokers, or lower `target.replication_factor`. {_NOTHING_STARTED}",
    Code.QUOTA_SLOWS_MIRROR: f"{_WARNING} Raise the quota for the migration if the copy would take too long.",
    Code.SOURCE_TRANSACTION_OPEN: f"{_WARNING} End the transaction, or abort it if its producer no longer runs.",
    Code.FACT_UNKNOWN: f"{_WARNING} Do what the finding says; until then the check says nothing.",
    Code.JAVA_MISSING: f"Install Java on the host, or name its folder in `mirror.java_home`. {_NOT_STARTED}",
    Code.MM_BINARY_NOT_FOUND: f"Set `mirror.kafka_home` to the Kafka folder on the host. {_NOT_STARTED}",
    Code.RESERVED_BY: "Wait for the run that the finding names, or mark it failed. A run that fails with this code in "
    "`reserve` started nothing.",
    Code.NOT_RESERVED: "Wait for the run that holds the reservation, then trigger a new one. This task wrote nothing.",
    Code.ALREADY_RUNNING: "Mark the run that started it as failed, or clear only its task `stop_mirror`. No "
    "second process was started.",
    Code.GENERATION_STOPPED: f"Trigger a new run: this start came too late. {_NOT_STARTED}",
    Code.GENERATION_UNEXPECTED: "Check that the connection uses the host, the user and the work folder of the "
    f"earlier runs. {_NOT_STARTED}",
    Code.HOST_LOCKED: "Wait: the task retries automatically. If the lock remains, look on the host for the process "
    "that the message names.",
    # MirrorMaker and its settings
    Code.MIRROR_VERSION_UNKNOWN: f"Run MirrorMaker from a Kafka 3.9 release (`mirror.kafka_home`). {_NOT_STARTED}",
    Code.MIRROR_VERSION_UNTESTED: "If it is a warning: nothing, the copy is validated as usual. Otherwise run "
    "MirrorMaker from a tested release (`mirror.kafka_home`).",
    Code.MIRROR_JAVA_TOO_OLD: f"Set `mirror.java_home` to a newer Java on the host. {_NOT_STARTED}",
    Code.MIRROR_KEY_UNSUPPORTED: f"Run MirrorMaker from a Kafka 3.9 release (`mirror.kafka_home`). {_NOT_STARTED}",
    Code.MIRROR_KAFKA_TOO_OLD: f"Run MirrorMaker from Kafka 3.9.1 or newer (`mirror.kafka_home`). {_NOT_STARTED}",
    Code.MIRROR_SETTING_UNSAFE: "Lower the setting, or raise `max.message.bytes` of the topics on the target. "
    f"{_NOT_STARTED}",
    Code.BROKERS_TOO_OLD: f"Run MirrorMaker from a Kafka 3.9 release (`mirror.kafka_home`). {_NOT_STARTED}",
    Code.MM1_REMOVED: "Run it from a Kafka 3.9 release (`mirror.kafka_home`), or choose engine `mirrormaker2`. "
    f"{_NOT_STARTED}",
    Code.TOPIC_NEVER_COPIED: "Change engine or names as the finding says, or remove the topic from the file. "
    f"{_NOTHING_STARTED}",
    # Mirroring
    Code.MIRROR_DEAD: "Fix the cause that the exception in the finding names, then trigger the run again. MirrorMaker "
    "is not running. Copied records are kept.",
    Code.MIRROR_OUT_OF_MEMORY: "Raise `mirror.heap_mb`, then trigger the run again. Copied records are kept.",
    Code.MIRROR_HOST_OUT_OF_MEMORY: "Free memory on the host, raise the limits of its user (`ulimit -a`), or lower "
    "`mirror.heap_mb`, then trigger the run again. Copied records are kept.",
    Code.MIRROR_SETTING_REFUSED: "Correct the setting in MirrorMaker's words (`mirror.properties` or the connection), "
    "then trigger the run again.",
    Code.MIRROR_TOPIC_UNFIT: "Correct or delete the topic as the finding says, then trigger the run again. Copied "
    "records are kept.",
    Code.MIRROR_TASK_FAILED: "Fix the cause that the finding names, then trigger the run again. Copied records are "
    "kept.",
    Code.MIRROR_STALLED: "Fix the likely cause at the end of the finding, then trigger the run again. Copied records "
    "are kept.",
    Code.MIRROR_TIMEOUT: "Trigger the run again to continue, or raise `watch.time_limit`. Copied records are kept.",
    Code.UNREACHABLE: "Check that the service in the finding runs and that Airflow reaches its address. "
    "MirrorMaker was stopped, or stops when its lease expires. Copied records are kept.",
    Code.STOP_REQUESTED: "Start the producers again if they were stopped, and trigger a new cutover later. No group "
    "was touched.",
    Code.CUTOVER_ABORTED: "Start the producers on the source again if they were stopped, and trigger a new cutover "
    "later. No group was touched.",
    Code.NOTHING_TO_STOP: "Run `kafka-migration status`. To stop a run that has not started MirrorMaker yet, "
    "mark it failed.",
    Code.BEHIND: "Let the next run continue; copied records are kept. If the lag grows every night, use a longer "
    "window, more `mirror.tasks`, or mode `sync` at a quiet time.",
    Code.MIRROR_NOT_STOPPED: "Check the process on the MirrorMaker host. Do not start another run before it has ended.",
    Code.RECORD_TOO_LARGE: "Raise the limit that the finding names, or remove the topic from the migration file so "
    "that the others continue. Then trigger the run again.",
    Code.RECORD_WITHOUT_KEY: "Set `cleanup.policy` of the topic on the target to `delete` until the cutover, or remove "
    "the topic from the migration file so that the others continue.",
    Code.RECORD_TIME_REFUSED: "Remove the target topic's limit if the finding names one. Otherwise remove the topic "
    "from the migration file so that the others continue.",
    Code.PARTITION_NOT_ASSIGNED: "Grant Describe on the topic to MirrorMaker's user, or find the reason in its log. "
    "Copied records are kept.",
    Code.CONFIG_NOT_EFFECTIVE: "Find out what else writes to MirrorMaker's configuration topic, and stop it before "
    "the next run.",
    Code.GAP: "Raise the source's retention now and delete nothing. The range in the finding was never copied; the "
    f"target holds the only copy of earlier records. {_NOT_STARTED}",
    Code.GAP_DURING_RUN: "Raise the source's retention now and delete nothing. The finding of "
    "`stop_mirror` has the range that is missing from the copy. MirrorMaker is stopped.",
    Code.SOURCE_TOPIC_RECREATED: "Find out who recreated it. Delete nothing: the target may hold the only copy. After "
    "a cutover, remain on the target. To copy the other topics, remove this one from the migration file.",
    Code.STALE_MIRROR_STATE: "If the finding ends with a command, run it once nothing uses these positions. "
    f"Otherwise copy the topic with a migration file of another name. {_NOT_STARTED}",
    Code.POSITION_MISSING: "If the finding ends with a command, run it. Otherwise copy the topic with a "
    f"migration file of another name. {_NOT_STARTED}",
    Code.SOURCE_TRUNCATED: "Delete nothing: the target holds the lost records. Copy the topic with a migration file of "
    f"another name. {_NOT_STARTED}",
    Code.POSITION_BEYOND_END: "Find out who deleted and recreated the source topic. Copy it with a migration file of "
    f"another name. {_NOT_STARTED}",
    Code.POSITION_CHANGED: "Find out what changed MirrorMaker's position, and reset it to the certified position. "
    f"{_NOT_STARTED}",
    Code.TARGET_WRITTEN_BY_OTHERS: "Find and stop the client that writes to the target topic or recreated it. Then "
    f"copy the topic with a new migration file ({_AGAIN}). {_NOT_STARTED}",
    # Validation
    Code.SPARK_CONNECTION_MISSING: f"Create the connection, or correct its name. {_NOTHING_STARTED}",
    Code.SPARK_NOT_PROTECTED: "Enable Spark's authentication and encryption, or declare in the migration file that "
    f"the cluster is isolated. {_NOTHING_STARTED}",
    Code.SPARK_CIPHER_WEAK: "Use TLS or a newer Spark with AES/GCM/NoPadding, or accept the code in the migration "
    f"file. {_NOTHING_STARTED}",
    Code.SPARK_LOGIN_SHIPPED: f"Set `deploy-mode` of the Spark connection to `client`. {_NOTHING_STARTED}",
    Code.SPARK_KAFKA_TOO_OLD: f"Set a newer `kafka-clients` in `[kafka_migration] spark_jars`. {_NOTHING_STARTED}",
    Code.SPARK_VERSION_MISMATCH: "Correct the version that the finding names (installation, Spark). The "
    "copy is unchanged.",
    Code.EVIDENCE_ROOTS_DIFFER: f"Correct one of the two settings, or remove `spark_evidence_root`. {_NOTHING_STARTED}",
    Code.EVIDENCE_ROOT_LOCAL: "Set the evidence root to an object store, or the connection's deploy mode to `client`. "
    f"{_NOTHING_STARTED}",
    Code.SPARK_FAILED: "Read the preceding lines of the task log, then clear the task with downstream. The copy is "
    "unchanged.",
    Code.RECORDS_DELETED_MEANWHILE: "Clear the task with downstream: it then reads only the remaining records. If it "
    "happens again, increase the topic's retention. The copy is unchanged.",
    Code.VALIDATION_RESULT_MISSING: "Check that Airflow and Spark see the same evidence root, then clear the task with "
    "downstream. Nothing was judged or moved.",
    Code.VALIDATION_PENDING: "Let the next run validate it, or clear `validate_topics` with downstream to do it now. "
    "The copy is complete but not validated yet.",
    Code.COPY_DIFFERS: "Do not move any group. Inspect both clusters with the commands in the finding. Find the cause, "
    f"then copy the topic with a new migration file ({_AGAIN}).",
    Code.SCHEMA_MISSING: "Copy the schemas with their ids to the target's registry, then clear `judge` with "
    "downstream. Do not move consumers before that. The copy itself is not affected.",
    Code.SCHEMA_DIFFERS: "Use a target registry whose ids come from the source's registry. Do not move consumers "
    "before that. The copy itself is not affected.",
    Code.SCHEMA_IDS_UNKNOWN: "Check the connection of the source's registry. If these records have no schema ids, "
    "leave them out with `schema_registry.parts`. A warning, except in a cutover or rehearsal.",
    Code.SCHEMA_IDS_NOT_READ: "Trigger a run in mode `validate`. A warning, except in a cutover or rehearsal.",
    Code.TIMESTAMPS_NOT_COMPARED: f"{_WARNING} If timestamps do not matter, set `timestamps: false` in the item "
    "of `topics`. Then the verdict is `PASS`.",
    Code.RECORDS_WITHOUT_TIMESTAMP: f"{_WARNING} Consumers of the target see the time of the copy. If that does not "
    "matter, set `timestamps: false` in the item of `topics`. Then the verdict is `PASS`.",
    Code.KEYS_IN_SEVERAL_PARTITIONS: f"{_WARNING} No action is needed.",
    Code.RECORDS_REPLAYED: f"{_WARNING} Inform the owners of consumers on the target that they receive these records "
    "twice.",
    Code.RECORDS_COMPACTED: f"{_WARNING} No action is needed.",
    Code.ORDER_NOT_COMPARED: f"{_WARNING} If that order matters, trigger mode `validate` when less is compacted.",
    Code.ABORTED_RECORDS_COPIED: f"{_WARNING} With `mirror.isolation_level: read_committed`, later runs skip such "
    "records.",
    Code.RECORDS_NOT_VERIFIABLE: "The finding names what could not be read or matched. When that is fixed, trigger "
    "mode `validate`. Until then, do not move a group that reads the topic.",
    Code.RECORD_UNREADABLE: "The finding names the record. Leave its topic out of the run and move its groups by hand, "
    "or wait until the source no longer holds such records and copy the topic again.",
    Code.TARGET_TOPIC_RECREATED: "Find out who recreated it. Its content is not the copy: copy the topic with a "
    "migration file that has another name. Remove it from this file to copy the others. MirrorMaker was stopped or not "
    "started.",
    # Answers for an interval
    Code.INTERVAL_NOT_COPIED: "Let the next nightly run copy it, then ask again with `--reprocess-behavior completed`.",
    Code.INTERVAL_NOT_VALIDATED: "Let the next run validate it, then ask again with `--reprocess-behavior completed`.",
    Code.INTERVAL_NOT_RETAINED: "The source has deleted these records; they cannot be validated any more. Run the "
    "nightly DAG more often than the source deletes.",
    # Moving the consumer groups
    Code.ALREADY_CUT_OVER: "Pause the schedules of this migration, or choose topics that are not cut over. Nothing was "
    "started; only mode `validate` is allowed.",
    Code.FENCE_MOVING: "Stop the producers that write to the named partitions, then trigger a new cutover. Until then, "
    "clients may continue on the source. No group was touched.",
    Code.FENCE_OPEN_TRANSACTION: "Let its producer end the transaction. If that producer no longer runs, abort it with "
    "the command in the finding. Then trigger a new cutover. No group was touched.",
    Code.GROUP_ACTIVE: f"Stop the consumers that the finding names, then trigger a new run. {_LEFT_OUT}",
    Code.GROUP_UNREADABLE: "Grant the missing right, or repair the group's coordinator, and trigger a new run. Of a "
    f"group without an id set the offsets manually, under a new id. {_LEFT_OUT}",
    Code.GROUP_IN_LATER_CUTOVER: "Nothing: the cutover of the group's last topic moves it. Until then its consumers "
    "continue on the source.",
    Code.GROUP_OFFSETS_LOST: "Set the group's offsets manually. `offsets-before-source.csv` of that cutover has its "
    "offsets on the source. The group was left unchanged.",
    Code.STALE_TARGET_OFFSET: "Find out who committed it. Delete it on the target, or let the group commit on the "
    f"source. {_LEFT_OUT}",
    Code.MOVED_TOPIC_CHANGED: "Manually move groups that remain on the source and read this topic. Other groups are "
    f"not affected. {_LEFT_OUT}",
    Code.GROUPS_NOT_DRAINED: "Let the groups continue on the source and trigger the cutover again, or exclude the "
    "groups that did not finish. No group was touched.",
    Code.OFFSETS_REWOUND: "Find out who committed for the group on the target. If this is intended, add the group to "
    f"`cutover.may_rewind`. {_LEFT_OUT}",
    Code.OFFSET_NEVER_COMMITTED: "Start the consumers of the group before the producers: with "
    "`auto.offset.reset=latest` it may miss records that are written before it reads there. `cutover.uncommitted` sets "
    "an offset instead, also if the group was left out.",
    Code.UNREAD_RECORDS_DELETED: "Nothing on the clusters: neither of them has the records. If the group needs them, "
    "produce them again from another copy of the data.",
    Code.OFFSETS_KEPT_ELSEWHERE: "Ask the owner of the application. Do what the finding says before the application "
    "starts on the target. The offsets of the group are moved all the same.",
    Code.OFFSET_BEYOND_END: "Set the group's offset on the source to where it should continue, then trigger a new run. "
    f"{_LEFT_OUT}",
    Code.OFFSET_AHEAD_OF_COPY: "In a rehearsal, nothing. In a cutover, find out what wrote to the source after its "
    f"producers had stopped. {_LEFT_OUT}",
    Code.OFFSET_UNPROVED: f"Follow the end of the finding: stop its consumers, or validate the whole copy. {_LEFT_OUT}",
    Code.OFFSETS_NOT_WRITTEN: "First check the group's current offsets. `offsets-before-*.csv` has its previous ones. "
    "Clearing the task is safe.",
    Code.TARGET_OFFSETS_CHANGED: "Find out who commits for the group before you trigger a new run. Nothing was written "
    "for it. In a rollback's plan it is only a warning.",
    Code.OFFSET_STAYS: f"{_WARNING} If the group must not continue from this offset, delete it with "
    "`kafka-consumer-groups --delete-offsets`.",
    Code.GROUP_NOT_MOVED: f"Move the group manually if it should follow the others. {_LEFT_OUT}",
    Code.NOTHING_TO_ROLL_BACK: "Nothing: the source is the source of truth. If `sync_offsets` failed after it moved "
    "groups, see `OFFSETS_NOT_WRITTEN`. Nothing was changed.",
    Code.TARGET_ONLY_RECORDS: "Copy these records back with `reverse-migration.yaml` of the evidence, or give them up "
    "by adding the topic to `leave_records_of`. Nothing was written.",
    Code.HOOK_NOT_FOUND: "Correct the path. If the hook is `stop_producers`, no group was touched: trigger a new "
    "cutover. With the other hooks the groups have moved: clear the task with downstream.",
    Code.APPROVAL_REFUSED: "Ask the person who rejected it. Start the producers again where they were. Nothing was "
    "written.",
    Code.APPROVAL_TIMED_OUT: "Start the producers again where they were. Trigger a new run when an approver is "
    "available. Nothing was written.",
    Code.APPROVAL_STALE: "Trigger a new run; it asks about its own plan. Nothing was written.",
    Code.EVIDENCE_CHANGED: "The finding names the change: a document of the evidence, or records or offsets on the "
    "clusters. Find its cause and trigger a new run. This try wrote nothing; the finding says whether an earlier one "
    "may have.",
    Code.FOUR_EYES: "Clear `approve` with downstream and let another person answer. A run triggered on Airflow's "
    "command line with Airflow's own login cannot be approved: trigger a new one in the UI. Nothing was written.",
    Code.NOT_AN_APPROVER: "Clear `approve` with downstream and let a listed approver answer. Nothing was written.",
    # Runs and evidence
    Code.MIGRATION_UNKNOWN: "Correct the name, or pass the evidence root that Airflow writes to (`--evidence-root`). "
    "Nothing was changed.",
    Code.EVIDENCE_UNREADABLE: "Check the document that the finding names. Restore it from a backup, or "
    "trigger a new run.",
    Code.LEDGER_BROKEN: "Find out who wrote to the ledger's folder. Restore the whole folder from a backup.",
    Code.EVIDENCE_ROOT_UNREACHABLE: "Check that the location in the finding exists, and that the user of the "
    "task or the command has read and write access.",
    Code.EVIDENCE_NOT_WRITABLE: "Free space in the folder that the finding names, or give access to it. Then clear the "
    "task with downstream, or trigger a new run. MirrorMaker is stopped all the same.",
    Code.AIRFLOW_MISSING: "Run the command with Airflow's Python, or pass a local folder with `--evidence-root`.",
    Code.COMMAND_INVALID: "See `kafka-migration VERB --help`. Nothing was done.",
    Code.COMMAND_FAILED: "Report it with the whole line. Meanwhile use the Airflow UI.",
    Code.MIRROR_FILE_UNREADABLE: "Correct the path, name the kind of the file with `--kind`, or split the file.",
    Code.MIRROR_FILE_NOT_IMPORTED: "Name the flow with `--flow`, or change the patterns in a copy of the file.",
    Code.AIRFLOW_API_REFUSED: "Correct the address or the login, or give the user the right to trigger the DAG.",
    Code.AIRFLOW_API_UNREACHABLE: "Check that Airflow's API server runs and that this machine reaches it. A run that "
    "was already created keeps running.",
    Code.TRIGGER_NOT_CONFIRMED: "Look for the run id in Airflow. Trigger again only if there is no such run.",
    Code.EVIDENCE_MISSING: "Clear the task that the finding names with downstream, or trigger a new run.",
    Code.CHECK_FAILED: f"Read the whole error in the task log and report it. {_NOTHING_STARTED}",
    Code.TASK_NOT_SUCCESSFUL: "Read the log of the named task.",
}
