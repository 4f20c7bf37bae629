# ---------------------------------------------------------------- replies

# Convert stdin to one line, with escapes as in JSON and in Java's argument files; each input line ends in \n.
escape_lines() {
    escape_tab=$(printf '\t')
    escape_return=$(printf '\r')
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e "s/$escape_tab/\\\\t/g" -e "s/$escape_return/\\\\r/g" -e 's/$/\\n/' |
        tr -d '\n'
}

# Convert stdin to the content of a JSON string.
json_filter() {
    tr -d '\000-\010\013-\037\177' | escape_lines
}

# json_text <text>: set `json` to the content of a JSON string.
json_text() {
    # All printable ASCII characters except the quote and the backslash.
    json_special='*[!] !#-[^-~]*'
    # shellcheck disable=SC2254 # a pattern on purpose
    case $1 in
        $json_special)
            json=$(printf '%s\n' "$1" | json_filter)
            json=${json%\\n}
            ;;
        *) json=$1 ;;
    esac
}

# json_number <text>: set `json` to the number, or to null if there is none.
json_number() {
    case $1 in
        '' | *[!0-9]*) json=null ;;
        *) json=$1 ;;
    esac
}

# respond <true|false> <code> <message> [generation]: print the reply with the current state, and exit.
respond() {
    inspect "${4-}"
    read_alarm
    json_text "$alarm" && reply_alarm=$json
    json_text "$(printf "%.${MESSAGE_MAX}s" "$3")" && reply_message=$json
    json_text "$reserved_by" && reply_holder=$json
    json_number "$pid" && reply_pid=$json
    json_number "$started_at" && reply_started=$json
    json_number "$running_s" && reply_uptime=$json
    json_number "$exit_code" && reply_exit=$json
    json_number "$lease_remaining_s" && reply_lease=$json
    [ -n "${log_json+set}" ] || [ "$state" != dead ] || read_log "$LOG_TAIL_LINES"
    failpoint before_reply
    printf '\n@@mirrorctl {"ok":%s,"code":"%s","message":"%s","verb":"%s","migration":"%s","generation":%s,' \
        "$1" "$2" "$reply_message" "$verb" "$migration" "$shown"
    printf '"state":"%s","pid":%s,"started_at":%s,"uptime_s":%s,"exit_code":%s,"exit_reason":"%s",' \
        "$state" "$reply_pid" "$reply_started" "$reply_uptime" "$reply_exit" "$exit_reason"
    printf '"holder":"%s","lease_remaining_s":%s,"boot_id":"%s","adopted":%s,"killed":%s,' \
        "$reply_holder" "$reply_lease" "$boot_id" "${adopted-false}" "$killed"
    printf '"alarm":"%s","facts":{%s},"log":"%s"}@@\n' "$reply_alarm" "${facts-}" "${log_json-}"
    [ "$1" = true ] && exit 0
    exit 3
}

# refuse <code> <message>: print a refusal, and exit.
refuse() {
    respond false "$1" "$2"
}

# read_log <lines>: set `log_json` to the last lines of the shown generation. The JVM's own output is short and
# comes first.
read_log() {
    log_json=
    [ "$shown" -gt 0 ] || return 0
    log_json=$(
        if [ -s "$gen_dir/$LOG_FILE" ] || [ -s "$gen_dir/$LOG_FILE.1" ]; then
            tail -n 5 "$gen_dir/console.log"
            newest_log -n "$1"
        else
            tail -n "$1" "$gen_dir/console.log"
        fi 2>/dev/null | tail -c "$LOG_TAIL_BYTES" | json_filter
    )
}

# newest_log <-n|-c> <number>: print the end of the shown generation's log; the rolled file comes before its
# successor.
newest_log() {
    {
        tail "$1" "$2" "$gen_dir/$LOG_FILE.1"
        tail "$1" "$2" "$gen_dir/$LOG_FILE"
    } 2>/dev/null | tail "$1" "$2"
}

# Set `alarm` to the newest line of the shown generation's log that contains one of the launch's alarms.
read_alarm() {
    alarm=
    case $verb in
        renew | status | stop) [ "$shown" -gt 0 ] && [ -s "$gen_dir/alarms" ] || return 0 ;;
        *) return 0 ;;
    esac
    alarm=$(newest_log -c "$ALARM_LOG_BYTES" | tr -d '\000' | grep -F -f "$gen_dir/alarms" 2>/dev/null | tail -n 1)
    alarm=$(printf '%.500s' "$alarm")
}

