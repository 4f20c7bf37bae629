#!/bin/sh
# Makes the database once, then runs PostgreSQL. AIRFLOW_DB_PASSWORD is that of the role and database `airflow`.
set -eu
data=/var/lib/postgresql/data
fresh="$data/.fresh"

single_user() {
    postgres --single -D "$fresh" postgres
}

make_database() {
    # Renamed at the end, so that an interrupted start is repeated and never taken for a complete one.
    rm -rf "$fresh"
    initdb --pgdata="$fresh" --encoding=UTF8 --locale=C.UTF-8 --auth-local=peer --auth-host=scram-sha-256 >/dev/null
    printf '%s\n' \
        "CREATE ROLE airflow LOGIN PASSWORD '${AIRFLOW_DB_PASSWORD:?}';" \
        "CREATE DATABASE airflow OWNER airflow;" | single_user >/dev/null
    require_database
    echo 'host airflow airflow samenet scram-sha-256' >>"$fresh/pg_hba.conf"
    mv "$fresh" "$data/main"
}

# Single-user mode goes on after a statement that failed, and ends with 0.
require_database() {
    found=$(echo "SELECT datname FROM pg_database WHERE datname = 'airflow';" | single_user)
    case $found in *'datname = "airflow"'*) return ;; esac
    echo "The database was not made, for the reason above. Has AIRFLOW_DB_PASSWORD a quote in it?" >&2
    exit 1
}

[ -d "$data/main" ] || make_database
unset AIRFLOW_DB_PASSWORD
exec postgres -D "$data/main" -c listen_addresses='*' -c unix_socket_directories=/tmp
