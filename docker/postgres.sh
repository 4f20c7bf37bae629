#!/bin/sh
# Makes the database once, then runs PostgreSQL. AIRFLOW_DB_PASSWORD is that of the role and database `airflow`.
set -eu
data=/var/lib/postgresql/data
fresh="$data/.fresh"

make_database() {
    # Renamed at the end: an interrupted start is begun anew, never taken for whole.
    rm -rf "$fresh"
    initdb --pgdata="$fresh" --encoding=UTF8 --locale=C.UTF-8 --auth-local=peer --auth-host=scram-sha-256 >/dev/null
    printf '%s\n' \
        "CREATE ROLE airflow LOGIN PASSWORD '${AIRFLOW_DB_PASSWORD:?}';" \
        "CREATE DATABASE airflow OWNER airflow;" | postgres --single -D "$fresh" postgres >/dev/null
    echo 'host airflow airflow samenet scram-sha-256' >>"$fresh/pg_hba.conf"
    mv "$fresh" "$data/main"
}

[ -d "$data/main" ] || make_database
unset AIRFLOW_DB_PASSWORD
exec postgres -D "$data/main" -c listen_addresses='*' -c unix_socket_directories=/tmp
