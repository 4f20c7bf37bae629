# ---------------------------------------------------------------- the other verbs

renew() {
    must_hold
    inspect
    [ "$generation" -eq "$last" ] ||
        refuse GENERATION_UNEXPECTED "the last generation here is $last; renewal was requested for $generation"
    if [ "$state" = running ]; then
        read_uptime
        must_put "$gen_dir/lease" "$uptime_s"
        is_supervisor_alive || is_owner_alive "$gen_dir/watcher" || watch_again
    fi
    respond true "" ""
}

# The supervisor and the watcher were killed: start a new watcher for the lease.
watch_again() {
    is_base_safe || return
    note "$generation" "$pid" lease-watched-again
    KAFKA_MIGRATION_ID="$migration/$generation" KAFKA_MIGRATION_HOME="$base" \
        setsid sh "$gen_dir/supervise" watch "$migration" "$generation" \
        </dev/null >/dev/null 2>>"$gen_dir/supervisor.log" &
}

stop() {
    [ -d "$dir" ] || respond true "" "no generation was ever started"
    must_not_be_held_by_another
    read_last
    stop_up_to=$generation
    [ "$generation" != last ] || stop_up_to=$last
    [ "$stop_up_to" -gt 0 ] || respond true "" "no generation was ever started"
    put "$dir/.lock.$$" "" || stop_without_records
    # Before the lock, so that a start in progress sees it and ends.
    tombstone stopped "$stop_up_to"
    lock $((grace_s + LOCK_WAIT_S))
    must_not_be_held_by_another
    # The tombstone also applies to all earlier generations, so the last one is stopped if a later one never started.
    inspect "$stop_up_to"
    remove_unrecorded
    if [ "$shown" -lt "$stop_up_to" ]; then
        note "$stop_up_to" - stopped-before-start
        [ "$shown" -gt 0 ] || respond true "" "generation $stop_up_to was never started"
    fi
    stop_shown
    read_log "$LOG_TAIL_LINES"
    respond true "" "stopped" "$shown"
}

# A full disk must not prevent a stop. No start can happen on a full disk either.
stop_without_records() {
    find_write_problem "$dir/journal"
    inspect "$stop_up_to"
    [ "$shown" -eq 0 ] || stop_shown
    refuse HOST_REFUSED \
        "cannot write $dir${write_problem:+: $write_problem}; no process is alive, but this could not be recorded"
}

# Stop the shown generation.
stop_shown() {
    stop_state=$state
    end_java "$grace_s" || stop_failed "pid $java_pid survived KILL"
    await_exit 5
    kill_marked "$shown" || stop_failed "processes$marked survived KILL"
    if [ "$stop_state" = running ]; then
        [ -z "$java_pid" ] || record_end stopped
        note "$shown" "$java_pid" stopped
    elif [ -n "$java_pid" ]; then
        record_end ended
    fi
    remove_secrets
}

# record_end <reason>: record an end that no supervisor saw, because the host went down or the supervisor was killed.
record_end() {
    read_uptime
    [ -s "$gen_dir/exit" ] || put "$gen_dir/exit" "- $1 $(date +%s) $uptime_s"
}

stop_failed() {
    note "$shown" "$java_pid" not-stopped
    read_log "$LOG_TAIL_LINES"
    respond false MIRROR_NOT_STOPPED "$1" "$shown"
}

# ---------------------------------------------------------------- old folders

clean() {
    [ -d "$dir" ] || respond true "" "no generation was ever started"
    lock "$LOCK_WAIT_S"
    must_not_be_held_by_another
    read_last
    remove_unrecorded
    remove_left_probes
    cleaned=
    for clean_dir in "$dir"/gen-*; do
        clean_number=${clean_dir##*-}
        if [ ! -d "$clean_dir" ] || ! is_number "$clean_number"; then continue; fi
        is_old_generation && remove_with_secrets "$clean_dir" 2>/dev/null && cleaned="$cleaned ${clean_dir##*/}"
    done
    [ -z "$cleaned" ] || note "$last" - "cleaned$cleaned"
    respond true "" "removed:${cleaned:- nothing}"
}

# Whether the generation is neither the last one, nor among the newest, nor alive. It is then `shown`; `last` is set.
is_old_generation() {
    [ "$clean_number" -lt "$last" ] && [ "$clean_number" -le $((last - keep)) ] || return 1
    inspect "$clean_number"
    [ "$state" != running ]
}

