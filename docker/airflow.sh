#!/bin/sh
# Writes the files that Airflow's configuration names, then runs `airflow`.
set -eu
write() {
    (umask 077 && cat >"$AIRFLOW_HOME/$1")
}

if [ -n "${MIRROR_CLIENT_KEY:-}" ]; then
    printf '%s' "$MIRROR_CLIENT_KEY" | base64 -d | write mirror_client_key
fi
if [ -n "${ADMIN_PASSWORD:-}" ]; then
    printf '{"admin": "%s"}\n' "$ADMIN_PASSWORD" | write passwords.json
fi
unset MIRROR_CLIENT_KEY ADMIN_PASSWORD
exec airflow "$@"
