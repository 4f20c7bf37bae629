# ---------------------------------------------------------------- the reservation

need_holder() {
    case ${MIRRORCTL_HOLDER-} in
        '') refuse HOST_REFUSED "MIRRORCTL_HOLDER is not set" ;;
        *"
"*) refuse HOST_REFUSED "MIRRORCTL_HOLDER has more than one line" ;;
    esac
    [ "${#MIRRORCTL_HOLDER}" -le "$HOLDER_MAX" ] ||
        refuse HOST_REFUSED "MIRRORCTL_HOLDER has more than $HOLDER_MAX characters"
}

# The caller must hold the reservation.
must_hold() {
    read_reservation
    [ "$reserved_by" = "$MIRRORCTL_HOLDER" ] ||
        refuse NOT_RESERVED "$MIRRORCTL_HOLDER does not hold the reservation; its holder is ${reserved_by:-none}"
}

# No other caller may hold the reservation. Set `reserved_by`.
must_not_be_held_by_another() {
    read_reservation
    [ -z "$reserved_by" ] || [ "$reserved_by" = "$MIRRORCTL_HOLDER" ] ||
        refuse RESERVED_BY "$reserved_by holds the reservation"
}

reserve() {
    mkdir -p "$dir" 2>/dev/null || refuse_write "$dir"
    lock "$LOCK_WAIT_S"
    read_reservation
    case $reserved_by in
        "$MIRRORCTL_HOLDER") respond true "" "already held" ;;
        '') reserve_note="reserved $MIRRORCTL_HOLDER" ;;
        "${MIRRORCTL_TAKE_OVER_FROM-}") reserve_note="taken-over $reserved_by -> $MIRRORCTL_HOLDER" ;;
        *) refuse RESERVED_BY "$reserved_by holds the reservation" ;;
    esac
    must_put "$dir/reservation" "$MIRRORCTL_HOLDER"
    read_last
    note "$last" - "$reserve_note"
    respond true "" "reserved"
}

release() {
    [ -d "$dir" ] || respond true "" "already free"
    lock "$LOCK_WAIT_S"
    must_not_be_held_by_another
    [ -n "$reserved_by" ] || respond true "" "already free"
    must_be_ended
    rm -f "$dir/reservation" 2>/dev/null || refuse_write "$dir/reservation"
    read_last
    note "$last" - "released $MIRRORCTL_HOLDER"
    respond true "" "released"
}

# No process of the migration may be alive, because without the reservation no run would renew or stop it. A
# supervisor whose JVM has ended gets a moment to end.
must_be_ended() {
    for ended_round in 1 2 3 4 5; do
        inspect
        find_marked '[0-9][0-9]*'
        [ "$state" = running ] || [ -n "$marked" ] || return 0
        [ "$ended_round" = 5 ] || nap
    done
    refuse ALREADY_RUNNING "generation $last is alive (processes$marked); stop it before the reservation is freed"
}

