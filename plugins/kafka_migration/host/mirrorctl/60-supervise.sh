# ---------------------------------------------------------------- supervising, in the background on this host

# supervise <java> <argument…>: run the JVM, watch its lease, record its end. It leads its own process group.
supervise() {
    # The JVM inherits the signal dispositions; an ignored TERM would remain ignored there.
    trap : TERM HUP INT
    unset LC_ALL
    # A core dump would contain the secrets. dash, bash and BusyBox have this option.
    # shellcheck disable=SC3045
    ulimit -c 0 2>/dev/null
    gen_dir=$dir/gen-$generation
    process_facts $$
    [ "$process_group" = $$ ] || exit 1
    read_manifest
    read_uptime
    put "$gen_dir/lease" "$uptime_s"
    put "$gen_dir/supervisor" "$$ $process_start $boot_id"
    read_tombstones
    [ "$generation" -gt "$barred_max" ] || finish ''
    start_watcher
    launch_java "$@" &
    launched_pid=$!
    await_java
    note "$generation" "$launched_pid" "java-ended $java_code"
    finish "$java_code"
}

# Become the JVM. Its record is written first, so that a live JVM always has one.
launch_java() {
    read -r own_pid _ </proc/self/stat
    process_facts "$own_pid"
    read_uptime
    put "$gen_dir/java" "$own_pid $process_start $boot_id $(date +%s) $uptime_s" || exit 126
    note "$generation" "$own_pid" java-started
    # A dump that goes to a program instead of a file has no size limit; this leaves it empty.
    { echo 0 >/proc/self/coredump_filter; } 2>/dev/null
    exec "$@" </dev/null >>"$gen_dir/console.log" 2>&1
}

# Wait for the JVM and set `java_code`. A killed watcher is replaced, because it must outlive the supervisor.
await_java() {
    while process_facts "$launched_pid"; do
        process_facts "$watcher_pid" || start_watcher
        sleep 0.5 2>/dev/null || sleep 1
    done
    wait "$launched_pid"
    java_code=$?
}

# Set `watcher_pid`.
start_watcher() {
    watch_lease &
    watcher_pid=$!
}

# finish <exit code>: the JVM has ended; remove its secrets, record its end, end this process group.
finish() {
    remove_secrets
    read_uptime
    read_tombstones
    finish_reason=ended
    [ "$generation" -gt "$stopped_max" ] || finish_reason=stopped
    [ ! -e "$gen_dir/expired" ] || finish_reason=lease-expired
    put "$gen_dir/exit" "${1:--} $finish_reason $(date +%s) $uptime_s"
    kill -s KILL -- "-$$"
}

# The dead man's switch: a separate process, so that it outlives the supervisor.
watch_lease() {
    trap : TERM HUP INT
    read -r watch_pid _ </proc/self/stat
    process_facts "$watch_pid"
    put "$gen_dir/watcher" "$watch_pid $process_start $boot_id"
    lease_grace_s=$manifest_lease_s
    [ "$manifest_lease_s" -lt "$LEASE_GRACE_MAX_S" ] || lease_grace_s=$LEASE_GRACE_MAX_S
    watch_renewed=$uptime_s
    watch_interval_s=1
    [ "$manifest_lease_s" -lt 60 ] || watch_interval_s=5
    while :; do
        sleep "$watch_interval_s"
        is_java_alive
        java_lives=$?
        if [ -n "$java_pid" ] && [ "$java_lives" -ne 0 ]; then
            end_watch
        fi
        bound_output
        read_uptime
        { read -r lease_read; } 2>/dev/null <"$gen_dir/lease" && is_number "$lease_read" && watch_renewed=$lease_read
        [ $((uptime_s - watch_renewed)) -lt "$manifest_lease_s" ] || expire
    done
}

# The logging configuration limits the log; this limits the JVM's own output, and that of the supervisor and its watchers.
# They hold these files open, so the files keep their place.
bound_output() {
    ! is_larger 40960 "$gen_dir/console.log" || : >"$gen_dir/console.log"
    ! is_larger "$RECORD_BLOCKS" "$gen_dir/supervisor.log" ||
        { cp "$gen_dir/supervisor.log" "$gen_dir/supervisor.log.1" && : >"$gen_dir/supervisor.log"; } 2>/dev/null
}

expire() {
    put "$gen_dir/expired" "$uptime_s"
    note "$generation" "$java_pid" lease-expired
    end_java "$lease_grace_s"
    end_watch
}

# The JVM has ended: the supervisor records it, or this watcher if the supervisor has ended too. If the JVM's
# record is lost, it ends with its process group.
end_watch() {
    [ -z "$java_pid" ] || ! is_supervisor_alive || exit 0
    note "$generation" "$java_pid" "java-ended -"
    finish ''
}

# `watch`, in its own session: watch the lease of a generation whose supervisor and watcher were both killed.
watch() {
    gen_dir=$dir/gen-$generation
    read_manifest
    read_uptime
    watch_lease
}

# end_java <grace_s>: send TERM, then KILL, to the JVM of `gen_dir`; fails if it survives both. With a grace of 0 it
# gets no TERM, so that its shutdown hook does not run. Set `java_pid` as `is_java_alive`.
end_java() {
    is_java_alive || return 0
    [ "$1" -eq 0 ] || term_java
    [ "$1" -gt 0 ] && await_death "$1" && return 0
    # Record it first: if this call dies here, the next one still reports the KILL.
    read_uptime
    put "$gen_dir/killed" "$uptime_s"
    note "${gen_dir##*-}" "$java_pid" killing
    kill -s KILL "$java_pid" 2>/dev/null
    await_death 10
}

term_java() {
    if is_number "$process_group" && [ "$process_group" -gt 1 ] && is_supervisor_group; then
        kill -s TERM -- "-$process_group" 2>/dev/null
    else
        kill -s TERM "$java_pid" 2>/dev/null
    fi
}

# Whether the JVM's process group is the one that its supervisor created.
is_supervisor_group() {
    { read -r group_leader _; } 2>/dev/null <"$gen_dir/supervisor" && [ "$group_leader" = "$process_group" ]
}

# await_death <seconds>: wait until the JVM has ended.
await_death() {
    read_uptime
    death_deadline=$((uptime_s + $1))
    while is_alive "$java_pid" "$java_start" "$java_boot"; do
        read_uptime
        [ "$uptime_s" -lt "$death_deadline" ] || return 1
        nap
    done
}

