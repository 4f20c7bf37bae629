# ---------------------------------------------------------------- the current state

# Set `reserved_by` to the holder of the reservation, empty if the migration is free.
read_reservation() {
    reserved_by=
    [ -f "$dir/reservation" ] && { IFS= read -r reserved_by; } 2>/dev/null <"$dir/reservation"
}

# Set `barred_max`: no generation up to it may start; and `stopped_max`: those up to it were asked to stop.
read_tombstones() {
    highest_tombstone stopped
    stopped_max=$highest
    highest_tombstone barred
    barred_max=$highest
    [ "$barred_max" -ge "$stopped_max" ] || barred_max=$stopped_max
}

# highest_tombstone <stopped|barred>: set `highest`.
highest_tombstone() {
    highest=0
    for tombstone_file in "$dir/$1"-*; do
        tombstone_found=${tombstone_file##*-}
        is_number "$tombstone_found" && [ "$tombstone_found" -gt "$highest" ] && highest=$tombstone_found
    done
}

# Set `manifest_holder` and `manifest_lease_s`: those of the start of `gen_dir`.
read_manifest() {
    manifest_holder='' manifest_lease_s=0
    while IFS= read -r manifest_line; do
        case $manifest_line in
            holder=*) manifest_holder=${manifest_line#*=} ;;
            lease_s=*) manifest_lease_s=${manifest_line#*=} ;;
        esac
    done 2>/dev/null <"$gen_dir/manifest"
}

# Set `last` to the last generation started, 0 if none was.
read_last() {
    last=0
    [ -s "$dir/generation" ] && { read -r last; } 2>/dev/null <"$dir/generation"
    is_number "$last" || last=0
}

# inspect [generation]: set all values of a reply, for this generation or else the last one: `shown`, `state`, `pid`,
# `started_at`, `running_s`, `exit_code`, `exit_reason`, `killed`, `lease_remaining_s`, `last`, `reserved_by`,
# `stopped_max`, `barred_max`; and `gen_dir`, `java_pid`, `manifest_holder` of the generation.
inspect() {
    pid='' started_at='' running_s='' exit_code='' exit_reason='' lease_remaining_s='' killed=false
    state=none shown=0 last=0 reserved_by='' stopped_max=0 barred_max=0 java_pid=''
    [ -d "${dir:-/nowhere}" ] || return 0
    read_reservation
    read_tombstones
    read_last
    shown=${1:-$last}
    [ "$shown" -le "$last" ] || shown=$last
    [ "$shown" -gt 0 ] || return 0
    inspect_process
}

# Set `state` and the other values of the shown generation, as `inspect`.
inspect_process() {
    gen_dir=$dir/gen-$shown
    read_manifest
    read_uptime
    [ -e "$gen_dir/killed" ] && killed=true
    if is_java_alive; then
        state=running
        pid=$java_pid
        running_s=$((uptime_s - java_uptime))
        { read -r lease_renewed; } 2>/dev/null <"$gen_dir/lease" && is_number "$lease_renewed" &&
            lease_remaining_s=$((lease_renewed + manifest_lease_s - uptime_s))
        case $lease_remaining_s in -*) lease_remaining_s=0 ;; esac
    elif [ -z "$java_pid" ] && is_supervisor_alive; then
        state=running
    else
        state=dead
        [ "$shown" -le "$stopped_max" ] && state=stopped
        [ -s "$gen_dir/exit" ] && { read -r exit_code exit_reason _; } 2>/dev/null <"$gen_dir/exit"
    fi
}

# Whether the JVM of `gen_dir` is alive. Set its record `java_pid`, `java_start`, `java_boot`, `started_at` and
# `java_uptime`, which remain empty if there is none yet, and `process_group`.
is_java_alive() {
    java_pid='' java_start='' java_boot='' java_uptime=0
    [ -s "$gen_dir/java" ] || return 1
    { read -r java_pid java_start java_boot started_at java_uptime; } 2>/dev/null <"$gen_dir/java"
    is_alive "$java_pid" "$java_start" "$java_boot" && is_marked "$java_pid" "${gen_dir##*-}"
}

# Whether the supervisor of `gen_dir` is alive.
is_supervisor_alive() {
    is_owner_alive "$gen_dir/supervisor"
}

