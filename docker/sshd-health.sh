#!/bin/bash
# Healthy if sshd greets. It is greeted back, or its log would have an error line for each check.
set -eu
exec 3<>/dev/tcp/localhost/2222
echo 'SSH-2.0-health' >&3
read -r -t 5 greeting <&3
[[ $greeting == SSH-2.0-* ]]
