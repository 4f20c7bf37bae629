#!/bin/sh
# Writes the files that Airflow's configuration names, then runs `airflow`.
set -eu
migrations=$(dirname "$AIRFLOW__CORE__DAGS_FOLDER")/include/migrations

write() {
    (umask 077 && cat >"$AIRFLOW_HOME/$1")
}

# Without this, a folder that only its owner may read would give no DAGs and no error.
require_readable() {
    unreadable=$(find "$migrations" \( -type d -o -name '[!.]*.y*ml' \) ! -readable -print -quit)
    [ -z "$unreadable" ] && return
    echo "User $(id -u) cannot read $unreadable. On the host: chmod -R a+rX include/migrations" >&2
    exit 3
}

require_readable
if [ -n "${MIRROR_CLIENT_KEY:-}" ]; then
    printf '%s' "$MIRROR_CLIENT_KEY" | base64 -d | write mirror_client_key
fi
if [ -n "${ADMIN_PASSWORD:-}" ]; then
    python -c 'import json, os; print(json.dumps({"admin": os.environ["ADMIN_PASSWORD"]}))' | write passwords.json
fi
unset MIRROR_CLIENT_KEY ADMIN_PASSWORD
exec airflow "$@"
