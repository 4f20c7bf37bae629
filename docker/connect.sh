#!/bin/sh
# Runs a worker of the Kafka Connect cluster `connect`. CONNECT_HOST is the name under which it is reached.
set -eu
properties=/tmp/connect.properties
sed "s/@CONNECT_HOST@/${CONNECT_HOST:?}/g" /opt/kafka/config/connect.properties >"$properties"
exec java -Xmx"${CONNECT_HEAP_MB:-512}m" -Dlog4j.configuration=file:/opt/kafka/config/log4j.properties \
    -cp '/opt/kafka/libs/*' org.apache.kafka.connect.cli.ConnectDistributed "$properties"
