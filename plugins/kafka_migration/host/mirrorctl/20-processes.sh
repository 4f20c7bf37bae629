# ---------------------------------------------------------------- processes

# process_facts <pid>: set `process_start` and `process_group`; fails if the process has ended or is a zombie.
process_facts() {
    process_start='' process_group='' process_text=''
    [ -r "/proc/$1/stat" ] || return 1
    {
        while IFS= read -r process_line || [ -n "$process_line" ]; do
            process_text="$process_text $process_line"
        done
    } 2>/dev/null <"/proc/$1/stat"
    # The command's name is in parentheses and may contain any characters, including parentheses and newlines.
    # shellcheck disable=SC2086 # split into fields on purpose
    set -- ${process_text##*) }
    [ $# -ge 20 ] || return 1
    process_group=$3
    process_start=${20}
    case $1 in
        Z | X | x) return 1 ;;
    esac
}

# is_alive <pid> <start time> <boot id>: whether exactly this process is alive.
is_alive() {
    is_number "$1" && [ "$1" -gt 1 ] && [ "$3" = "$boot_id" ] && process_facts "$1" && [ "$process_start" = "$2" ]
}

# is_marked <pid> <generation pattern>: whether its environment has the marker of this migration. If it cannot
# be read, only the other signs of identity count.
is_marked() {
    [ -r "/proc/$1/environ" ] || return 0
    marks=$(tr '\0' '\n' 2>/dev/null <"/proc/$1/environ" | grep -c \
        -e "^KAFKA_MIGRATION_ID=$migration/$2\$" -e "^KAFKA_MIGRATION_HOME=$base\$")
    [ "$marks" = 2 ]
}

# find_marked <generation pattern>: set `marked` to the pids of all live processes of this migration.
find_marked() {
    marked=
    for marked_proc in /proc/[0-9]*; do
        marked_pid=${marked_proc#/proc/}
        if [ "$marked_pid" -le 1 ] || [ "$marked_pid" = $$ ]; then continue; fi
        if ! kill -0 "$marked_pid" 2>/dev/null || [ ! -r "$marked_proc/environ" ]; then continue; fi
        # A shell's `read` drops the zero bytes: enough to check most processes without a fork.
        marked_text=
        {
            while IFS= read -r marked_line || [ -n "$marked_line" ]; do
                marked_text="$marked_text $marked_line"
            done
        } 2>/dev/null <"$marked_proc/environ"
        case $marked_text in
            *"KAFKA_MIGRATION_ID=$migration/"*) ;;
            *) continue ;;
        esac
        process_facts "$marked_pid" && is_marked "$marked_pid" "$1" && marked="$marked $marked_pid"
    done
}

# kill_marked <generation pattern>: leave no process of this migration alive; fails if one survives, and sets `marked`.
kill_marked() {
    for kill_round in 1 2 3 4 5 6 7 8 9 10; do
        find_marked "$1"
        [ -n "$marked" ] || return 0
        # The first rounds give the supervisor time to end by itself.
        if [ "$kill_round" -gt 3 ]; then
            note "${shown:-0}" - "leftovers-killed$marked"
            for left_pid in $marked; do
                kill -KILL "$left_pid" 2>/dev/null
            done
        fi
        nap
    done
    find_marked "$1"
    [ -z "$marked" ]
}

