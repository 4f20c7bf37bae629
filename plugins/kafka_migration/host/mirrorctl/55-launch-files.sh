# ---------------------------------------------------------------- the files and the process of a launch

# Write the files of the launch; set `arguments_file`.
write_launch() {
    remove_with_secrets "$gen_dir"
    mkdir "$gen_dir" 2>/dev/null || refuse_write "$gen_dir"
    write_files
    write_self
    [ -z "${MIRRORCTL_PRIVATE_ARGUMENTS-}" ] || write_arguments
    each ALARMS ALARM write_alarm
    must_place "$gen_dir/manifest" "migration=$migration
generation=$generation
holder=$MIRRORCTL_HOLDER
lease_s=$lease_s
main_class=$MIRRORCTL_MAIN_CLASS
java=$java
kafka_home=$kafka_home
boot_id=$boot_id
created_at=$(date +%s)$file_lines"
    failpoint before_record
    must_place "$dir/generation" "$generation"
}

# Write the files of the request below `gen_dir`; set `file_lines` to their lines in the manifest.
write_files() {
    file_lines=
    file_number=0
    while [ "$file_number" -lt "${MIRRORCTL_FILES:-0}" ]; do
        file_number=$((file_number + 1))
        eval "write_file \"\$MIRRORCTL_FILE_NAME_$file_number\" \"\$MIRRORCTL_FILE_TEXT_$file_number\""
    done
}

# Write this text below `gen_dir`.
write_self() {
    if [ -n "${MIRRORCTL_SELF-}" ]; then
        must_place "$gen_dir/supervise" "$MIRRORCTL_SELF"
    else
        cp "$0" "$gen_dir/supervise" 2>/dev/null || abandon_write "$gen_dir/supervise"
    fi
}

# abandon <message>: refuse a launch before any process has started, and remove its secrets.
abandon() {
    remove_with_secrets "$gen_dir"
    refuse HOST_REFUSED "$1"
}

# abandon_write <file>: abandon a launch, because the file cannot be written.
abandon_write() {
    find_write_problem "$1"
    abandon "cannot write $1${write_problem:+: $write_problem}"
}

# must_place <file> <text>: write a file atomically, or abandon the launch.
must_place() {
    put "$1" "$2" || abandon_write "$1"
}

# write_file <name> <text>: add it to `file_lines`.
write_file() {
    file_name=$1
    case /$file_name/ in
        *[!A-Za-z0-9._/-]* | *//* | */../* | */./*) abandon "file name $file_name is not allowed" ;;
        /manifest/* | /supervise/* | /supervisor/* | /watcher/* | /java/* | /lease/* | /exit/* | /killed/* | \
            /expired/* | /alarms/* | /secrets-place/* | *.args/* | *.log/* | *.tmp.*)
            abandon "file name $file_name is reserved"
            ;;
    esac
    case $file_name in
        "$LOG4J_FILE") check_logging "$2" "$LOG4J_LINES" ;;
        "$LOG4J2_FILE") check_logging "$2" "$LOG4J2_LINES" ;;
        "$LOG4J_FILE"/* | "$LOG4J2_FILE"/*) abandon "file name $file_name is reserved" ;;
        secrets/*) [ -e "$gen_dir/secrets" ] || make_secrets_folder ;;
        */*) mkdir -p "$gen_dir/${file_name%/*}" 2>/dev/null ;;
    esac
    place "$2"
    write_placed || { leave_memory && write_placed; } || abandon_write "$gen_dir/$file_name"
    file_lines="$file_lines
file=$file_name"
}

write_placed() {
    { printf '%s' "$placed" >"$gen_dir/$file_name"; } 2>/dev/null
}

# Make the folder of the secrets: in memory if possible. Its place is recorded first, so that a later call can remove
# it. `mkdir` fails if the folder exists, so it is of this user.
make_secrets_folder() {
    if find_memory; then
        IFS= read -r unique </proc/sys/kernel/random/uuid || return
        secrets_place=$memory/kafka-migration-$migration-$generation-$unique
        must_place "$gen_dir/secrets-place" "$secrets_place"
        if mkdir "$secrets_place" 2>/dev/null; then
            ln -s "$secrets_place" "$gen_dir/secrets" 2>/dev/null && return
            remove_from_memory "$gen_dir"
        fi
        rm -f "$gen_dir/secrets-place"
    fi
    mkdir "$gen_dir/secrets" 2>/dev/null
}

# Set `memory` to a folder in memory that keeps its content as long as MirrorMaker runs: that of the host's
# administrator, or /dev/shm. logind empties /dev/shm when a user who is not a system user has logged out (RemoveIPC),
# unless that user may linger.
find_memory() {
    memory=${KAFKA_MIGRATION_MEMORY:-/dev/shm}
    case $memory in
        none) return 1 ;;
        /dev/shm) grep -q '^[^ ]* /dev/shm tmpfs ' /proc/mounts && is_spared_by_logind ;;
        *[!A-Za-z0-9._/-]* | [!/]* | *..*) return 1 ;;
    esac
}

is_spared_by_logind() {
    [ "$(id -u)" -lt 1000 ] || [ ! -d /run/systemd/users ] || [ -e "/var/lib/systemd/linger/$(id -un)" ]
}

# remove_from_memory <folder of a generation>
remove_from_memory() {
    [ -s "$1/secrets-place" ] && IFS= read -r memory_place <"$1/secrets-place" || return 0
    case $memory_place in
        *..*) return ;;
        /*/kafka-migration-"$migration"-*) ;;
        *) return ;;
    esac
    ! is_own_folder "$memory_place" || rm -rf "$memory_place"
    is_own_folder "$memory_place" || rm -rf "$1/secrets" "$1/secrets-place"
}

# is_own_folder <path>: whether it is a folder, not a link to one, that belongs to this user.
is_own_folder() {
    # shellcheck disable=SC2046
    set -- $(ls -ldn "$1" 2>/dev/null)
    case ${1-} in d*) [ "${3-}" = "$(id -u)" ] ;; *) return 1 ;; esac
}

# The tmpfs is full: let the folder of the secrets be on the disk, with what it holds so far.
leave_memory() {
    [ -L "$gen_dir/secrets" ] && mkdir "$gen_dir/secrets.disk" 2>/dev/null || return
    cp "$gen_dir/secrets/"* "$gen_dir/secrets.disk/" 2>/dev/null
    remove_from_memory "$gen_dir"
    mv "$gen_dir/secrets.disk" "$gen_dir/secrets" 2>/dev/null
}

# check_logging <text> <patterns>: abandon a launch whose logging configuration `file_name` has a line that is not
# allowed.
check_logging() {
    # Exactly 1: grep worked and found no other line.
    refused_lines=$(printf '%s' "$1" | grep -v -x -E -e "$2"; echo $?)
    [ "$refused_lines" = 1 ] || abandon "$file_name has a line that is not allowed: ${refused_lines%%"
"*}"
}

write_alarm() {
    { printf '%s\n' "$1" >>"$gen_dir/alarms"; } 2>/dev/null || abandon_write "$gen_dir/alarms"
}

# Write main class and arguments to a file that Java reads, so that no process list shows them. Its name is that
# of the class, so that the process can be recognized. Java before 9 does not support such files. Set `arguments_file`
# and add it to `file_lines`.
write_arguments() {
    if ! has_argument_files; then
        note "${shown:-0}" - "arguments-shown Java ${java_version:-unknown}"
        return
    fi
    arguments_file=$MIRRORCTL_MAIN_CLASS.args
    write_argument "$MIRRORCTL_MAIN_CLASS"
    each ARGUMENTS ARGUMENT write_argument
    file_lines="$file_lines
file=$arguments_file"
}

write_argument() {
    place "$1"
    escaped=$(printf '%s\n' "$placed" | escape_lines)
    { printf '"%s"\n' "${escaped%\\n}" >>"$gen_dir/$arguments_file"; } 2>/dev/null ||
        abandon_write "$gen_dir/$arguments_file"
}

# place <text>: set `placed` to the text with the generation's directory filled in.
place() {
    placed=$1
    case $1 in
        *@GENERATION_DIR@*)
            placed=$(printf '%s.' "$1" | sed "s|@GENERATION_DIR@|$gen_dir|g")
            placed=${placed%.}
            ;;
    esac
}

# with_command <function>: call it with the words of the JVM's command line.
with_command() {
    # Without this option Kafka 3.9 fetches OAuth tokens from any address, also from files. A later option replaces it.
    set -- "$1" "$java" "-D$TOKEN_ENDPOINTS=none"
    word_number=0
    while [ "$word_number" -lt "${MIRRORCTL_JAVA_OPTIONS:-0}" ]; do
        word_number=$((word_number + 1))
        eval "place \"\$MIRRORCTL_JAVA_OPTION_$word_number\""
        set -- "$@" "$placed"
    done
    # With the locale C, older JVMs would read files as ASCII.
    set -- "$@" -XX:+ExitOnOutOfMemoryError -Dfile.encoding=UTF-8
    set -- "$@" "-Dorg.apache.kafka.disallowed.login.modules=$FORBIDDEN_LOGINS"
    [ ! -e "$gen_dir/$LOG4J_FILE" ] || set -- "$@" "-Dlog4j.configuration=file:$gen_dir/$LOG4J_FILE"
    [ ! -e "$gen_dir/$LOG4J2_FILE" ] || set -- "$@" "-Dlog4j2.configurationFile=file:$gen_dir/$LOG4J2_FILE"
    set -- "$@" -cp "${probe_classes-}$kafka_home/libs/*"
    if [ -n "${arguments_file-}" ]; then
        "$@" "@$gen_dir/$arguments_file"
        return
    fi
    set -- "$@" "$MIRRORCTL_MAIN_CLASS"
    word_number=0
    while [ "$word_number" -lt "${MIRRORCTL_ARGUMENTS:-0}" ]; do
        word_number=$((word_number + 1))
        eval "place \"\$MIRRORCTL_ARGUMENT_$word_number\""
        set -- "$@" "$placed"
    done
    "$@"
}

# spawn <command…>: start the supervisor in its own session, so that a hang-up of this one does not reach it.
spawn() {
    KAFKA_MIGRATION_ID="$migration/$generation" KAFKA_MIGRATION_HOME="$base" \
        setsid sh "$gen_dir/supervise" supervise "$migration" "$generation" "$@" \
        </dev/null >/dev/null 2>>"$gen_dir/supervisor.log" &
}

# Reply when the JVM is alive, or with the reason why it is not.
await_launch() {
    read_uptime
    launch_deadline=$((uptime_s + LAUNCH_WAIT_S))
    until [ -s "$gen_dir/java" ] || [ -s "$gen_dir/exit" ] || [ "$uptime_s" -ge "$launch_deadline" ]; do
        nap
        read_uptime
    done
    # A JVM with invalid options or classes exits within a fraction of a second.
    sleep 1
    inspect
    if [ "$state" = running ] && [ -n "$pid" ]; then
        respond true "" "started"
    fi
    await_exit 3
    # It may still start, unless its end is recorded.
    [ -s "$gen_dir/exit" ] || tombstone barred "$generation"
    kill_marked "$generation" || refuse MIRROR_NOT_STOPPED "processes$marked did not start in time and survived KILL"
    record_end ended
    remove_secrets
    inspect
    read_log "$LOG_TAIL_LINES"
    note "$generation" - start-failed
    refuse MIRROR_DEAD "generation $generation ended at its start with exit code ${exit_code:-unknown}"
}

# await_exit <seconds>: give the supervisor this time to record the end of the JVM.
await_exit() {
    read_uptime
    exit_deadline=$((uptime_s + $1))
    until [ -s "$gen_dir/exit" ] || [ "$uptime_s" -gt "$exit_deadline" ] || ! is_supervisor_alive; do
        nap
        read_uptime
    done
}

# Remove every file of the launch except the logging configurations; a manifest that was changed leads nowhere else.
remove_secrets() {
    [ -n "${gen_dir-}" ] && [ -f "$gen_dir/manifest" ] || return 0
    set --
    while IFS= read -r launched_line; do
        case $launched_line in
            "file=$LOG4J_FILE" | "file=$LOG4J2_FILE" | file=../* | *"/../"* | */..) ;;
            file=*) set -- "$@" "$gen_dir/${launched_line#*=}" ;;
        esac
    done <"$gen_dir/manifest"
    rm -rf "$gen_dir/secrets" "$@"
    remove_from_memory "$gen_dir"
}

