# ---------------------------------------------------------------- files and time

# put <file> <text>: write a file atomically.
put() {
    { printf '%s\n' "$2" >"$1.tmp.$$" && mv -f "$1.tmp.$$" "$1"; } 2>/dev/null && return
    rm -f "$1.tmp.$$"
    return 1
}

# must_put <file> <text>: the same, or refuse.
must_put() {
    put "$1" "$2" 2>/dev/null || refuse_write "$1"
}

# find_write_problem <file>: set `write_problem` to the reason of the system why no file can be written next to it.
find_write_problem() {
    # 64 KiB, because a few bytes may still fit.
    write_problem=$({ printf '%65536s' '' | cat >"${1%/*}/.write.$$"; } 2>&1 | tail -n 1)
    rm -f "${1%/*}/.write.$$" 2>/dev/null
    write_problem=${write_problem##*: }
}

# refuse_write <file>: refuse, because a file or folder cannot be written.
refuse_write() {
    find_write_problem "$1"
    refuse HOST_REFUSED "cannot write $1${write_problem:+: $write_problem}"
}

# note <generation> <pid> <outcome…>: append to the journal, which proves that there were never two processes. Without a
# folder of the migration there is none.
note() {
    [ -n "$dir" ] || return 0
    read_uptime
    { printf '%s %s %s %s %s %s\n' "$(date +%s)" "$uptime_text" "$verb" "$1" "${2:--}" "$3" >>"$dir/journal"; } 2>/dev/null
}

# Set `uptime_s` to the seconds since boot, which do not depend on the clock, and `uptime_text` to its text.
read_uptime() {
    read -r uptime_text _ </proc/uptime
    uptime_s=${uptime_text%%.*}
}

# failpoint <name>: for tests only: die here if the test requests it and the base folder allows it.
failpoint() {
    [ "${KAFKA_MIGRATION_FAILPOINT-}" = "$1" ] && [ -e "${base:-/nowhere}/failpoints-allowed" ] && kill -s KILL $$
}

# is_larger <blocks of 512 bytes> <file>
is_larger() {
    [ -n "$(find "$2" -size "+$1" 2>/dev/null)" ]
}

nap() {
    sleep "${1:-0.2}" 2>/dev/null || sleep 1
}

# is_number <text>: an integer that shell arithmetic reads as decimal.
is_number() {
    case $1 in
        '' | *[!0-9]* | 0?* | ??????????*) return 1 ;;
    esac
}

