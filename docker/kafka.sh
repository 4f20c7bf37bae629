#!/bin/sh
# Formats the broker's storage once, then runs the broker. KAFKA_HOST is the name under which clients reach it.
set -eu
properties=/tmp/server.properties
sed "s/@KAFKA_HOST@/${KAFKA_HOST:?}/g" /opt/kafka/config/kafka.properties >"$properties"

storage() {
    java -cp '/opt/kafka/libs/*' kafka.tools.StorageTool "$@"
}

if [ ! -f /var/lib/kafka/data/meta.properties ]; then
    storage format --cluster-id "$(storage random-uuid)" --config "$properties"
fi
exec java -Xmx"${KAFKA_HEAP_MB:-512}m" -Dlog4j.configuration=file:/opt/kafka/config/log4j.properties \
    -cp '/opt/kafka/libs/*' kafka.Kafka "$properties"
