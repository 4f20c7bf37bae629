"""The launch of both MirrorMaker versions: secrets, Java options, logging, producer limits, properties files."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafka_migration.core.connections.client_settings import OAUTH_ENDPOINT
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.migration.secret_properties import SECRET_PROPERTIES
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.client_sizes import (
    BATCH_KEY,
    BUFFER_KEY,
    FETCH_KEY,
    MAX_FETCH,
    Load,
    chosen_sizes,
    client_sizes,
)
from kafka_migration.core.mirror.engine import LaunchFacts
from kafka_migration.core.mirror.host import GENERATION_DIR, LOG4J2_FILE, LOG4J_FILE, LOG_FILE

SECRETS_PROVIDER = "org.apache.kafka.common.config.provider.DirectoryConfigProvider"
SECRETS_FOLDER = "secrets"
PROVIDERS_OPTION = "org.apache.kafka.automatic.config.providers"
# The addresses from which OAuth tokens may be fetched; mirrorctl allows none without this option.
ENDPOINTS_OPTION = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
# Kafka's consumers and producers fix the buffers of their sockets by default, which limits a connection to 64 KiB or
# 128 KiB per round trip. This leaves them to the operating system, which lets them grow with the round trip.
OF_THE_SYSTEM = "-1"
# What a consumer asks a broker for at once. All tasks ask over the same line, and a request has 30 s.
FETCH_MAX_BYTES = str(MAX_FETCH)
# Without a pause, a producer sends each batch as soon as it has one record, and more requests take more processor time.
LINGER_MS = "20"
# A producer fills a compressed batch by its estimate of the compression ratio, which may be far too optimistic.
COMPRESSION_MARGIN = 10

# Log size is bounded: MirrorMaker was seen to write 658 MB of warnings in 25 s.
LOG4J = f"""\
log4j.rootLogger=INFO, file
log4j.appender.file=org.apache.log4j.RollingFileAppender
log4j.appender.file.File=${{mirror.log.dir}}/{LOG_FILE}
log4j.appender.file.MaxFileSize=20MB
log4j.appender.file.MaxBackupIndex=4
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.org.reflections=ERROR
"""
# The same for Kafka 4.0 and newer. Log4j 2's own shutdown hook would close the log while MirrorMaker is still shutting
# down; the last line of the log shows whether the stop was clean.
LOG4J2 = f"""\
shutdownHook=disable
rootLogger.level=INFO
rootLogger.appenderRef.file.ref=file
appender.file.type=RollingFile
appender.file.name=file
appender.file.fileName=${{sys:mirror.log.dir}}/{LOG_FILE}
appender.file.filePattern=${{sys:mirror.log.dir}}/{LOG_FILE}.%i
appender.file.policies.type=Policies
appender.file.policies.size.type=SizeBasedTriggeringPolicy
appender.file.policies.size.size=20MB
appender.file.strategy.type=DefaultRolloverStrategy
appender.file.strategy.fileIndex=min
appender.file.strategy.max=4
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=[%d] %p %m (%c)%n
"""
# Each Kafka version reads its own file, whatever the version on the host is.
LOGGING_FILES = {LOG4J_FILE: LOG4J, LOG4J2_FILE: LOG4J2}
# How Java reads characters of a properties file back unchanged.
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
_KEY_ESCAPES = {**_ESCAPES, " ": "\\ ", ":": "\\:", "=": "\\=", "#": "\\#", "!": "\\!"}


def secret_files(alias: str, cluster: Mapping[str, str]) -> dict[str, str]:
    """Return one file per secret of a cluster: {path below the generation's directory: value}."""
    secrets = {name: value for name, value in cluster.items() if name in SECRET_PROPERTIES}
    return {f"{SECRETS_FOLDER}/{alias}.{name}": value for name, value in secrets.items()}


def shown_properties(alias: str, cluster: Mapping[str, str]) -> dict[str, str]:
    """Return a cluster's properties with each secret replaced by a reference to its file.

    MirrorMaker 2 stores its configuration in a topic. From Kafka 3.5, it stores references unresolved.
    """
    folder = f"{GENERATION_DIR}/{SECRETS_FOLDER}"
    return {
        name: f"${{dir:{folder}:{alias}.{name}}}" if name in SECRET_PROPERTIES else value
        for name, value in cluster.items()
    }


def provider_properties(has_secrets: bool) -> dict[str, str]:
    """Return the properties that allow references to the secret files and no others; none without secrets."""
    if not has_secrets:
        return {}
    return {
        "config.providers": "dir",
        "config.providers.dir.class": SECRETS_PROVIDER,
        "config.providers.dir.param.allowed.paths": f"{GENERATION_DIR}/{SECRETS_FOLDER}",
    }


def java_options(migration: Migration, facts: LaunchFacts, has_secrets: bool) -> tuple[str, ...]:
    """Return MirrorMaker's Java options."""
    clusters = (facts.source_properties, facts.target_properties)
    return (
        f"-Xmx{migration.mirror.heap_mb}m",
        f"-Dmirror.log.dir={GENERATION_DIR}",
        # An allow-list (Kafka 3.8+): no configuration may read files through another provider.
        f"-D{PROVIDERS_OPTION}={SECRETS_PROVIDER if has_secrets else 'none'}",
        *endpoints_options(clusters),
    )


def endpoints_options(clusters: Collection[Mapping[str, str]]) -> tuple[str, ...]:
    """Return the option of a JVM that logs in to these clusters and may fetch their tokens; none without tokens."""
    endpoints = sorted({cluster[OAUTH_ENDPOINT] for cluster in clusters if OAUTH_ENDPOINT in cluster})
    return (f"-D{ENDPOINTS_OPTION}={','.join(endpoints)}",) if endpoints else ()


def tuned(migration: Migration, client: str) -> dict[str, str]:
    """Return the tuning keys of one client, `consumer` or `producer`, without the client's name.

    `fetch_sizes` and `producer_sizes` handle the sizes that depend on the heap.
    """
    named = ((key.partition("."), value) for key, value in migration.mirror.properties.items())
    return {name: value for (owner, _, name), value in named if owner == client and f"{client}.{name}" not in SIZES}


# The tuning keys that have a value computed from the heap, if the migration file has none.
SIZES = frozenset({FETCH_KEY, BATCH_KEY, BUFFER_KEY})


def fetch_sizes(migration: Migration, facts: LaunchFacts) -> dict[str, str]:
    """Return the consumer's sizes."""
    given, sizes = migration.mirror.properties, client_sizes(migration.mirror.heap_mb, _load(migration, facts))
    return {"max.partition.fetch.bytes": given.get(FETCH_KEY, str(sizes.fetch))}


def producer_sizes(migration: Migration, facts: LaunchFacts) -> dict[str, str]:
    """Return the producer's sizes, which keep every request within the limits of the target topics.

    Raises `Refused` (`MIRROR_SETTING_UNSAFE`) if the migration file sets larger batches.
    """
    properties, load = migration.mirror.properties, _load(migration, facts)
    is_compressed = properties.get("producer.compression.type", "none") != "none"
    largest = max(1, load.largest_request // COMPRESSION_MARGIN) if is_compressed else load.largest_request
    batch = properties.get(BATCH_KEY, "0")
    if not batch.isdecimal() or int(batch) > largest:
        raise Refused([_too_large(migration, batch, largest, is_compressed)])
    sizes = chosen_sizes(migration.mirror, load)
    return {
        "max.request.size": str(load.largest_request),
        "batch.size": str(min(sizes.batch, largest)),
        "buffer.memory": str(max(sizes.buffer, sizes.batch)),
    }


def _load(migration: Migration, facts: LaunchFacts) -> Load:
    return Load.of(migration.mirror, facts.partitions, facts.max_message_bytes)


def _too_large(migration: Migration, batch: str, largest: int, is_compressed: bool) -> Finding:
    limit = "a tenth of the smallest max.message.bytes" if is_compressed else "the smallest max.message.bytes"
    return Finding(
        Code.MIRROR_SETTING_UNSAFE,
        f"{migration.name}.yaml: mirror.properties producer.batch.size",
        batch,
        f"a number of at most {largest} bytes, {limit} of the target's topics",
        "Lower producer.batch.size in the migration file, or raise max.message.bytes of the target's topics. Then "
        "trigger the run again.",
        happened=f"producer.batch.size in mirror.properties is {batch}; the target's topics allow at most {largest:,} "
        f"bytes, {limit}.",
        matters="MirrorMaker 2 would send a refused batch again and again, and MirrorMaker 1 would lose its records, "
        "so MirrorMaker was not started.",
    )


def render_properties(properties: Mapping[str, str]) -> str:
    """Return the text of a properties file (ISO 8859-1 safe: other characters as `\\uXXXX`), in given order."""
    return "".join(f"{_escape(k, _KEY_ESCAPES)} = {_value(v)}\n" for k, v in properties.items())


def _value(value: str) -> str:
    escaped = _escape(value, _ESCAPES)
    # An unescaped leading blank would be read as part of the separator.
    return f"\\{escaped}" if escaped.startswith(" ") else escaped


def _escape(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(c, c if " " <= c <= "~" else _unicode(c)) for c in text)


def _unicode(character: str) -> str:
    utf16 = character.encode("utf-16-be").hex()
    return "".join(f"\\u{utf16[i : i + 4]}" for i in range(0, len(utf16), 4))
