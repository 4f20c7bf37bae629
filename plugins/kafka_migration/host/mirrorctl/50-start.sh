# ---------------------------------------------------------------- start

start() {
    must_hold
    lock "$LOCK_WAIT_S"
    must_hold
    inspect
    [ "$state" != running ] || start_while_running
    [ "$generation" -gt "$barred_max" ] ||
        refuse GENERATION_STOPPED "generations up to $barred_max must not start again; requested was $generation"
    start_next=$last
    [ "$barred_max" -le "$last" ] || start_next=$barred_max
    start_next=$((start_next + 1))
    [ "$generation" -eq "$start_next" ] ||
        refuse GENERATION_UNEXPECTED "the last generation here is $((start_next - 1)); requested was $generation"
    find_tools
    case ${MIRRORCTL_MAIN_CLASS-} in
        org.apache.kafka.connect.mirror.MirrorMaker | kafka.tools.MirrorMaker) ;;
        *) refuse HOST_REFUSED "main class ${MIRRORCTL_MAIN_CLASS-} is not allowed" ;;
    esac
    check_launch
    start_alone
    gen_dir=$dir/gen-$generation
    write_launch
    failpoint after_record
    note "$generation" - starting
    with_command spawn
    failpoint after_spawn
    await_launch
}

# Refuse options and texts that must not reach the JVM, before anything is written.
check_launch() {
    for counted in FILES JAVA_OPTIONS ARGUMENTS ALARMS; do
        eval "need_at_most $COUNT_MAX $counted \"\${MIRRORCTL_$counted:-0}\""
    done
    each JAVA_OPTIONS JAVA_OPTION check_java_option
    each ALARMS ALARM check_alarm
}

# each <COUNT> <ITEM> <function>: call the function with each text of a counted list.
each() {
    each_count=0
    eval "each_count=\${MIRRORCTL_$1:-0}"
    each_number=0
    while [ "$each_number" -lt "$each_count" ]; do
        each_number=$((each_number + 1))
        eval "$3 \"\${MIRRORCTL_$2_$each_number-}\""
    done
}

check_java_option() {
    option_value=${1#*=}
    case $1 in
        -XX:+ExitOnOutOfMemoryError | -Dmirror.log.dir=@GENERATION_DIR@) return ;;
        -Xm[sx]*[kKmMgG]) option_value=${1#-Xm?} && is_number "${option_value%?}" && return ;;
        -Dorg.apache.kafka.automatic.config.providers=?*)
            case $option_value in *[!A-Za-z0-9._,]*) ;; *) return ;; esac
            ;;
        -Djava.security.krb5.conf=/* | -Djava.security.krb5.conf=@GENERATION_DIR@/*)
            case $option_value in *[!A-Za-z0-9._/+=@,-]*) ;; *) return ;; esac
            ;;
        "-D$TOKEN_ENDPOINTS="*) is_https_list "$option_value" && return ;;
    esac
    refuse HOST_REFUSED "Java option $1 is not allowed"
}

# is_https_list <text>: whether it is a list of HTTPS addresses, separated by commas.
is_https_list() {
    [ "${#1}" -le 4096 ] || return 1
    case $1 in *[!A-Za-z0-9.:/_~,-]*) return 1 ;; esac
    addresses=$1,
    while [ -n "$addresses" ]; do
        case $addresses in https://[!,]*,*) addresses=${addresses#*,} ;; *) return 1 ;; esac
    done
}

check_alarm() {
    case $1 in
        '' | *"
"*) refuse HOST_REFUSED "an alarm must be one line of text" ;;
    esac
}

start_while_running() {
    if [ "$generation" -eq "$last" ] && [ "$manifest_holder" = "$MIRRORCTL_HOLDER" ]; then
        adopted=true
        # The previous start was interrupted while the JVM was starting.
        [ -n "$pid" ] || await_launch
        note "$generation" "$pid" adopted
        respond true "" "already running"
    fi
    note "$generation" "$pid" refused-already-running
    refuse ALREADY_RUNNING "generation $last runs with pid $pid for $manifest_holder"
}

# Set `java` and `kafka_home`, or refuse.
find_tools() {
    command -v setsid >/dev/null || refuse HOST_TOOL_MISSING "setsid is not on the PATH"
    java_home=${MIRRORCTL_JAVA_HOME:-${JAVA_HOME-}}
    if [ -n "${MIRRORCTL_JAVA_HOME-}" ] || [ -x "$java_home/bin/java" ]; then
        java=$java_home/bin/java
    else
        java=$(command -v java)
    fi
    [ -x "$java" ] ||
        refuse JAVA_MISSING "no executable ${java:-java on the PATH; JAVA_HOME is ${JAVA_HOME:-not set}}"
    kafka_home=${MIRRORCTL_KAFKA_HOME:-${KAFKA_HOME-}}
    case $kafka_home in
        '') refuse MM_BINARY_NOT_FOUND "no Kafka home is given and KAFKA_HOME is not set" ;;
        *:* | [!/]*) refuse MM_BINARY_NOT_FOUND "Kafka home $kafka_home is not an absolute path without colons" ;;
    esac
    set -- "$kafka_home"/libs/*.jar
    [ -e "$1" ] || refuse MM_BINARY_NOT_FOUND "no jar in $kafka_home/libs"
}

# Set `java_version`, empty if unknown; a JVM is started only if no release file of this Java has the version.
read_java_version() {
    java_version=
    java_real=$(readlink -f "$java" 2>/dev/null)
    for java_release in "${java%/bin/java}/release" "${java_real%/bin/java}/release"; do
        if [ -n "$java_version" ] || [ ! -r "$java_release" ]; then continue; fi
        java_version=$(sed -n 's/^JAVA_VERSION="\([0-9A-Za-z._+-]*\)".*/\1/p' "$java_release")
    done
    [ -n "$java_version" ] ||
        java_version=$("$java" -version 2>&1 </dev/null | sed -n 's/.* version "\([0-9A-Za-z._+-]*\)".*/\1/p')
}

# Whether this Java can read its arguments from a file (Java 9 or later). Set `java_version`.
has_argument_files() {
    read_java_version
    is_number "${java_version%%[!0-9]*}" && [ "${java_version%%[!0-9]*}" -ge 9 ]
}

# No process of an earlier generation may be alive or start later. So first write the tombstone, which a late
# supervisor checks after it has its marker, then search for marked processes.
start_alone() {
    [ "$last" -eq 0 ] || tombstone barred "$last"
    kill_marked '[0-9][0-9]*' || refuse ALREADY_RUNNING "processes$marked of this migration could not be killed"
    remove_left_probes
    [ "$last" -eq 0 ] || remove_secrets
    remove_unrecorded
    read_tombstones
    for old_tombstone in "$dir"/stopped-* "$dir"/barred-*; do
        case ${old_tombstone##*/} in
            "stopped-$stopped_max" | "barred-$barred_max") ;;
            *) rm -f "$old_tombstone" ;;
        esac
    done
}

# A start that was interrupted before its generation was recorded left files, but no process.
remove_unrecorded() {
    for unrecorded_dir in "$dir"/gen-*; do
        unrecorded=${unrecorded_dir##*-}
        ! is_number "$unrecorded" || [ "$unrecorded" -le "$last" ] || [ -e "$unrecorded_dir/supervisor" ] ||
            remove_with_secrets "$unrecorded_dir"
    done
}

# remove_with_secrets <folder of a generation>
remove_with_secrets() {
    remove_from_memory "$1"
    rm -rf "$1"
}

# tombstone <stopped|barred> <generation>: this generation and all earlier ones must not start again. Only those
# that were asked to stop are later shown as stopped.
tombstone() {
    highest_tombstone "$1"
    [ "$2" -gt "$highest" ] || return 0
    { : >"$dir/$1-$2"; } 2>/dev/null || refuse_write "$dir/$1-$2"
}

