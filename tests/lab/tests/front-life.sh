# SPDX-License-Identifier: Apache-2.0
# bound: 900
# The frontend through all that can happen to its device while a program holds a session: detached
# and attached again and again, unbound on either side, saved and restored, destroyed.

B=/local/domain/0/backend/vcuda
states() { echo "$(xenstore-read $B/$id/0/state) $(xenstore-read /local/domain/$id/device/vcuda/0/state)"; }
states_are() { [ "$(states 2>/dev/null)" = "$1" ]; }
idle() { test "$(guest_run g 'grep -c vcuda /proc/interrupts')" = "$1"; }

# A program that holds a session, sees it die, and opens another when it can.
start_outlive() {
    guest_run g 'rm -f /tmp/outlive' # what the one before said is not this one's
    guest_run g -t 150 'guest-echo outlive >/tmp/outlive 2>&1' &
    outlive=$!
    wait_until 10 outlive_says holding || not_ok "$kind: the program holds no session"
}
outlive_says() { guest_run g 'cat /tmp/outlive' | grep -q "$1"; }
attach() { vcudactl attach "${1:-g}" >/dev/null && wait_until 10 states_are "4 4"; }
attach_id() { vcudactl attach "$1" >/dev/null; }
detach() { vcudactl detach g --timeout 10 >/dev/null; }

leak_mark
insmod /lab/vcuda-back.ko
host-echo >/run/host-echo.log &
helper=$!
for kind in $LAB_GUESTS; do
    create_guest g "$kind" && wait_guest g || not_ok "no $kind guest"
    id=$(domain_id g)
    guest_run g 'insmod /lab/vcuda-front.ko' || not_ok "$kind: the frontend does not load"

    check "$kind: attach" attach
    start_outlive
    check "$kind: detach under it" detach
    check "$kind: its session dies" wait_until 5 outlive_says died
    check "$kind: no port is left" wait_until 5 idle 0
    check "$kind: attach again" attach
    check "$kind: and it opens another" wait_until 5 outlive_says 'lives again'

    start=$(now_ms)
    for i in $(seq 20); do
        detach && attach || not_ok "$kind: cycle $i, states $(states)"
    done
    measure kind=$kind cycles=20 ms=$(($(now_ms) - start))
    check_equal "$kind: after 20 cycles" opened "$(guest_run g guest-echo open)"

    start_outlive
    check "$kind: the frontend is unbound under a session" \
        guest_run g 'echo vcuda-0 >/sys/bus/xen/drivers/vcuda/unbind'
    check "$kind: both sides close" wait_until 5 states_are "6 6"
    check "$kind: the session dies" wait_until 5 outlive_says died
    check "$kind: bound again" guest_run g 'echo vcuda-0 >/sys/bus/xen/drivers/vcuda/bind'
    check "$kind: both connect" wait_until 5 states_are "4 4"
    check "$kind: and it opens another" wait_until 5 outlive_says 'lives again'

    guest_run g 'echo vcuda-0 >/sys/bus/xen/drivers/vcuda/unbind; rmmod vcuda_front' ||
        not_ok "$kind: unbound, the frontend does not unload"
    check "$kind: the frontend's module is new" guest_run g 'insmod /lab/vcuda-front.ko'
    check "$kind: it connects by itself" wait_until 5 states_are "4 4"
    check_equal "$kind: and works" opened "$(guest_run g guest-echo open)"

    start_outlive
    check "$kind: the backend is unbound under a session" \
        sh -c "echo vcuda-$id-0 >/sys/bus/xen-backend/drivers/vcuda/unbind"
    check "$kind: the session dies" wait_until 5 outlive_says died
    check "$kind: the frontend has closed" wait_until 5 states_are "6 6"
    check "$kind: the backend is bound again" \
        sh -c "echo vcuda-$id-0 >/sys/bus/xen-backend/drivers/vcuda/bind"
    check "$kind: both connect again" wait_until 5 states_are "4 4"
    check "$kind: the program opens another" wait_until 5 outlive_says 'lives again'

    start_outlive
    check "$kind: saved under a session" save_guest g /tmp/g.save
    vcudactl reap >/dev/null
    check "$kind: restored" restore_guest g /tmp/g.save attach_id
    rm -f /tmp/g.save
    id=$(domain_id g)
    check "$kind: connected to the new backend" wait_until 20 states_are "4 4"
    check "$kind: the session died" wait_until 5 outlive_says died
    check "$kind: and the program opens another" wait_until 5 outlive_says 'lives again'

    start_outlive
    check "$kind: saved again" save_guest g /tmp/g.save
    vcudactl reap >/dev/null
    check "$kind: restored without a device" restore_guest g /tmp/g.save
    rm -f /tmp/g.save
    id=$(domain_id g)
    check "$kind: the session died all the same" wait_until 10 outlive_says died
    check_equal "$kind: there is no device" ENODEV "$(guest_run g guest-echo open)"
    check "$kind: attached late" attach_id g
    guest_run g 'echo vcuda-0 >/sys/bus/xen/drivers/vcuda/unbind; echo vcuda-0 >/sys/bus/xen/drivers/vcuda/bind'
    check "$kind: and bound again, it connects" wait_until 10 states_are "4 4"
    check "$kind: the program opens another" wait_until 5 outlive_says 'lives again'

    start_outlive
    check "$kind: destroyed under a session" destroy_guest g
    vcudactl reap >/dev/null
done
kill $helper
check "the backend unloads" rmmod vcuda_back
xenstore-ls /local/domain/0/backend 2>&1 | sed 's/^/# /'
check "nothing is left" leak_check
check "kernels are content" dmesg_clean
