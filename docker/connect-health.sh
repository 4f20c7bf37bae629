#!/bin/bash
# Healthy if the worker has joined its group and read its topics. No Java: this runs every few seconds.
set -eu
exec 3<>/dev/tcp/localhost/8083
printf 'GET /health HTTP/1.0\r\n\r\n' >&3
read -r -t 5 _ status _ <&3
[ "$status" = 200 ]
