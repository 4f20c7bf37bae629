# ---------------------------------------------------------------- probes

# A probe reads only. It needs no reservation and only the lock of its subject, so it also works while MirrorMaker runs,
# and the host answers about itself while a program asks the clusters. A caller names a subject, names, topics and the
# settings of two clients; the program is the one in PROBE_JAR and no other.
probe() {
    subject=$generation
    check_probe
    [ "$subject" = host ] || find_probe_tools
    make_probe_folder
    "probe_$subject"
    remove_with_secrets "$gen_dir"
    log_json=
    respond true "" ""
}

check_probe() {
    case $subject in
        host | clusters) ;;
        *) refuse HOST_REFUSED "the subject of a probe is host or clusters, not $subject" ;;
    esac
    case ${MIRRORCTL_NAMES-} in
        *[!A-Za-z0-9._:\ -]* | -* | *' -'*) refuse HOST_REFUSED "a name to look up has other characters than a host" ;;
    esac
    case ${MIRRORCTL_TOPICS-} in
        *[!A-Za-z0-9.,_-]*) refuse HOST_REFUSED "a topic's name is not allowed" ;;
    esac
    need_at_most "$COUNT_MAX" JAVA_OPTIONS "${MIRRORCTL_JAVA_OPTIONS:-0}"
    each JAVA_OPTIONS JAVA_OPTION check_probe_option
    case $subject/${MIRRORCTL_FILES:-0}/${MIRRORCTL_FILE_NAME_1-}/${MIRRORCTL_FILE_NAME_2-} in
        host/0/*) return ;;
        clusters/2/secrets/source.properties/secrets/target.properties) ;;
        *) refuse HOST_REFUSED "a probe has the files secrets/{source,target}.properties; one of the host has none" ;;
    esac
    check_client "${MIRRORCTL_FILE_TEXT_1-}"
    check_client "${MIRRORCTL_FILE_TEXT_2-}"
}

# check_client <text>: refuse settings that a connection of this package cannot become.
check_client() {
    client_text=$1
    [ "${#client_text}" -le "$CLIENT_BYTES_MAX" ] ||
        refuse HOST_REFUSED "the client's settings have more than $CLIENT_BYTES_MAX bytes"
    refuse_lines "is not allowed in a probe, or not in this form" -v -x -E -e "$CLIENT_LINES"
    # shellcheck disable=SC2016 # not a variable
    refuse_lines "has a reference to another configuration" -F -e '${'
    client_twice=$(printf '%s\n' "$client_text" | sed 's/ .*//' | sort | uniq -d)
    [ -z "$client_twice" ] || refuse HOST_REFUSED "the client's setting ${client_twice%%"
"*} is given twice"
}

# refuse_lines <problem> <argument of grep…>: refuse settings of which grep finds a line in `client_text`. The refusal
# never shows a value, only a name, or a number if the line does not begin with a name.
refuse_lines() {
    client_problem=$1
    shift
    # Exactly 1: grep worked and found no line.
    client_line=$(printf '%s' "$client_text" | { grep -n "$@" 2>/dev/null; echo $?; } | head -n 1 | cut -c1-200)
    [ "$client_line" != 1 ] || return 0
    client_number=${client_line%%:*}
    client_name=${client_line#*:}
    case $client_name in
        [a-z]*.[a-z]*[=:\ ]*) client_name=${client_name%%[!a-z.]*} ;;
        *) client_name='' ;;
    esac
    refuse HOST_REFUSED "the client's setting ${client_name:-in line $client_number} $client_problem"
}

# check_probe_option <option>: of a launch's options a probe needs only the addresses of tokens.
check_probe_option() {
    case $1 in
        "-D$TOKEN_ENDPOINTS="*) check_java_option "$1" ;;
        *) refuse HOST_REFUSED "Java option $1 is not allowed for a probe" ;;
    esac
}

find_probe_tools() {
    command -v base64 >/dev/null || refuse HOST_TOOL_MISSING "base64 is not on the PATH"
    find_tools
}

# Set `gen_dir` to the folder of this probe, and `probe_name` to its name. It is made under another name first, so that
# it never exists without its owner. The owner of the lock first ends what a killed probe of the subject left, so there
# are never two.
make_probe_folder() {
    mkdir -p "$dir" 2>/dev/null || refuse_write "$dir"
    hold "probing-$subject" "$PROBE_WAIT_S"
    kill_marked "probe-$subject-[0-9][0-9]*" ||
        refuse HOST_LOCKED "processes$marked of an earlier probe could not be killed"
    remove_left_probes
    probe_name=probe-$subject-$$
    gen_dir=$dir/$probe_name
    rm -rf "$dir/.$probe_name"
    process_facts $$
    { mkdir "$dir/.$probe_name" && put "$dir/.$probe_name/owner" "$$ $process_start $boot_id" &&
        mv "$dir/.$probe_name" "$gen_dir"; } 2>/dev/null || refuse_write "$gen_dir"
    trap 'remove_with_secrets "$dir/$probe_name"' EXIT
    trap 'exit 143' TERM HUP INT
    [ "$subject" = host ] || start_guard
    write_files
    failpoint after_record
}

# Start a process of its own session, which ends the program and removes the secrets if this call is killed.
start_guard() {
    write_logging
    write_self
    KAFKA_MIGRATION_HOME="$base" setsid sh "$gen_dir/supervise" guard "$migration" $$ </dev/null >/dev/null 2>&1 &
}

guard() {
    trap : TERM HUP INT
    gen_dir=$dir/probe-clusters-$generation
    while is_owner_alive "$gen_dir/owner"; do
        nap
    done
    end_left_probe "$gen_dir"
}

# A probe whose call and guard were both killed left its folder, and maybe its program.
remove_left_probes() {
    for left_dir in "$dir"/probe-*; do
        [ ! -d "$left_dir" ] || is_owner_alive "$left_dir/owner" || end_left_probe "$left_dir"
    done
}

# end_left_probe <folder>
end_left_probe() {
    is_number "${1##*-}" && kill_marked "${1##*/}"
    remove_with_secrets "$1"
}

# The errors of Kafka's clients are shown if the program prints no answer.
write_logging() {
    put "$gen_dir/$LOG4J_FILE" "log4j.rootLogger=ERROR, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%p] %m (%c)%n" || abandon_write "$gen_dir/$LOG4J_FILE"
    put "$gen_dir/$LOG4J2_FILE" "rootLogger.level=ERROR
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=[%p] %m (%c)%n" || abandon_write "$gen_dir/$LOG4J_FILE"
}

# The host itself: free space, limits, clock, and the addresses of names.
probe_host() {
    look_up_names
    facts=
    fact free_kib "$(df -P -k "$dir" 2>/dev/null |
        sed -n '2s/.*[[:space:]]\([0-9][0-9]*\)[[:space:]][[:space:]]*[0-9][0-9]*%[[:space:]].*/\1/p')"
    # Java raises its soft limit to the hard one. dash, bash and BusyBox have this option.
    # shellcheck disable=SC3045
    fact open_files "$(ulimit -H -n 2>/dev/null)"
    fact names "$names_found"
    # Last, so that it is as new as possible when the reply arrives.
    fact clock "$(date +%s)"
}

# Set `names_found`: one line `<name> <exit code of getent> <address>…` per name; 2 is a name without an address. A
# look-up that takes too long is killed. Without getent nothing is known.
look_up_names() {
    names_found='' lookups='' lookup_pids=''
    command -v getent >/dev/null || return 0
    # shellcheck disable=SC2086 # split into names on purpose
    set -- ${MIRRORCTL_NAMES-}
    [ $# -le "$NAMES_MAX" ] || refuse HOST_REFUSED "more than $NAMES_MAX names"
    for lookup_name in "$@"; do
        # With the marker, the next probe ends it if this call is killed.
        KAFKA_MIGRATION_ID="$migration/$probe_name" KAFKA_MIGRATION_HOME="$base" \
            getent ahosts "$lookup_name" </dev/null >"$gen_dir/name.$lookup_name" 2>/dev/null &
        lookups="$lookups $!/$lookup_name" lookup_pids="$lookup_pids $!"
    done
    await_children "$LOOKUP_S" "$lookup_pids"
    for lookup in $lookups; do
        wait "${lookup%%/*}"
        lookup_code=$?
        lookup_addresses=$(sed 's/[[:space:]].*//' "$gen_dir/name.${lookup#*/}" | sort -u |
            head -n "$ADDRESSES_MAX" | tr '\n' ' ')
        names_found="$names_found${lookup#*/} $lookup_code $lookup_addresses
"
    done
}

# await_children <seconds> <pids>: wait for children of this shell; kill those that are alive after that time.
await_children() {
    read_uptime
    children_deadline=$((uptime_s + $1))
    for child_pid in $2; do
        while process_facts "$child_pid"; do
            read_uptime
            [ "$uptime_s" -lt "$children_deadline" ] || kill -s KILL "$child_pid" 2>/dev/null
            nap 0.05
        done
    done
}

# Both clusters: each broker's answer to a client on this host, free space, quotas, and the controller's time. Set `facts`
# to the program's exit code or why it has none, its output, and the end of its errors.
probe_clusters() {
    printf '%s\n' "${MIRRORCTL_TOPICS-}" | tr , '\n' >"$gen_dir/topics" || abandon_write "$gen_dir/topics"
    printf '%s\n' "$PROBE_JAR" | base64 -d >"$gen_dir/probe.jar" || abandon_write "$gen_dir/probe.jar"
    probe_classes=$gen_dir/probe.jar:
    # shellcheck disable=SC2034 # read by `with_command`
    MIRRORCTL_MAIN_CLASS=ClusterProbe MIRRORCTL_ARGUMENTS=1 MIRRORCTL_ARGUMENT_1=$gen_dir arguments_file=''
    with_command run_java
    ! is_larger "$PROBE_OUTPUT_BLOCKS" "$gen_dir/output" || probe_code=large
    facts=
    fact exit "$probe_code"
    [ "$probe_code" = large ] || [ "$probe_code" = timeout ] ||
        facts="$facts,\"output\":\"$(json_filter <"$gen_dir/output")\""
    facts="$facts,\"errors\":\"$(tail -c "$PROBE_ERROR_BYTES" "$gen_dir/errors" | json_filter)\""
}

# run_java <java> <argument…>: run the program with a low priority, as the first victim of a lack of memory. Set
# `probe_code`.
run_java() {
    shift
    (
        # Shells count in blocks of 512 or 1024 bytes. All these shells have the option for core dumps.
        # shellcheck disable=SC3045
        ulimit -c 0 2>/dev/null
        ulimit -f $((2 * PROBE_OUTPUT_BLOCKS))
        { echo 0 >/proc/self/coredump_filter; } 2>/dev/null
        { echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null
        # shellcheck disable=SC2030,SC2031 # only the program gets these two
        export KAFKA_MIGRATION_ID="$migration/$probe_name" KAFKA_MIGRATION_HOME="$base"
        # Not every BusyBox has nice.
        probe_nice=
        command -v nice >/dev/null && probe_nice="nice -n 10"
        # shellcheck disable=SC2086 # split into words on purpose
        exec $probe_nice "$java" $PROBE_JAVA "$@"
    ) </dev/null >"$gen_dir/output" 2>"$gen_dir/errors" &
    probe_pid=$!
    failpoint after_spawn
    read_uptime
    probe_deadline=$((uptime_s + PROBE_S))
    await_children "$PROBE_S" "$probe_pid"
    wait "$probe_pid"
    probe_code=$?
    read_uptime
    [ "$uptime_s" -lt "$probe_deadline" ] || probe_code=timeout
}

