#!/bin/bash
# Healthy if the broker answers a request (ApiVersions, version 0). No Java: this runs every few seconds.
set -eu
exec 3<>/dev/tcp/localhost/9092
# Length 12, key 18, version 0, correlation id 42, client id "up".
printf '\x00\x00\x00\x0c\x00\x12\x00\x00\x00\x00\x00\x2a\x00\x02up' >&3
# After the answer's length: the correlation id, then the error code 0.
answer=$(timeout 5 head -c 10 <&3 | od -An -v -tx1 -j4 | tr -d ' \n')
[ "$answer" = 0000002a0000 ]
