# ---------------------------------------------------------------- the lock

# The live owner of the highest lock.<n> holds the lock. It needs no release, because it ends with its owner. The
# highest file is never removed, so an old number cannot be acquired again. The probes of each subject have a lock of
# their own, probing-<subject>.<n>.

# highest_lock <name>: set `lock_number` to the highest number of a lock, 0 if there is none.
highest_lock() {
    lock_number=0
    for lock_file in "$dir/$1".*; do
        lock_found=${lock_file##*.}
        is_number "$lock_found" && [ "$lock_found" -gt "$lock_number" ] && lock_number=$lock_found
    done
}

# try_lock <name>: set `lock_mine` to the number of the lock if this call gets it, else `lock_owner` to the pid of its
# owner.
try_lock() {
    highest_lock "$1"
    lock_owner='' lock_start='' lock_boot=''
    if [ "$lock_number" -gt 0 ]; then
        { read -r lock_owner lock_start lock_boot; } 2>/dev/null <"$dir/$1.$lock_number" || return 1
        is_alive "$lock_owner" "$lock_start" "$lock_boot" && return 1
    fi
    lock_mine=$((lock_number + 1))
    ln "$dir/.$1.$$" "$dir/$1.$lock_mine" 2>/dev/null || return 1
    highest_lock "$1"
    [ "$lock_number" -eq "$lock_mine" ] && return 0
    rm -f "$dir/$1.$lock_mine"
    return 1
}

# hold <name> <wait_s>: hold a lock of the migration until this call ends, or refuse.
hold() {
    process_facts $$
    put "$dir/.$1.$$" "$$ $process_start $boot_id" || refuse_write "$dir/$1"
    read_uptime
    lock_deadline=$((uptime_s + $2))
    until try_lock "$1"; do
        read_uptime
        if [ "$uptime_s" -ge "$lock_deadline" ]; then
            rm -f "$dir/.$1.$$"
            refuse HOST_LOCKED "process ${lock_owner:-unknown} has held the $1 of this migration for over $2 s"
        fi
        nap
    done
    lock_old=$((lock_mine - LOCKS_KEPT))
    rm -f "$dir/.$1.$$" "$dir/$1.$lock_old"
}

# lock <wait_s>: hold the lock for all that acts on the migration. Only its owner renames the journal.
lock() {
    hold lock "$1"
    ! is_larger "$RECORD_BLOCKS" "$dir/journal" || mv -f "$dir/journal" "$dir/journal.1" 2>/dev/null
}

# is_owner_alive <file>: set `owner_pid` to the pid of its record.
is_owner_alive() {
    owner_pid=''
    { read -r owner_pid owner_start owner_boot _; } 2>/dev/null <"$1"
    is_alive "$owner_pid" "$owner_start" "$owner_boot"
}

