# ---------------------------------------------------------------- probes

# A probe reads only. It needs no reservation and only the lock of probes, so it also works while MirrorMaker runs. A
# caller names a subject, an address, names, topics and a client's settings; the tools and their arguments are those below
# and no others.
probe() {
    subject=$generation
    check_probe
    [ "$subject" = host ] || find_tools
    make_probe_folder
    "probe_$subject"
    remove_with_secrets "$gen_dir"
    log_json=
    respond true "" ""
}

check_probe() {
    case $subject in
        host | brokers | space | quotas | clock) ;;
        *) refuse HOST_REFUSED "the subject of a probe is host, brokers, space, quotas or clock, not $subject" ;;
    esac
    case ${MIRRORCTL_NAMES-} in
        *[!A-Za-z0-9._:\ -]* | -* | *' -'*) refuse HOST_REFUSED "a name to look up has other characters than a host" ;;
    esac
    case ${MIRRORCTL_BOOTSTRAP-} in
        -* | *[!][A-Za-z0-9.,:_%\ -]*) refuse HOST_REFUSED "the brokers' address is not allowed" ;;
    esac
    case ${MIRRORCTL_TOPICS-} in
        -* | *[!A-Za-z0-9.,_-]*) refuse HOST_REFUSED "a topic's name is not allowed" ;;
    esac
    need_at_most "$COUNT_MAX" JAVA_OPTIONS "${MIRRORCTL_JAVA_OPTIONS:-0}"
    each JAVA_OPTIONS JAVA_OPTION check_probe_option
    case $subject/${MIRRORCTL_FILES:-0}/${MIRRORCTL_FILE_NAME_1-} in
        host/0/* | [!h]*/1/secrets/client.properties) ;;
        *) refuse HOST_REFUSED "a probe of Kafka has one file, secrets/client.properties; one of the host has none" ;;
    esac
    [ "$subject" = host ] || check_client
}

check_client() {
    [ -n "${MIRRORCTL_BOOTSTRAP-}" ] || refuse HOST_REFUSED "MIRRORCTL_BOOTSTRAP is not set"
    client_text=${MIRRORCTL_FILE_TEXT_1-}
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

# check_probe_option <option>: of a launch's options a tool needs only the addresses of tokens.
check_probe_option() {
    case $1 in
        "-D$TOKEN_ENDPOINTS="*) check_java_option "$1" ;;
        *) refuse HOST_REFUSED "Java option $1 is not allowed for a probe" ;;
    esac
}

# Set `gen_dir` to the folder of this probe. It is made under another name first, so that it never exists without its
# owner. The owner of the lock first ends what a killed probe left, so there are never two.
make_probe_folder() {
    mkdir -p "$dir" 2>/dev/null || refuse_write "$dir"
    hold probing "$PROBE_WAIT_S"
    kill_marked 'probe-[0-9][0-9]*' || refuse HOST_LOCKED "processes$marked of an earlier probe could not be killed"
    remove_left_probes
    gen_dir=$dir/probe-$$
    rm -rf "$dir/.probe-$$"
    process_facts $$
    { mkdir "$dir/.probe-$$" && put "$dir/.probe-$$/owner" "$$ $process_start $boot_id" &&
        mv "$dir/.probe-$$" "$gen_dir"; } 2>/dev/null || refuse_write "$gen_dir"
    trap 'remove_with_secrets "$dir/probe-$$"' EXIT
    trap 'exit 143' TERM HUP INT
    [ "$subject" = host ] || start_guard
    write_files
    failpoint after_record
}

# Start a process of its own session, which ends the tool and removes the secrets if this call is killed.
start_guard() {
    write_logging
    write_self
    KAFKA_MIGRATION_HOME="$base" setsid sh "$gen_dir/supervise" guard "$migration" $$ </dev/null >/dev/null 2>&1 &
}

guard() {
    trap : TERM HUP INT
    gen_dir=$dir/probe-$generation
    while is_owner_alive "$gen_dir/owner"; do
        nap
    done
    end_left_probe "$gen_dir"
}

# A probe whose call and guard were both killed left its folder, and maybe its tool.
remove_left_probes() {
    for left_dir in "$dir"/probe-*; do
        [ ! -d "$left_dir" ] || is_owner_alive "$left_dir/owner" || end_left_probe "$left_dir"
    done
}

# end_left_probe <folder>
end_left_probe() {
    is_number "${1##*-}" && kill_marked "probe-${1##*-}"
    remove_with_secrets "$1"
}

# The client's own log has what no tool prints: the free bytes of each log directory.
write_logging() {
    client_level=ERROR
    [ "$subject" != space ] || client_level=DEBUG
    put "$gen_dir/$LOG4J_FILE" "log4j.rootLogger=ERROR, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%p] %m (%c)%n
log4j.logger.org.apache.kafka.clients.NetworkClient=$client_level" || abandon_write "$gen_dir/$LOG4J_FILE"
    put "$gen_dir/$LOG4J2_FILE" "rootLogger.level=ERROR
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=[%p] %m (%c)%n
logger.client.name=org.apache.kafka.clients.NetworkClient
logger.client.level=$client_level" || abandon_write "$gen_dir/$LOG4J_FILE"
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
        KAFKA_MIGRATION_ID="$migration/probe-$$" KAFKA_MIGRATION_HOME="$base" \
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
            nap
        done
    done
}

# Each broker that the cluster advertises, and its answer to a client on this host.
probe_brokers() {
    run_tools "BrokerApiVersionsCommand --bootstrap-server @B --command-config @C"
}

# The sizes of the topics' partitions, and the free bytes of each log directory.
probe_space() {
    run_tools "LogDirsCommand --bootstrap-server @B --command-config @C --describe${MIRRORCTL_TOPICS:+ --topic-list @T}"
}

# The quotas of users, of client ids, and of both together.
probe_quotas() {
    run_tools "ConfigCommand --bootstrap-server @B --command-config @C --describe --entity-type users" \
        "ConfigCommand --bootstrap-server @B --command-config @C --describe --entity-type clients" \
        "ConfigCommand --bootstrap-server @B --command-config @C --describe --entity-type users --entity-type clients"
}

# The time of a KRaft cluster's active controller, which is that of its own last fetch, between two times of this host.
probe_clock() {
    clock_before=$(date +%s)
    run_tools "MetadataQuorumCommand --bootstrap-server @B --command-config @C describe --replication"
    fact clock_before "$clock_before"
    fact clock "$(date +%s)"
}

# run_tools <command…>: run Kafka's tools one after the other, until one fails; set `facts` to the last tool, its exit
# code or why it has none, the output of all, and the end of its errors.
run_tools() {
    read_uptime
    tools_deadline=$((uptime_s + PROBE_S))
    facts='' tool_code=0
    for tool_line in "$@"; do
        [ "$tool_code" != 0 ] || run_tool "$tool_line"
    done
    ! is_larger "$PROBE_OUTPUT_BLOCKS" "$gen_dir/output" || tool_code=large
    fact tool "${tool_line%% *}"
    fact exit "$tool_code"
    [ "$tool_code" = large ] || [ "$tool_code" = timeout ] ||
        facts="$facts,\"output\":\"$(json_filter <"$gen_dir/output")\""
    facts="$facts,\"errors\":\"$(tail -c "$PROBE_ERROR_BYTES" "$gen_dir/errors" | json_filter)\""
}

# run_tool <command>: set `tool_code`, as `set_command`. The class of a tool is in one of two packages, by Kafka's version; a wrong guess
# costs the start of a JVM.
run_tool() {
    # shellcheck disable=SC2086 # split into words on purpose
    set -- $1
    tool_class=$1
    shift
    case $tool_class in
        BrokerApiVersionsCommand | ConfigCommand) tool_packages="kafka.admin org.apache.kafka.tools" ;;
        *) tool_packages="org.apache.kafka.tools kafka.admin" ;;
    esac
    for tool_package in $tool_packages; do
        set_command "$tool_package.$tool_class" "$@"
        with_command run_java
        grep -q "Could not find or load main class" "$gen_dir/errors" || return 0
    done
}

# set_command <class> <argument…>: fill in address, configuration and topics, which no process list shows with Java 9
# or newer. Set `arguments_file`, and add it to `file_lines`.
set_command() {
    MIRRORCTL_MAIN_CLASS=$1
    shift
    MIRRORCTL_ARGUMENTS=$#
    argument_number=0
    for argument_text in "$@"; do
        argument_number=$((argument_number + 1))
        case $argument_text in
            @B) argument_text=$MIRRORCTL_BOOTSTRAP ;;
            @C) argument_text=$gen_dir/secrets/client.properties ;;
            @T) argument_text=$MIRRORCTL_TOPICS ;;
        esac
        eval "MIRRORCTL_ARGUMENT_$argument_number=\$argument_text"
    done
    arguments_file=''
    rm -f "$gen_dir/$MIRRORCTL_MAIN_CLASS.args"
    write_arguments
}

# run_java <java> <argument…>: run a tool with a low priority, as the first victim of a lack of memory.
run_java() {
    shift
    : >"$gen_dir/errors"
    (
        # Shells count in blocks of 512 or 1024 bytes. All these shells have the option for core dumps.
        # shellcheck disable=SC3045
        ulimit -c 0 2>/dev/null
        ulimit -f $((2 * PROBE_OUTPUT_BLOCKS))
        { echo 0 >/proc/self/coredump_filter; } 2>/dev/null
        { echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null
        # shellcheck disable=SC2030,SC2031 # only the tool gets these two
        export KAFKA_MIGRATION_ID="$migration/probe-$$" KAFKA_MIGRATION_HOME="$base"
        # Not every BusyBox has nice.
        tool_nice=
        command -v nice >/dev/null && tool_nice="nice -n 10"
        # shellcheck disable=SC2086 # split into words on purpose
        exec $tool_nice "$java" $PROBE_JAVA "$@"
    ) </dev/null >>"$gen_dir/output" 2>>"$gen_dir/errors" &
    tool_pid=$!
    failpoint after_spawn
    read_uptime
    await_children $((tools_deadline - uptime_s)) "$tool_pid"
    wait "$tool_pid"
    tool_code=$?
    read_uptime
    [ "$uptime_s" -lt "$tools_deadline" ] || tool_code=timeout
}

