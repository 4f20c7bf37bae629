# ---------------------------------------------------------------- the call

# need_number <name> <text>: an argument must be an integer.
need_number() {
    is_number "$2" || refuse HOST_REFUSED "$1 must be an integer"
}

# need_at_most <limit> <name> <text>: an integer up to a limit.
need_at_most() {
    need_number "$2" "$3"
    [ "$3" -le "$1" ] || refuse HOST_REFUSED "$2 is more than $1"
}

# A printf that is a separate program would show its arguments in process lists, and some are secrets.
need_own_printf() {
    [ "$(command -v printf)" = printf ] ||
        refuse HOST_TOOL_MISSING "the sh of this host has no built-in printf, unlike dash, bash and BusyBox"
}

# Set `boot_id`, `base` and `dir`, or refuse; without a valid name set `migration` to nothing first.
prepare() {
    dir='' boot_id=''
    case $migration in
        '' | [!a-z0-9]* | *[!a-z0-9-]*) bad_migration=true ;;
        *) bad_migration=false ;;
    esac
    if "$bad_migration" || [ "${#migration}" -gt 63 ]; then
        migration=
        refuse HOST_REFUSED "the migration's name is not valid"
    fi
    { read -r boot_id; } 2>/dev/null </proc/sys/kernel/random/boot_id
    if [ -z "$boot_id" ] || [ ! -r /proc/self/stat ]; then
        refuse HOST_TOOL_MISSING "/proc is missing; mirrorctl needs Linux"
    fi
    for tool in cat cp date find grep head id ln ls mkdir mv rm sed sleep sort tail tr uniq; do
        command -v "$tool" >/dev/null || refuse HOST_TOOL_MISSING "$tool is not on the PATH"
    done
    # shellcheck disable=SC2031 # a tool's own copy is not meant
    base=${MIRRORCTL_HOME:-${KAFKA_MIGRATION_HOME:-${HOME:+$HOME/.kafka-migration}}}
    base=${base%/}
    check_base
    # Use one spelling of the folder, because it identifies its processes.
    base=$(cd -P "$base" 2>/dev/null && pwd -P || printf '%s\n' "$base")
    check_base
    dir=$base/$migration
}

check_base() {
    case $base in
        /*[!A-Za-z0-9._/+=@,-]* | [!/]* | '')
            refuse HOST_REFUSED "the base folder '$base' is not an absolute path of letters, digits and . _ / + = @ , -"
            ;;
    esac
}

# Any user who can write to the base folder or replace it could run commands as this user.
need_safe_base() {
    is_base_safe || refuse HOST_REFUSED "only this user may own and write to the base folder: $unsafe"
}

# What is in the migration's folder is believed and removed, so only this user may put anything there. No verb works with a
# folder that is a link, belongs to another user or is writable by others, or with such a file in it. To refuse it, set
# `dir` to nothing and `shown` to 0 first, so that nothing reads it.
need_own_folder() {
    foreign=$(find "$dir" "$dir"/* "$dir"/.[!.]* -prune \
        \( -type l -o ! -user "$(id -u)" -o -perm -020 -o -perm -002 \) -print 2>/dev/null | head -n 1)
    [ -n "$foreign" ] || return 0
    dir='' shown=0 foreign_note=''
    [ "$verb" != stop ] || stop_marked
    refuse HOST_REFUSED "only this user may own and write to $foreign, and it must not be a link$foreign_note"
}

# MirrorMaker can always be stopped: end its processes without their records, found by their markers. Set `foreign_note`.
stop_marked() {
    find_marked '[0-9][0-9]*'
    read_uptime
    marked_deadline=$((uptime_s + grace_s))
    for marked_one in $marked; do
        [ "$grace_s" -eq 0 ] || kill -s TERM "$marked_one" 2>/dev/null
    done
    while [ -n "$marked" ] && [ "$uptime_s" -lt "$marked_deadline" ]; do
        nap
        find_marked '[0-9][0-9]*'
        read_uptime
    done
    kill_marked '[0-9][0-9]*' || refuse MIRROR_NOT_STOPPED "processes$marked survived KILL"
    foreign_note="; no process is alive, but this could not be recorded"
}

# Check the base folder and all its parents; set `unsafe` to the problem.
is_base_safe() {
    safe_uid=$(id -u)
    set --
    safe_path=$base
    while [ -n "$safe_path" ]; do
        set -- "$@" "$safe_path"
        safe_path=${safe_path%/*}
    done
    unsafe=$(
        # find has no portable way to print owner and mode, and these names are ours.
        # shellcheck disable=SC2012
        ls -ldn / "$@" 2>/dev/null |
            while read -r safe_mode _ safe_owner safe_rest; do
                check_folder "$safe_mode" "$safe_owner" "${safe_rest##* }"
            done
    )
    [ -z "$unsafe" ]
}

# check_folder <mode> <owner> <path>: print the problem of a folder.
check_folder() {
    case $3 in
        "$base")
            [ "$2" = "$safe_uid" ] || echo "$3 belongs to user id $2"
            case $1 in ?????w* | ????????w*) echo "$3 is writable by others" ;; esac
            ;;
        *)
            case $1/$2 in
                l*) ;;
                ????????w[!tT]*) echo "$3 is writable by all users" ;;
                */0 | */"$safe_uid") ;;
                ?*) echo "$3 belongs to user id $2" ;;
            esac
            ;;
    esac
}

# ---------------------------------------------------------------- the request

# A request consists of shell lines that assign single-quoted words without quotes inside. A shell that runs them
# and `read_forced`, which does not, read the same values. All but plain ASCII is written as backslash escapes.
# MIRRORCTL_ENCODED is the last line: without it the request is incomplete.

SCALARS="HOLDER TAKE_OVER_FROM MAIN_CLASS KAFKA_HOME JAVA_HOME HOME PRIVATE_ARGUMENTS FILES JAVA_OPTIONS ARGUMENTS ALARMS"
SCALARS="$SCALARS NAMES TOPICS"
NUMBERED="FILE_NAME FILE_TEXT JAVA_OPTION ARGUMENT ALARM"

# Read the request from stdin without running any of it, and read stdin to its end.
read_forced() {
    unset MIRRORCTL_SELF MIRRORCTL_ENCODED
    for forced_scalar in $SCALARS; do
        unset "MIRRORCTL_$forced_scalar"
    done
    # A shell would drop zero bytes and empty lines; as DEL and ? they are refused below.
    forced_request=$(head -c $((REQUEST_BYTES_MAX + 1)) | tr '\000' '\177' |
        sed -e 's/^$/?/' -e '/^MIRRORCTL_ENCODED=/q' -e "$((REQUEST_LINES_MAX + 1))q") 2>/dev/null
    [ "${#forced_request}" -le "$REQUEST_BYTES_MAX" ] ||
        refuse HOST_REFUSED "the request has more than $REQUEST_BYTES_MAX bytes"
    forced_ifs=$IFS
    IFS='
'
    set -f
    # shellcheck disable=SC2086 # split into lines on purpose
    set -- $forced_request
    set +f
    IFS=$forced_ifs
    [ $# -le "$REQUEST_LINES_MAX" ] || refuse HOST_REFUSED "the request has more than $REQUEST_LINES_MAX lines"
    read_lines "$@"
    cat >/dev/null
    [ -n "${MIRRORCTL_ENCODED-}" ] || [ $# -eq 0 ] || refuse HOST_REFUSED "the request is incomplete"
}

refuse_assignment() {
    refuse HOST_REFUSED "line $forced_lines of the request is not an assignment"
}

# read_lines <line…>
read_lines() {
    forced_lines=0
    for forced_line in "$@"; do
        forced_lines=$((forced_lines + 1))
        case $forced_line in
            'unset '*) continue ;;
            MIRRORCTL_*\') ;;
            *) refuse_assignment ;;
        esac
        # Only the beginning is searched, because a shell takes hours for a long text.
        forced_head=$forced_line
        [ "${#forced_line}" -le 200 ] || forced_head=$(printf '%.60s' "$forced_line")\'
        case $forced_head in MIRRORCTL_*=\'*\') ;; *) refuse_assignment ;; esac
        forced_name=${forced_line%%=*}
        forced_text=${forced_line#*=\'}
        forced_assign "${forced_name#MIRRORCTL_}" "${forced_text%\'}"
    done
}

# forced_assign <name> <encoded text>
forced_assign() {
    # Check the whole name first, because it is evaluated below.
    case $1 in
        '' | *[!A-Z0-9_]*) refuse HOST_REFUSED "a variable of the request has an invalid name" ;;
    esac
    case " $NUMBERED " in
        *" ${1%_*} "*) need_number "the number after MIRRORCTL_${1%_*}_" "${1##*_}" ;;
        *)
            case " $SCALARS ENCODED " in
                *" $1 "*) ;;
                *) refuse HOST_REFUSED "MIRRORCTL_$1 is not a variable of a request" ;;
            esac
            ;;
    esac
    case $2 in
        *[!\ -\&\(-~]*) refuse HOST_REFUSED "MIRRORCTL_$1 is not encoded" ;;
    esac
    unset "MIRRORCTL_$1"
    eval "MIRRORCTL_$1=\$2"
}

# Undo the encoding; variables that a user set are not encoded.
decode_request() {
    [ -n "${MIRRORCTL_ENCODED-}" ] || return 0
    for scalar in $SCALARS; do
        decode "$scalar"
    done
    decode_list FILES FILE_NAME
    decode_list FILES FILE_TEXT
    decode_list JAVA_OPTIONS JAVA_OPTION
    decode_list ARGUMENTS ARGUMENT
    decode_list ALARMS ALARM
}

# decode_list <COUNT> <ITEM>
decode_list() {
    eval "decode_count=\${MIRRORCTL_$1:-0}"
    need_at_most "$COUNT_MAX" "$1" "$decode_count"
    while [ "$decode_count" -gt 0 ]; do
        decode "$2_$decode_count"
        decode_count=$((decode_count - 1))
    done
}

# decode <name>
decode() {
    encoded=
    eval "encoded=\${MIRRORCTL_$1-}"
    case $encoded in
        *\\*)
            decoded=$(printf '%b.' "$encoded")
            decoded=${decoded%.}
            eval "MIRRORCTL_$1=\$decoded"
            ;;
    esac
}

# As an OpenSSH forced command: the words come from SSH_ORIGINAL_COMMAND, in the form that the adapter sends or a
# user types. Callers cannot choose paths on this host.
forced() {
    verb=forced migration='' is_forced=true
    case ${SSH_ORIGINAL_COMMAND-} in
        *[!a-z0-9\ -]*) refuse HOST_REFUSED "only plain words are allowed here" ;;
    esac
    # shellcheck disable=SC2086 # split into words on purpose
    set -- ${SSH_ORIGINAL_COMMAND-}
    case "$* " in
        'sh -s -- '*) shift 3 ;;
        'mirrorctl '*) shift ;;
        *) refuse HOST_REFUSED "only mirrorctl's verbs with plain words are allowed here" ;;
    esac
    read_forced
    main "$@" </dev/null
}

# keep_own <what> <requested> <this host's>: a caller may only request this host's own value.
keep_own() {
    [ -z "$2" ] || [ "${2%/}" = "${3%/}" ] ||
        refuse HOST_REFUSED "$1 $2 was requested, but this host allows only ${3:-none}"
}

keep_own_settings() {
    # shellcheck disable=SC2031 # a tool's own copy is not meant
    keep_own "the base folder" "${MIRRORCTL_HOME-}" "${KAFKA_MIGRATION_HOME:-${HOME-}/.kafka-migration}"
    keep_own "Kafka home" "${MIRRORCTL_KAFKA_HOME-}" "${KAFKA_HOME-}"
    keep_own "Java home" "${MIRRORCTL_JAVA_HOME-}" "${JAVA_HOME-}"
}

refuse_usage() {
    verb=usage migration=''
    refuse HOST_REFUSED \
        "usage: reserve|release|status|renew|start|stop|logs|fingerprint|probe|clean <migration> [arguments]"
}

main() {
    verb=${1-} migration=${2-} generation=${3-} grace_s='' lines='' keep=''
    case $verb/$# in
        reserve/2 | release/2 | status/2 | fingerprint/2 | renew/3 | clean/3 | probe/3 | start/4 | stop/4 | logs/4) ;;
        # These verbs run their words as a command.
        supervise/* | watch/3 | guard/3) [ -z "${is_forced-}" ] || refuse_usage ;;
        *) refuse_usage ;;
    esac
    prepare_request
    prepare
    case $verb/$generation in
        reserve/* | release/* | status/* | fingerprint/* | probe/* | clean/* | stop/last | logs/last) ;;
        *) need_number "the generation" "$generation" ;;
    esac
    case $verb in
        reserve | release | start | renew | stop | clean) need_holder ;;
    esac
    case $verb in
        start) lease_s=${4-} && need_at_most "$LEASE_MAX_S" "the lease" "$lease_s" ;;
        stop) grace_s=${4-} && need_at_most "$GRACE_MAX_S" "the grace time" "$grace_s" ;;
        logs) lines=${4-} && need_at_most "$LOG_LINES_MAX" "the number of lines" "$lines" ;;
        clean) keep=${3-} && need_number "the number of folders to keep" "$keep" ;;
    esac
    case $verb in
        supervise | watch | guard) ;;
        *) need_own_folder ;;
    esac
    # Other verbs do not need a safe base folder.
    case $verb in
        reserve | start | probe | clean) need_safe_base ;;
    esac
    case $verb in
        status) respond true "" "" ;;
        supervise) shift 3 && supervise "$@" ;;
        *) "$verb" ;;
    esac
}

prepare_request() {
    need_own_printf
    decode_request
    [ -z "${is_forced-}" ] || keep_own_settings
}

# The last line, so that a truncated text does nothing.
if [ "${1-}" = forced ]; then forced; else main "$@" </dev/null; fi
