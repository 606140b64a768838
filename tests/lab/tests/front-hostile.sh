# SPDX-License-Identifier: Apache-2.0
# bound: 700
# vcuda-front against a backend that breaks the protocol (rogue-back), and against one that never
# answers. No vcuda-back: the backend's nodes are written here.

K() { echo /local/domain/0/backend/vcuda/$id/0/$1; }
F() { echo /local/domain/$id/device/vcuda/0/$1; }
front_is() { [ "$(xenstore-read "$(F state)")" = "$1" ]; }
cut_off() { front_is 5 || front_is 6; }
idle() { test "$(guest_run g 'grep -c vcuda /proc/interrupts')" = 0; }

# connect CASE: offers, takes the frontend's grant and port, and says Connected.
connect() {
    xenstore-write "$(K min-version)" 1 "$(K max-version)" 1 "$(K features)" 0 "$(K state)" 2
    wait_until 5 front_is 3 || return
    : >/run/rogue.log # not the last one's "ready"
    rogue-back "$id" "$(xenstore-read "$(F ctl-ring-ref)")" \
        "$(xenstore-read "$(F event-channel)")" "$1" >/run/rogue.log 2>&1 &
    rogue=$!
    wait_until 5 grep -q ready /run/rogue.log || return
    xenstore-write "$(K state)" 4
    wait_until 5 front_is 4
}

kill_rogue() { kill -9 $rogue && { wait $rogue 2>/dev/null || true; }; }

# The rogue lets go before it says Closed, or with "keep" well after.
disconnect() {
    [ "$1" = keep ] || kill_rogue
    xenstore-write "$(K state)" 6
    wait_until 5 front_is 6 || return
    [ "$1" != keep ] || { sleep 2 && kill_rogue; }
}

leak_mark
modprobe xen-gntdev
modprobe xen-evtchn
for kind in $LAB_GUESTS; do
    create_guest g "$kind" && wait_guest g || not_ok "no $kind guest"
    id=$(domain_id g)
    guest_run g 'insmod /lab/vcuda-front.ko' || not_ok "$kind: the frontend does not load"
    vcudactl attach g >/dev/null
    rogue-back list >/run/cases
    while read -r name expected; do
        connect "$name" || not_ok "$kind: $name: not connected, state $(xenstore-read "$(F state)")"
        check_equal "$kind: $name" "$expected" "$(guest_run g -t 30 'guest-echo open')"
        case $expected in
        ENODEV | opened) wait_until 3 cut_off || not_ok "$kind: $name: not cut off" ;;
        *) front_is 4 || not_ok "$kind: $name: cut off" ;;
        esac
        disconnect || not_ok "$kind: $name: does not close"
        idle || not_ok "$kind: $name: a port is left"
    done </run/cases

    connect honest
    kill -STOP $rogue
    guest_run g -t 40 guest-refused >/run/said &
    asked=$!
    sleep 2
    kill -CONT $rogue
    wait $asked
    check_equal "$kind: refused while it is polled" EACCES "$(cat /run/said)"
    disconnect || not_ok "$kind: does not close after that"

    connect honest
    guest_run g -t 40 'guest-echo open; sleep 1' >/run/said &
    asked=$!
    kill -STOP $rogue
    sleep 1
    check "$kind: kept waiting, a program can be killed" guest_run g 'killall -9 guest-echo'
    wait $asked
    check "$kind: the backend keeps our page and says Closed" disconnect keep
    check "$kind: no port is left" wait_until 5 idle
    check "$kind: the guest has noted the page" guest_run g 'dmesg | grep -q "still mapped by the backend"'
    check "$kind: the frontend goes on" connect honest
    check_equal "$kind: with the next backend" EACCES "$(guest_run g -t 30 'guest-echo open')"

    xenstore-write "$(K online)" 0 "$(K state)" 5
    check "$kind: detached, it closes" wait_until 5 front_is 6
    disconnect
    check "$kind: destroyed" destroy_guest g
    vcudactl reap >/dev/null
done
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
