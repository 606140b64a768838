# SPDX-License-Identifier: Apache-2.0
# bound: 150
# vcuda-back alone: what it offers, and what a guest's xenstore nodes can do to it.
B=/local/domain/0/backend/vcuda

# attach ID: the nodes of a device, in the order that never races.
attach() {
    local b=$B/$1/0 f=/local/domain/$1/device/vcuda/0
    xenstore-write $f/backend-id 0
    xenstore-chmod $f n$1 r0
    xenstore-chmod $f/backend-id n$1 r0
    xenstore-write $b/frontend-id $1
    xenstore-chmod $b n0 r$1
    xenstore-chmod $b/frontend-id n0 r$1
    xenstore-write $b/frontend $f $b/online 1 $f/backend $b $b/state 1 $f/state 1
}
detach() {
    xenstore-write $B/$1/0/online 0 $B/$1/0/state 5
    guest_run g "xenstore-write device/vcuda/0/state 6"
    wait_until 5 unregistered $1
    xenstore-rm $B/$1
    xenstore-rm /local/domain/$1/device/vcuda
    xenstore-rm $B 2>/dev/null
}
unregistered() { ! [ -e /sys/bus/xen-backend/devices/vcuda-$1-0 ]; }
state() { xenstore-read $B/$1/0/state; }
state_is() { [ "$(state $1)" = "$2" ]; }
# guest_says NODE VALUE...: the guest writes its own nodes.
guest_says() {
    local text=
    while [ $# -gt 1 ]; do
        text="$text device/vcuda/0/$1 '$2'"
        shift 2
    done
    guest_run g "xenstore-write $text"
}

leak_mark
check "the module loads" insmod /lab/vcuda-back.ko
check "its device is root's alone" test "$(stat -c %a /dev/vcuda-host)" = 600
for kind in $LAB_GUESTS; do
    create_guest g $kind && wait_guest g || not_ok "no $kind guest"
    id=$(domain_id g)
    attach $id
    check "$kind: it waits for the frontend" wait_until 5 state_is $id 2
    check_equal "$kind: it offers versions" "1 1 0" "$(xenstore-read $B/$id/0/min-version \
        $B/$id/0/max-version $B/$id/0/features | tr '\n' ' ' | sed 's/ $//')"

    for nonsense in "ctl-ring-ref x" "ctl-ring-ref -1" "ctl-ring-ref 99999999999999999999" \
        "ctl-ring-ref 4294967295" "ctl-ring-ref 7x" "event-channel 0" "event-channel 4294967295" \
        "event-channel zero" "version 2" "version 0" "version one" "features yes"; do
        guest_says state 1
        wait_until 5 state_is $id 2 || not_ok "$kind: does not come back before '$nonsense'"
        guest_says version 1 features 0 ctl-ring-ref 8 event-channel 9
        guest_says $nonsense
        guest_says state 3
        check "$kind: '$nonsense' is refused" wait_until 5 state_is $id 6
        guest_says state 6
    done
    for s in 99 -5 2 7 8 banana 4294967296 5; do
        guest_says state 1
        wait_until 5 state_is $id 2 || not_ok "$kind: does not come back before state '$s'"
        guest_says state $s
        guest_says state 6
    done
    guest_says state 1
    check "$kind: and still waits for an honest frontend" wait_until 5 state_is $id 2
    detach $id

    attach $id
    check "$kind: attached again" wait_until 5 state_is $id 2
    check "$kind: in use" sh -c '! rmmod vcuda_back 2>/dev/null'
    destroy_guest g
    check "$kind: a destroyed guest's device goes" wait_until 5 unregistered $id
    xenstore-rm $B
done
check "the module unloads" rmmod vcuda_back
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
