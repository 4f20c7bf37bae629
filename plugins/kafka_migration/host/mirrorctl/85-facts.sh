# ---------------------------------------------------------------- facts of this host

fingerprint() {
    find_tools
    read_java_version
    kafka_version=
    for kafka_jar in "$kafka_home"/libs/kafka-clients-*.jar; do
        case $kafka_jar in
            *-test.jar | *-sources.jar | *-javadoc.jar | *'*'*) ;;
            *) kafka_version=${kafka_jar##*/kafka-clients-} && kafka_version=${kafka_version%.jar} ;;
        esac
    done
    { read -r kernel; } 2>/dev/null </proc/sys/kernel/osrelease
    facts=
    fact kafka "$kafka_version"
    fact java "$java_version"
    fact java_path "$java"
    fact kafka_home "$kafka_home"
    fact base "$base"
    fact mirrorctl "$(own_digest)"
    fact user "$(id -un 2>/dev/null || id -u 2>/dev/null)"
    fact kernel "$kernel"
    respond true "" ""
}

# fact <name> <text>: add it to `facts`.
fact() {
    json_text "$2"
    facts="$facts${facts:+,}\"$1\":\"$json\""
}

# Print the SHA-256 of this text, or nothing if the tool is missing.
own_digest() {
    if [ -n "${MIRRORCTL_SELF-}" ]; then
        printf '%s' "$MIRRORCTL_SELF" | sha256sum
    else
        sha256sum "$0"
    fi 2>/dev/null | sed -n 's/^\([0-9a-f]*\).*/\1/p'
}

logs() {
    logs_of=$generation
    [ "$generation" != last ] || logs_of=''
    inspect "$logs_of"
    read_log "$lines"
    respond true "" "" "$logs_of"
}

