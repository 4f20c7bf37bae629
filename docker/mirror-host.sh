#!/bin/sh
# Runs sshd, as the one user who may log in. Keys come in base64, in one line each. Airflow's may call mirrorctl only.
set -eu
umask 077
keys=/home/mirror/sshd
printf '%s' "${MIRROR_HOST_KEY:?}" | base64 -d >"$keys/host_key"
printf 'restrict,command="sh /opt/docker/mirrorctl forced" ssh-ed25519 %s airflow\n' \
    "${MIRROR_CLIENT_PUBLIC_KEY:?}" >"$keys/authorized_keys"
umask 022
# The sessions' environment is sshd_config's; the server's own needs no key.
exec env -i /usr/sbin/sshd -D -e -f /opt/docker/sshd_config
