"""The codes of `kafka-migration lint`, each with its severity, its meaning and what to do."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import NamedTuple

from kafka_migration.core.text.row_enum import RowEnum


class Severity(StrEnum):
    """How much a finding matters.

    `error`: MirrorMaker does not start, ignores what is written, or can lose, double or reorder records.
    `warning`: it works, but it surprises, or a safer way exists.
    `info`: worth knowing; nothing has to be done.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class _Row(NamedTuple):
    severity: Severity
    meaning: str
    act: str


_error = partial(_Row, Severity.ERROR)
_warning = partial(_Row, Severity.WARNING)
_info = partial(_Row, Severity.INFO)


class LintCode(RowEnum):
    """A stable code with its meaning and what to do; the fix of a finding is more exact."""

    severity: Severity
    meaning: str
    act: str

    KEY_MISSPELLED = _error(
        "No version has this key, but one with a similar name exists.",
        "Write the key that the finding names.",
    )
    KEY_NEVER_EXISTED = _error(
        "No released version has this key, although guides print it.",
        "Remove the line, or use the key that the finding names.",
    )
    KEY_UNKNOWN = _warning(
        "No version has this key. A plug-in may read it.",
        "Correct the key, or remove the line. Keep it if a plug-in of yours reads it.",
    )
    KEY_OF_ANOTHER_VERSION = _error(
        "The named version of Kafka does not have this key.",
        "Remove the line, or run a version that has the key.",
    )
    KEY_REMOVED = _warning("Later versions do not have this key.", "Remove the line before you upgrade.")
    KEY_REPEATED = _error(
        "A key has several values; Kafka uses the last one.",
        "Keep one line, with the value that you mean.",
    )
    KEYS_OVERLAP = _error(
        "An old and a new name of one key are both given.",
        "Keep the new name, and remove the old one.",
    )
    ALIAS_UNKNOWN = _error(
        "A key starts with an alias that `clusters` does not name.",
        "Correct the alias, or add it to `clusters`.",
    )
    CLUSTERS_MISSING = _error("The file names fewer than two clusters.", "Name source and target in `clusters`.")
    BOOTSTRAP_MISSING = _error(
        "A cluster or client has no `bootstrap.servers`.",
        "Add `bootstrap.servers` of this cluster or client.",
    )
    LOOP = _error(
        "Records would be copied back to the cluster from which they come.",
        "Switch off one of the two directions, or keep the alias in the names of the copies.",
    )
    FILE_NOT_LOADED = _error(
        "Java cannot load the file, so MirrorMaker does not start.",
        "Correct the place that the finding names, usually an escape.",
    )
    LINE_NOT_CONTINUED = _error(
        "A backslash with a blank after it does not continue the line.",
        "Remove the blank after the backslash.",
    )
    COMMENT_IN_VALUE = _error(
        "A line that starts with `#` within a continued value is a part of the value.",
        "Move the comment above or below the continued lines.",
    )
    COMMENT_NOT_CONTINUED = _warning(
        "A comment ends with its line, also after a backslash.",
        "Begin each line of the comment with `#`.",
    )
    SEPARATOR_MISSING = _error(
        "A line has no `=`, so Java reads its first word as a key.",
        "Write `=` between key and value, or remove the line.",
    )
    CHARACTER_MISLEADING = _error(
        "A character cannot be seen, or looks like another one.",
        "Replace the character with the plain one that it looks like, or remove it.",
    )
    ENCODING_WRONG = _error(
        "Kafka reads the bytes of the file in another encoding, so it gets other letters.",
        "Save the file as UTF-8 without a byte order mark. In properties, write other letters as `\\u` with four "
        "hexadecimal digits.",
    )
    JSON_REFUSED = _error(
        "A document is no JSON, so Connect refuses it. It is read as it was probably meant.",
        "Correct the document, and check it with a JSON parser.",
    )
    VALUE_NOT_TEXT = _error(
        "Connect takes only texts, numbers and booleans as values, and refuses the connector.",
        "Write the value as a text, number or boolean.",
    )
    VALUE_NULL = _warning(
        "A value is `null`, which is not the default.",
        "Write a value, or remove the key to get the default.",
    )
    CONNECTOR_OF_OTHER_PRODUCT = _warning(
        "A connector is none of MirrorMaker, so its settings are not judged.",
        "Judge its settings with the documentation of its product.",
    )
    VALUE_COMMENT = _error("A comment after a value is a part of the value.", "Move the comment to a line of its own.")
    VALUE_QUOTED = _error("Quotes around a value, or in a list, are parts of it.", "Remove the quotes.")
    VALUE_BLANK_KEPT = _error(
        "MirrorMaker reads this value with its trailing blanks.",
        "Remove the blanks at the end of the line.",
    )
    VALUE_BACKSLASH = _warning(
        "Java removes a single backslash in properties, so the pattern matches more than what is written.",
        "Write each backslash twice.",
    )
    BACKSLASH_LOST = _error(
        "Java removes a single backslash in properties, so the value is another than what is written.",
        "Write each backslash twice.",
    )
    VALUE_TYPE = _error(
        "A value does not have the type of its key.",
        "Write a value of the type that the finding names.",
    )
    VALUE_REFUSED = _error(
        "A value is outside of the range or the words of Kafka's definition.",
        "Write a value that the finding allows.",
    )
    MECHANISM_UNKNOWN = _warning(
        "Kafka itself has no SASL mechanism of this name, so a plug-in must bring it.",
        "Correct the name, or install the plug-in on every machine that runs MirrorMaker.",
    )
    ADDRESS_REFUSED = _error(
        "An item of `bootstrap.servers` is no host and port.",
        "Write `host:port`, separated by commas.",
    )
    ADDRESS_PLACEHOLDER = _error(
        "An address is a placeholder of a template or guide.",
        "Write the address of your brokers.",
    )
    VALUE_PLACEHOLDER = _warning("A name or pattern is a placeholder of a template.", "Write your own name or pattern.")
    ADDRESS_OF_ZOOKEEPER = _warning(
        "An address has the usual port of ZooKeeper, at which brokers usually do not listen.",
        "Write the port of the brokers, usually 9092 or 9093.",
    )
    ADDRESS_SCHEME = _warning(
        "Kafka ignores the scheme in front of an address.",
        "Write `host:port`, and set `security.protocol`.",
    )
    PROVIDER_MISSING = _error(
        "A reference names a provider that `config.providers` does not name, so Kafka reads it as text.",
        "Add the provider to `config.providers`, with its class.",
    )
    PROVIDER_OF_WORKER = _info(
        "References of connectors are resolved by the worker, which must have the provider.",
        "Make sure that the worker's file names the provider.",
    )
    VARIABLE_NOT_REPLACED = _warning(
        "Kafka does not replace variables of a shell.",
        "Replace the variable before MirrorMaker starts, for example with `envsubst`, or use a config provider.",
    )
    VARIABLE_NOT_LISTED = _error(
        "A file has variables that are not in the list of `envsubst`, so their text stays.",
        "Add the variables to the list of `envsubst`.",
    )
    VARIABLE_NOT_SET = _error(
        "No given file sets this variable, but one of a similar name, which is not used.",
        "Correct the name of the variable where it is set or used.",
    )
    HERE_DOCUMENT_QUOTED = _error(
        "The delimiter of a here-document is in quotes, so the shell does not replace the variables of its text.",
        "Remove the quotes of the delimiter.",
    )
    COMMAND_CUT = _error(
        "A command ends before a line with its options, because the line before does not continue.",
        "End the line before with a backslash.",
    )
    TEMPLATE = _info(
        "The file is a template, whose variables are not judged.",
        "Run `lint` on the file that is made of it, or give it the file with the variables.",
    )
    INTERVAL_UNIT = _warning(
        "An interval is probably given in the wrong unit.",
        "Write the interval in the unit of the key.",
    )
    PATTERN_INVALID = _error(
        "A name pattern is no regular expression, or too long.",
        "Correct the regular expression, or divide it.",
    )
    PATTERN_SPLIT = _error(
        "A comma within a pattern ends it, because commas separate items.",
        "Write the pattern without a comma, or as several items.",
    )
    PATTERN_MATCHES_NOTHING = _warning(
        "A pattern needs a character that no name of a topic has.",
        "Remove the character from the pattern.",
    )
    PATTERN_GLOB = _warning(
        "A pattern looks like a file name pattern.",
        "Write `.*` for any characters and `\\.` for a dot.",
    )
    CLASS_UNKNOWN = _error("No released version has this class of Kafka.", "Correct the name of the class.")
    CLASS_OF_PLUGIN = _info(
        "A class is not of Kafka, so each node must have its plug-in.",
        "Make sure that each node has the plug-in.",
    )
    CLASS_OF_ANOTHER_VERSION = _error(
        "The named version of Kafka does not have this class.",
        "Use the class that the version has, or run a version that has this one.",
    )
    REPLICATION_BELOW_MIN_INSYNC = _error(
        "With fewer replicas than `min.insync.replicas`, brokers refuse every record.",
        "Raise the replication factor, or lower `min.insync.replicas`.",
    )
    SECRET_IN_FILE = _warning(
        "A password is in the file as plain text.",
        "Use a config provider, and let only MirrorMaker's user read the file.",
    )
    HOST_NAME_CHECK_OFF = _warning(
        "Clients do not check that a certificate belongs to the broker.",
        "Remove the line, and use certificates with the names of the brokers.",
    )
    LOGIN_UNENCRYPTED = _warning("A login crosses the network without encryption.", "Use `SASL_SSL`.")
    GROUP_SYNC_WITHOUT_CHECKPOINTS = _error(
        "Groups are synced from checkpoints, which are switched off.",
        "Remove the line that switches them off, or switch the sync of groups off.",
    )
    EXACTLY_ONCE_INCOMPLETE = _warning(
        "Exactly-once of the dedicated MirrorMaker needs further settings.",
        "Add the settings that the finding names.",
    )
    CONVERTER_CHANGES_BYTES = _error(
        "A converter other than ByteArrayConverter changes the bytes of the records.",
        "Set `org.apache.kafka.connect.converters.ByteArrayConverter` for keys, values and headers.",
    )
    CONVERTER_NOT_NAMED = _warning(
        "A connector uses the converter of its worker, which may change the bytes of the records.",
        "Name ByteArrayConverter in the connector.",
    )
    GROUP_MISSING = _error("The consumer of MirrorMaker 1 has no group.", "Set `group.id` in the consumer's file.")
    RESET_TO_LATEST = _error(
        "A partition without a committed offset is read from its end, so its earlier records are not copied.",
        "Set `auto.offset.reset` to `earliest`.",
    )
    AUTO_COMMIT = _error(
        "The consumer commits records that the producer may not have written yet.",
        "Remove the line: MirrorMaker commits after it has written.",
    )
    ACKS_TOO_LOW = _error(
        "Brokers confirm records that are not on all in-sync replicas.",
        "Set `acks` to `all`, or to `-1` in an old client.",
    )
    RETRIES_OFF = _error("The producer drops records after a failure that would pass.", "Remove the line.")
    ORDER_NOT_KEPT = _error(
        "A retry can change the order of records.",
        "Remove the line, or set `enable.idempotence` to `true` and at most 5 requests in flight.",
    )
    IDEMPOTENCE_REFUSED = _error(
        "Kafka refuses a producer, because a value and the one of `enable.idempotence` do not fit each other.",
        "Correct the value that the finding names, or remove `enable.idempotence`.",
    )
    FAILURE_IGNORED = _error("MirrorMaker 1 continues after a record was not written.", "Remove the option.")
    OPTION_MISSING = _error("The command lacks an option that MirrorMaker 1 requires.", "Add the option.")
    OPTION_UNKNOWN = _error("MirrorMaker 1 does not have this option.", "Correct the option, or remove it.")
    OPTION_OF_ANOTHER_VERSION = _error(
        "The named version of MirrorMaker 1 does not have this option.",
        "Remove the option, or run a version that has it.",
    )
    OPTION_REPEATED = _error("A command has an option twice, which MirrorMaker 1 refuses.", "Give the option once.")
    START_WRONG = _error(
        "A command starts MirrorMaker or Connect with an option or a kind of file that its program does not take.",
        "Use the program that fits the file, and the options that it takes.",
    )
    START_FILE_IGNORED = _error(
        "A distributed worker of Kafka Connect does not read the file of a connector.",
        "Create the connector with Connect's REST API.",
    )
    CLIENT_FILES_EXCHANGED = _error(
        "The consumer of MirrorMaker 1 gets the producer's file, and the producer the consumer's.",
        "Exchange the two files in the command.",
    )
    CLIENT_FILE_OF_OTHER = _warning(
        "A client of MirrorMaker 1 gets a file that is for the other client.",
        "Give the client its own file.",
    )
    MESSAGE_HANDLER = _info(
        "A class of your own handles each record of MirrorMaker 1.",
        "Check that the class neither changes nor drops records.",
    )
    PATTERN_PIPED = _error(
        "The shell reads a `|` without quotes as a pipe, so the pattern ends there.",
        "Write the pattern in quotes.",
    )
    PATTERN_UNQUOTED = _info(
        "The shell replaces a pattern without quotes by the names of files that fit.",
        "Write the pattern in quotes.",
    )
    FILE_OVERWRITTEN = _error(
        "A script writes `>` where `>>` is meant, so what it wrote before is lost.",
        "Write `>>`.",
    )
    WORDS_UNQUOTED = _warning(
        "A script writes a variable without quotes, so the shell may change its text.",
        "Write the variable in double quotes.",
    )
    OPTION_WITHOUT_EFFECT = _warning("MirrorMaker 1 ignores this option.", "Remove the option.")
    MIRRORMAKER1_REMOVED = _error(
        "Kafka 4.0 and later have no MirrorMaker 1.",
        "Run MirrorMaker 1 from Kafka 3.9, or change to MirrorMaker 2.",
    )
    KEY_MISPLACED = _warning(
        "Kafka has this key, but no part of MirrorMaker reads it where it stands.",
        "Move the key to the place that the finding names.",
    )
    CLIENT_LIMITED = _warning(
        "A setting reaches clients of MirrorMaker, but not the one that reads or writes the records.",
        "Set the key also for the client that the finding names.",
    )
    NO_FLOW = _error("No flow is enabled, so MirrorMaker copies nothing.", "Set `<source>-><target>.enabled = true`.")
    FLOWS_OFF = _info(
        "All flows are switched off, so MirrorMaker copies nothing.",
        "Nothing, if no flow should copy. Otherwise enable one.",
    )
    FLOW_NOT_ENABLED = _warning(
        "A flow has settings and no `enabled`, so MirrorMaker does not copy it.",
        "Set `enabled = true` for the flow, or remove its settings.",
    )
    NOTHING_COPIED = _error(
        "A blank list of topics copies nothing.",
        "Name the topics, or remove the line to copy all.",
    )
    NO_GROUPS = _info(
        "A blank list of groups moves no group.",
        "Nothing, if no group should be moved. Otherwise name the groups.",
    )
    REFRESH_OFF = _warning(
        "MirrorMaker does not look for topics, partitions or groups that are added later.",
        "Remove the line.",
    )
    CHECKPOINTS_REFUSED = _warning(
        "From Kafka 3.9 on, the checkpoint connector refuses to run without checkpoints.",
        "Remove the line that switches them off.",
    )
    GROUPS_NOT_SYNCED = _info(
        "MirrorMaker writes checkpoints, but no offsets of groups on the target.",
        "Set `sync.group.offsets.enabled = true` if groups should move.",
    )
    ONE_TASK = _info("One task copies all partitions, because `tasks.max` is not given.", "Set `tasks.max`.")
    POLICIES_DIFFER = _error(
        "Two connectors of a flow name topics in different ways, so groups are not moved.",
        "Give both connectors the same `replication.policy.class` and separator.",
    )
    SEPARATOR_BLANK = _warning(
        "Without a separator, the alias cannot be told from the name of a topic.",
        "Set a separator, or use IdentityReplicationPolicy to keep the names.",
    )
    NAMES_KEPT_BY_BLANKS = _info(
        "A blank alias and separator keep the names of topics.",
        "Use IdentityReplicationPolicy, which says what is meant.",
    )
    ALIAS_BLANK = _warning(
        "A connector has a blank alias, so MirrorMaker does not recognise the topics that it has copied.",
        "Set the alias of the cluster.",
    )
    ALIASES_EQUAL = _warning(
        "A connector has one alias for its source and its target.",
        "Give source and target different aliases.",
    )
    NO_TOPIC_COPIED = _error(
        "IdentityReplicationPolicy copies no topic if source and target have one alias.",
        "Give source and target different aliases.",
    )
    ALIAS_OVERRIDDEN = _error(
        "A line gives flows an alias that is not that of their cluster.",
        "Remove the line; the alias comes from `clusters`.",
    )
    NAMES_MERGED = _warning(
        "Two flows write topics of the same names into one cluster.",
        "Use DefaultReplicationPolicy, unless the flows copy different topics.",
    )
    WORKERS_SHARED = _error(
        "The workers of several flows share a group or an internal topic.",
        "Give the workers of each flow a `group.id` and internal topics of their own.",
    )
    STORAGE_TOPICS_EQUAL = _error(
        "A worker keeps two of configurations, offsets and status in one topic.",
        "Use three topics, for configurations, offsets and status.",
    )
    LOGIN_OF_WORKER_MISSING = _error(
        "Clients of a flow log in to a cluster, and a worker connects to it without a login.",
        "Write the login once for the cluster, with its alias in front.",
    )
    TOPIC_NOT_COPIED = _error(
        "MirrorMaker takes a named topic for a copy or for an internal topic, and does not copy it.",
        "Give the target another alias, or copy the topic in another way.",
    )
    CONNECTORS_DIFFER = _warning(
        "A checkpoint connector does not fit the source connector beside it.",
        "Give both connectors the same aliases, clusters and names.",
    )
    LOCATIONS_DIFFER = _error(
        "A source connector writes offset syncs into another cluster than the one its checkpoint connector reads.",
        "Give both connectors the same `offset-syncs.topic.location`.",
    )
    REPLICATION_TOO_LOW = _warning(
        "Topics with one replica are lost with their broker.",
        "Set a replication factor of 3.",
    )
    REPLICATION_ONE = _info(
        "Topics with one replica are lost with their broker; a cluster of one broker allows no more.",
        "Set a replication factor of 3 if the cluster has more brokers.",
    )
    REPLICATION_ABOVE_BROKERS = _info(
        "A replication factor is above the number of brokers that the file names.",
        "Nothing, if the cluster has more brokers than the file names. Otherwise lower it.",
    )
    LOGIN_MISSING = _warning(
        "SASL is switched on, and the login is missing.",
        "Add `sasl.jaas.config` or the JAAS file.",
    )
    LOGIN_REFUSED = _error(
        "Kafka cannot read the login, so it makes no client.",
        "Correct the login as the finding says; it ends with a semicolon.",
    )
    LOGIN_MODULE_WRONG = _error(
        "A login module and a SASL mechanism do not belong together, so the clients cannot log in.",
        "Use the login module of the mechanism, or the mechanism of the module.",
    )
    KEY_STORE_IS_TRUST_STORE = _info(
        "Key store and trust store are one file, which may have no key of the client.",
        "Remove the key store if the brokers require no client certificate. Otherwise check that it holds the client's "
        "key.",
    )
    LOGIN_ELSEWHERE = _info(
        "The Kerberos login is not in the file.",
        "Check the JAAS file that the process starts with.",
    )
    LOGIN_INCOMPLETE = _error(
        "The `authentication` of a resource lacks a field that its type requires, so Strimzi's operator refuses it.",
        "Add the field that the finding names.",
    )
    LOGIN_NOT_USED = _warning(
        "A login or certificate is given, and the security protocol does not use it.",
        "Set the `security.protocol` that uses it, or remove the login.",
    )
    KEY_OF_BROKERS = _warning(
        "The key belongs to brokers or topics; MirrorMaker ignores it.",
        "Remove the line here, and set the key on the broker or topic.",
    )
    KEY_OF_DISTRIBUTED = _warning(
        "A standalone worker of Kafka Connect ignores a key that only distributed workers have.",
        "Remove the line, or run distributed workers.",
    )
    WORKER_FILE_MISSING = _error(
        "A standalone worker of Kafka Connect has no file for its offsets, and does not start.",
        "Set `offset.storage.file.filename`.",
    )
    OVERRIDE_REFUSED = _error(
        "A worker does not allow what a connector overrides, so Connect refuses the connector.",
        "Set `connector.client.config.override.policy=All` in the worker, or remove the override.",
    )
    REQUEST_REFUSED = _error(
        "A request to make a connector has a field that Connect's REST API does not know.",
        "Write `name` and `config` only.",
    )
    KEY_WITHOUT_EFFECT = _info(
        "No part of MirrorMaker reads the key where it stands, and nothing is lost.",
        "Remove the line.",
    )
    KEY_OF_OTHER_CONNECTOR = _warning(
        "A connector ignores a key that only another connector uses, and that one does not have it.",
        "Move the key to the connector that uses it.",
    )
    SOURCE_ALIAS_MISSING = _error(
        "A connector has no alias of its source, which Kafka requires.",
        "Set `source.cluster.alias`.",
    )
    TARGET_ALIAS_MISSING = _info(
        "A connector has no alias of its target; Kafka takes `target`.",
        "Set `target.cluster.alias` if `target` is not meant.",
    )
    FIELD_UNKNOWN = _error(
        "Kubernetes refuses or drops a field that the resource does not have.",
        "Correct the field, or remove it.",
    )
    FIELD_MISSING = _error("A resource lacks a field that its definition requires.", "Add the field.")
    FIELD_REFUSED = _error(
        "A field has a value that the definition of the resource refuses.",
        "Write a value that the finding allows.",
    )
    KEY_SET_BY_OPERATOR = _warning(
        "Strimzi's operator takes this key from a field of the resource, or sets it, and ignores it in `config`.",
        "Set the field of the resource that the finding names, and remove the key.",
    )
    SOURCE_CONNECTOR_MISSING = _warning(
        "A mirror of a resource has no source connector, so none of its records is copied.",
        "Add `sourceConnector` to the mirror.",
    )
    CONNECT_CLUSTER_DIFFERS = _error(
        "`connectCluster` is not the target, so Connect writes the records into another cluster.",
        "Set `connectCluster` to the alias of the target.",
    )
