"""The codes of `kafka-migration lint`, each with its severity and meaning."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters.

    `error`: MirrorMaker does not start, ignores what is written, or can lose, double or reorder records.
    `warning`: it works, but it surprises, or a safer way exists.
    `info`: worth knowing; nothing has to be done.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class LintCode(StrEnum):
    """A stable code; its documentation is generated from here."""

    severity: Severity
    meaning: str

    def __new__(cls, code: str, severity: Severity, meaning: str) -> LintCode:
        """Create the member; severity and meaning are attributes of it."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.severity = severity
        member.meaning = meaning
        return member

    KEY_MISSPELLED = "KEY_MISSPELLED", Severity.ERROR, "No version has this key, but one with a similar name exists."
    KEY_NEVER_EXISTED = (
        "KEY_NEVER_EXISTED",
        Severity.ERROR,
        "No released version has this key, although guides print it.",
    )
    KEY_UNKNOWN = "KEY_UNKNOWN", Severity.WARNING, "No version has this key. A plug-in may read it."
    KEY_OF_ANOTHER_VERSION = (
        "KEY_OF_ANOTHER_VERSION",
        Severity.ERROR,
        "The named version of Kafka does not have this key.",
    )
    KEY_REMOVED = "KEY_REMOVED", Severity.WARNING, "Later versions do not have this key."
    KEY_REPEATED = "KEY_REPEATED", Severity.ERROR, "A key has several values; Kafka uses the last one."
    KEYS_OVERLAP = "KEYS_OVERLAP", Severity.ERROR, "An old and a new name of one key are both given."
    ALIAS_UNKNOWN = "ALIAS_UNKNOWN", Severity.ERROR, "A key starts with an alias that `clusters` does not name."
    CLUSTERS_MISSING = "CLUSTERS_MISSING", Severity.ERROR, "The file names fewer than two clusters."
    BOOTSTRAP_MISSING = "BOOTSTRAP_MISSING", Severity.ERROR, "A cluster or client has no `bootstrap.servers`."
    LOOP = "LOOP", Severity.ERROR, "Records would be copied back to the cluster from which they come."
    FILE_NOT_LOADED = "FILE_NOT_LOADED", Severity.ERROR, "Java cannot load the file, so MirrorMaker does not start."
    LINE_NOT_CONTINUED = (
        "LINE_NOT_CONTINUED",
        Severity.ERROR,
        "A backslash with a blank after it does not continue the line.",
    )
    COMMENT_IN_VALUE = (
        "COMMENT_IN_VALUE",
        Severity.ERROR,
        "A line that starts with `#` within a continued value is a part of the value.",
    )
    COMMENT_NOT_CONTINUED = (
        "COMMENT_NOT_CONTINUED",
        Severity.WARNING,
        "A comment ends with its line, also after a backslash.",
    )
    SEPARATOR_MISSING = (
        "SEPARATOR_MISSING",
        Severity.ERROR,
        "A line has no `=`, so Java reads its first word as a key.",
    )
    CHARACTER_MISLEADING = (
        "CHARACTER_MISLEADING",
        Severity.ERROR,
        "A character cannot be seen, or looks like another one.",
    )
    ENCODING_WRONG = (
        "ENCODING_WRONG",
        Severity.ERROR,
        "Kafka reads the bytes of the file in another encoding, so it gets other letters.",
    )
    JSON_REFUSED = (
        "JSON_REFUSED",
        Severity.ERROR,
        "A document is no JSON, so Connect refuses it. It is read as it was probably meant.",
    )
    VALUE_NOT_TEXT = (
        "VALUE_NOT_TEXT",
        Severity.ERROR,
        "Connect takes only texts, numbers and booleans as values, and refuses the connector.",
    )
    VALUE_NULL = "VALUE_NULL", Severity.WARNING, "A value is `null`, which is not the default."
    CONNECTOR_OF_OTHER_PRODUCT = (
        "CONNECTOR_OF_OTHER_PRODUCT",
        Severity.WARNING,
        "A connector is none of MirrorMaker, so its settings are not judged.",
    )
    VALUE_COMMENT = "VALUE_COMMENT", Severity.ERROR, "A comment after a value is a part of the value."
    VALUE_QUOTED = "VALUE_QUOTED", Severity.ERROR, "Quotes around a value, or in a list, are parts of it."
    VALUE_BLANK_KEPT = "VALUE_BLANK_KEPT", Severity.ERROR, "MirrorMaker reads this value with its trailing blanks."
    VALUE_BACKSLASH = (
        "VALUE_BACKSLASH",
        Severity.WARNING,
        "Java removes a single backslash in properties, so the pattern matches more than what is written.",
    )
    BACKSLASH_LOST = (
        "BACKSLASH_LOST",
        Severity.ERROR,
        "Java removes a single backslash in properties, so the value is another than what is written.",
    )
    VALUE_TYPE = "VALUE_TYPE", Severity.ERROR, "A value does not have the type of its key."
    VALUE_REFUSED = (
        "VALUE_REFUSED",
        Severity.ERROR,
        "A value is outside of the range or the words of Kafka's definition.",
    )
    MECHANISM_UNKNOWN = (
        "MECHANISM_UNKNOWN",
        Severity.WARNING,
        "Kafka itself has no SASL mechanism of this name, so a plug-in must bring it.",
    )
    ADDRESS_REFUSED = "ADDRESS_REFUSED", Severity.ERROR, "An item of `bootstrap.servers` is no host and port."
    ADDRESS_PLACEHOLDER = "ADDRESS_PLACEHOLDER", Severity.ERROR, "An address is a placeholder of a template or guide."
    VALUE_PLACEHOLDER = (
        "VALUE_PLACEHOLDER",
        Severity.WARNING,
        "A name or pattern is a placeholder of a template.",
    )
    ADDRESS_OF_ZOOKEEPER = (
        "ADDRESS_OF_ZOOKEEPER",
        Severity.WARNING,
        "An address has the usual port of ZooKeeper, at which brokers usually do not listen.",
    )
    ADDRESS_SCHEME = "ADDRESS_SCHEME", Severity.WARNING, "Kafka ignores the scheme in front of an address."
    PROVIDER_MISSING = (
        "PROVIDER_MISSING",
        Severity.ERROR,
        "A reference names a provider that `config.providers` does not name, so Kafka reads it as text.",
    )
    PROVIDER_OF_WORKER = (
        "PROVIDER_OF_WORKER",
        Severity.INFO,
        "References of connectors are resolved by the worker, which must have the provider.",
    )
    VARIABLE_NOT_REPLACED = (
        "VARIABLE_NOT_REPLACED",
        Severity.WARNING,
        "Kafka does not replace variables of a shell.",
    )
    VARIABLE_NOT_LISTED = (
        "VARIABLE_NOT_LISTED",
        Severity.ERROR,
        "A file has variables that are not in the list of `envsubst`, so their text stays.",
    )
    VARIABLE_NOT_SET = (
        "VARIABLE_NOT_SET",
        Severity.ERROR,
        "No given file sets this variable, but one of a similar name, which is not used.",
    )
    HERE_DOCUMENT_QUOTED = (
        "HERE_DOCUMENT_QUOTED",
        Severity.ERROR,
        "The delimiter of a here-document is in quotes, so the shell does not replace the variables of its text.",
    )
    COMMAND_CUT = (
        "COMMAND_CUT",
        Severity.ERROR,
        "A command ends before a line with its options, because the line before does not continue.",
    )
    TEMPLATE = "TEMPLATE", Severity.INFO, "The file is a template, whose variables are not judged."
    INTERVAL_UNIT = "INTERVAL_UNIT", Severity.WARNING, "An interval is probably given in the wrong unit."
    PATTERN_INVALID = (
        "PATTERN_INVALID",
        Severity.ERROR,
        "A name pattern is no regular expression, or too long.",
    )
    PATTERN_SPLIT = "PATTERN_SPLIT", Severity.ERROR, "A comma within a pattern ends it, because commas separate items."
    PATTERN_MATCHES_NOTHING = (
        "PATTERN_MATCHES_NOTHING",
        Severity.WARNING,
        "A pattern needs a character that no name of a topic has.",
    )
    PATTERN_GLOB = "PATTERN_GLOB", Severity.WARNING, "A pattern looks like a file name pattern."
    CLASS_UNKNOWN = "CLASS_UNKNOWN", Severity.ERROR, "No released version has this class of Kafka."
    CLASS_OF_PLUGIN = "CLASS_OF_PLUGIN", Severity.INFO, "A class is not of Kafka, so each node must have its plug-in."
    CLASS_OF_ANOTHER_VERSION = (
        "CLASS_OF_ANOTHER_VERSION",
        Severity.ERROR,
        "The named version of Kafka does not have this class.",
    )
    REPLICATION_BELOW_MIN_INSYNC = (
        "REPLICATION_BELOW_MIN_INSYNC",
        Severity.ERROR,
        "With fewer replicas than `min.insync.replicas`, brokers refuse every record.",
    )
    SECRET_IN_FILE = "SECRET_IN_FILE", Severity.WARNING, "A password is in the file as plain text."
    HOST_NAME_CHECK_OFF = (
        "HOST_NAME_CHECK_OFF",
        Severity.WARNING,
        "Clients do not check that a certificate belongs to the broker.",
    )
    LOGIN_UNENCRYPTED = "LOGIN_UNENCRYPTED", Severity.WARNING, "A login crosses the network without encryption."
    GROUP_SYNC_WITHOUT_CHECKPOINTS = (
        "GROUP_SYNC_WITHOUT_CHECKPOINTS",
        Severity.ERROR,
        "Groups are synced from checkpoints, which are switched off.",
    )
    EXACTLY_ONCE_INCOMPLETE = (
        "EXACTLY_ONCE_INCOMPLETE",
        Severity.WARNING,
        "Exactly-once of the dedicated MirrorMaker needs further settings.",
    )
    CONVERTER_CHANGES_BYTES = (
        "CONVERTER_CHANGES_BYTES",
        Severity.ERROR,
        "A converter other than ByteArrayConverter changes the bytes of the records.",
    )
    CONVERTER_NOT_NAMED = (
        "CONVERTER_NOT_NAMED",
        Severity.WARNING,
        "A connector uses the converter of its worker, which may change the bytes of the records.",
    )
    GROUP_MISSING = "GROUP_MISSING", Severity.ERROR, "The consumer of MirrorMaker 1 has no group."
    RESET_TO_LATEST = (
        "RESET_TO_LATEST",
        Severity.ERROR,
        "A partition without a committed offset is read from its end, so its earlier records are not copied.",
    )
    AUTO_COMMIT = (
        "AUTO_COMMIT",
        Severity.ERROR,
        "The consumer commits records that the producer may not have written yet.",
    )
    ACKS_TOO_LOW = "ACKS_TOO_LOW", Severity.ERROR, "Brokers confirm records that are not on all in-sync replicas."
    RETRIES_OFF = "RETRIES_OFF", Severity.ERROR, "The producer drops records after a failure that would pass."
    ORDER_NOT_KEPT = "ORDER_NOT_KEPT", Severity.ERROR, "A retry can change the order of records."
    IDEMPOTENCE_REFUSED = (
        "IDEMPOTENCE_REFUSED",
        Severity.ERROR,
        "Kafka refuses a producer, because a value and the one of `enable.idempotence` do not fit each other.",
    )
    FAILURE_IGNORED = "FAILURE_IGNORED", Severity.ERROR, "MirrorMaker 1 continues after a record was not written."
    OPTION_MISSING = "OPTION_MISSING", Severity.ERROR, "The command lacks an option that MirrorMaker 1 requires."
    OPTION_UNKNOWN = "OPTION_UNKNOWN", Severity.ERROR, "MirrorMaker 1 does not have this option."
    OPTION_OF_ANOTHER_VERSION = (
        "OPTION_OF_ANOTHER_VERSION",
        Severity.ERROR,
        "The named version of MirrorMaker 1 does not have this option.",
    )
    OPTION_REPEATED = "OPTION_REPEATED", Severity.ERROR, "A command has an option twice, which MirrorMaker 1 refuses."
    START_WRONG = (
        "START_WRONG",
        Severity.ERROR,
        "A command starts MirrorMaker or Connect with an option or a kind of file that its program does not take.",
    )
    START_FILE_IGNORED = (
        "START_FILE_IGNORED",
        Severity.ERROR,
        "A distributed worker of Kafka Connect does not read the file of a connector.",
    )
    CLIENT_FILES_EXCHANGED = (
        "CLIENT_FILES_EXCHANGED",
        Severity.ERROR,
        "The consumer of MirrorMaker 1 gets the producer's file, and the producer the consumer's.",
    )
    CLIENT_FILE_OF_OTHER = (
        "CLIENT_FILE_OF_OTHER",
        Severity.WARNING,
        "A client of MirrorMaker 1 gets a file that is for the other client.",
    )
    MESSAGE_HANDLER = "MESSAGE_HANDLER", Severity.INFO, "A class of your own handles each record of MirrorMaker 1."
    PATTERN_PIPED = (
        "PATTERN_PIPED",
        Severity.ERROR,
        "The shell reads a `|` without quotes as a pipe, so the pattern ends there.",
    )
    PATTERN_UNQUOTED = (
        "PATTERN_UNQUOTED",
        Severity.INFO,
        "The shell replaces a pattern without quotes by the names of files that fit.",
    )
    FILE_OVERWRITTEN = (
        "FILE_OVERWRITTEN",
        Severity.ERROR,
        "A script writes `>` where `>>` is meant, so what it wrote before is lost.",
    )
    WORDS_UNQUOTED = (
        "WORDS_UNQUOTED",
        Severity.WARNING,
        "A script writes a variable without quotes, so the shell may change its text.",
    )
    OPTION_WITHOUT_EFFECT = "OPTION_WITHOUT_EFFECT", Severity.WARNING, "MirrorMaker 1 ignores this option."
    MIRRORMAKER1_REMOVED = "MIRRORMAKER1_REMOVED", Severity.ERROR, "Kafka 4.0 and later have no MirrorMaker 1."
    KEY_MISPLACED = (
        "KEY_MISPLACED",
        Severity.WARNING,
        "Kafka has this key, but no part of MirrorMaker reads it where it stands.",
    )
    CLIENT_LIMITED = (
        "CLIENT_LIMITED",
        Severity.WARNING,
        "A setting reaches clients of MirrorMaker, but not the one that reads or writes the records.",
    )
    NO_FLOW = "NO_FLOW", Severity.ERROR, "No flow is enabled, so MirrorMaker copies nothing."
    FLOWS_OFF = "FLOWS_OFF", Severity.INFO, "All flows are switched off, so MirrorMaker copies nothing."
    FLOW_NOT_ENABLED = (
        "FLOW_NOT_ENABLED",
        Severity.WARNING,
        "A flow has settings and no `enabled`, so MirrorMaker does not copy it.",
    )
    NOTHING_COPIED = "NOTHING_COPIED", Severity.ERROR, "A blank list of topics copies nothing."
    NO_GROUPS = "NO_GROUPS", Severity.INFO, "A blank list of groups moves no group."
    REFRESH_OFF = (
        "REFRESH_OFF",
        Severity.WARNING,
        "MirrorMaker does not look for topics, partitions or groups that are added later.",
    )
    CHECKPOINTS_REFUSED = (
        "CHECKPOINTS_REFUSED",
        Severity.WARNING,
        "From Kafka 3.9 on, the checkpoint connector refuses to run without checkpoints.",
    )
    GROUPS_NOT_SYNCED = (
        "GROUPS_NOT_SYNCED",
        Severity.INFO,
        "MirrorMaker writes checkpoints, but no offsets of groups on the target.",
    )
    ONE_TASK = "ONE_TASK", Severity.INFO, "One task copies all partitions, because `tasks.max` is not given."
    POLICIES_DIFFER = (
        "POLICIES_DIFFER",
        Severity.ERROR,
        "Two connectors of a flow name topics in different ways, so groups are not moved.",
    )
    SEPARATOR_BLANK = (
        "SEPARATOR_BLANK",
        Severity.WARNING,
        "Without a separator, the alias cannot be told from the name of a topic.",
    )
    NAMES_KEPT_BY_BLANKS = (
        "NAMES_KEPT_BY_BLANKS",
        Severity.INFO,
        "A blank alias and separator keep the names of topics.",
    )
    ALIAS_BLANK = (
        "ALIAS_BLANK",
        Severity.WARNING,
        "A connector has a blank alias, so MirrorMaker does not recognise the topics that it has copied.",
    )
    ALIASES_EQUAL = (
        "ALIASES_EQUAL",
        Severity.WARNING,
        "A connector has one alias for its source and its target.",
    )
    NO_TOPIC_COPIED = (
        "NO_TOPIC_COPIED",
        Severity.ERROR,
        "IdentityReplicationPolicy copies no topic if source and target have one alias.",
    )
    ALIAS_OVERRIDDEN = (
        "ALIAS_OVERRIDDEN",
        Severity.ERROR,
        "A line gives flows an alias that is not that of their cluster.",
    )
    NAMES_MERGED = "NAMES_MERGED", Severity.WARNING, "Two flows write topics of the same names into one cluster."
    WORKERS_SHARED = (
        "WORKERS_SHARED",
        Severity.ERROR,
        "The workers of several flows share a group or an internal topic.",
    )
    STORAGE_TOPICS_EQUAL = (
        "STORAGE_TOPICS_EQUAL",
        Severity.ERROR,
        "A worker keeps two of configurations, offsets and status in one topic.",
    )
    LOGIN_OF_WORKER_MISSING = (
        "LOGIN_OF_WORKER_MISSING",
        Severity.ERROR,
        "Clients of a flow log in to a cluster, and a worker connects to it without a login.",
    )
    TOPIC_NOT_COPIED = (
        "TOPIC_NOT_COPIED",
        Severity.ERROR,
        "MirrorMaker takes a named topic for a copy or for an internal topic, and does not copy it.",
    )
    CONNECTORS_DIFFER = (
        "CONNECTORS_DIFFER",
        Severity.WARNING,
        "A checkpoint connector does not fit the source connector beside it.",
    )
    LOCATIONS_DIFFER = (
        "LOCATIONS_DIFFER",
        Severity.ERROR,
        "A source connector writes offset syncs into another cluster than the one its checkpoint connector reads.",
    )
    REPLICATION_TOO_LOW = "REPLICATION_TOO_LOW", Severity.WARNING, "Topics with one replica are lost with their broker."
    REPLICATION_ONE = (
        "REPLICATION_ONE",
        Severity.INFO,
        "Topics with one replica are lost with their broker; a cluster of one broker allows no more.",
    )
    REPLICATION_ABOVE_BROKERS = (
        "REPLICATION_ABOVE_BROKERS",
        Severity.INFO,
        "A replication factor is above the number of brokers that the file names.",
    )
    LOGIN_MISSING = "LOGIN_MISSING", Severity.WARNING, "SASL is switched on, and the login is missing."
    LOGIN_REFUSED = "LOGIN_REFUSED", Severity.ERROR, "Kafka cannot read the login, so it makes no client."
    LOGIN_MODULE_WRONG = (
        "LOGIN_MODULE_WRONG",
        Severity.ERROR,
        "A login module and a SASL mechanism do not belong together, so the clients cannot log in.",
    )
    KEY_STORE_IS_TRUST_STORE = (
        "KEY_STORE_IS_TRUST_STORE",
        Severity.INFO,
        "Key store and trust store are one file, which may have no key of the client.",
    )
    LOGIN_ELSEWHERE = "LOGIN_ELSEWHERE", Severity.INFO, "The Kerberos login is not in the file."
    LOGIN_INCOMPLETE = (
        "LOGIN_INCOMPLETE",
        Severity.ERROR,
        "The `authentication` of a resource lacks a field that its type requires, so Strimzi's operator refuses it.",
    )
    LOGIN_NOT_USED = (
        "LOGIN_NOT_USED",
        Severity.WARNING,
        "A login or certificate is given, and the security protocol does not use it.",
    )
    KEY_OF_BROKERS = "KEY_OF_BROKERS", Severity.WARNING, "The key belongs to brokers or topics; MirrorMaker ignores it."
    KEY_OF_DISTRIBUTED = (
        "KEY_OF_DISTRIBUTED",
        Severity.WARNING,
        "A standalone worker of Kafka Connect ignores a key that only distributed workers have.",
    )
    WORKER_FILE_MISSING = (
        "WORKER_FILE_MISSING",
        Severity.ERROR,
        "A standalone worker of Kafka Connect has no file for its offsets, and does not start.",
    )
    OVERRIDE_REFUSED = (
        "OVERRIDE_REFUSED",
        Severity.ERROR,
        "A worker does not allow what a connector overrides, so Connect refuses the connector.",
    )
    REQUEST_REFUSED = (
        "REQUEST_REFUSED",
        Severity.ERROR,
        "A request to make a connector has a field that Connect's REST API does not know.",
    )
    KEY_WITHOUT_EFFECT = (
        "KEY_WITHOUT_EFFECT",
        Severity.INFO,
        "No part of MirrorMaker reads the key where it stands, and nothing is lost.",
    )
    KEY_OF_OTHER_CONNECTOR = (
        "KEY_OF_OTHER_CONNECTOR",
        Severity.WARNING,
        "A connector ignores a key that only another connector uses, and that one does not have it.",
    )
    SOURCE_ALIAS_MISSING = (
        "SOURCE_ALIAS_MISSING",
        Severity.ERROR,
        "A connector has no alias of its source, which Kafka requires.",
    )
    TARGET_ALIAS_MISSING = (
        "TARGET_ALIAS_MISSING",
        Severity.INFO,
        "A connector has no alias of its target; Kafka takes `target`.",
    )
    FIELD_UNKNOWN = (
        "FIELD_UNKNOWN",
        Severity.ERROR,
        "Kubernetes refuses or drops a field that the resource does not have.",
    )
    FIELD_MISSING = "FIELD_MISSING", Severity.ERROR, "A resource lacks a field that its definition requires."
    FIELD_REFUSED = "FIELD_REFUSED", Severity.ERROR, "A field has a value that the definition of the resource refuses."
    KEY_SET_BY_OPERATOR = (
        "KEY_SET_BY_OPERATOR",
        Severity.WARNING,
        "Strimzi's operator takes this key from a field of the resource, or sets it, and ignores it in `config`.",
    )
    SOURCE_CONNECTOR_MISSING = (
        "SOURCE_CONNECTOR_MISSING",
        Severity.WARNING,
        "A mirror of a resource has no source connector, so none of its records is copied.",
    )
    CONNECT_CLUSTER_DIFFERS = (
        "CONNECT_CLUSTER_DIFFERS",
        Severity.ERROR,
        "`connectCluster` is not the target, so Connect writes the records into another cluster.",
    )
