"""What to do if the first step of a code is not enough; the rows of the codes name these texts.

The texts are Markdown without links: `kafka-migration explain` prints them, and the manual shows them at the code.
"""

from __future__ import annotations

_LEAVE_OUT = (
    "The other topics continue after you removed this one from `topics`; for a topic that a pattern takes, add an item "
    "`exclude`."
)
_SECOND_FILE = "a second migration file to a different target name (`mirror.topic_names`)"

# After a wrong copy. The ledger forgets nothing, so the topic needs another ledger.
COPY_AGAIN = (
    "1. Find and stop the cause, such as a client that writes to the target topic. Make sure that no consumer reads "
    "the topic on the target.\n"
    "2. Make sure that no run is active, and pause the nightly DAG of the old file.\n"
    "3. Remove the topic from the old file (from a pattern with an `exclude` item), or the file if it has no other "
    "topic.\n"
    "4. Check that the source still has every record; its retention may have deleted old ones. If records are gone, "
    "skip step 5, and copy into another name (`mirror.topic_names`).\n"
    "5. Delete only this topic on the target: `kafka-topics.sh --bootstrap-server <target> --delete --topic "
    "<topic>`.\n"
    "6. Write a new file under another name, for example `shop-2.yaml` with `name: shop-2`: this topic alone, the "
    "same connections and the same `cutover.groups`. If `mirror.topic_names` is `prefixed`, also set `source.alias` "
    "to the alias of the old file (default `<old name>-source`), so that the topic keeps its name on the target.\n"
    "7. Trigger `kafka_migration__shop-2` in mode `rehearse`. Its report must say `PASS`.\n"
    "8. Unpause the nightly DAGs.\n"
    "9. Cut over both files one after the other, and start the consumers only after the second. Each cutover moves "
    "a group only on the topics of its own file."
)

# Before a run starts
ACCEPTED_SETTINGS = (
    "The extra of a Kafka connection may have `bootstrap.servers`, `security.protocol`, `client.rack`, `ssl.ca.pem`, "
    "`ssl.certificate.pem`, `ssl.key.pem`, `ssl.key.password`, `ssl.endpoint.identification.algorithm` and "
    "`sasl.mechanism`.\n"
    "`PLAIN`, `SCRAM-SHA-256` and `SCRAM-SHA-512` need `sasl.username` and `sasl.password`.\n"
    "`GSSAPI` needs `sasl.kerberos.principal` and `sasl.kerberos.keytab`, and takes `sasl.kerberos.service.name`.\n"
    "`OAUTHBEARER` needs `sasl.oauthbearer.client.id`, `sasl.oauthbearer.client.secret` and "
    "`sasl.oauthbearer.token.endpoint.url`, and takes `sasl.oauthbearer.scope`, `sasl.oauthbearer.extensions`, "
    "`sasl.oauthbearer.method` and `https.ca.pem`.\n"
    "Settings that tune librdkafka, such as `socket.timeout.ms`, reach only Airflow's client.\n"
    "Everything else is refused."
)
ADVERTISED_ADDRESSES = (
    "Test from an Airflow worker: brokers redirect clients to their advertised addresses.\n"
    "If `validate_topics` reports it, nothing was judged: when the brokers are back, clear the task with downstream."
)
WITHOUT_ALERTS = (
    "To mirror tonight without alerts, write `alerts: {notifiers: []}` into the migration file and watch the run "
    "yourself."
)
WITH_KERBEROS = (
    "The packages of confluent-kafka on PyPI have no Kerberos.\n"
    "Build librdkafka with `--enable-gssapi --enable-curl --enable-zstd`, and install confluent-kafka of the same "
    "version from source on every worker and the triggerer: `pip install --no-binary confluent-kafka "
    "confluent-kafka`."
)
WHERE_AIRFLOW_WRITES = (
    "`airflow config get-value kafka_migration evidence_root`, as Airflow's user, shows where Airflow writes; without "
    "that setting it is `kafka_migration` below `AIRFLOW_HOME`."
)
ONLY_COPY = (
    "The target topic is the only copy of what was copied before; the next steps can wait until morning.\n"
    f"You can copy what the source still has with {_SECOND_FILE}."
)
LOST_POSITION = (
    "If you cannot restore the certified position, copy the topic with a second migration file into an empty topic."
)
NEW_SOURCE_TOPIC = (
    "Delete nothing: the target may hold the only copy of the old records.\n"
    f"Copy the new topic with {_SECOND_FILE}.\n{_LEAVE_OUT}"
)
FOREIGN_CLIENT = "Kafka cannot remove single records, so the whole topic must be copied again."
WHOSE_RECORDS = (
    "Consumers may read these records.\n"
    "When you know whose they are, use an empty topic; if the topic was ever copied, also use a second file.\n"
    "If a MirrorMaker of your own copied them under this name, no record of its copy can become part of the migration. "
    "Delete the copy if no application reads it, copy to other names (`mirror.topic_names`), or leave the topic out."
)
ADOPT_TOPIC = "After you gave the empty topic the settings that the finding names, the next run adopts it."
OTHER_HOST = (
    "Make sure that no MirrorMaker runs on the old host, then restore the old folder `<base folder>/<migration>`."
)
WHAT_ANSWERS = (
    "`ssh <user>@<host> true` with the key of the connection prints what the finding quotes.\n"
    "It must print nothing, or with mirrorctl as forced command one line `@@mirrorctl …`."
)
HOST_SYSTEM = (
    "The finding has the reason of the host's system, such as *No space left on device* or *Read-only file system*.\n"
    "A refused `stop` has still ended MirrorMaker, and says so.\n"
    "Fix the cause and clear the task."
)
NOT_RECORDED = (
    "MirrorMaker is stopped without a certificate.\n"
    "Fix the cause, then clear the failed tasks, first `stop_mirror`; the next run also certifies the stop."
)
HOLDER = (
    "The finding, or the log of `reserve`, names the holder.\n"
    "A holder that is no run is a person or a program on the host: let it call `mirrorctl release` with the same "
    "holder.\n"
    "The next run takes over the reservation of a run that has ended."
)

# While MirrorMaker runs, or may run
STILL_RUNS = (
    "There is no hurry: MirrorMaker continues to copy, no second one can start, and no group is moved.\n"
    "The host stops it when its lease ends: `mirror.lease`, by default 10 minutes, after the last renewal. Kafka "
    "Connect has no lease: `kafka-migration stop NAME --now` stops the connector, and the finding names the worker to "
    "ask.\n"
    "To stop it from Airflow, clear only the task `stop_mirror` of the run that started it, nothing downstream. "
    "Then clear `finish` of that run, which frees the reservation. If `watch_lag` of that run is still active, mark "
    "the run failed instead.\n"
    "On the host, `ps -ww -eo pid,user,stat,lstart,args | grep '[M]irrorMaker'` as root shows its processes. Their "
    "arguments contain `<base folder>/<migration>/gen-<n>`; those with `supervise` guard MirrorMaker. No process: "
    "clear `stop_mirror` of the run, or trigger the next run; either certifies the end.\n"
    "A `stat` that begins with `D` waits for a disk or a network folder: repair that, or reboot the host. Nothing "
    "starts automatically after a reboot.\n"
    "On a Kafka Connect cluster, the finding names the worker that did not prove its end. If its process is gone or "
    "hangs, end it there; one that is only cut off continues to copy.\n"
    "Start no run before the process has ended."
)
HOST_IS_SILENT = (
    "A host without a network cannot copy, and stops MirrorMaker when the lease ends.\n"
    "To check from outside, read the end offsets of a target topic twice, some minutes apart "
    "(`kafka-get-offsets.sh --bootstrap-server … --topic orders`).\n"
    "If they do not change while the source's grow, nothing is copied.\n"
    "When the host answers again, clear `stop_mirror`."
)
KEY_CHANGED = "Do not pin the new key only to continue: the lease stops a running MirrorMaker."
WHOLE_LOG = (
    "The complete log is on the host in `<base folder>/<migration>/gen-<n>/mirrormaker.log`; the base folder is "
    "`KAFKA_MIGRATION_HOME`, by default `~/.kafka-migration`."
)
NO_RESTART = (
    "`watch_lag` has used up `mirror.restarts`; with Kafka Connect there are three. It does not restart a MirrorMaker "
    "that was stopped by hand.\n"
    f"{WHOLE_LOG}"
)
SKIPPED_RECORDS = (
    "MirrorMaker skips deleted records, so the next run is not refused, but the topic's verdict remains `FAIL`.\n"
    "Raise the source's retention first; then proceed as for `GAP`."
)
ONE_RECORD = (
    "The finding names topic, partition and offset.\n"
    "`kafka-console-consumer.sh --partition <n> --offset <n> --max-messages 1` shows the record.\n"
    f"{_LEAVE_OUT}\n"
    "If the finding names no offset, the source was not read to the record within 30 seconds: copy fewer topics in one "
    "run (`topics`)."
)
TOO_LARGE = (
    f"{ONE_RECORD}\n"
    "MirrorMaker 1 may have lost records: it is killed, and the next start resets its position to the start of that "
    "generation."
)
OPEN_TRANSACTION = (
    "The run is good as far as it went; the next run copies the offsets once the transaction has ended.\n"
    "`kafka-transactions.sh describe-producers` (Kafka 3.0 and later) shows the producer id and since when the "
    "transaction is open."
)
LONGER_WINDOW = "For a longer window, set a later `nightly.until`."

# Validation and evidence
WRONG_COPY = (
    "The findings count the differences by label; `kafka-migration explain LABEL` says what each is.\n"
    "Trigger mode `validate` to read the copy again.\n"
    "If it is wrong, copy the topic again. After the cutover of the topic, roll back first: the target then holds "
    f"records that no other cluster has.\n\n{COPY_AGAIN}"
)
NOT_COMPARED = (
    "If records were deleted before they were compared, they remain unproved; raise the retention of that side.\n"
    "If a transaction is open, end it.\n"
    "If MirrorMaker was killed, a later run that ends in order validates these records again.\n"
    "If the target's range is longer than the source's, find out who else wrote to the topic."
)
BAD_RECORD = (
    "The finding names side, partition and offset of the record; the other topics were compared.\n"
    "Look at the record: `kcat -C -b <brokers> -t <topic> -p <partition> -o <offset> -c 1 -f '%T %k %s\\n'` shows "
    "its timestamp, key and value.\n"
    "If the timestamp is in nanoseconds or microseconds, correct the producer: windows of later runs are then "
    "compared.\n"
    "The windows with such records stay unproved: a cutover leaves the topic out. Move its groups by hand.\n"
    "If the record does not fit into memory, raise `spark.driver.memory` or `spark.executor.memory` in the Spark "
    "connection, and trigger mode `validate`.\n"
    "If the target's record is damaged, copy the topic again: `kafka-migration explain COPY_DIFFERS` has the steps."
)
MORE_TIME = "If it happens every night, set a later `nightly.validate_until`, or more executors."
TWO_SPELLINGS = "The finding shows both spellings of the place where Airflow looks for the result."
DOCUMENT_GONE = (
    "Do not add documents by hand.\n"
    "If the `ledger` folder is missing too, restore it from a backup; without it runs are refused."
)
WHOSE_ENTRIES = (
    "A MirrorMaker that the run started is stopped.\n"
    "If the finding says that Airflow did not announce entries and you trust every entry, an Airflow administrator "
    "runs the command in the finding.\n"
    "If only the newest entries are lost, the administrator deletes the variable `kafka_migration__<name>__ledger`, "
    "and the next finding has that command.\n"
    "The next run then accepts the ledger, and compares it with both clusters before it starts MirrorMaker.\n"
    "If the whole ledger is lost, that does not help: the next run takes the copy for another client's "
    "(`TARGET_TOPIC_NOT_EMPTY`, `STALE_MIRROR_STATE`)."
)

# Moving the groups, and afterwards
PRODUCER_GOES_ON = "Stop the forgotten producer, or start all producers again and cut over later."
TRANSACTION_GOES_ON = (
    "An open transaction of a producer that no longer runs ends after its `transaction.timeout.ms`.\n"
    "If it does not, the command in the finding aborts it (brokers from Kafka 3.0 on; ClusterAction on the cluster).\n"
    "If the last stable offset then stops at a higher offset, abort the transaction that starts there.\n"
    "If no transaction starts at that offset, the command changes nothing; `kafka-transactions.sh describe-producers` "
    "lists the open ones."
)
CATCH_UP = (
    "Start the producers on the source again, let the consumers catch up, and trigger a new cutover.\n"
    "Without `cutover.drain_groups` the groups continue on the target where they stopped."
)
COMMITTED_MEANWHILE = (
    "If the finding has offsets that `translate_offsets` did not see, the group committed while Spark searched: stop "
    "its consumers, and clear `translate_offsets` with downstream."
)
GROUP_RUNS = (
    "The group is left out and the others move.\n"
    "To move it too, answer *Reject*, stop the named consumers, and trigger a new cutover.\n"
    "If no such consumer runs, restart the broker that "
    "`kafka-consumer-groups.sh --describe --state --group <group>` names as coordinator."
)
FOREIGN_OFFSETS = (
    "Delete the offsets on the target (`kafka-consumer-groups --delete-offsets`) and trigger a new cutover.\n"
    "For `OFFSETS_REWOUND` you can instead name the group in `cutover.may_rewind`; it then reads records again."
)
BY_HAND = (
    "No run can move this group any more.\n"
    "`offsets-before-source.csv` of the earlier cutover has its source offsets.\n"
    "Stop its consumers, and set its offsets on the target with `kafka-consumer-groups --reset-offsets --to-datetime` "
    "to a time safely before its next record.\n"
    "If timestamps are out of order or set by the target, only `--to-earliest` certainly skips nothing."
)
PRODUCERS_AGAIN = "The stopped producers were on the source in a cutover, on the target in a rollback."
CHANGED_PLAN = (
    "If the finding names the approved plan, find who writes to the topics or commits for the groups.\n"
    "If it names a document, MirrorMaker was stopped: find out who can write to the evidence root. Documents cannot be "
    "repaired by hand."
)
OUTCOME_UNKNOWN = (
    "If the finding says that no group was moved, the source of truth has not changed.\n"
    "In every other case, also after *OUTCOME UNKNOWN* in `sync_offsets`, keep the group's consumers stopped, check "
    "with `kafka-consumer-groups --describe`, and compare with `offsets-before-target.csv` (in a `fail_back` rollback "
    "`offsets-before-source.csv`) and with the plan in the report.\n"
    "Then clear the task with downstream; it writes only where the offsets are the saved ones."
)
TOO_EARLY = "Stop that consumer and trigger a new run. The group was not written; the others were."
ONLY_ON_TARGET = (
    "To keep these records, copy them to the source under other names, before the rollback, with "
    "`reverse-migration.yaml` of the refused run; its comment says what to remove from the old file before."
)
SETTINGS_BY_HAND = (
    "Grant the right and clear `restore_settings`, or set the values by hand from the ledger's entry `topics-created` "
    "(`frozen_configs`)."
)
