#!/bin/sh
# Writes what Spark's master and worker read when they start, then runs `spark-class`.
set -eu
mkdir -p "$SPARK_CONF_DIR"
(umask 077 && cat >"$SPARK_CONF_DIR/spark-defaults.conf") <<END
spark.authenticate true
spark.authenticate.secret $SPARK_SECRET
spark.network.crypto.enabled true
END
# Executors inherit the environment.
unset SPARK_SECRET
exec spark-class "$@"
