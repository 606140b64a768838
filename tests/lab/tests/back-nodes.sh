# SPDX-License-Identifier: Apache-2.0
# bound: 400
# vcuda-back alone: what it offers, and what a guest's xenstore nodes can do to it.
B=/local/domain/0/backend/vcuda

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
    check "$kind: attach" vcudactl attach g
    check "$kind: it waits for the frontend" wait_until 5 state_is $id 2
    check_equal "$kind: it offers versions" "1 1 0" "$(xenstore-read $B/$id/0/min-version \
        $B/$id/0/max-version $B/$id/0/features | tr '\n' ' ' | sed 's/ $//')"

    for nonsense in "ctl-ring-ref -1" "ctl-ring-ref 99999999999999999999" \
        "ctl-ring-ref 4294967295" "ctl-ring-ref 7x" "event-channel 4294967295" "version 2" \
        "features yes"; do
        guest_says state 1
        wait_until 5 state_is $id 2 || not_ok "$kind: does not come back before '$nonsense'"
        guest_says version 1 features 0 ctl-ring-ref 8 event-channel 9
        guest_says $nonsense
        guest_says state 3
        check "$kind: '$nonsense' is refused" wait_until 5 state_is $id 6
        guest_says state 6
    done
    for s in 99 -5 2 7 8 5; do
        guest_says state 1
        wait_until 5 state_is $id 2 || not_ok "$kind: does not come back before state '$s'"
        guest_says state $s
        guest_says state 6
    done
    guest_says state 1
    check "$kind: and still waits for an honest frontend" wait_until 5 state_is $id 2
    guest_says state banana
    check "$kind: a state that is none ends the device" wait_until 5 unregistered $id
    vcudactl detach g --force --timeout 1 >/dev/null

    vcudactl attach g >/dev/null
    check "$kind: attached again" wait_until 5 state_is $id 2
    check "$kind: in use" sh -c '! rmmod vcuda_back 2>/dev/null'
    destroy_guest g
    check "$kind: a destroyed guest's device goes" wait_until 5 unregistered $id
    vcudactl reap >/dev/null
done
check "the module unloads" rmmod vcuda_back
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
