"""The codes of `kafka-migration lint`, each with its severity and meaning."""

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


_error = partial(_Row, Severity.ERROR)
_warning = partial(_Row, Severity.WARNING)
_info = partial(_Row, Severity.INFO)


class LintCode(RowEnum):
    """A stable code; its documentation is generated from here."""

    severity: Severity
    meaning: str

    KEY_MISSPELLED = _error("No version has this key, but one with a similar name exists.")
    KEY_NEVER_EXISTED = _error("No released version has this key, although guides print it.")
    KEY_UNKNOWN = _warning("No version has this key. A plug-in may read it.")
    KEY_OF_ANOTHER_VERSION = _error("The named version of Kafka does not have this key.")
    KEY_REMOVED = _warning("Later versions do not have this key.")
    KEY_REPEATED = _error("A key has several values; Kafka uses the last one.")
    KEYS_OVERLAP = _error("An old and a new name of one key are both given.")
    ALIAS_UNKNOWN = _error("A key starts with an alias that `clusters` does not name.")
    CLUSTERS_MISSING = _error("The file names fewer than two clusters.")
    BOOTSTRAP_MISSING = _error("A cluster or client has no `bootstrap.servers`.")
    LOOP = _error("Records would be copied back to the cluster from which they come.")
    FILE_NOT_LOADED = _error("Java cannot load the file, so MirrorMaker does not start.")
    LINE_NOT_CONTINUED = _error("A backslash with a blank after it does not continue the line.")
    COMMENT_IN_VALUE = _error("A line that starts with `#` within a continued value is a part of the value.")
    COMMENT_NOT_CONTINUED = _warning("A comment ends with its line, also after a backslash.")
    SEPARATOR_MISSING = _error("A line has no `=`, so Java reads its first word as a key.")
    CHARACTER_MISLEADING = _error("A character cannot be seen, or looks like another one.")
    ENCODING_WRONG = _error("Kafka reads the bytes of the file in another encoding, so it gets other letters.")
    JSON_REFUSED = _error("A document is no JSON, so Connect refuses it. It is read as it was probably meant.")
    VALUE_NOT_TEXT = _error("Connect takes only texts, numbers and booleans as values, and refuses the connector.")
    VALUE_NULL = _warning("A value is `null`, which is not the default.")
    CONNECTOR_OF_OTHER_PRODUCT = _warning("A connector is none of MirrorMaker, so its settings are not judged.")
    VALUE_COMMENT = _error("A comment after a value is a part of the value.")
    VALUE_QUOTED = _error("Quotes around a value, or in a list, are parts of it.")
    VALUE_BLANK_KEPT = _error("MirrorMaker reads this value with its trailing blanks.")
    VALUE_BACKSLASH = _warning(
        "Java removes a single backslash in properties, so the pattern matches more than what is written."
    )
    BACKSLASH_LOST = _error(
        "Java removes a single backslash in properties, so the value is another than what is written."
    )
    VALUE_TYPE = _error("A value does not have the type of its key.")
    VALUE_REFUSED = _error("A value is outside of the range or the words of Kafka's definition.")
    MECHANISM_UNKNOWN = _warning("Kafka itself has no SASL mechanism of this name, so a plug-in must bring it.")
    ADDRESS_REFUSED = _error("An item of `bootstrap.servers` is no host and port.")
    ADDRESS_PLACEHOLDER = _error("An address is a placeholder of a template or guide.")
    VALUE_PLACEHOLDER = _warning("A name or pattern is a placeholder of a template.")
    ADDRESS_OF_ZOOKEEPER = _warning(
        "An address has the usual port of ZooKeeper, at which brokers usually do not listen."
    )
    ADDRESS_SCHEME = _warning("Kafka ignores the scheme in front of an address.")
    PROVIDER_MISSING = _error(
        "A reference names a provider that `config.providers` does not name, so Kafka reads it as text."
    )
    PROVIDER_OF_WORKER = _info("References of connectors are resolved by the worker, which must have the provider.")
    VARIABLE_NOT_REPLACED = _warning("Kafka does not replace variables of a shell.")
    VARIABLE_NOT_LISTED = _error("A file has variables that are not in the list of `envsubst`, so their text stays.")
    VARIABLE_NOT_SET = _error("No given file sets this variable, but one of a similar name, which is not used.")
    HERE_DOCUMENT_QUOTED = _error(
        "The delimiter of a here-document is in quotes, so the shell does not replace the variables of its text."
    )
    COMMAND_CUT = _error("A command ends before a line with its options, because the line before does not continue.")
    TEMPLATE = _info("The file is a template, whose variables are not judged.")
    INTERVAL_UNIT = _warning("An interval is probably given in the wrong unit.")
    PATTERN_INVALID = _error("A name pattern is no regular expression, or too long.")
    PATTERN_SPLIT = _error("A comma within a pattern ends it, because commas separate items.")
    PATTERN_MATCHES_NOTHING = _warning("A pattern needs a character that no name of a topic has.")
    PATTERN_GLOB = _warning("A pattern looks like a file name pattern.")
    CLASS_UNKNOWN = _error("No released version has this class of Kafka.")
    CLASS_OF_PLUGIN = _info("A class is not of Kafka, so each node must have its plug-in.")
    CLASS_OF_ANOTHER_VERSION = _error("The named version of Kafka does not have this class.")
    REPLICATION_BELOW_MIN_INSYNC = _error(
        "With fewer replicas than `min.insync.replicas`, brokers refuse every record."
    )
    SECRET_IN_FILE = _warning("A password is in the file as plain text.")
    HOST_NAME_CHECK_OFF = _warning("Clients do not check that a certificate belongs to the broker.")
    LOGIN_UNENCRYPTED = _warning("A login crosses the network without encryption.")
    GROUP_SYNC_WITHOUT_CHECKPOINTS = _error("Groups are synced from checkpoints, which are switched off.")
    EXACTLY_ONCE_INCOMPLETE = _warning("Exactly-once of the dedicated MirrorMaker needs further settings.")
    CONVERTER_CHANGES_BYTES = _error("A converter other than ByteArrayConverter changes the bytes of the records.")
    CONVERTER_NOT_NAMED = _warning(
        "A connector uses the converter of its worker, which may change the bytes of the records."
    )
    GROUP_MISSING = _error("The consumer of MirrorMaker 1 has no group.")
    RESET_TO_LATEST = _error(
        "A partition without a committed offset is read from its end, so its earlier records are not copied."
    )
    AUTO_COMMIT = _error("The consumer commits records that the producer may not have written yet.")
    ACKS_TOO_LOW = _error("Brokers confirm records that are not on all in-sync replicas.")
    RETRIES_OFF = _error("The producer drops records after a failure that would pass.")
    ORDER_NOT_KEPT = _error("A retry can change the order of records.")
    IDEMPOTENCE_REFUSED = _error(
        "Kafka refuses a producer, because a value and the one of `enable.idempotence` do not fit each other."
    )
    FAILURE_IGNORED = _error("MirrorMaker 1 continues after a record was not written.")
    OPTION_MISSING = _error("The command lacks an option that MirrorMaker 1 requires.")
    OPTION_UNKNOWN = _error("MirrorMaker 1 does not have this option.")
    OPTION_OF_ANOTHER_VERSION = _error("The named version of MirrorMaker 1 does not have this option.")
    OPTION_REPEATED = _error("A command has an option twice, which MirrorMaker 1 refuses.")
    START_WRONG = _error(
        "A command starts MirrorMaker or Connect with an option or a kind of file that its program does not take."
    )
    START_FILE_IGNORED = _error("A distributed worker of Kafka Connect does not read the file of a connector.")
    CLIENT_FILES_EXCHANGED = _error(
        "The consumer of MirrorMaker 1 gets the producer's file, and the producer the consumer's."
    )
    CLIENT_FILE_OF_OTHER = _warning("A client of MirrorMaker 1 gets a file that is for the other client.")
    MESSAGE_HANDLER = _info("A class of your own handles each record of MirrorMaker 1.")
    PATTERN_PIPED = _error("The shell reads a `|` without quotes as a pipe, so the pattern ends there.")
    PATTERN_UNQUOTED = _info("The shell replaces a pattern without quotes by the names of files that fit.")
    FILE_OVERWRITTEN = _error("A script writes `>` where `>>` is meant, so what it wrote before is lost.")
    WORDS_UNQUOTED = _warning("A script writes a variable without quotes, so the shell may change its text.")
    OPTION_WITHOUT_EFFECT = _warning("MirrorMaker 1 ignores this option.")
    MIRRORMAKER1_REMOVED = _error("Kafka 4.0 and later have no MirrorMaker 1.")
    KEY_MISPLACED = _warning("Kafka has this key, but no part of MirrorMaker reads it where it stands.")
    CLIENT_LIMITED = _warning(
        "A setting reaches clients of MirrorMaker, but not the one that reads or writes the records."
    )
    NO_FLOW = _error("No flow is enabled, so MirrorMaker copies nothing.")
    FLOWS_OFF = _info("All flows are switched off, so MirrorMaker copies nothing.")
    FLOW_NOT_ENABLED = _warning("A flow has settings and no `enabled`, so MirrorMaker does not copy it.")
    NOTHING_COPIED = _error("A blank list of topics copies nothing.")
    NO_GROUPS = _info("A blank list of groups moves no group.")
    REFRESH_OFF = _warning("MirrorMaker does not look for topics, partitions or groups that are added later.")
    CHECKPOINTS_REFUSED = _warning("From Kafka 3.9 on, the checkpoint connector refuses to run without checkpoints.")
    GROUPS_NOT_SYNCED = _info("MirrorMaker writes checkpoints, but no offsets of groups on the target.")
    ONE_TASK = _info("One task copies all partitions, because `tasks.max` is not given.")
    POLICIES_DIFFER = _error("Two connectors of a flow name topics in different ways, so groups are not moved.")
    SEPARATOR_BLANK = _warning("Without a separator, the alias cannot be told from the name of a topic.")
    NAMES_KEPT_BY_BLANKS = _info("A blank alias and separator keep the names of topics.")
    ALIAS_BLANK = _warning(
        "A connector has a blank alias, so MirrorMaker does not recognise the topics that it has copied."
    )
    ALIASES_EQUAL = _warning("A connector has one alias for its source and its target.")
    NO_TOPIC_COPIED = _error("IdentityReplicationPolicy copies no topic if source and target have one alias.")
    ALIAS_OVERRIDDEN = _error("A line gives flows an alias that is not that of their cluster.")
    NAMES_MERGED = _warning("Two flows write topics of the same names into one cluster.")
    WORKERS_SHARED = _error("The workers of several flows share a group or an internal topic.")
    STORAGE_TOPICS_EQUAL = _error("A worker keeps two of configurations, offsets and status in one topic.")
    LOGIN_OF_WORKER_MISSING = _error(
        "Clients of a flow log in to a cluster, and a worker connects to it without a login."
    )
    TOPIC_NOT_COPIED = _error(
        "MirrorMaker takes a named topic for a copy or for an internal topic, and does not copy it."
    )
    CONNECTORS_DIFFER = _warning("A checkpoint connector does not fit the source connector beside it.")
    LOCATIONS_DIFFER = _error(
        "A source connector writes offset syncs into another cluster than the one its checkpoint connector reads."
    )
    REPLICATION_TOO_LOW = _warning("Topics with one replica are lost with their broker.")
    REPLICATION_ONE = _info(
        "Topics with one replica are lost with their broker; a cluster of one broker allows no more."
    )
    REPLICATION_ABOVE_BROKERS = _info("A replication factor is above the number of brokers that the file names.")
    LOGIN_MISSING = _warning("SASL is switched on, and the login is missing.")
    LOGIN_REFUSED = _error("Kafka cannot read the login, so it makes no client.")
    LOGIN_MODULE_WRONG = _error(
        "A login module and a SASL mechanism do not belong together, so the clients cannot log in."
    )
    KEY_STORE_IS_TRUST_STORE = _info("Key store and trust store are one file, which may have no key of the client.")
    LOGIN_ELSEWHERE = _info("The Kerberos login is not in the file.")
    LOGIN_INCOMPLETE = _error(
        "The `authentication` of a resource lacks a field that its type requires, so Strimzi's operator refuses it."
    )
    LOGIN_NOT_USED = _warning("A login or certificate is given, and the security protocol does not use it.")
    KEY_OF_BROKERS = _warning("The key belongs to brokers or topics; MirrorMaker ignores it.")
    KEY_OF_DISTRIBUTED = _warning(
        "A standalone worker of Kafka Connect ignores a key that only distributed workers have."
    )
    WORKER_FILE_MISSING = _error(
        "A standalone worker of Kafka Connect has no file for its offsets, and does not start."
    )
    OVERRIDE_REFUSED = _error("A worker does not allow what a connector overrides, so Connect refuses the connector.")
    REQUEST_REFUSED = _error("A request to make a connector has a field that Connect's REST API does not know.")
    KEY_WITHOUT_EFFECT = _info("No part of MirrorMaker reads the key where it stands, and nothing is lost.")
    KEY_OF_OTHER_CONNECTOR = _warning(
        "A connector ignores a key that only another connector uses, and that one does not have it."
    )
    SOURCE_ALIAS_MISSING = _error("A connector has no alias of its source, which Kafka requires.")
    TARGET_ALIAS_MISSING = _info("A connector has no alias of its target; Kafka takes `target`.")
    FIELD_UNKNOWN = _error("Kubernetes refuses or drops a field that the resource does not have.")
    FIELD_MISSING = _error("A resource lacks a field that its definition requires.")
    FIELD_REFUSED = _error("A field has a value that the definition of the resource refuses.")
    KEY_SET_BY_OPERATOR = _warning(
        "Strimzi's operator takes this key from a field of the resource, or sets it, and ignores it in `config`."
    )
    SOURCE_CONNECTOR_MISSING = _warning(
        "A mirror of a resource has no source connector, so none of its records is copied."
    )
    CONNECT_CLUSTER_DIFFERS = _error(
        "`connectCluster` is not the target, so Connect writes the records into another cluster."
    )
